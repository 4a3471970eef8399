#include "admin/requests/inquiry.h"

#include "admin/list.h"
#include "base/text.h"
#include "wire/inspect.h"

#include <stdlib.h>
#include <string.h>

void inquiry_init(struct inquiry *inquiry)
{
	memset(inquiry, 0, sizeof(*inquiry));
	buffer_init(&inquiry->kept, FRAME_MAX);
}

void inquiry_free(struct inquiry *inquiry)
{
	for (unsigned int of = 0; of < KEYRING_OF_COUNT; of++)
		keyring_free(&inquiry->keyrings[of]);
	if (inquiry->kept.data)
		explicit_bzero(inquiry->kept.data, inquiry->kept.cap);
	buffer_free(&inquiry->kept);
	explicit_bzero(inquiry, sizeof(*inquiry));
}

/* An explain_try_keys: the ledger tries its keys. */
static bool try_keys(void *context, const struct key_try_cmd *cmd, struct key_try_result *result)
{
	struct inquiry *inquiry = context;

	if (inquiry->tried == OUTCOME_DONE)
		inquiry->tried = session_do(inquiry->session, COMMAND_KEY_TRY, cmd, result, NULL);
	return inquiry->tried == OUTCOME_DONE;
}

/* Reads the dealers and game servers, with the settings that say how they sign. */
static enum outcome read_callers(struct session *session, struct inquiry *inquiry)
{
	enum outcome code = OUTCOME_DONE;

	for (unsigned int of = 0; of < KEYRING_OF_COUNT && code == OUTCOME_DONE; of++) {
		code = keys_fetch_callers(session, (enum keyring_of)of, &inquiry->keyrings[of]);
		inquiry->explain.callers[of] = inquiry->keyrings[of].entries;
		inquiry->explain.caller_count[of] = inquiry->keyrings[of].count;
	}
	return code;
}

/* Copies @bytes to @kept, because they are valid only until the next call to the ledger. */
static bool copy_bytes(struct buffer *kept, struct bytes *bytes)
{
	const size_t at = kept->len;

	if (!buffer_append(kept, bytes->data, bytes->len))
		return false;
	bytes->data = kept->data + at;
	return true;
}

/* Fetches the request @id from the ledger's memory, with its body. */
static enum outcome find_in_memory(struct session *session, struct inquiry *inquiry, const char *id)
{
	struct refused_request *request = &inquiry->explain.request;
	struct refused_find_result *found = &inquiry->found;
	struct refused_find_cmd cmd = {.request_id = ""};
	enum outcome code;

	text_copy(cmd.request_id, sizeof(cmd.request_id), id);
	code = session_do(session, COMMAND_REFUSED_FIND, &cmd, found, NULL);
	/* The newest call of this id may be one that is only on disk. */
	if (code != OUTCOME_DONE || !found->matches ||
		(inquiry->has_call && found->request.time_ms < inquiry->call.time_ms)) {
		found->matches = 0;
		return code;
	}
	*request = found->request;
	/* Reserve once, so that the buffer does not move. */
	if (!buffer_reserve(&inquiry->kept,
		    request->caller.len + request->signature.len + request->query.len +
			    request->body.len + 1) ||
		!copy_bytes(&inquiry->kept, &request->caller) ||
		!copy_bytes(&inquiry->kept, &request->signature) ||
		!copy_bytes(&inquiry->kept, &request->query) ||
		!copy_bytes(&inquiry->kept, &request->body))
		return session_no_memory(session);
	return OUTCOME_DONE;
}

