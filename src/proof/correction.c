#include "proof/correction.h"

#include "base/text.h"
#include "domain/delivery.h"
#include "domain/wager.h"
#include "proof/round.h"
#include "wire/callback_body.h"

#include <string.h>

money_t correction_moved(const struct correction *row, enum wallet_mode mode)
{
	const money_t delta = row->payout_amount - row->previous_payout;

	/* A seamless dealer reports the part that it could not take only in its answer. */
	if (mode == WALLET_SEAMLESS && delta < 0)
		return delta;
	return delta + row->shortfall;
}

/* ---- the chain */

void proof_corrections_begin(struct corrections_reading *reading, const struct round *round)
{
	*reading = (struct corrections_reading){
		.round = round,
		.result = round->result,
		.payout_amount = round->payout_amount,
	};
}

const char *proof_corrections_add(struct corrections_reading *reading, const struct correction *row)
{
	const struct round *round = reading->round;
	const char *fault = NULL;

	if (row->revision != reading->revision + 1)
		fault = "follows another revision";
	else if (row->previous_result != reading->result ||
		row->previous_payout != reading->payout_amount)
		fault = "does not begin with the result that was in force";
	else if (strcmp(row->casino_id, round->casino_id) != 0)
		fault = "is of another dealer than its round";
	else if (row->result == RESULT_NONE || (row->result == RESULT_LOSS && row->payout_amount))
		fault = "has a payout that does not fit its result";
	else if ((row->event != 0) !=
		(round->mode == WALLET_SEAMLESS && correction_moved(row, round->mode) != 0))
		fault = row->event ? "has a callback" : "has no callback";
	reading->revision = row->revision;
	reading->result = row->result;
	reading->payout_amount = row->payout_amount;
	reading->shortfall += row->shortfall;
	return fault;
}

const char *proof_corrections_end(const struct corrections_reading *reading)
{
	const struct round *round = reading->round;

	if (reading->revision != round->revision)
		return "counts another number of corrections than there are";
	if (round->current_result != reading->result ||
		round->current_payout != reading->payout_amount)
		return "has another result in force than its last correction";
	return round->shortfall == reading->shortfall
		? NULL
		: "keeps another shortfall than its corrections";
}

/* ---- the rows that a correction names */

struct request proof_correction_key(const struct round *round, const struct correction *row)
{
	const money_t moved =
		round->mode == WALLET_TRANSFER ? correction_moved(row, round->mode) : 0;
	struct request key;

	memset(&key, 0, sizeof(key));
	key.scope = row->scope;
	text_copy(key.owner, sizeof(key.owner),
		row->scope == SCOPE_CLIENT ? row->client_id : row->casino_id);
	text_copy(key.request_transaction_id, sizeof(key.request_transaction_id),
		row->request_transaction_id);
	key.kind = ENTRY_CORRECTION;
	key.amount = moved;
	memcpy(key.player_id, row->player_id, sizeof(key.player_id));
	key.entry_seq = moved != 0;
	key.transaction_id = row->transaction_id;
	key.time_ms = row->time_ms;
	memcpy(key.game_id, row->game_id, sizeof(key.game_id));
	key.bet_number = row->revision;
	return key;
}

struct transaction proof_correction_transaction(const struct round *round,
	const struct correction *row)
{
	const struct request key = proof_correction_key(round, row);

	return proof_key_transaction(&key, row->casino_id);
}

struct callback proof_correction_callback(const struct correction *row)
{
	struct callback callback;

	memset(&callback, 0, sizeof(callback));
	callback.event = row->event;
	callback.kind = row->payout_amount > row->previous_payout ? CALLBACK_BETTING_RESULT
								  : CALLBACK_BETTING_CORRECTION;
	memcpy(callback.casino_id, row->casino_id, sizeof(callback.casino_id));
	memcpy(callback.player_id, row->player_id, sizeof(callback.player_id));
	memcpy(callback.game_id, row->game_id, sizeof(callback.game_id));
	callback.revision = row->revision;
	return callback;
}

bool proof_correction_body(struct proof *proof, const struct round *round,
	const struct correction *row)
{
	struct correction_win_body win;
	struct correction_body decrease;
	bool rendered;

	buffer_reset(&proof->body);
	if (row->payout_amount > row->previous_payout) {
		correction_win_fill(&win, round, row);
		rendered = callback_body_render_win(&proof->body, &win, "");
	} else {
		correction_body_fill(&decrease, round, row);
		rendered = callback_body_render(&proof->body, CALLBACK_BETTING_CORRECTION,
			&decrease, "");
	}
	proof->no_memory |= !rendered;
	return rendered;
}

money_t proof_reported_shortfall(const struct correction *row, const struct callback *callback)
{
	const money_t decrease = row->previous_payout - row->payout_amount;

	if (!callback_has_ended(callback->state))
		return 0;
	return callback->shortfall < decrease ? callback->shortfall : decrease;
}

const char *proof_correction_shortfall(const struct correction *row,
	const struct callback *callback)
{
	return row->shortfall == proof_reported_shortfall(row, callback)
		? NULL
		: "has another shortfall than its betting-correction";
}

void proof_correction_links(struct proof *proof, const struct round *round,
	const struct correction *row)
{
	const struct request key = proof_correction_key(round, row);
	const struct transaction transaction = proof_correction_transaction(round, row);
	const struct callback callback = proof_correction_callback(row);
	struct row_hash hash;
	struct proof_body_extra extra;

	proof_bounds_correction(proof, round->mode, row);
	proof_days_correction(proof, round, row);
	proof_want_movement(proof, &key, &transaction);
	if (!row->event || row->event > proof->point.event ||
		!proof_correction_body(proof, round, row))
		return;
	proof_hash_callback(proof, &callback, &hash);
	if (!row->dropped)
		proof_body_hash(&hash, callback.kind,
			(struct bytes){proof->body.data, (uint32_t)proof->body.len}, &extra);
	fingerprint_add(&proof->wanted.callbacks, &hash);
}
