/*
 * check_days - walks the sums of dealers' days, for `check` (proof/days.h).
 *
 * If a part of a dealer's days does not match, it reads the days of that part again, one by one: the
 * transactions and callbacks of the day, with the bets, rounds and corrections that they name.
 */
#include "check/check.h"

#include "admin/list.h"
#include "admin/seek.h"
#include "domain/dealer_day.h"
#include "domain/statistics.h"

#include <string.h>

/* The day that is read again. */
struct day_reading {
	struct check *check;
	struct dealer dealer;
	struct dealer_day stored;
	struct dealer_day made;
};

static enum outcome walk_days(struct check *check, unsigned int when)
{
	struct dealer_day row;
	struct list list;

	list_open(&list, check->session, RECORD_DEALER_DAY, false, 0, NULL);
	while (list_next(&list, &row)) {
		proof_days_row(&check->proof, &row, when);
		check->days += when;
	}
	return list_end(&list, OUTCOME_DONE);
}

enum outcome check_walk_days_before(struct check *check)
{
	check->days = 0;
	return walk_days(check, 0);
}

static enum outcome add_bet(struct day_reading *reading, const struct transaction *row)
{
	struct bet bet;
	bool found;
	enum outcome code = check_find_bet(reading->check, row->player_id, row->game_id,
		row->bet_number, &bet, &found);

	if (code == OUTCOME_DONE && found)
		dealer_day_bet(&reading->made, &bet, 1);
	return code;
}

/* Adds a result or correction that moved nothing here. */
static enum outcome add_reported(struct day_reading *reading, const struct transaction *row)
{
	struct session *session = reading->check->session;
	struct correction correction;
	struct round round;
	enum outcome code;
	bool found;

	memset(&round, 0, sizeof(round));
	memset(&correction, 0, sizeof(correction));
	memcpy(round.player_id, row->player_id, sizeof(round.player_id));
	memcpy(round.game_id, row->game_id, sizeof(round.game_id));
	code = list_fetch(session, RECORD_ROUND, &round, &found, NULL);
	if (code != OUTCOME_DONE || !found || round.mode != WALLET_SEAMLESS)
		return code;
	if (row->kind == ENTRY_PAYOUT) {
		dealer_day_payout(&reading->made, round.payout_amount);
		return code;
	}
	memcpy(correction.player_id, row->player_id, sizeof(correction.player_id));
	memcpy(correction.game_id, row->game_id, sizeof(correction.game_id));
	correction.revision = row->bet_number;
	code = list_fetch(session, RECORD_CORRECTION, &correction, &found, NULL);
	if (code == OUTCOME_DONE && found)
		dealer_day_correction(&reading->made, &correction);
	return code;
}

static enum outcome add_transaction(void *closure, const union seek_row *any)
{
	struct day_reading *reading = closure;
	const struct transaction *row = &any->transaction;

	if (strcmp(row->casino_id, reading->dealer.casino_id) != 0)
		return OUTCOME_DONE;
	if (row->entry_seq)
		dealer_day_movement(&reading->made, row);
	if (row->kind == ENTRY_BET)
		return add_bet(reading, row);
	if (!row->entry_seq && (row->kind == ENTRY_PAYOUT || row->kind == ENTRY_CORRECTION))
		return add_reported(reading, row);
	return OUTCOME_DONE;
}

static enum outcome add_callback(void *closure, const union seek_row *any)
{
	struct day_reading *reading = closure;

	if (strcmp(any->callback.casino_id, reading->dealer.casino_id) == 0)
		dealer_day_callback(&reading->made, &any->callback, 1);
	return OUTCOME_DONE;
}

static enum outcome fetch_day(struct day_reading *reading, struct dealer_day *day)
{
	bool found;

	memset(day, 0, sizeof(*day));
	memcpy(day->casino_id, reading->made.casino_id, sizeof(day->casino_id));
	day->number = reading->made.number;
	return list_fetch(reading->check->session, RECORD_DEALER_DAY, day, &found, NULL);
}

