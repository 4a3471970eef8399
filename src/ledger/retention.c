#include "ledger/retention.h"

#include "base/log.h"
#include "base/pack.h"
#include "domain/delivery.h"
#include "ledger/rows/counters.h"
#include "ledger/rows/keys.h"
#include "ledger/rows/moves.h"
#include "store/store.h"

#define DAY_MS    INT64_C(86400000)
#define NS_PER_MS 1000000
/*
 * A loop that waits WAIT_MS without work is idle. If it is never idle, a step runs every BUSY_MS.
 */
#define WAIT_MS 5
#define BUSY_MS 1000
/* Limits of one step: transactions visited, bets and results among them, and attempt rows. */
#define LOOKED_MAX   1024
#define PLAYED_MAX   32
#define ATTEMPTS_MAX 1024

struct step {
	struct retention *retention;
	struct ws *ws;
	int64_t horizon_ms; /* later ends are kept */
	int64_t future_ms;  /* later rows were made while the clock was wrong */
	unsigned int looked;
	unsigned int played;
	uint64_t last; /* transaction looked at */
	bool over;     /* the following rows are too young, or there are none */
	unsigned int attempts;
	struct transaction rows[PLAYED_MAX]; /* bets and results */
};

void retention_init(struct retention *retention, struct store *store, struct ws *ws,
	const bool *storage_low)
{
	memset(retention, 0, sizeof(*retention));
	retention->store = store;
	retention->ws = ws;
	retention->storage_low = storage_low;
}

static bool is_due(const struct retention *retention, int64_t boot_ms)
{
	return retention->days && retention->store && !*retention->storage_low &&
		boot_ms >= retention->rest_until_ms;
}

int retention_wait_ms(const struct retention *retention, int64_t boot_ms, int most)
{
	return is_due(retention, boot_ms) && most > WAIT_MS ? WAIT_MS : most;
}

/* Returns true if retention deletes rows of @record or data that they refer to. */
static bool is_dropped_from(enum record record)
{
	static const enum record kept[] = {RECORD_COUNTER, RECORD_DEALER, RECORD_CLIENT,
		RECORD_TOTAL, RECORD_PLAYER, RECORD_PLAYER_NAME, RECORD_REPLAY, RECORD_DEALER_DAY,
		RECORD_DESK_OPERATOR};

	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
		if (kept[i] == record)
			return false;
	}
	return true;
}

void retention_read(struct retention *retention, enum record record, int64_t boot_ms)
{
	if (is_dropped_from(record) && retention->rest_until_ms < boot_ms + RETENTION_READER_MS)
		retention->rest_until_ms = boot_ms + RETENTION_READER_MS;
}

/* The next pass begins with the first transaction that is to be visited again. */
static void visit_again(struct retention *retention, uint64_t transaction_id)
{
	if (!retention->again || transaction_id < retention->again)
		retention->again = transaction_id;
}

static bool look_at_transaction(void *context, struct bytes key, const void *arg)
{
	struct step *step = context;
	const struct transaction *row = arg;

	(void)key;
	/* A row with a future timestamp does not end the walk; it is visited again. */
	if (row->time_ms > step->horizon_ms - RETENTION_SLACK_MS && row->time_ms <= step->future_ms)
		return false;
	if (step->looked == LOOKED_MAX || step->played == PLAYED_MAX) {
		step->over = false;
		return false;
	}
	step->looked++;
	step->last = row->transaction_id;
	if (moves_find(step->retention->moves, row->casino_id))
		visit_again(step->retention, row->transaction_id);
	else if (row->game_id[0])
		step->rows[step->played++] = *row;
	return true;
}

