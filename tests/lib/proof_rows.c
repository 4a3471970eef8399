#include "proof_rows.h"

#include "domain/wager.h"

#include <check.h>
#include <string.h>

#define COUNT(kind)   (rows->kinds[RECORD_##kind].count)
#define ROWS(kind, s) ((const struct s *)rows->kinds[RECORD_##kind].rows)

/* ---- the books */

static const struct player *player_named(const struct proof_rows *rows,
	const struct player_name *name)
{
	for (unsigned int i = 0; i < COUNT(PLAYER); i++) {
		const struct player *player = &ROWS(PLAYER, player)[i];

		if (strcmp(player->casino_id, name->casino_id) == 0 &&
			strcmp(player->user_id, name->user_id) == 0)
			return player;
	}
	return NULL;
}

static const struct transaction *entry_of(const struct proof_rows *rows, uint64_t transaction_id)
{
	for (unsigned int i = 0; i < COUNT(TRANSACTION); i++) {
		if (ROWS(TRANSACTION, transaction)[i].transaction_id == transaction_id)
			return &ROWS(TRANSACTION, transaction)[i];
	}
	return NULL;
}

static void feed_names(struct proof *proof, const struct proof_rows *rows)
{
	for (unsigned int i = 0; i < COUNT(PLAYER_NAME); i++) {
		const struct player_name *name = &ROWS(PLAYER_NAME, player_name)[i];
		const struct player *player = player_named(rows, name);
		struct proof_link last;

		proof_name(proof, name, player, true);
		if (!player)
			continue;
		last = proof_link_last(player);
		while (proof_link_is_late(proof, &last) &&
			proof_link_back(proof, &last, entry_of(rows, last.transaction_id)))
			;
		if (!proof_link_is_late(proof, &last))
			proof_last(proof, &last);
	}
}

void proof_rows_books(struct proof *proof, const struct proof_rows *rows,
	const struct proof_moment *moment)
{
	for (unsigned int i = 0; i < COUNT(TOTAL); i++)
		ck_assert(proof_add_dealer(proof, &ROWS(TOTAL, total)[i], moment));
	for (unsigned int i = 0; i < COUNT(DEALER); i++)
		proof_dealer(proof, ROWS(DEALER, dealer)[i].casino_id,
			ROWS(DEALER, dealer)[i].currency);
	for (unsigned int i = 0; COUNT(DEALER_DAY) && i < COUNT(DEALER); i++)
		proof_days_dealer(proof, &ROWS(DEALER, dealer)[i]);
	for (unsigned int i = 0; i < 2 * COUNT(DEALER_DAY); i++)
		proof_days_row(proof, &ROWS(DEALER_DAY, dealer_day)[i / 2], i % 2);
	for (unsigned int i = 0; i < COUNT(PLAYER); i++)
		proof_player(proof, &ROWS(PLAYER, player)[i], true);
	for (size_t i = 0; i < proof->dealer_count; i++)
		ck_assert(proof_player_count(proof, &proof->dealers[i],
			proof->dealers[i].total.players, proof->dealers[i].total.players));
	feed_names(proof, rows);
}

/* ---- rounds and bets */

static bool same_game(const struct bet *bet, const struct round *round)
{
	return strcmp(bet->player_id, round->player_id) == 0 &&
		strcmp(bet->game_id, round->game_id) == 0;
}

static const struct callback *callback_of(const struct proof_rows *rows, uint64_t event)
{
	for (unsigned int i = 0; i < COUNT(CALLBACK); i++) {
		if (ROWS(CALLBACK, callback)[i].event == event)
			return &ROWS(CALLBACK, callback)[i];
	}
	return NULL;
}

/* Handles bets that are in progress or have just changed, as the walk does. */
static void prove_live(struct proof *proof, const struct proof_rows *rows, const struct bet *bet)
{
	static const enum callback_kind kinds[] = {CALLBACK_BETTING, CALLBACK_BETTING_REFUND};
	const uint64_t events[] = {bet->event, bet->refund_event};
	const struct callback *callback;
	const char *fault;

	for (int i = 0; i < 2; i++) {
		if (!events[i])
			continue;
		callback = callback_of(rows, events[i]);
		fault = proof_bet_callback(bet, kinds[i], callback);
		if (fault)
			proof_problem(proof, "bet %s/%s/%u: %s", bet->player_id, bet->game_id,
				bet->number, fault);
		else
			proof_bet_ended(proof, bet, callback);
	}
}

/* ---- cancellations */

static const struct cancellation *cancellation_of(const struct proof_rows *rows,
	const struct bet *bet)
{
	for (unsigned int i = 0; i < COUNT(CANCELLATION); i++) {
		const struct cancellation *row = &ROWS(CANCELLATION, cancellation)[i];

		if (row->number == bet->number && strcmp(row->player_id, bet->player_id) == 0 &&
			strcmp(row->game_id, bet->game_id) == 0)
			return row;
	}
	return NULL;
}

