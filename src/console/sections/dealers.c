#include "console/sections/dealers.h"

#include "base/pack.h"
#include "base/text.h"
#include "console/common/leads.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const struct view_column dealers_columns[] = {
	{"Dealer", "casino_id", VIEW_PLAIN, lead_to_dealer},
	{"Wallet", "mode", VIEW_PLAIN, NULL},
	{"Currency", "currency", VIEW_PLAIN, NULL},
	{"Breaker", "breaker", VIEW_STATE, NULL},
	{"On their way", "inflight", VIEW_COUNT, NULL},
	{"Due", "due", VIEW_COUNT, NULL},
	{"Parked", "parked", VIEW_COUNT, NULL},
	{"Held", "held", VIEW_COUNT, NULL},
	{"Owed payouts", "owed_payouts", VIEW_PLAIN, NULL},
	{"Owed refunds", "owed_refunds", VIEW_PLAIN, NULL},
	{"Answered, 5 min", "answered", VIEW_PLAIN, NULL},
	{"Oldest due", "oldest_due", VIEW_PLAIN, NULL},
	VIEW_END,
};

/* What a table says of a dealer in words. */
struct dealer_row {
	struct dealer_metrics figures; /* must be first */
	char answered[DEALERS_ANSWERED_SIZE];
	char oldest_due[TEXT_DURATION_SIZE]; /* how long it waits since it was due; "": none */
};

static const struct field dealer_more[] = {
	FIELD(FIELD_STR, dealer_row, answered),
	FIELD(FIELD_STR, dealer_row, oldest_due),
	FIELD_END,
};

void dealers_answered(const struct dealer_metrics *dealer, char text[DEALERS_ANSWERED_SIZE])
{
	const uint64_t success = dealer->recent[CALLBACK_SUCCESS].count;
	const uint64_t refused = dealer->recent[CALLBACK_REFUSED].count;
	const uint64_t lost =
		dealer->recent[CALLBACK_UNKNOWN].count + dealer->recent[CALLBACK_NOT_SENT].count;
	const uint64_t all = success + refused + lost;
	char refused_text[VIEW_COUNT_SIZE], lost_text[VIEW_COUNT_SIZE];
	/* Rounded down: 100 % is all. */
	const uint64_t thousandths = all ? success * 1000 / all : 0;

	text[0] = '\0';
	if (all)
		snprintf(text, DEALERS_ANSWERED_SIZE,
			"ok %" PRIu64 ".%" PRIu64 " %%, refused %s, no answer %s", thousandths / 10,
			thousandths % 10, view_count(refused, refused_text),
			view_count(lost, lost_text));
}

struct view dealers_view(void)
{
	return (struct view){.fields = dealer_metrics_fields, .more = dealer_more};
}

void dealers_row(struct view *view, const struct dealer_metrics *dealer)
{
	struct dealer_row row = {.figures = *dealer};

	dealers_answered(dealer, row.answered);
	if (dealer->overdue_ms)
		text_duration(dealer->overdue_ms, row.oldest_due);
	view_row(view, &row);
}

/* Visits the dealers of one answer. Returns false if the visitor wants no more. */
static bool visit_dealers(struct bytes rest, dealers_visit *visit, void *context)
{
	struct dealer_metrics dealer;

	while (rest.len && unpack_record(&rest, dealer_metrics_fields, &dealer)) {
		if (!visit(context, &dealer))
			return false;
	}
	return true;
}

enum outcome dealers_walk(struct page *page, const char *after, struct status_result *status,
	dealers_visit *visit, void *context)
{
	struct metrics_cmd cmd;
	struct metrics_result result;
	enum outcome code;
	bool on = true;

	memset(&cmd, 0, sizeof(cmd));
	/* A text that is too long is no id: the list begins at its start. */
	if (!text_copy(cmd.after, sizeof(cmd.after), after))
		cmd.after[0] = '\0';
	do {
		code = session_do(&page->desk.session, COMMAND_METRICS, &cmd, &result, NULL);
		if (code != OUTCOME_DONE)
			return code;
		if (status)
			*status = result.status;
		on = visit_dealers(result.dealers, visit, context);
		text_copy(cmd.after, sizeof(cmd.after), result.last);
	} while (on && result.more);
	return OUTCOME_DONE;
}

enum outcome dealers_none(struct page *page)
{
	return page_error(page, 404, "There is no such dealer.", "Looked at all dealers.");
}
