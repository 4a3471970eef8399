#include "proof/days.h"

#include "domain/dealer_day.h"
#include "proof/proof.h"

#include <string.h>

void proof_days_dealer(struct proof *proof, const struct dealer *row)
{
	struct proof_dealer *dealer = proof_find_dealer(proof, row->casino_id);

	if (!dealer)
		return;
	dealer->days.known = true;
	dealer->days.utc_offset_min = row->utc_offset_min;
	dealer->days.days_from_ms = row->days_from_ms;
	dealer->days.first = dealer_day_first(row);
}

/* Returns the days of a dealer whose row of @time_ms counts, and its day; NULL: it does not count. */
static struct proof_days *days_of(struct proof *proof, const char *casino_id, int64_t time_ms,
	struct dealer_day *day)
{
	struct proof_dealer *dealer = proof_find_dealer(proof, casino_id);
	struct dealer terms;

	if (!dealer || !dealer->days.known)
		return NULL;
	memset(day, 0, sizeof(*day));
	terms.utc_offset_min = dealer->days.utc_offset_min;
	terms.days_from_ms = dealer->days.days_from_ms;
	if (!dealer_day_number(&terms, time_ms, &day->number) || day->number < dealer->days.first)
		return NULL;
	return &dealer->days;
}

static void add_day(uint64_t made[PROOF_DAY_PARTS], const struct dealer_day *day)
{
	made[day->number % PROOF_DAY_PARTS] += dealer_day_weigh(day);
}

void proof_days_row(struct proof *proof, const struct dealer_day *row, unsigned int when)
{
	struct proof_dealer *dealer = proof_find_dealer(proof, row->casino_id);

	if (dealer && dealer->days.known && row->number >= dealer->days.first)
		add_day(dealer->days.kept[when], row);
}

void proof_days_transaction(struct proof *proof, const struct transaction *row)
{
	struct dealer_day day;
	struct proof_days *days =
		dealer_day_moves(row) ? days_of(proof, row->casino_id, row->time_ms, &day) : NULL;

	if (!days)
		return;
	dealer_day_movement(&day, row);
	add_day(days->made, &day);
}

void proof_days_bet(struct proof *proof, const struct bet *row, uint64_t made[PROOF_DAY_PARTS])
{
	struct dealer_day day;

	if (!days_of(proof, row->casino_id, row->accepted_ms, &day))
		return;
	dealer_day_bet(&day, row, 1);
	add_day(made, &day);
}

void proof_days_round(struct proof *proof, const struct round *row,
	const uint64_t made[PROOF_DAY_PARTS])
{
	struct proof_dealer *dealer = proof_find_dealer(proof, row->casino_id);
	struct dealer_day day;

	if (!dealer)
		return;
	for (unsigned int part = 0; part < PROOF_DAY_PARTS; part++)
		dealer->days.made[part] += made[part];
	if (row->mode != WALLET_SEAMLESS || row->state != ROUND_SETTLED || !row->transaction_id ||
		!days_of(proof, row->casino_id, row->settled_ms, &day))
		return;
	dealer_day_payout(&day, row->payout_amount);
	add_day(dealer->days.made, &day);
}

void proof_days_correction(struct proof *proof, const struct round *round,
	const struct correction *row)
{
	struct dealer_day day;
	struct proof_days *days = round->mode == WALLET_SEAMLESS
		? days_of(proof, row->casino_id, row->time_ms, &day)
		: NULL;

	if (!days)
		return;
	dealer_day_correction(&day, row);
	add_day(days->made, &day);
}

void proof_days_callback(struct proof *proof, const struct callback *row)
{
	struct dealer_day day;
	struct proof_days *days = days_of(proof, row->casino_id, row->created_ms, &day);

	if (!days)
		return;
	dealer_day_callback(&day, row, 1);
	add_day(days->made, &day);
}

bool proof_days_differ(const struct proof_dealer *dealer, unsigned int part)
{
	const struct proof_days *days = &dealer->days;

	return days->known && days->kept[0][part] == days->kept[1][part] &&
		days->made[part] != days->kept[1][part];
}