/* Finds the next transactions. Returns false if the store failed. */
static bool find_transactions(struct step *step)
{
	struct transaction key;
	struct store_range range = {.record = RECORD_TRANSACTION};
	struct store *store = step->retention->store;
	struct buffer after;
	enum status status;

	memset(&key, 0, sizeof(key));
	key.transaction_id = step->retention->at;
	buffer_init(&after, 64);
	pack_key(&after, transaction_fields, 1, &key);
	range.after = (struct bytes){after.data, (uint32_t)after.len};
	step->over = true;
	status =
		after.failed ? STATUS_NOMEM : store->scan(store, &range, look_at_transaction, step);
	buffer_free(&after);
	return status == STATUS_OK;
}

static bool load_rows(struct step *step)
{
	return step->retention->store->load(step->retention->store, step->ws) == STATUS_OK &&
		!ws_faulty(step->ws);
}

static const struct round *round_of(struct step *step, const struct transaction *row)
{
	struct round key = round_named(row->player_id, row->game_id);

	return ws_get(step->ws, RECORD_ROUND, &key);
}

/* Returns the bet of the transaction; NULL for a result or a correction. */
static const struct bet *bet_of(struct step *step, const struct transaction *row)
{
	struct bet key = bet_named(row->player_id, row->game_id, row->bet_number);

	return row->bet_number && row->kind != ENTRY_CORRECTION ? ws_get(step->ws, RECORD_BET, &key)
								: NULL;
}

/* Returns the correction of the transaction; NULL for a bet or a result. */
static const struct correction *correction_of(struct step *step, const struct transaction *row)
{
	const struct correction key =
		correction_named(row->player_id, row->game_id, row->bet_number);

	return row->kind == ENTRY_CORRECTION ? ws_get(step->ws, RECORD_CORRECTION, &key) : NULL;
}

static const struct callback *callback_of(struct step *step, uint64_t event)
{
	const struct callback key = callback_named(event);

	return event ? ws_get(step->ws, RECORD_CALLBACK, &key) : NULL;
}

static void want_rounds(struct step *step)
{
	for (unsigned int i = 0; i < step->played; i++) {
		const struct transaction *row = &step->rows[i];
		struct round round = round_named(row->player_id, row->game_id);
		struct bet bet = bet_named(row->player_id, row->game_id, row->bet_number);
		struct correction correction =
			correction_named(row->player_id, row->game_id, row->bet_number);

		ws_want(step->ws, RECORD_ROUND, &round);
		if (row->kind == ENTRY_CORRECTION)
			ws_want(step->ws, RECORD_CORRECTION, &correction);
		else if (row->bet_number)
			ws_want(step->ws, RECORD_BET, &bet);
	}
}

static void want_callback(struct step *step, uint64_t event)
{
	const struct callback key = callback_named(event);

	if (event)
		ws_want(step->ws, RECORD_CALLBACK, &key);
}

static void want_callbacks(struct step *step)
{
	for (unsigned int i = 0; i < step->played; i++) {
		const struct round *round = round_of(step, &step->rows[i]);
		const struct bet *bet = bet_of(step, &step->rows[i]);
		const struct correction *correction = correction_of(step, &step->rows[i]);

		if (correction)
			want_callback(step, correction->event);
		if (bet) {
			want_callback(step, bet->event);
			want_callback(step, bet->refund_event);
		}
		if (round)
			want_callback(step, round->event);
	}
}

/* ---- what is old enough */

/*
 * Returns true if the callback was delivered long enough ago, or if there is no event (transfer
 * wallet).
 */
static bool is_old(struct step *step, uint64_t event)
{
	const struct callback *callback = callback_of(step, event);

	return !event ||
		(callback && callback->state == CALLBACK_DELIVERED &&
			callback->ended_ms <= step->horizon_ms);
}

/* Returns true for an accepted bet that has ended: it is settled, or its stake was returned. */
static bool bet_has_ended(const struct bet *bet)
{
	return bet->state == BET_SETTLED || (bet->cancelled && bet->state == BET_REFUNDED);
}

/*
 * The data of the game server is deleted with the body built from it, so that `check` can compare.
 */
