/*
 * estimate - what a move will look at, from figures at hand: the sums of the dealer's days, and the sizes of the tables.
 */
#include "admin/list.h"
#include "admin/move/move.h"
#include "domain/dealer_day.h"

#include <string.h>

static enum outcome read_sizes(struct move *move, struct move_side *side)
{
	const struct status_cmd cmd = {.unused = false};
	struct status_result status;
	const enum outcome code = move_ask(move, side, COMMAND_STATUS, &cmd, &status);

	for (unsigned int i = 0; code == OUTCOME_DONE && i < RECORD_COUNT; i++)
		side->table_bytes[i] = status.tables[i].bytes;
	return code;
}

static void add_day(struct move_estimate *estimate, const struct dealer_day *day)
{
	struct day_report report;

	dealer_day_report(day, &report);
	estimate->movements += day->transferred_in.count + day->transferred_out.count +
		day->adjusted.count + day->cancelled.count + day->paid.count + day->corrected.count;
	estimate->bets += report.bets.count;
	estimate->callbacks += report.callbacks;
}

static enum outcome add_days(struct move *move, struct move_estimate *estimate)
{
	struct dealer_day day = {.number = 0};
	struct list list;

	memcpy(day.casino_id, move->casino_id, sizeof(day.casino_id));
	list_open(&list, move->from.session, RECORD_DEALER_DAY, false, 1, &day);
	while (list_next(&list, &day))
		add_day(estimate, &day);
	return list_end(&list, OUTCOME_DONE);
}

enum outcome move_estimate(struct move *move, struct move_estimate *estimate)
{
	struct session *const session = move->from.session;
	struct total total = {.players = 0};
	struct dealer dealer;
	bool has_total = false;
	enum outcome code = read_sizes(move, &move->from);

	memset(estimate, 0, sizeof(*estimate));
	memset(&dealer, 0, sizeof(dealer));
	memcpy(dealer.casino_id, move->casino_id, sizeof(dealer.casino_id));
	memcpy(total.casino_id, move->casino_id, sizeof(total.casino_id));
	if (code == OUTCOME_DONE)
		code = read_sizes(move, &move->to);
	estimate->read_bytes = move_walk_bytes(&move->from, false) +
		move_walk_bytes(&move->from, true) + move_walk_bytes(&move->to, true);
	if (code == OUTCOME_DONE)
		code = list_fetch(session, RECORD_DEALER, &dealer, &estimate->has_dealer, NULL);
	if (code != OUTCOME_DONE || !estimate->has_dealer)
		return code;
	estimate->at_least = dealer.days_from_ms != 0;
	code = list_fetch(session, RECORD_TOTAL, &total, &has_total, NULL);
	estimate->players = has_total ? total.players : 0;
	return code == OUTCOME_DONE ? add_days(move, estimate) : code;
}