/* Fills @call from a request that has its body. Its description may not be on disk yet. */
static void describe_request(const struct refused_request *request, struct refused_call *call)
{
	struct inspect_ids ids;

	memset(call, 0, sizeof(*call));
	inspect_ids(request->body, &ids);
	call->time_ms = request->time_ms;
	call->of = request->of;
	call->refusal = request->refusal;
	call->proved = refusal_info(request->refusal)->code != 401 ||
		request->refusal == REFUSAL_STALE_REQUEST;
	text_copy(call->request_id, sizeof(call->request_id), request->request_id);
	text_copy(call->operation, sizeof(call->operation), request->operation);
	text_copy(call->path, sizeof(call->path), request->path);
	text_copy_len(call->caller, sizeof(call->caller), (const char *)request->caller.data,
		request->caller.len);
	text_copy(call->casino_id, sizeof(call->casino_id),
		request->of == KEYRING_DEALERS ? call->caller : ids.casino_id);
	text_copy(call->user_id, sizeof(call->user_id), ids.user_id);
	text_copy(call->game_id, sizeof(call->game_id), ids.game_id);
	text_copy(call->request_transaction_id, sizeof(call->request_transaction_id),
		ids.request_transaction_id);
	text_copy(call->amount, sizeof(call->amount), ids.amount);
}

/* Fills @request from a call of which only the description is left. */
static void describe_call(const struct refused_call *call, struct refused_request *request)
{
	memset(request, 0, sizeof(*request));
	request->time_ms = call->time_ms;
	request->of = call->of;
	request->refusal = call->refusal;
	request->caller_count = call->caller_count;
	request->signature_count = call->signature_count;
	request->body_len = call->body_len;
	text_copy(request->request_id, sizeof(request->request_id), call->request_id);
	text_copy(request->operation, sizeof(request->operation), call->operation);
	text_copy(request->method, sizeof(request->method), call->method);
	text_copy(request->path, sizeof(request->path), call->path);
	text_copy(request->detail, sizeof(request->detail), call->detail);
	request->caller =
		(struct bytes){(const uint8_t *)call->caller, (uint32_t)strlen(call->caller)};
}

/* Finds the newest refused call that @wanted describes, on disk and in memory. */
static enum outcome find_request(struct session *session, struct inquiry *inquiry,
	const struct refused_list_cmd *wanted)
{
	struct explain_case *explain = &inquiry->explain;
	const char *id;
	enum outcome code = refused_newest(session, wanted, &inquiry->call, &inquiry->has_call,
		&inquiry->calls);

	if (code != OUTCOME_DONE)
		return code;
	id = inquiry->has_call ? inquiry->call.request_id : wanted->request_id;
	code = id[0] ? find_in_memory(session, inquiry, id) : OUTCOME_DONE;
	if (code != OUTCOME_DONE)
		return code;
	explain->from_disk = !inquiry->found.matches;
	explain->call = &inquiry->call;
	if (!explain->from_disk && !inquiry->has_call)
		describe_request(&explain->request, &inquiry->call);
	if (explain->from_disk && inquiry->has_call)
		describe_call(&inquiry->call, &explain->request);
	inquiry->absent = explain->from_disk && !inquiry->has_call;
	return OUTCOME_DONE;
}

/* Fetches the row of the call's idempotency key, and the dealer's decimals. */
static enum outcome find_key(struct session *session, struct inquiry *inquiry)
{
	struct request *request = &inquiry->key.request;
	const struct refused_call *call = &inquiry->call;
	struct dealer dealer;
	enum outcome code;
	bool found;

	inquiry->decimals = 2;
	memset(&dealer, 0, sizeof(dealer));
	text_copy(dealer.casino_id, sizeof(dealer.casino_id), call->casino_id);
	if (call->casino_id[0]) {
		code = list_fetch(session, RECORD_DEALER, &dealer, &found, NULL);
		if (code != OUTCOME_DONE)
			return code;
		inquiry->decimals = found ? dealer.decimals : 2;
	}
	if (!call->caller[0] || !call->request_transaction_id[0])
		return OUTCOME_DONE;
	request->scope = call->of == KEYRING_DEALERS ? SCOPE_DEALER : SCOPE_CLIENT;
	text_copy(request->owner, sizeof(request->owner), call->caller);
	text_copy(request->request_transaction_id, sizeof(request->request_transaction_id),
		call->request_transaction_id);
	return list_fetch(session, RECORD_REQUEST, request, &inquiry->key.known, NULL);
}

