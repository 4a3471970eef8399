#include "console/sections/dealers.h"

#include "base/pack.h"
#include "base/text.h"
#include "console/common/leads.h"

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
	VIEW_END,
};

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