static bool bet_goes(struct step *step, const struct bet *bet)
{
	return bet && !bet->dropped && bet_has_ended(bet) && bet->changed_ms <= step->horizon_ms &&
		is_old(step, bet->event);
}

static bool refund_goes(struct step *step, const struct bet *bet)
{
	return bet && !bet->refund_dropped && bet->refund_event && is_old(step, bet->refund_event);
}

static bool round_goes(struct step *step, const struct round *round)
{
	return round && !round->dropped && round->state == ROUND_SETTLED &&
		round->settled_ms <= step->horizon_ms && is_old(step, round->event);
}

static bool correction_goes(struct step *step, const struct correction *row)
{
	return row && !row->dropped && row->time_ms <= step->horizon_ms && is_old(step, row->event);
}

/*
 * Returns true if the callback ended long ago and was not delivered: its body and attempts are
 * kept, and the dealer's answers are deleted.
 */
static bool answers_go(struct step *step, uint64_t event)
{
	const struct callback *callback = callback_of(step, event);

	return callback && callback_has_ended(callback->state) &&
		callback->state != CALLBACK_DELIVERED && callback->ended_ms <= step->horizon_ms;
}

/* Returns true if the callback may become old later. */
static bool may_age(struct step *step, uint64_t event)
{
	const struct callback *callback = callback_of(step, event);

	return callback &&
		(!callback_has_ended(callback->state) || callback->ended_ms > step->horizon_ms);
}

/* Returns true if some of its data is to be deleted later. */
static bool is_late(struct step *step, const struct bet *bet, const struct round *round,
	const struct correction *correction)
{
	if (correction &&
		(correction->time_ms > step->horizon_ms || may_age(step, correction->event)))
		return true;
	if (bet &&
		(bet->state == BET_PENDING || bet->state == BET_ACCEPTED ||
			bet->state == BET_REFUNDING ||
			(bet_has_ended(bet) && bet->changed_ms > step->horizon_ms) ||
			may_age(step, bet->event) || may_age(step, bet->refund_event)))
		return true;
	return round && round->state == ROUND_SETTLED &&
		(round->settled_ms > step->horizon_ms || may_age(step, round->event));
}

/* ---- what hangs on a callback */

/* Applied to each row that belongs to a callback. */
typedef void use_row(struct ws *ws, enum record record, const void *key);

static void use_answers(struct step *step, const struct callback *callback, use_row *use)
{
	struct answer answer;

	memset(&answer, 0, sizeof(answer));
	answer.event = callback->event;
	for (uint32_t number = 1; number <= callback->attempts; number++) {
		answer.number = number;
		/* An attempt that was a success has no answer, and only the last one can be it. */
		if (number < callback->attempts || callback->last_class != CALLBACK_SUCCESS)
			use(step->ws, RECORD_ANSWER, &answer);
	}
	step->attempts += callback->attempts;
}

static void use_rows(struct step *step, uint64_t event, use_row *use)
{
	const struct callback *callback = callback_of(step, event);
	struct callback_body body;
	struct attempt attempt;

	if (!callback)
		return;
	memset(&body, 0, sizeof(body));
	memset(&attempt, 0, sizeof(attempt));
	body.event = attempt.event = event;
	use(step->ws, RECORD_CALLBACK_BODY, &body);
	for (uint32_t number = 1; number <= callback->attempts; number++) {
		attempt.number = number;
		use(step->ws, RECORD_ATTEMPT, &attempt);
	}
	use_answers(step, callback, use);
}

/* Applies @use to the answers of what ended without a delivery: of the bet, the round, and the correction. */
static void use_left_answers(struct step *step, const struct bet *bet, const struct round *round,
	const struct correction *correction, use_row *use)
{
	const uint64_t events[] = {bet ? bet->event : 0, bet ? bet->refund_event : 0,
		round ? round->event : 0, correction ? correction->event : 0};

	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		if (events[i] && answers_go(step, events[i]))
			use_answers(step, callback_of(step, events[i]), use);
	}
}

