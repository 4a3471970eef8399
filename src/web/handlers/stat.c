/* A4: a player's bets and wins, of all time and by day. */
#include "web/handlers/handlers.h"

#include "base/text.h"

#include <string.h>

/* The answer of A4 (contract, "Statistics"). */
struct summary_row {
	char date[DATE_SIZE];
	struct statistics sums;
};
struct summary {
	struct user_stat_result stat;
	struct summary_row bet_summary[STATISTICS_DAYS]; /* oldest first */
};
#define SUMS(struct_, member_)                                                                     \
	FIELD_AS("bet_count", FIELD_U64, struct_, member_.bet_count),                              \
		FIELD_AS("turnover", FIELD_SUM, struct_, member_.turnover),                        \
		FIELD_AS("profit_loss", FIELD_SUM, struct_, member_.profit_loss)
#define LIFETIME                                                                                   \
	FIELD_AS("user_id", FIELD_STR, summary, stat.user_id),                                     \
		FIELD_AS("player_id", FIELD_STR, summary, stat.player_id),                         \
		FIELD_AS("currency", FIELD_STR, summary, stat.currency), SUMS(summary, stat.sums)

static const struct field summary_row_fields[] = {
	FIELD(FIELD_STR, summary_row, date),
	SUMS(summary_row, sums),
	FIELD_END,
};
static const struct field lifetime_answer_fields[] = {LIFETIME, FIELD_END};
static const struct field summary_answer_fields[] = {
	LIFETIME,
	FIELD_SUB(summary, bet_summary, summary_row, summary_row_fields),
	FIELD_AS("utc_offset", FIELD_I32, summary, stat.utc_offset_min),
	FIELD_END,
};

/* Sets the dates of the days. The last one is today. */
static void summary_fill(struct summary *summary)
{
	for (uint32_t i = 0; i < STATISTICS_DAYS; i++) {
		struct summary_row *row = &summary->bet_summary[i];

		statistics_date(summary->stat.today - (STATISTICS_DAYS - 1) + i, row->date);
		row->sums = summary->stat.days[i];
	}
}

void handle_stat(struct web_request *web)
{
	const struct stat_body *body = &web->body.stat;
	struct user_stat_cmd cmd = {.bet_summary = (body->include_data & INCLUDE_BET_SUMMARY) != 0};
	struct summary summary;
	enum status status;

	if (!web_request_is_fresh(web, body->request_timestamp))
		return;
	text_copy(cmd.casino_id, sizeof(cmd.casino_id), web->caller->caller_id);
	text_copy(cmd.user_id, sizeof(cmd.user_id), body->user_id);
	memset(&summary, 0, sizeof(summary));
	status = link_call(web->link, COMMAND_USER_STAT, &cmd, &summary.stat, web->deadline_ms);
	if (status == STATUS_OK && cmd.bet_summary)
		summary_fill(&summary);
	web_request_answer(web, status, CALL_READS, &summary.stat.verdict,
		cmd.bet_summary ? summary_answer_fields : lifetime_answer_fields, &summary);
}
