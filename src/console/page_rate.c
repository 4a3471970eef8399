#include "console/page_rate.h"

#include "base/text.h"
#include "base/token_bucket.h"
#include "domain/desk_operator.h"
#include "link/desk_commands.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct page_rate {
	pthread_mutex_t lock;
	uint32_t rate;
	struct {
		char name[DESK_NAME_SIZE];
		struct token_bucket pages;
	} operators[DESK_OPERATORS_MAX];
};

struct page_rate *page_rate_new(uint32_t rate)
{
	struct page_rate *limit = calloc(1, sizeof(*limit));

	if (!limit)
		return NULL;
	limit->rate = rate;
	pthread_mutex_init(&limit->lock, NULL);
	return limit;
}

void page_rate_free(struct page_rate *limit)
{
	if (limit)
		pthread_mutex_destroy(&limit->lock);
	free(limit);
}

static uint32_t most_at_once(const struct page_rate *limit)
{
	return limit->rate * PAGE_RATE_SAVED_S;
}

/*
 * Returns the bucket of @name. A new name takes an unused place. If there is none, it takes the
 * place of the operator whose last page is the oldest.
 */
static struct token_bucket *bucket_of(struct page_rate *limit, const char *name, int64_t now_ms)
{
	unsigned int oldest = 0;

	for (unsigned int i = 0; i < DESK_OPERATORS_MAX; i++) {
		if (strcmp(limit->operators[i].name, name) == 0)
			return &limit->operators[i].pages;
		if (limit->operators[i].pages.filled_ms < limit->operators[oldest].pages.filled_ms)
			oldest = i;
	}
	text_copy(limit->operators[oldest].name, DESK_NAME_SIZE, name);
	limit->operators[oldest].pages = token_bucket_full(most_at_once(limit), now_ms);
	return &limit->operators[oldest].pages;
}

bool page_rate_take(struct page_rate *limit, const char *name, bool csv, int64_t now_ms)
{
	const uint32_t most = most_at_once(limit);
	uint32_t pages = csv ? PAGE_RATE_CSV : 1;
	bool permitted;

	if (pages > most)
		pages = most;
	pthread_mutex_lock(&limit->lock);
	permitted =
		token_bucket_take(bucket_of(limit, name, now_ms), pages, limit->rate, most, now_ms);
	pthread_mutex_unlock(&limit->lock);
	return permitted;
}