/* Declares bodies, attempts and answers. If they are too many for one step, the rest waits for the next. */
static void want_bodies(struct step *step)
{
	for (unsigned int i = 0; i < step->played; i++) {
		const struct round *round = round_of(step, &step->rows[i]);
		const struct bet *bet = bet_of(step, &step->rows[i]);
		const struct correction *correction = correction_of(step, &step->rows[i]);

		if (i && step->attempts > ATTEMPTS_MAX) {
			step->played = i;
			step->last = step->rows[i - 1].transaction_id;
			step->over = false;
			return;
		}
		if (bet_goes(step, bet))
			use_rows(step, bet->event, ws_want);
		if (refund_goes(step, bet))
			use_rows(step, bet->refund_event, ws_want);
		if (round_goes(step, round))
			use_rows(step, round->event, ws_want);
		if (correction_goes(step, correction))
			use_rows(step, correction->event, ws_want);
		use_left_answers(step, bet, round, correction, ws_want);
	}
}

static void drop_of_bet(struct step *step, const struct bet *stored)
{
	bool whole = bet_goes(step, stored), refund = refund_goes(step, stored);
	struct bet bet;

	if (!whole && !refund)
		return;
	bet = *stored;
	if (whole) {
		use_rows(step, bet.event, ws_drop);
		bet.user_bet = (struct bytes){NULL, 0};
		bet.dropped = true;
	}
	if (refund) {
		use_rows(step, bet.refund_event, ws_drop);
		bet.refund_dropped = true;
	}
	ws_put(step->ws, RECORD_BET, &bet);
	step->retention->dropped += (uint64_t)whole + refund;
}

static void drop_of_round(struct step *step, const struct round *stored)
{
	const struct bytes none = {NULL, 0};
	struct round round;

	if (!round_goes(step, stored))
		return;
	round = *stored;
	use_rows(step, round.event, ws_drop);
	round.user_bet = round.game_result = round.user_bet_result = none;
	round.dropped = true;
	ws_put(step->ws, RECORD_ROUND, &round);
	step->retention->dropped++;
}

static void drop_of_correction(struct step *step, const struct correction *stored)
{
	struct correction row;

	if (!correction_goes(step, stored))
		return;
	row = *stored;
	use_rows(step, row.event, ws_drop);
	row.game_result = row.user_bet_result = (struct bytes){NULL, 0};
	row.dropped = true;
	ws_put(step->ws, RECORD_CORRECTION, &row);
	step->retention->dropped++;
}

static void drop_bodies(struct step *step)
{
	struct retention *retention = step->retention;

	for (unsigned int i = 0; i < step->played; i++) {
		const struct round *round = round_of(step, &step->rows[i]);
		const struct bet *bet = bet_of(step, &step->rows[i]);
		const struct correction *correction = correction_of(step, &step->rows[i]);

		if (is_late(step, bet, round, correction))
			visit_again(retention, step->rows[i].transaction_id);
		drop_of_bet(step, bet);
		drop_of_round(step, round);
		drop_of_correction(step, correction);
		use_left_answers(step, bet, round, correction, ws_drop);
	}
}

/* ---- a step */

static void rest_until_next(struct retention *retention, const struct moment *now)
{
	int64_t pause_ms = retention->spent_ns * RETENTION_REST_FACTOR / NS_PER_MS;

	if (pause_ms < retention->pause_ms)
		pause_ms = retention->pause_ms;
	retention->begun = false;
	retention->rest_until_ms = now->boot_ms + pause_ms;
}

/* Returns true if the wall clock was set since the last step, or if this is the first step. */
static bool clock_is_new(struct retention *retention, const struct moment *now)
{
	int64_t clock_ms = now->wall_ms - now->boot_ms;
	int64_t moved_ms = clock_ms - retention->clock_ms;
	bool is_new = !retention->clock_seen || moved_ms > RETENTION_CLOCK_MS ||
		moved_ms < -RETENTION_CLOCK_MS;

	retention->clock_seen = true;
	retention->clock_ms = clock_ms;
	return is_new;
}

