#include "ledger/rows/player_stats.h"

#include "ledger/rows/keys.h"

static struct lifetime lifetime_named(const char *player_id)
{
	struct lifetime key;

	memset(&key, 0, sizeof(key));
	text_copy(key.player_id, sizeof(key.player_id), player_id);
	return key;
}

void player_stats_want(struct ws *ws, const char *player_id, uint32_t day)
{
	struct lifetime lifetime = lifetime_named(player_id);
	struct day key = day_named(player_id, day);

	ws_want(ws, RECORD_LIFETIME, &lifetime);
	ws_want(ws, RECORD_DAY, &key);
}

void player_stats_add(struct ws *ws, const char *player_id, uint32_t number,
	const struct statistics_change *change)
{
	struct lifetime lifetime = lifetime_named(player_id);
	struct day day = day_named(player_id, number);
	const struct lifetime *stored_lifetime = ws_get(ws, RECORD_LIFETIME, &lifetime);
	const struct day *stored_day = ws_get(ws, RECORD_DAY, &day);

	if (stored_lifetime)
		lifetime = *stored_lifetime;
	if (stored_day)
		day = *stored_day;
	statistics_add(&lifetime.sums, change);
	lifetime.staked += change->staked;
	statistics_add(&day.sums, change);
	ws_put(ws, RECORD_LIFETIME, &lifetime);
	ws_put(ws, RECORD_DAY, &day);
}

void player_stats_acceptance(struct ws *ws, const struct bet *bet)
{
	const struct statistics_change change = statistics_of_acceptance(bet);

	player_stats_add(ws, bet->player_id, bet->day, &change);
}

void player_stats_cancellation(struct ws *ws, const struct bet *bet)
{
	const struct statistics_change change = statistics_of_cancellation(bet);

	player_stats_add(ws, bet->player_id, bet->day, &change);
}

void player_stats_settlement(struct ws *ws, const struct round *round,
	const struct bet *const *bets, uint32_t count)
{
	const struct statistics_change payout =
		statistics_of_payout(round->payout_amount, round->result);

	for (uint32_t i = 0; i < count; i++) {
		const struct statistics_change change =
			statistics_of_settlement(bets[i], round->result);

		player_stats_add(ws, bets[i]->player_id, bets[i]->day, &change);
	}
	if (count)
		player_stats_add(ws, round->player_id, bets[0]->day, &payout);
}

void player_stats_correction(struct ws *ws, const struct bet *bet, enum round_result before,
	enum round_result after)
{
	const struct statistics_change old = statistics_of_settlement(bet, before);
	const struct statistics_change now = statistics_of_settlement(bet, after);
	const struct statistics_change change = {
		.bet_count = now.bet_count - old.bet_count,
		.turnover = now.turnover - old.turnover,
		.profit_loss = now.profit_loss - old.profit_loss,
	};

	player_stats_add(ws, bet->player_id, bet->day, &change);
}

void player_stats_want_report(struct ws *ws, const char *player_id, uint32_t today, bool days)
{
	struct lifetime lifetime = lifetime_named(player_id);

	ws_want(ws, RECORD_LIFETIME, &lifetime);
	for (uint32_t i = 0; days && i < STATISTICS_DAYS && i < today; i++) {
		struct day key = day_named(player_id, today - i);

		ws_want(ws, RECORD_DAY, &key);
	}
}

struct statistics player_stats_read(struct ws *ws, const char *player_id, uint32_t day)
{
	const struct statistics none = {.bet_count = 0};
	struct lifetime lifetime_key = lifetime_named(player_id);
	struct day day_key = day_named(player_id, day);
	const struct lifetime *lifetime;
	const struct day *row;

	if (day) {
		row = ws_get(ws, RECORD_DAY, &day_key);
		return row ? row->sums : none;
	}
	lifetime = ws_get(ws, RECORD_LIFETIME, &lifetime_key);
	return lifetime ? lifetime->sums : none;
}

void player_stats_want_staked(struct ws *ws, const char *player_id)
{
	struct lifetime lifetime = lifetime_named(player_id);

	ws_want(ws, RECORD_LIFETIME, &lifetime);
}

money_t player_stats_staked(struct ws *ws, const char *player_id)
{
	struct lifetime key = lifetime_named(player_id);
	const struct lifetime *lifetime;

	/* A player that was created in this batch has no bets. */
	if (!ws_loaded(ws, RECORD_LIFETIME, &key))
		return 0;
	lifetime = ws_get(ws, RECORD_LIFETIME, &key);
	return lifetime ? lifetime->staked : 0;
}
