#include "domain/statistics.h"

#include <time.h>

#define MINUTE_MS INT64_C(60000)

uint32_t statistics_day(int64_t time_ms, int32_t utc_offset_min)
{
	int64_t local_ms = time_ms + utc_offset_min * MINUTE_MS;

	return local_ms < 0 ? 0 : (uint32_t)(local_ms / STATISTICS_DAY_MS);
}

int64_t statistics_day_begin(uint32_t day, int32_t utc_offset_min)
{
	return (int64_t)day * STATISTICS_DAY_MS - utc_offset_min * MINUTE_MS;
}

void statistics_date(uint32_t day, char date[DATE_SIZE])
{
	time_t time = (time_t)day * (STATISTICS_DAY_MS / 1000);
	struct tm parts;

	if (!gmtime_r(&time, &parts) || !strftime(date, DATE_SIZE, "%Y-%m-%d", &parts))
		date[0] = '\0';
}

struct statistics_change statistics_of_acceptance(const struct bet *bet)
{
	return (struct statistics_change){
		.bet_count = bet->addition ? 0 : 1,
		.staked = bet->mode == WALLET_TRANSFER ? bet->bet_amount : 0,
	};
}

struct statistics_change statistics_of_cancellation(const struct bet *bet)
{
	const struct statistics_change accepted = statistics_of_acceptance(bet);

	return (struct statistics_change){
		.bet_count = -accepted.bet_count,
		.staked = -accepted.staked,
	};
}

struct statistics_change statistics_of_settlement(const struct bet *bet, enum round_result result)
{
	const money_t staked = bet->mode == WALLET_TRANSFER ? -bet->bet_amount : 0;

	if (result == RESULT_REFUND)
		return (struct statistics_change){
			.bet_count = bet->addition ? 0 : -1,
			.staked = staked,
		};
	return (struct statistics_change){
		.turnover = bet->bet_amount,
		.profit_loss = -bet->bet_amount,
		.staked = staked,
	};
}

struct statistics_change statistics_of_payout(money_t payout_amount, enum round_result result)
{
	return (struct statistics_change){
		.profit_loss = result == RESULT_REFUND ? 0 : payout_amount,
	};
}

void statistics_add(struct statistics *sums, const struct statistics_change *change)
{
	sums->bet_count += (uint64_t)(int64_t)change->bet_count;
	sums->turnover += change->turnover;
	sums->profit_loss += change->profit_loss;
}
