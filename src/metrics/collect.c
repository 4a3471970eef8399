#include "metrics/collect.h"

#include "base/pack.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

/* A page may be empty, but each one advances. */
#define PAGES_MAX (2 * DEALERS_MAX)

static bool take_page(struct collection *collection, const struct metrics_result *page)
{
	struct bytes rows = page->dealers;
	struct dealer_metrics *dealers;
	uint32_t count = collection->dealer_count + page->count;

	if (!page->count)
		return true;
	if (page->count > DEALERS_MAX || count > DEALERS_MAX)
		return false;
	dealers = realloc(collection->dealers, count * sizeof(*dealers));
	if (!dealers)
		return false;
	collection->dealers = dealers;
	for (; collection->dealer_count < count; collection->dealer_count++) {
		if (!unpack_record(&rows, dealer_metrics_fields,
			    &dealers[collection->dealer_count]))
			return false;
	}
	return true;
}

/* Reads all pages. Leaves *@ok true unless an answer is invalid. */
static bool ask_all(struct collection *collection, collect_ask *ask, void *context, bool *ok)
{
	struct metrics_result page;
	struct metrics_cmd cmd;

	memset(&cmd, 0, sizeof(cmd));
	for (unsigned int pages = 0; pages < PAGES_MAX; pages++) {
		memset(&page, 0, sizeof(page));
		if (!ask(context, &cmd, &page) || page.verdict.refusal != REFUSAL_NONE)
			return false;
		if (!pages)
			collection->ledger = page;
		*ok = take_page(collection, &page);
		if (!*ok)
			return false;
		if (!page.more)
			return true;
		text_copy(cmd.after, sizeof(cmd.after), page.last);
	}
	*ok = false;
	return false;
}

/* Reads the workers' counters. Returns false if memory is exhausted. */
static bool read_counters(struct collection *collection, const char *path)
{
	collection->counted = counters_read(path, &collection->counters);
	if (!collection->counted)
		return true;
	collection->by_dealer = calloc(COUNTED_DEALERS, sizeof(*collection->by_dealer));
	if (!collection->by_dealer)
		return false;
	collection->by_dealer_count = counters_read_dealers(path, collection->by_dealer);
	return true;
}

bool collection_make(struct collection *collection, const char *counters_path, collect_ask *ask,
	void *context)
{
	bool ok = true;

	memset(collection, 0, sizeof(*collection));
	if (!read_counters(collection, counters_path))
		return false;
	collection->answered = ask_all(collection, ask, context, &ok);
	if (!collection->answered)
		collection->dealer_count = 0;
	/* The next answer overwrites the data it points to. */
	collection->ledger.dealers = (struct bytes){NULL, 0};
	return ok;
}

void collection_free(struct collection *collection)
{
	free(collection->dealers);
	collection->dealers = NULL;
	collection->dealer_count = 0;
	free(collection->by_dealer);
	collection->by_dealer = NULL;
	collection->by_dealer_count = 0;
}

void collection_sum(const struct collection *collection, struct dealer_metrics *sum)
{
	memset(sum, 0, sizeof(*sum));
	for (uint32_t i = 0; i < collection->dealer_count; i++) {
		const struct dealer_metrics *dealer = &collection->dealers[i];

		sum->due += dealer->due;
		sum->sending += dealer->sending;
		sum->held += dealer->held;
		sum->parked += dealer->parked;
		sum->inflight += dealer->inflight;
		if (dealer->overdue_ms > sum->overdue_ms)
			sum->overdue_ms = dealer->overdue_ms;
	}
}
