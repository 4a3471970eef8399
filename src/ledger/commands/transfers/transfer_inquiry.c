/*
 * transfer_inquiry - reports the outcome of a transfer, and seals the key of an unknown one
 * (contract, "Final answer about a transfer").
 *
 * The seal takes the idempotency key as a transfer does, so only one of the two can have it: the row
 * is written only if there is none. A key that is known does not change.
 */
#include "ledger/commands/ops.h"
#include "ledger/commands/transfers/transfers.h"
#include "ledger/rows/keys.h"

static struct request inquired_key(const struct transfer_inquire_cmd *cmd)
{
	return request_named(SCOPE_DEALER, cmd->casino_id, cmd->request_transaction_id);
}

void transfer_inquire_keys(const void *arg, struct ws *ws)
{
	const struct transfer_inquire_cmd *cmd = arg;
	const struct request key = inquired_key(cmd);
	const struct request *stored;
	struct player_name name;

	ws_want(ws, RECORD_DEALER, dealer_key_of(cmd->casino_id));
	ws_want(ws, RECORD_REQUEST, &key);
	stored = ws_loaded(ws, RECORD_REQUEST, &key) ? ws_get(ws, RECORD_REQUEST, &key) : NULL;
	if (!stored || request_is_sealed(stored))
		return;
	name = player_id_named(stored->player_id);
	ws_want(ws, RECORD_PLAYER_NAME, &name);
}

static enum transfer_state inquired_state(const struct request *stored)
{
	if (!stored)
		return TRANSFER_UNKNOWN;
	if (request_is_sealed(stored))
		return TRANSFER_SEALED;
	return stored->outcome == REFUSAL_NONE ? TRANSFER_DONE : TRANSFER_REFUSED;
}

/* Records that the key is sealed. The player of a call that may still arrive is not known. */
static void seal_key(struct ws *ws, const struct request *key, int64_t now_ms)
{
	struct request sealed = *key;

	sealed.kind = ENTRY_SEAL;
	sealed.outcome = REFUSAL_TRANSACTION_SEALED;
	sealed.time_ms = now_ms;
	ws_append(ws, RECORD_REQUEST, &sealed);
}

/* Fills the answer of a transfer. Returns false if its user_id is not loaded. */
static bool describe_transfer(struct ws *ws, const struct request *stored,
	const struct dealer *dealer, struct transfer_result *transfer)
{
	const struct player_name key = player_id_named(stored->player_id);
	const struct player_name *name;

	transfer_answer(stored, dealer, transfer);
	text_copy(transfer->request_transaction_id, sizeof(transfer->request_transaction_id),
		stored->request_transaction_id);
	if (!ws_loaded(ws, RECORD_PLAYER_NAME, &key))
		return false;
	name = ws_get(ws, RECORD_PLAYER_NAME, &key);
	if (name)
		text_copy(transfer->user_id, sizeof(transfer->user_id), name->user_id);
	return true;
}

void transfer_inquire_apply(const void *arg, const struct apply_context *context, struct ws *ws,
	void *out)
{
	const struct transfer_inquire_cmd *cmd = arg;
	struct transfer_inquire_result *result = out;
	const struct request key = inquired_key(cmd);
	const struct dealer *dealer = ws_get(ws, RECORD_DEALER, dealer_key_of(cmd->casino_id));
	const struct request *stored = ws_get(ws, RECORD_REQUEST, &key);

	if (!external_id_valid(cmd->request_transaction_id) || !dealer) {
		result->verdict.refusal = dealer ? REFUSAL_BAD_REQUEST : REFUSAL_INVALID_SIGNATURE;
		return;
	}
	if (!stored && cmd->seal) {
		seal_key(ws, &key, context->now.wall_ms);
		result->state = TRANSFER_SEALED;
		return;
	}
	result->state = inquired_state(stored);
	if (result->state == TRANSFER_DONE || result->state == TRANSFER_REFUSED)
		result->again = !describe_transfer(ws, stored, dealer, &result->transfer);
}
