#include "proof/statistics.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void proof_statistics_init(struct proof_statistics *proof,
	void (*report)(void *closure, const char *problem), void *closure)
{
	memset(proof, 0, sizeof(*proof));
	proof->report = report;
	proof->closure = closure;
}

void proof_statistics_free(struct proof_statistics *proof)
{
	free(proof->days);
	proof->days = NULL;
	proof->day_count = proof->day_room = 0;
}

static void report_statistics(struct proof_statistics *proof, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static void report_statistics(struct proof_statistics *proof, const char *format, ...)
{
	char line[512];
	va_list arguments;

	proof->differences++;
	if (!proof->report)
		return;
	va_start(arguments, format);
	vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	proof->report(proof->closure, line);
}

void proof_statistics_begin(struct proof_statistics *proof, const char *player_id)
{
	text_copy(proof->player_id, sizeof(proof->player_id), player_id);
	memset(&proof->lifetime, 0, sizeof(proof->lifetime));
	proof->staked = 0;
	proof->day_count = 0;
	proof->reading = 0;
	proof->changed_bets = 0;
	proof->changed_money = 0;
	proof->no_memory = false;
	proof->differences = 0;
}

void proof_statistics_again(struct proof_statistics *proof)
{
	proof->reading = 1;
}

/*
 * Returns the day's sums, zeros if it is new. Returns NULL if memory is exhausted or the day is
 * invalid.
 */
static struct proof_sums *day_take(struct proof_statistics *proof, uint32_t day)
{
	struct proof_sums *days = proof->days;
	uint32_t low = 0, high = proof->day_count, room;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (days[middle].day < day)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < proof->day_count && days[low].day == day)
		return &days[low];
	if (day >= PROOF_DAYS_MAX) {
		report_statistics(proof, "player %s has the day %" PRIu32 ", which cannot be",
			proof->player_id, day);
		return NULL;
	}
	if (proof->day_count == proof->day_room) {
		room = proof->day_room ? 2 * proof->day_room : 64;
		days = reallocarray(days, room, sizeof(*days));
		if (!days) {
			proof->no_memory = true;
			return NULL;
		}
		proof->days = days;
		proof->day_room = room;
	}
	memmove(&days[low + 1], &days[low], (proof->day_count - low) * sizeof(*days));
	days[low] = (struct proof_sums){.day = day};
	proof->day_count++;
	return &days[low];
}

/* Adds @change as the ledger does: to the lifetime and to the day. */
static void add_change(struct proof_statistics *proof, uint32_t number,
	const struct statistics_change *change)
{
	struct proof_sums *day = day_take(proof, number);
	struct proof_sums *const booked[] = {&proof->lifetime, day};
	/* A stake is no profit; the remaining part is paid. */
	sum_t paid = (sum_t)change->profit_loss + change->turnover;

	for (size_t i = 0; day && i < 2; i++) {
		struct proof_growth *made = &booked[i]->made[proof->reading];

		if (change->bet_count > 0)
			made->accepted++;
		if (change->bet_count < 0)
			made->refunded++;
		if (change->staked > 0)
			made->staked += change->staked;
		else
			made->returned -= change->staked;
		made->turnover += change->turnover;
		made->paid += paid;
	}
}

void proof_statistics_round(struct proof_statistics *proof, const struct round *round)
{
	proof->settled = round && round->state == ROUND_SETTLED;
	proof->waits = proof->paid = false;
	proof->result = round ? round->current_result : RESULT_NONE;
	proof->payout_amount = round ? round->current_payout : 0;
}

void proof_statistics_bet(struct proof_statistics *proof, const struct bet *bet)
{
	struct statistics_change change;

	proof->waits |= bet->state == BET_PENDING || bet->state == BET_ACCEPTED;
	if (bet->state != BET_ACCEPTED && bet->state != BET_SETTLED && !bet->cancelled)
		return;
	change = statistics_of_acceptance(bet);
	add_change(proof, bet->day, &change);
	/* It was accepted first, perhaps when the other reading saw it. */
	if (bet->cancelled) {
		change = statistics_of_cancellation(bet);
		add_change(proof, bet->day, &change);
	}
	/* One of the two was read before the round was settled. */
	if (bet->state != BET_SETTLED || !proof->settled)
		return;
	change = statistics_of_settlement(bet, proof->result);
	add_change(proof, bet->day, &change);
	/* If the first one was read too early, its day is still unknown. */
	if (proof->paid || proof->waits)
		return;
	proof->paid = true;
	change = statistics_of_payout(proof->payout_amount, proof->result);
	add_change(proof, bet->day, &change);
}