/*
 * No refused call was found: looks whether the reference is that of a transfer, and for dealers,
 * players and references that are similar.
 */
static enum outcome examine_absence(struct session *session, struct inquiry *inquiry,
	const struct refused_list_cmd *wanted)
{
	struct refused_call *call = &inquiry->call;
	struct explain_player *player = &inquiry->explain.player;
	enum outcome code;

	text_copy(call->caller, sizeof(call->caller), wanted->casino_id);
	text_copy(call->casino_id, sizeof(call->casino_id), wanted->casino_id);
	text_copy(call->request_transaction_id, sizeof(call->request_transaction_id),
		wanted->request_transaction_id);
	text_copy(player->sent, sizeof(player->sent), wanted->user_id);
	code = find_key(session, inquiry);
	text_copy(call->operation, sizeof(call->operation),
		inquiry->key.request.kind == ENTRY_TRANSFER_OUT ? "transfer-out" : "transfer-in");
	if (code == OUTCOME_DONE)
		code = near_refused(session, inquiry->keyrings, wanted, &inquiry->near);
	return code;
}

/*
 * Writes the id of the calling dealer to @casino_id. Returns false if the caller is not a dealer
 * or its id is invalid.
 */
static bool read_dealer_id(const struct explain_case *explain, char casino_id[CASINO_ID_SIZE])
{
	const struct bytes caller = explain->request.caller;

	return explain->request.of == KEYRING_DEALERS &&
		text_copy_len(casino_id, CASINO_ID_SIZE, (const char *)caller.data, caller.len) &&
		text_is_name(casino_id, CASINO_ID_SIZE - 1);
}

/*
 * For user_not_found: searches for a player whose id differs slightly from the id in the request.
 */
static enum outcome examine_player(struct session *session, struct inquiry *inquiry)
{
	struct explain_case *explain = &inquiry->explain;

	if (explain->request.refusal != REFUSAL_USER_NOT_FOUND || !inquiry->call.casino_id[0] ||
		!inquiry->call.user_id[0])
		return OUTCOME_DONE;
	text_copy(explain->player.sent, sizeof(explain->player.sent), inquiry->call.user_id);
	return near_player(session, inquiry->call.casino_id, &explain->player);
}

/* Checks whether the calling dealer is suspended. */
static enum outcome examine_dealer(struct session *session, struct explain_case *explain)
{
	struct dealer dealer;
	enum outcome code;
	bool found;

	memset(&dealer, 0, sizeof(dealer));
	if (!read_dealer_id(explain, dealer.casino_id))
		return OUTCOME_DONE;
	code = list_fetch(session, RECORD_DEALER, &dealer, &found, NULL);
	explain->suspended = code == OUTCOME_DONE && found && dealer.suspended;
	return code;
}

enum outcome inquiry_collect(struct inquiry *inquiry, struct session *session,
	const struct refused_list_cmd *wanted)
{
	enum outcome code = find_request(session, inquiry, wanted);

	if (code == OUTCOME_DONE)
		code = read_callers(session, inquiry);
	inquiry->session = session;
	inquiry->explain.try_keys = try_keys;
	inquiry->explain.try_context = inquiry;
	inquiry->explain.window_ms = (int64_t)session->settings.request_window_s * 1000;
	if (code == OUTCOME_DONE && inquiry->absent)
		return examine_absence(session, inquiry, wanted);
	if (code == OUTCOME_DONE)
		code = find_key(session, inquiry);
	if (code == OUTCOME_DONE)
		code = examine_dealer(session, &inquiry->explain);
	if (code == OUTCOME_DONE)
		code = examine_player(session, inquiry);
	return code;
}