static void prove_cancellation_key(struct proof *proof, const struct proof_rows *rows,
	const struct cancellation *row, const struct bet *bet)
{
	const struct request wanted = proof_cancellation_key(row, bet);
	const struct request *found = NULL;
	const char *fault;

	for (unsigned int i = 0; i < COUNT(REQUEST); i++) {
		const struct request *key = &ROWS(REQUEST, request)[i];

		if (key->scope == wanted.scope && strcmp(key->owner, wanted.owner) == 0 &&
			strcmp(key->request_transaction_id, wanted.request_transaction_id) == 0)
			found = key;
	}
	fault = proof_wager_key(&wanted, found);
	if (fault)
		proof_problem(proof, "cancellation of bet %s/%s/%u: %s", row->player_id,
			row->game_id, row->number, fault);
}

/* The keys of cancellations that moved nothing here. */
static void prove_cancel_keys(struct proof *proof, const struct proof_rows *rows)
{
	for (unsigned int i = 0; i < COUNT(REQUEST); i++) {
		const struct request *key = &ROWS(REQUEST, request)[i];
		const struct bet *named = NULL;
		const char *fault;

		if (key->kind != ENTRY_BET_CANCEL)
			continue;
		for (unsigned int b = 0; b < COUNT(BET); b++) {
			const struct bet *bet = &ROWS(BET, bet)[b];

			if (bet->number == key->bet_number &&
				strcmp(bet->player_id, key->player_id) == 0 &&
				strcmp(bet->game_id, key->game_id) == 0)
				named = bet;
		}
		fault = proof_cancel_key(key, named);
		if (fault)
			proof_problem(proof, "request %s of %s cancels bet %u, %s",
				key->request_transaction_id, key->owner, key->bet_number, fault);
	}
}

static void prove_cancellations(struct proof *proof, const struct proof_rows *rows)
{
	unsigned int found = 0;

	for (unsigned int i = 0; i < COUNT(BET); i++) {
		const struct bet *bet = &ROWS(BET, bet)[i];
		const struct cancellation *row = cancellation_of(rows, bet);
		const char *fault = proof_cancellation(bet, row);

		if (!fault && row)
			fault = proof_cancellation_moved(row, bet,
				row->transaction_id ? entry_of(rows, row->transaction_id) : NULL);
		if (fault)
			proof_problem(proof, "bet %s/%s/%u %s", bet->player_id, bet->game_id,
				bet->number, fault);
		if (row) {
			prove_cancellation_key(proof, rows, row, bet);
			proof_cancellation_links(proof, row, bet);
		}
		found += row != NULL;
	}
	if (found != COUNT(CANCELLATION))
		proof_problem(proof, "there are cancellations without a bet");
	prove_cancel_keys(proof, rows);
}

/* ---- corrections */

static const struct round *round_of(const struct proof_rows *rows, const struct correction *row)
{
	for (unsigned int i = 0; i < COUNT(ROUND); i++) {
		const struct round *round = &ROWS(ROUND, round)[i];

		if (strcmp(round->player_id, row->player_id) == 0 &&
			strcmp(round->game_id, row->game_id) == 0)
			return round;
	}
	return NULL;
}

static void prove_chain(struct proof *proof, const struct proof_rows *rows,
	const struct round *round)
{
	struct corrections_reading reading;
	const char *fault = NULL, *wrong;

	proof_corrections_begin(&reading, round);
	for (unsigned int i = 0; i < COUNT(CORRECTION); i++) {
		const struct correction *row = &ROWS(CORRECTION, correction)[i];

		if (round_of(rows, row) != round)
			continue;
		wrong = proof_corrections_add(&reading, row);
		fault = fault ? fault : wrong;
	}
	if (!fault)
		fault = proof_corrections_end(&reading);
	if (fault)
		proof_problem(proof, "round %s/%s: correction %u %s", round->player_id,
			round->game_id, reading.revision, fault);
}

static void prove_decrease(struct proof *proof, const struct proof_rows *rows,
	const struct correction *row)
{
	const struct callback *callback = row->event && row->payout_amount < row->previous_payout
		? callback_of(rows, row->event)
		: NULL;

	if (!callback)
		return;
	if (proof_correction_shortfall(row, callback))
		proof_problem(proof, "correction %s/%s/%u %s", row->player_id, row->game_id,
			row->revision, proof_correction_shortfall(row, callback));
	proof_bounds_decrease(proof, callback, proof_reported_shortfall(row, callback));
}

static void prove_corrections(struct proof *proof, const struct proof_rows *rows)
{
	for (unsigned int i = 0; i < COUNT(ROUND); i++) {
		if (ROWS(ROUND, round)[i].state == ROUND_SETTLED)
			prove_chain(proof, rows, &ROWS(ROUND, round)[i]);
	}
	for (unsigned int i = 0; i < COUNT(CORRECTION); i++) {
		const struct correction *row = &ROWS(CORRECTION, correction)[i];
		const struct round *round = round_of(rows, row);

		if (round)
			proof_correction_links(proof, round, row);
		else
			proof_problem(proof, "a correction has no round");
		prove_decrease(proof, rows, row);
	}
}