void proof_statistics_correction(struct proof_statistics *proof, const struct correction *row)
{
	/* A refund counts no bet, and its payout is the sum of their stakes. */
	if ((row->previous_result == RESULT_REFUND) != (row->result == RESULT_REFUND))
		proof->changed_bets += ROUND_BETS_MAX;
	proof->changed_money += (sum_t)row->previous_payout + row->payout_amount;
}

void proof_statistics_lifetime(struct proof_statistics *proof, const struct lifetime *row)
{
	proof->lifetime.kept = row->sums;
	proof->staked = row->staked;
}

void proof_statistics_day(struct proof_statistics *proof, const struct day *row)
{
	struct proof_sums *day = day_take(proof, row->number);

	if (day)
		day->kept = row->sums;
}

static void report_sum(struct proof_statistics *proof, const char *of, const char *what,
	const char *kept, const char *least, const char *most)
{
	bool exact = strcmp(least, most) == 0;

	report_statistics(proof, "player %s%s: %s is kept as %s, the bets make %s%s%s",
		proof->player_id, of, what, kept, least, exact ? "" : " to ", exact ? "" : most);
}

static void compare_count(struct proof_statistics *proof, const char *of, int64_t kept,
	int64_t least, int64_t most)
{
	const int64_t changed = (int64_t)proof->changed_bets;
	const int64_t numbers[] = {kept, (least < most ? least : most) - changed,
		(least < most ? most : least) + changed};
	char texts[3][24];

	least = numbers[1];
	most = numbers[2];
	if (kept >= least && kept <= most)
		return;
	for (size_t i = 0; i < 3; i++)
		snprintf(texts[i], sizeof(texts[i]), "%" PRId64, numbers[i]);
	report_sum(proof, of, "bet_count", texts[0], texts[1], texts[2]);
}

static void compare_money(struct proof_statistics *proof, const char *of, const char *what,
	sum_t kept, sum_t least, sum_t most)
{
	const sum_t numbers[] = {kept, (least < most ? least : most) - proof->changed_money,
		(least < most ? most : least) + proof->changed_money};
	char texts[3][SUM_TEXT_MAX];

	least = numbers[1];
	most = numbers[2];
	if (kept >= least && kept <= most)
		return;
	for (size_t i = 0; i < 3; i++)
		sum_format(numbers[i], 2, texts[i]);
	report_sum(proof, of, what, texts[0], texts[1], texts[2]);
}

/*
 * Compares the stored sums with those computed from the bets before and after. @of: "" or the date.
 */
static void compare_sums(struct proof_statistics *proof, const char *of,
	const struct proof_sums *sums)
{
	const struct proof_growth *before = &sums->made[0], *behind = &sums->made[proof->reading];

	compare_count(proof, of, (int64_t)sums->kept.bet_count,
		(int64_t)(before->accepted - behind->refunded),
		(int64_t)(behind->accepted - before->refunded));
	compare_money(proof, of, "turnover", sums->kept.turnover, before->turnover,
		behind->turnover);
	compare_money(proof, of, "profit_loss", sums->kept.profit_loss,
		before->paid - behind->turnover, behind->paid - before->turnover);
}

bool proof_statistics_end(struct proof_statistics *proof)
{
	const struct proof_growth *before = &proof->lifetime.made[0],
				  *behind = &proof->lifetime.made[proof->reading];
	char date[DATE_SIZE], of[DATE_SIZE + 8];

	compare_sums(proof, "", &proof->lifetime);
	compare_money(proof, "", "staked", proof->staked, before->staked - behind->returned,
		behind->staked - before->returned);
	for (uint32_t i = 0; i < proof->day_count; i++) {
		statistics_date(proof->days[i].day, date);
		snprintf(of, sizeof(of), " on %s", date);
		compare_sums(proof, of, &proof->days[i]);
	}
	return !proof->no_memory;
}
