#include "ledger/rows/accepted_calls.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

/* Where the commands of callers have their members. */
struct call_shape {
	bool is_call;
	bool of_client;     /* @owner is a client_id */
	size_t owner;       /* offset in the command */
	size_t transaction; /* offset in the result */
	bool has_transaction;
};

#define CALL(lower, owner_)                                                                        \
	{                                                                                          \
		.is_call = true, .owner = offsetof(struct lower##_cmd, owner_),                    \
	}
#define MOVE(lower, owner_, of_client_, transaction_)                                              \
	{                                                                                          \
		.is_call = true, .of_client = (of_client_),                                        \
		.owner = offsetof(struct lower##_cmd, owner_), .has_transaction = true,            \
		.transaction = offsetof(struct lower##_result, transaction_),                      \
	}

static const struct call_shape shapes[COMMAND_COUNT] = {
	[COMMAND_TRANSFER] = MOVE(transfer, casino_id, false, transaction_id),
	[COMMAND_TRANSFER_INQUIRE] =
		MOVE(transfer_inquire, casino_id, false, transfer.transaction_id),
	[COMMAND_BALANCE] = CALL(balance, casino_id),
	[COMMAND_USER_STAT] = CALL(user_stat, casino_id),
	[COMMAND_RESULT_INQUIRE] = CALL(result_inquire, casino_id),
	[COMMAND_FEED] = CALL(feed, casino_id),
	[COMMAND_CALLBACK_PAGE] = CALL(callback_page, casino_id),
	[COMMAND_CALLBACK_RESEND] = CALL(callback_resend, casino_id),
	[COMMAND_PLAYER_REGISTER] = CALL(player_register, casino_id),
	[COMMAND_PLAYER_BALANCE] = CALL(player_balance, player.casino_id),
	[COMMAND_BET_PLACE] = MOVE(bet_place, client_id, true, bet.transaction_id),
	[COMMAND_BET_CANCEL] = MOVE(bet_cancel, client_id, true, transaction_id),
	[COMMAND_ROUND_SETTLE] = MOVE(round_settle, client_id, true, transaction_id),
	[COMMAND_ROUND_CORRECT] = MOVE(round_correct, client_id, true, transaction_id),
	[COMMAND_SETTLE_BATCH] = {.is_call = true,
		.of_client = true,
		.owner = offsetof(struct settle_batch_cmd, client_id)},
};

void accepted_calls_init(struct accepted_calls *calls, int64_t wall_ms)
{
	*calls = (struct accepted_calls){.from_ms = wall_ms};
}

void accepted_calls_free(struct accepted_calls *calls)
{
	free(calls->hashes);
	free(calls->calls);
	calls->hashes = NULL;
	calls->calls = NULL;
	calls->first = calls->count = 0;
}

/* Returns false without memory. */
static bool have_room(struct accepted_calls *calls)
{
	if (!calls->hashes)
		calls->hashes = calloc(ACCEPTED_CALLS_MAX, sizeof(*calls->hashes));
	if (!calls->calls)
		calls->calls = calloc(ACCEPTED_CALLS_MAX, sizeof(*calls->calls));
	return calls->hashes && calls->calls;
}

static uint32_t place_of(const struct accepted_calls *calls, uint32_t number)
{
	return (calls->first + number) % ACCEPTED_CALLS_MAX;
}

void accepted_calls_note(struct accepted_calls *calls, const char *request_id, enum command command,
	const union any_cmd *cmd, const union any_result *result, int64_t wall_ms)
{
	const struct call_shape *shape = &shapes[command];
	struct accepted_call *call;
	uint64_t transaction_id = 0;
	uint32_t at;

	if (!request_id[0] || !shape->is_call)
		return;
	if (shape->has_transaction)
		memcpy(&transaction_id, (const char *)result + shape->transaction,
			sizeof(transaction_id));
	/* The verdict of a bet that waits for its dealer is a refusal, and so is a repetition of a bet that failed. */
	if ((result->verdict.refusal != REFUSAL_NONE && !transaction_id) || !have_room(calls))
		return;
	if (calls->count == ACCEPTED_CALLS_MAX) {
		calls->from_ms = calls->calls[calls->first].time_ms;
		calls->first = place_of(calls, 1);
		calls->count--;
	}
	at = place_of(calls, calls->count++);
	calls->hashes[at] = text_hash(request_id);
	call = &calls->calls[at];
	*call = (struct accepted_call){.of_client = shape->of_client,
		.command = command,
		.transaction_id = transaction_id,
		.time_ms = wall_ms};
	text_copy(call->request_id, sizeof(call->request_id), request_id);
	text_copy(call->owner, sizeof(call->owner), (const char *)cmd + shape->owner);
}

const struct accepted_call *accepted_calls_find(const struct accepted_calls *calls,
	const char *request_id, const struct accepted_call *before)
{
	const uint32_t hash = text_hash(request_id);
	uint32_t number = calls->count;

	if (before)
		number = ((uint32_t)(before - calls->calls) + ACCEPTED_CALLS_MAX - calls->first) %
			ACCEPTED_CALLS_MAX;
	while (number) {
		const uint32_t at = place_of(calls, --number);

		if (calls->hashes[at] == hash &&
			strcmp(calls->calls[at].request_id, request_id) == 0)
			return &calls->calls[at];
	}
	return NULL;
}
