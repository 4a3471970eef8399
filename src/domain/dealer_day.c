#include "domain/dealer_day.h"

#include "domain/statistics.h"
#include "domain/wager.h"

#include <string.h>

static const struct field day_sum_fields[] = {
	FIELD(FIELD_U64, day_sum, count),
	FIELD(FIELD_SUM, day_sum, amount),
	FIELD_END,
};

#define DAY_SUM(member) FIELD_SUB(dealer_day, member, day_sum, day_sum_fields)
const struct field dealer_day_fields[] = {
	FIELD(FIELD_STR, dealer_day, casino_id),
	FIELD(FIELD_U32, dealer_day, number),
	DAY_SUM(transferred_in),
	DAY_SUM(transferred_out),
	DAY_SUM(adjusted),
	DAY_SUM(cancelled),
	DAY_SUM(paid),
	DAY_SUM(corrected),
	DAY_SUM(pending),
	DAY_SUM(accepted),
	DAY_SUM(rejected),
	DAY_SUM(refunding),
	DAY_SUM(refunded),
	DAY_SUM(settled),
	FIELD(FIELD_U64, dealer_day, callbacks_waiting),
	FIELD(FIELD_U64, dealer_day, callbacks_unknown),
	FIELD(FIELD_U64, dealer_day, callbacks_success),
	FIELD(FIELD_U64, dealer_day, callbacks_refused),
	FIELD(FIELD_U64, dealer_day, callbacks_not_sent),
	FIELD_END,
};

bool dealer_day_number(const struct dealer *dealer, int64_t time_ms, uint32_t *number)
{
	*number = statistics_day(time_ms, dealer->utc_offset_min);
	return time_ms >= dealer->days_from_ms;
}

uint32_t dealer_day_first(const struct dealer *dealer)
{
	if (!dealer->days_from_ms)
		return 0;
	/* The day of the begin itself may have earlier rows. */
	return statistics_day(dealer->days_from_ms - 1, dealer->utc_offset_min) + 1;
}

static void add_sum(struct day_sum *sum, sum_t amount, int sign)
{
	sum->count += (uint64_t)(int64_t)sign;
	sum->amount += sign < 0 ? -amount : amount;
}

/* Where a movement counts; 0: it is a stake, which counts as a bet. */
static const size_t movement_sums[ENTRY_KIND_COUNT] = {
	[ENTRY_TRANSFER_IN] = offsetof(struct dealer_day, transferred_in),
	[ENTRY_TRANSFER_OUT] = offsetof(struct dealer_day, transferred_out),
	[ENTRY_ADJUST] = offsetof(struct dealer_day, adjusted),
	[ENTRY_PAYOUT] = offsetof(struct dealer_day, paid),
	[ENTRY_CORRECTION] = offsetof(struct dealer_day, corrected),
	[ENTRY_BET_CANCEL] = offsetof(struct dealer_day, cancelled),
};

bool dealer_day_moves(const struct transaction *row)
{
	return row->entry_seq && movement_sums[row->kind];
}

void dealer_day_movement(struct dealer_day *day, const struct transaction *row)
{
	struct day_sum *sum = (struct day_sum *)(void *)((char *)day + movement_sums[row->kind]);

	if (dealer_day_moves(row))
		add_sum(sum, row->kind == ENTRY_TRANSFER_OUT ? -row->amount : row->amount, 1);
}

void dealer_day_payout(struct dealer_day *day, money_t payout_amount)
{
	add_sum(&day->paid, payout_amount, 1);
}

void dealer_day_correction(struct dealer_day *day, const struct correction *row)
{
	const money_t delta = row->payout_amount - row->previous_payout;

	add_sum(&day->corrected, delta > 0 ? correction_paid(row) : delta, 1);
}

static const size_t bet_sums[BET_STATE_COUNT] = {
	[BET_PENDING] = offsetof(struct dealer_day, pending),
	[BET_ACCEPTED] = offsetof(struct dealer_day, accepted),
	[BET_REJECTED] = offsetof(struct dealer_day, rejected),
	[BET_REFUNDING] = offsetof(struct dealer_day, refunding),
	[BET_REFUNDED] = offsetof(struct dealer_day, refunded),
	[BET_SETTLED] = offsetof(struct dealer_day, settled),
};

const struct day_sum *dealer_day_bets(const struct dealer_day *day, enum bet_state state)
{
	return (const struct day_sum *)(const void *)((const char *)day + bet_sums[state]);
}

void dealer_day_bet(struct dealer_day *day, const struct bet *row, int sign)
{
	struct day_sum *sum = (struct day_sum *)(void *)((char *)day + bet_sums[row->state]);

	add_sum(sum, row->bet_amount, sign);
}

void dealer_day_callback(struct dealer_day *day, const struct callback *row, int sign)
{
	uint64_t *const classes[CALLBACK_CLASS_COUNT] = {
		[CALLBACK_UNKNOWN] = &day->callbacks_unknown,
		[CALLBACK_SUCCESS] = &day->callbacks_success,
		[CALLBACK_REFUSED] = &day->callbacks_refused,
		[CALLBACK_NOT_SENT] = &day->callbacks_not_sent,
	};
	const uint32_t ended = row->attempts - (row->state == CALLBACK_SENDING);
	uint64_t *count =
		row->attempts && ended ? classes[row->last_class] : &day->callbacks_waiting;

	*count += (uint64_t)(int64_t)sign;
}

static void add_up(struct day_sum *sum, const struct day_sum *more)
{
	sum->count += more->count;
	sum->amount += more->amount;
}

void dealer_day_report(const struct dealer_day *day, struct day_report *report)
{
	memset(report, 0, sizeof(*report));
	for (unsigned int state = 0; state < BET_STATE_COUNT; state++)
		add_up(&report->bets, dealer_day_bets(day, state));
	add_up(&report->staked, &day->pending);
	add_up(&report->staked, &day->accepted);
	add_up(&report->staked, &day->settled);
	add_up(&report->refunded, &day->refunding);
	add_up(&report->refunded, &day->refunded);
	report->paid = day->paid.amount + day->corrected.amount;
	report->profit = day->accepted.amount + day->settled.amount - report->paid;
	report->answered = day->callbacks_unknown + day->callbacks_success +
		day->callbacks_refused + day->callbacks_not_sent;
	report->callbacks = report->answered + day->callbacks_waiting;
}

/* The odd weight of a figure of a day. */
static uint64_t weight_of(uint32_t number, unsigned int figure)
{
	uint64_t mixed = ((uint64_t)number << 8 | figure) * UINT64_C(0x9e3779b97f4a7c15);

	mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	return (mixed ^ mixed >> 27) | 1;
}

uint64_t dealer_day_weigh(const struct dealer_day *day)
{
	unsigned int figure = 0;
	uint64_t weighed = 0;

	for (const struct field *field = dealer_day_fields + 2; field->name; field++) {
		const char *member = (const char *)day + field->offset;
		struct day_sum sum = {.count = 0};

		memcpy(&sum, member, field->size);
		weighed += weight_of(day->number, figure++) * sum.count;
		weighed += weight_of(day->number, figure++) * (uint64_t)sum.amount;
	}
	return weighed;
}
