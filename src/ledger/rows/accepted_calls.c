#include "ledger/rows/accepted_calls.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

/* Where a command has its members. */
struct call_shape {
	enum web_operation operation; /* OPERATION_NONE: it is no call */
	bool of_client;               /* the owner is a client_id */
	bool owner_in_result;         /* otherwise in the command */
	size_t owner;
	/* In the result; 0, where the verdict is: there is none. */
	size_t transaction;
	size_t event;
};

#define OWNER(lower, member) .owner = offsetof(struct lower##_cmd, member)
#define CLIENT(lower)        .of_client = true, OWNER(lower, client_id)
#define MOVED(lower, member) .transaction = offsetof(struct lower##_result, member)
#define SENT(lower)          .event = offsetof(struct lower##_result, event)

/* clang-format off */
static const struct call_shape shapes[COMMAND_COUNT] = {
	[COMMAND_TRANSFER] = {OPERATION_TRANSFER_IN, OWNER(transfer, casino_id), MOVED(transfer, transaction_id)},
	[COMMAND_TRANSFER_INQUIRE] = {OPERATION_TRANSFER_INQUIRE, OWNER(transfer_inquire, casino_id),
		MOVED(transfer_inquire, transfer.transaction_id)},
	[COMMAND_BALANCE] = {OPERATION_BALANCE, OWNER(balance, casino_id)},
	[COMMAND_USER_STAT] = {OPERATION_STAT, OWNER(user_stat, casino_id)},
	[COMMAND_RESULT_INQUIRE] = {OPERATION_RESULT_INQUIRE, OWNER(result_inquire, casino_id)},
	[COMMAND_FEED] = {OPERATION_FEED, OWNER(feed, casino_id)},
	[COMMAND_CALLBACK_PAGE] = {OPERATION_CALLBACKS, OWNER(callback_page, casino_id)},
	[COMMAND_CALLBACK_RESEND] = {OPERATION_CALLBACKS_RESEND, OWNER(callback_resend, casino_id)},
	[COMMAND_PLAYER_REGISTER] = {OPERATION_PLAYERS, OWNER(player_register, casino_id)},
	/* The command may have a player_id only. */
	[COMMAND_PLAYER_BALANCE] = {OPERATION_PLAYER_BALANCE, .owner_in_result = true,
		.owner = offsetof(struct player_balance_result, casino_id)},
	[COMMAND_BET_PLACE] = {OPERATION_BETS, CLIENT(bet_place), MOVED(bet_place, bet.transaction_id)},
	[COMMAND_BET_CANCEL] = {OPERATION_BETS_CANCEL, CLIENT(bet_cancel), MOVED(bet_cancel, transaction_id)},
	[COMMAND_ROUND_SETTLE] = {OPERATION_RESULTS, CLIENT(round_settle), MOVED(round_settle, transaction_id),
		SENT(round_settle)},
	[COMMAND_ROUND_CORRECT] = {OPERATION_CORRECTIONS, CLIENT(round_correct), MOVED(round_correct, transaction_id),
		SENT(round_correct)},
	[COMMAND_SETTLE_BATCH] = {OPERATION_RESULTS_BATCH, CLIENT(settle_batch)},
};
/* clang-format on */

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

/* Returns the number at the offset, or 0 if the offset is. */
static uint64_t number_at(const union any_result *result, size_t offset)
{
	uint64_t number = 0;

	if (offset)
		memcpy(&number, (const char *)result + offset, sizeof(number));
	return number;
}

/*
 * Returns true if the result accepts the call. The verdict of a bet that waits for its dealer is a refusal. A bet that
 * failed is refused, although its answer names the transaction.
 */
static bool is_accepted(enum command command, const union any_result *result)
{
	if (command == COMMAND_BET_PLACE && result->verdict.refusal == REFUSAL_BET_IN_PROGRESS)
		return result->bet_place.bet.transaction_id != 0;
	return result->verdict.refusal == REFUSAL_NONE;
}

static enum web_operation operation_of(enum command command, const union any_cmd *cmd)
{
	if (command == COMMAND_TRANSFER && cmd->transfer.kind == ENTRY_TRANSFER_OUT)
		return OPERATION_TRANSFER_OUT;
	return shapes[command].operation;
}

void accepted_calls_note(struct accepted_calls *calls, const char *request_id, enum command command,
	const union any_cmd *cmd, const union any_result *result, int64_t wall_ms)
{
	const struct call_shape *shape = &shapes[command];
	const char *owner = shape->owner_in_result ? (const char *)result : (const char *)cmd;
	struct accepted_call *call;
	uint32_t at;

	if (!request_id[0] || shape->operation == OPERATION_NONE || !is_accepted(command, result))
		return;
	if (!have_room(calls)) {
		calls->from_ms = wall_ms;
		return;
	}
	if (calls->count == ACCEPTED_CALLS_MAX) {
		calls->from_ms = calls->calls[calls->first].time_ms;
		calls->first = place_of(calls, 1);
		calls->count--;
	}
	at = place_of(calls, calls->count++);
	calls->hashes[at] = text_hash(request_id);
	call = &calls->calls[at];
	*call = (struct accepted_call){.of_client = shape->of_client,
		.operation = operation_of(command, cmd),
		.transaction_id = number_at(result, shape->transaction),
		.event = number_at(result, shape->event),
		.time_ms = wall_ms};
	text_copy(call->request_id, sizeof(call->request_id), request_id);
	text_copy(call->owner, sizeof(call->owner), owner + shape->owner);
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