static void prove_round(struct proof *proof, const struct proof_rows *rows, const struct round *key,
	bool there)
{
	struct round_reading reading;
	unsigned int live = 0;

	proof_round_begin(&reading, proof, key, there ? key : NULL, rows->transaction_id);
	for (unsigned int i = 0; i < COUNT(BET); i++) {
		const struct bet *bet = &ROWS(BET, bet)[i];

		if (!same_game(bet, key))
			continue;
		proof_round_bet(&reading, bet, rows->transaction_id);
		if (reading.live_count > live) {
			prove_live(proof, rows, bet);
			live = reading.live_count;
		}
	}
	proof_round_end(&reading, rows->event);
	proof_accuse(proof, &reading.faults);
	proof_round_take(&reading);
}

static bool has_round(const struct proof_rows *rows, const struct bet *bet)
{
	for (unsigned int i = 0; i < COUNT(ROUND); i++) {
		if (same_game(bet, &ROWS(ROUND, round)[i]))
			return true;
	}
	return false;
}

static void prove_rounds(struct proof *proof, const struct proof_rows *rows)
{
	struct round key;

	for (unsigned int i = 0; i < COUNT(ROUND); i++)
		prove_round(proof, rows, &ROWS(ROUND, round)[i], true);
	for (unsigned int i = 0; i < COUNT(BET); i++) {
		const struct bet *bet = &ROWS(BET, bet)[i];

		if (has_round(rows, bet) || bet->number != 1)
			continue;
		memset(&key, 0, sizeof(key));
		strcpy(key.player_id, bet->player_id);
		strcpy(key.game_id, bet->game_id);
		prove_round(proof, rows, &key, false);
	}
}

/* ---- callbacks */

#define LOWEST(kind, s, place)                                                                     \
	do {                                                                                       \
		if ((place) < COUNT(kind) && ROWS(kind, s)[place].event < event)                   \
			event = ROWS(kind, s)[place].event;                                        \
	} while (0)
#define FEED(kind, s, place, feed)                                                                 \
	do {                                                                                       \
		for (; (place) < COUNT(kind) && ROWS(kind, s)[place].event == event; (place)++)    \
			feed(&reading, &ROWS(kind, s)[place]);                                     \
	} while (0)

static void prove_owed(struct proof *proof, const struct proof_rows *rows,
	const struct callback *callback)
{
	for (unsigned int i = 0; !callback->revision && i < COUNT(ROUND); i++) {
		if (ROWS(ROUND, round)[i].event == callback->event)
			proof_bounds_owed(proof, callback, ROWS(ROUND, round)[i].payout_amount);
	}
	for (unsigned int i = 0; callback->revision && i < COUNT(CORRECTION); i++) {
		if (ROWS(CORRECTION, correction)[i].event == callback->event)
			proof_bounds_owed(proof, callback,
				correction_paid(&ROWS(CORRECTION, correction)[i]));
	}
}

static void prove_events(struct proof *proof, const struct proof_rows *rows)
{
	unsigned int callback = 0, body = 0, attempt = 0, answer = 0, due = 0;
	struct event_reading reading;

	for (;;) {
		uint64_t event = UINT64_MAX;

		LOWEST(CALLBACK, callback, callback);
		LOWEST(CALLBACK_BODY, callback_body, body);
		LOWEST(ATTEMPT, attempt, attempt);
		LOWEST(ANSWER, answer, answer);
		LOWEST(DUE, due, due);
		if (event == UINT64_MAX)
			return;
		if (event > rows->event)
			proof_problem(proof, "event %u was never given out", (unsigned int)event);
		proof_event_begin(&reading, proof, event);
		FEED(CALLBACK, callback, callback, proof_event_callback);
		FEED(CALLBACK_BODY, callback_body, body, proof_event_body);
		FEED(ATTEMPT, attempt, attempt, proof_event_attempt);
		FEED(ANSWER, answer, answer, proof_event_answer);
		FEED(DUE, due, due, proof_event_due);
		proof_event_end(&reading);
		proof_accuse(proof, &reading.faults);
		proof_event_take(&reading);
		if (reading.there)
			prove_owed(proof, rows, &reading.callback);
	}
}

void proof_rows_wagers(struct proof *proof, const struct proof_rows *rows)
{
	/* The proof does not depend on the order of these. */
	for (unsigned int i = 0; i < COUNT(REQUEST); i++)
		proof_request(proof, &ROWS(REQUEST, request)[i]);
	for (unsigned int i = COUNT(TRANSACTION); i-- > 0;)
		proof_transaction(proof, &ROWS(TRANSACTION, transaction)[i], rows->transaction_id);
	for (unsigned int i = 0; i < COUNT(GAME_PLAYER); i++)
		proof_game_player(proof, &ROWS(GAME_PLAYER, game_player)[i], rows->transaction_id);
	for (unsigned int i = 0; i < COUNT(PLAYER_BET); i++)
		proof_player_bet(proof, &ROWS(PLAYER_BET, player_bet)[i], rows->transaction_id);
	prove_rounds(proof, rows);
	prove_cancellations(proof, rows);
	prove_corrections(proof, rows);
	prove_events(proof, rows);
}
