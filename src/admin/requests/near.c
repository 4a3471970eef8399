#include "admin/requests/near.h"

#include "admin/list.h"
#include "admin/requests/refused.h"
#include "base/text.h"
#include "domain/near_id.h"

#include <stdio.h>
#include <string.h>

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

/* Searches the dealer's first NEAR_PLAYERS_MAX players for a similar id. */
static enum outcome search_similar_player(struct session *session, const char *casino_id,
	struct explain_player *player)
{
	char edited[EXTERNAL_ID_SIZE] = "";
	struct player row;
	struct list list;

	memset(&row, 0, sizeof(row));
	text_copy(row.casino_id, sizeof(row.casino_id), casino_id);
	list_open(&list, session, RECORD_PLAYER, false, 1, &row);
	while (!player->near_id[0] && list.taken < NEAR_PLAYERS_MAX && list_next(&list, &row)) {
		if (near_id_is(row.user_id, player->sent))
			text_copy(player->near_id, sizeof(player->near_id), row.user_id);
		else if (!edited[0] && near_id_edit(row.user_id, player->sent))
			text_copy(edited, sizeof(edited), row.user_id);
	}
	player->all = list.taken < NEAR_PLAYERS_MAX;
	if (!player->near_id[0])
		text_copy(player->near_id, sizeof(player->near_id), edited);
	return list_end(&list, OUTCOME_DONE);
}

enum outcome near_player(struct session *session, const char *casino_id,
	struct explain_player *player)
{
	char ids[NEAR_ID_FORMS][EXTERNAL_ID_SIZE];
	enum outcome code = player_exists(session, casino_id, player->sent, &player->is_there);
	bool found = false;

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

/* Sets *absent if none of @callers is @wanted ("": not asked for), and @near_id to the one that it may mean. */
static void near_caller(const struct keyring *callers, const char *wanted, bool *absent,
	char near_id[CASINO_ID_SIZE])
{
	*absent = wanted[0] != '\0';
	for (uint32_t i = 0; i < callers->count; i++) {
		const char *id = callers->entries[i].caller_id;

		if (strcmp(id, wanted) == 0) {
			*absent = false;
			near_id[0] = '\0';
			return;
		}
		if (near_id_is(id, wanted) || (!near_id[0] && near_id_edit(id, wanted)))
			text_copy(near_id, CASINO_ID_SIZE, id);
	}
}

/* Copies @id to @near_id if it is similar to @wanted, which is "" if it is not asked for. */
static void take_near(const char *id, const char *wanted, char near_id[EXTERNAL_ID_SIZE])
{
	if (wanted[0] && !near_id[0] && (near_id_is(id, wanted) || near_id_edit(id, wanted)))
		text_copy(near_id, EXTERNAL_ID_SIZE, id);
}

/* Finds refused calls of the dealer whose player or reference is similar. */
static enum outcome near_calls(struct session *session, const struct refused_list_cmd *wanted,
	struct near_refused *near)
{
	struct refused_list_cmd filter;
	struct refused_calls calls;
	struct refused_call call;

	memset(&filter, 0, sizeof(filter));
	text_copy(filter.casino_id, sizeof(filter.casino_id), wanted->casino_id);
	refused_open(&calls, session, &filter);
	while (calls.taken < NEAR_CALLS_MAX && refused_next(&calls, &call)) {
		take_near(call.user_id, wanted->user_id, near->call_user_id);
		take_near(call.request_transaction_id, wanted->request_transaction_id,
			near->request_transaction_id);
	}
	return refused_end(&calls, OUTCOME_DONE);
}

enum outcome near_refused(struct session *session, const struct keyring callers[KEYRING_OF_COUNT],
	const struct refused_list_cmd *wanted, struct near_refused *near)
{
	struct explain_player player;
	enum outcome code = OUTCOME_DONE;

	memset(near, 0, sizeof(*near));
	memset(&player, 0, sizeof(player));
	near_caller(&callers[KEYRING_DEALERS], wanted->casino_id, &near->no_dealer,
		near->casino_id);
	near_caller(&callers[KEYRING_CLIENTS], wanted->client_id, &near->no_client,
		near->client_id);
	if (wanted->casino_id[0] && !near->no_dealer && wanted->user_id[0]) {
		text_copy(player.sent, sizeof(player.sent), wanted->user_id);
		code = near_player(session, wanted->casino_id, &player);
		text_copy(near->user_id, sizeof(near->user_id), player.near_id);
	}
	if (code == OUTCOME_DONE && (wanted->user_id[0] || wanted->request_transaction_id[0]))
		code = near_calls(session, wanted, near);
	return code;
}

void near_text(const struct near_refused *near, char text[NEAR_TEXT_MAX])
{
	const char *id = near->no_dealer ? near->casino_id : near->client_id;

	if (near->no_dealer || near->no_client)
		snprintf(text, NEAR_TEXT_MAX, "there is no %s of that id%s%s%s",
			near->no_dealer ? "dealer" : "game server", id[0] ? ", but there is '" : "",
			id, id[0] ? "'" : "");
	else if (near->user_id[0] || near->call_user_id[0])
		snprintf(text, NEAR_TEXT_MAX, "%s%s%s%s%s%s%s",
			near->user_id[0] ? "there is a player '" : "", near->user_id,
			near->user_id[0] ? "'" : "",
			near->user_id[0] && near->call_user_id[0] ? "; " : "",
			near->call_user_id[0] ? "there is a refused call of the player '" : "",
			near->call_user_id, near->call_user_id[0] ? "'" : "");
	else if (near->request_transaction_id[0])
		snprintf(text, NEAR_TEXT_MAX, "there is a refused call with the reference '%s'",
			near->request_transaction_id);
	else
		text[0] = '\0';
}