/* Adds a fault that names the first figure that differs. */
static void compare_days(const struct day_reading *reading, struct proof_faults *faults)
{
	char date[DATE_SIZE];

	statistics_date(reading->made.number, date);
	for (const struct field *field = dealer_day_fields; field->name; field++) {
		if (memcmp((const char *)&reading->stored + field->offset,
			    (const char *)&reading->made + field->offset, field->size) == 0)
			continue;
		proof_fault(faults, "dealer %s on %s: the sum %s differs from the rows of the day",
			reading->dealer.casino_id, date, field->name);
		return;
	}
}

static enum outcome read_day(struct check *check, void *closure, struct proof_faults *faults,
	bool *stable)
{
	struct day_reading *reading = closure;
	const int64_t from_ms =
		statistics_day_begin(reading->made.number, reading->dealer.utc_offset_min);
	struct dealer_day key, after;
	enum outcome code;

	memset(&key, 0, sizeof(key));
	memcpy(key.casino_id, reading->made.casino_id, sizeof(key.casino_id));
	key.number = reading->made.number;
	reading->made = key;
	code = fetch_day(reading, &reading->stored);
	if (code == OUTCOME_DONE)
		code = seek_walk(check->session, RECORD_TRANSACTION, from_ms,
			from_ms + STATISTICS_DAY_MS, add_transaction, reading);
	if (code == OUTCOME_DONE)
		code = seek_walk(check->session, RECORD_CALLBACK, from_ms,
			from_ms + STATISTICS_DAY_MS, add_callback, reading);
	if (code == OUTCOME_DONE)
		code = fetch_day(reading, &after);
	if (code != OUTCOME_DONE)
		return code;
	*stable = memcmp(&after, &reading->stored, sizeof(after)) == 0;
	compare_days(reading, faults);
	return OUTCOME_DONE;
}

/* Reads the days of the part again, from the creation of the dealer to now. */
static enum outcome search_part(struct check *check, const struct proof_dealer *books,
	unsigned int part)
{
	struct day_reading reading = {.check = check};
	const bool unsettled = check->unsettled, incomplete = check->proof.incomplete;
	uint32_t number, last;
	enum outcome code;
	bool found, settled = true;

	memcpy(reading.dealer.casino_id, books->total.casino_id, CASINO_ID_SIZE);
	code = list_fetch(check->session, RECORD_DEALER, &reading.dealer, &found, NULL);
	if (code != OUTCOME_DONE || !found)
		return code;
	memcpy(reading.made.casino_id, books->total.casino_id, CASINO_ID_SIZE);
	number = statistics_day(reading.dealer.created_ms - STATISTICS_DAY_MS,
		books->days.utc_offset_min);
	if (number < books->days.first)
		number = books->days.first;
	last = statistics_day(check->point.begin_ms + STATISTICS_DAY_MS,
		books->days.utc_offset_min);
	for (; code == OUTCOME_DONE && number <= last && !check_knows_enough(check); number++) {
		if (number % PROOF_DAY_PARTS != part)
			continue;
		reading.made.number = number;
		code = check_again(check, read_day, &reading, &settled);
		/* A day that keeps changing is left to a later check. */
		if (!settled) {
			check->days_left_out++;
			check->unsettled = unsettled;
			check->proof.incomplete = incomplete;
		}
	}
	return code;
}

enum outcome check_walk_days_after(struct check *check)
{
	enum outcome code = walk_days(check, 1);

	for (size_t i = 0; i < check->proof.dealer_count; i++) {
		for (unsigned int part = 0; part < PROOF_DAY_PARTS; part++) {
			if (code == OUTCOME_DONE &&
				proof_days_differ(&check->proof.dealers[i], part))
				code = search_part(check, &check->proof.dealers[i], part);
		}
	}
	return code;
}