/* Saves the start of the next pass, together with deletions and at the end of the pass. */
static void write_counter(struct step *step)
{
	struct retention *retention = step->retention;
	struct counter counter = {.value = retention->again ? retention->again - 1 : step->last};

	text_copy(counter.name, sizeof(counter.name), RETENTION_COUNTER);
	if ((step->ws->dirty || step->over) &&
		counter_read(step->ws, RETENTION_COUNTER) != counter.value)
		ws_put(step->ws, RECORD_COUNTER, &counter);
}

static enum retention_step save_step(struct step *step, const struct moment *now)
{
	struct retention *retention = step->retention;
	struct store *store = retention->store;
	enum save_result saved = SAVE_FAULT;

	if (!ws_faulty(step->ws))
		saved = step->ws->dirty ? store->save(store, step->ws) : SAVE_OK;
	if (saved == SAVE_LOST)
		return RETENTION_LOST;
	if (saved != SAVE_OK) {
		log_line(LOG_LEVEL_ERROR, "retention_failed", "transaction_id=%llu reason=\"%s\"",
			(unsigned long long)step->last,
			saved == SAVE_FULL ? "no space" : step->ws->fault_text);
		rest_until_next(retention, now);
		return RETENTION_REST;
	}
	retention->at = step->last;
	if (step->over)
		rest_until_next(retention, now);
	return step->over ? RETENTION_REST : RETENTION_MORE;
}

/* Ends the step because rows cannot be read. */
static enum retention_step cannot_read(struct step *step, const struct moment *now)
{
	log_line(LOG_LEVEL_ERROR, "retention_failed", "reason=\"a row cannot be read\"");
	rest_until_next(step->retention, now);
	return RETENTION_REST;
}

enum retention_step retention_step(struct retention *retention, const struct moment *now)
{
	struct step step = {
		.retention = retention,
		.ws = retention->ws,
		.horizon_ms = now->wall_ms - (int64_t)retention->days * DAY_MS,
		.future_ms = now->wall_ms + RETENTION_SLACK_MS,
	};

	if (!is_due(retention, now->boot_ms))
		return RETENTION_REST;
	if (clock_is_new(retention, now)) {
		rest_until_next(retention, now);
		return RETENTION_REST;
	}
	retention->stepped_ms = now->boot_ms;
	ws_reset(step.ws);
	step.ws->now = *now;
	counter_want(step.ws, RETENTION_COUNTER);
	if (!load_rows(&step))
		return cannot_read(&step, now);
	if (!retention->begun) {
		retention->begun = true;
		retention->spent_ns = 0;
		retention->at = counter_read(step.ws, RETENTION_COUNTER);
		retention->again = 0;
	}
	step.last = retention->at;
	if (!find_transactions(&step))
		return cannot_read(&step, now);
	want_rounds(&step);
	if (!load_rows(&step))
		return cannot_read(&step, now);
	want_callbacks(&step);
	if (!load_rows(&step))
		return cannot_read(&step, now);
	want_bodies(&step);
	if (!load_rows(&step))
		return cannot_read(&step, now);
	drop_bodies(&step);
	write_counter(&step);
	return save_step(&step, now);
}

bool retention_use_time(struct retention *retention, bool idle, const struct moment *now)
{
	enum retention_step stepped;
	int64_t begun_ns;

	if (!is_due(retention, now->boot_ms) ||
		(!idle && now->boot_ms - retention->stepped_ms < BUSY_MS))
		return true;
	begun_ns = clock_boot_ns();
	stepped = retention_step(retention, now);
	retention->spent_ns += clock_boot_ns() - begun_ns;
	/* The pass ended, and of its time that of the last step was not known yet. */
	if (!retention->begun) {
		rest_until_next(retention, now);
		retention->spent_ns = 0;
	}
	return stepped != RETENTION_LOST;
}
