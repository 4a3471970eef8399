#include "admin/inquiry.h"

#include "admin/list.h"
#include "base/pack.h"
#include "base/text.h"
#include "domain/near_id.h"
#include "wire/inspect.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Maximum number of the dealer's players that are searched for a similar id. */
#define PLAYERS_MAX 10000

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

/* Reads all keys of dealers and game servers. */
static enum outcome read_keys(struct session *session, struct inquiry *inquiry)
{
	enum outcome code = OUTCOME_DONE;

	for (unsigned int of = 0; of < KEYRING_OF_COUNT && code == OUTCOME_DONE; of++) {
		code = keys_fetch(session, (enum keyring_of)of, &inquiry->keyrings[of]);
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

static enum outcome fail_not_kept(struct session *session, const struct refused_find_result *found,
	const char *id)
{
	char since[32];

	text_time(found->since_ms ? found->since_ms : found->started_ms, since);
	return session_fail(session, OUTCOME_FAILED, "not_kept",
		"%s is not among the refused requests: the last %d answers 400, 401 and user_not_found are "
		"kept while the ledger runs, %" PRIu32
		" now, since %s; under load some are left out",
		id, 1000, found->kept, since);
}

/* Fetches the rejected request from the ledger and keeps its data. */
static enum outcome find_request(struct session *session, struct inquiry *inquiry, const char *id)
{
	struct refused_request *request = &inquiry->explain.request;
	struct refused_find_result *found = &inquiry->found;
	struct refused_find_cmd cmd = {.request_id = ""};
	enum outcome code;

	text_copy(cmd.request_id, sizeof(cmd.request_id), id);
	code = session_do(session, COMMAND_REFUSED_FIND, &cmd, found, NULL);
	if (code != OUTCOME_DONE)
		return code;
	if (!found->matches)
		return fail_not_kept(session, found, id);
	*request = found->request;
	while (found->retired.len && inquiry->explain.retired_count < INQUIRY_RETIRED_MAX) {
		if (!unpack_record(&found->retired, retired_key_fields,
			    &inquiry->retired[inquiry->explain.retired_count++]))
			return session_fail(session, OUTCOME_FAILED, "failed",
				"the ledger sent a row that "
				"cannot be read: run `creditbridgectl doctor`, which compares "
				"the versions");
	}
	inquiry->explain.retired = inquiry->retired;
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

/* Asks the ledger whether a player with this id exists. */
static enum outcome player_exists(struct session *session, const char *casino_id,
	const char *user_id, bool *found)
{
	struct player player;

	memset(&player, 0, sizeof(player));
	text_copy(player.casino_id, sizeof(player.casino_id), casino_id);
	text_copy(player.user_id, sizeof(player.user_id), user_id);
	*found = false;
	return user_id[0] ? list_fetch(session, RECORD_PLAYER, &player, found, NULL) : OUTCOME_DONE;
}

/* Searches the dealer's first PLAYERS_MAX players for a similar id. */
static enum outcome search_similar_player(struct session *session, const char *casino_id,
	struct explain_player *player)
{
	struct player row;
	struct list list;

	memset(&row, 0, sizeof(row));
	text_copy(row.casino_id, sizeof(row.casino_id), casino_id);
	list_open(&list, session, RECORD_PLAYER, false, 1, &row);
	while (!player->near_id[0] && list.taken < PLAYERS_MAX && list_next(&list, &row)) {
		if (near_id_is(row.user_id, player->sent))
			text_copy(player->near_id, sizeof(player->near_id), row.user_id);
	}
	player->all = list.taken < PLAYERS_MAX;
	return list_end(&list, OUTCOME_DONE);
}

/*
 * For user_not_found: searches for a player whose id differs slightly from the id in the request.
 */
static enum outcome examine_player(struct session *session, struct explain_case *explain)
{
	struct explain_player *player = &explain->player;
	char casino_id[CASINO_ID_SIZE], ids[NEAR_ID_FORMS][EXTERNAL_ID_SIZE];
	enum outcome code;
	bool found = false;

	if (explain->request.refusal != REFUSAL_USER_NOT_FOUND ||
		!read_dealer_id(explain, casino_id) ||
		!inspect_string(explain->request.body, "user_id", player->sent,
			sizeof(player->sent)))
		return OUTCOME_DONE;
	code = player_exists(session, casino_id, player->sent, &player->is_there);
	if (code != OUTCOME_DONE || player->is_there)
		return code;
	near_id_forms(player->sent, ids);
	for (unsigned int i = 0; i < NEAR_ID_FORMS && code == OUTCOME_DONE && !found; i++) {
		code = player_exists(session, casino_id, ids[i], &found);
		if (found)
			text_copy(player->near_id, sizeof(player->near_id), ids[i]);
	}
	return code == OUTCOME_DONE && !found ? search_similar_player(session, casino_id, player)
					      : code;
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

enum outcome inquiry_collect(struct inquiry *inquiry, struct session *session, const char *id)
{
	enum outcome code = find_request(session, inquiry, id);

	if (code == OUTCOME_DONE)
		code = read_keys(session, inquiry);
	if (code == OUTCOME_DONE)
		code = examine_dealer(session, &inquiry->explain);
	if (code == OUTCOME_DONE)
		code = examine_player(session, &inquiry->explain);
	inquiry->explain.window_ms = (int64_t)session->settings.request_window_s * 1000;
	return code;
}
