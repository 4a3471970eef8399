#include "admin/names.h"

#include "admin/list.h"
#include "base/near.h"
#include "base/text.h"

#include <string.h>

enum outcome names_read_casino_id(struct session *session, const char *text,
	char casino_id[CASINO_ID_SIZE])
{
	memset(casino_id, 0, CASINO_ID_SIZE);
	if (text_is_name(text, CASINO_ID_SIZE - 1) && text_copy(casino_id, CASINO_ID_SIZE, text))
		return OUTCOME_DONE;
	return session_usage(session, "'%s' is not a casino id: 1 to 64 of [A-Za-z0-9_.-]", text);
}

enum outcome names_read_client_id(struct session *session, const char *text,
	char client_id[CLIENT_ID_SIZE])
{
	memset(client_id, 0, CLIENT_ID_SIZE);
	if (text_is_name(text, CLIENT_ID_SIZE - 1) && text_copy(client_id, CLIENT_ID_SIZE, text))
		return OUTCOME_DONE;
	return session_usage(session, "'%s' is not a client id: 1 to 64 of [A-Za-z0-9_.-]", text);
}

enum outcome names_read_external_id(struct session *session, const char *what, const char *text,
	char id[EXTERNAL_ID_SIZE])
{
	memset(id, 0, EXTERNAL_ID_SIZE);
	if (text[0] && text_is_utf8_clean(text, strlen(text)) &&
		text_copy(id, EXTERNAL_ID_SIZE, text))
		return OUTCOME_DONE;
	return session_usage(session,
		"%s must be 1 to 128 bytes of UTF-8 without control characters", what);
}

enum outcome names_missing(struct session *session, const char *what)
{
	return session_fail(session, OUTCOME_FAILED, "damaged",
		"the ledger's rows do not agree: %s is missing; run 'creditbridgectl check'", what);
}

/* Looks at so many dealers for a name that is near. */
#define NEAR_DEALERS_MAX 1000

/* Reports that there is no dealer @casino_id, and which one may have been meant. */
static enum outcome refuse_dealer(struct session *session, const char *casino_id)
{
	struct near near;
	struct list list;
	struct dealer row;
	enum outcome code;

	near_begin(&near, casino_id);
	list_open(&list, session, RECORD_DEALER, false, 0, NULL);
	while (list.taken < NEAR_DEALERS_MAX && list_next(&list, &row))
		near_offer(&near, row.casino_id);
	code = list_end(&list, OUTCOME_DONE);
	if (code != OUTCOME_DONE)
		return code;
	return session_fail(session, OUTCOME_FAILED, "dealer_not_found",
		"there is no dealer '%s'%s%s%s; see `creditbridgectl dealer list`", casino_id,
		near.best[0] ? " (did you mean '" : "", near.best, near.best[0] ? "'?)" : "");
}

enum outcome names_dealer(struct session *session, const char *casino_id, struct dealer *dealer)
{
	enum outcome code;
	bool found;

	memset(dealer, 0, sizeof(*dealer));
	code = names_read_casino_id(session, casino_id, dealer->casino_id);
	if (code == OUTCOME_DONE)
		code = list_fetch(session, RECORD_DEALER, dealer, &found, NULL);
	if (code == OUTCOME_DONE && !found)
		return refuse_dealer(session, casino_id);
	return code;
}

static enum outcome fetch_player(struct session *session, struct player *player, bool named)
{
	enum outcome code = OUTCOME_DONE;
	bool found = named;

	if (named)
		code = list_fetch(session, RECORD_PLAYER, player, &found, NULL);
	if (code == OUTCOME_DONE && !found && player->user_id[0])
		return session_fail(session, OUTCOME_FAILED, "user_not_found",
			"dealer '%s' has no player '%s'; see `creditbridgectl player list %s`",
			player->casino_id, player->user_id, player->casino_id);
	if (code == OUTCOME_DONE && !found)
		return session_fail(session, OUTCOME_FAILED, "user_not_found",
			"there is no player of this player id; see `creditbridgectl player list CASINO`");
	return code;
}

enum outcome names_player(struct session *session, const char *casino_id, const char *user_id,
	struct player *player)
{
	enum outcome code;

	memset(player, 0, sizeof(*player));
	code = names_read_casino_id(session, casino_id, player->casino_id);
	if (code == OUTCOME_DONE)
		code = names_read_external_id(session, "a user id", user_id, player->user_id);
	return code == OUTCOME_DONE ? fetch_player(session, player, true) : code;
}

enum outcome names_player_word(struct session *session, const char *word, struct player *player)
{
	const char *slash = strchr(word, '/');
	struct player_name name = {.player_id = ""};
	char casino_id[CASINO_ID_SIZE];
	enum outcome code = OUTCOME_DONE;
	bool found = false;

	if (slash && text_copy_len(casino_id, sizeof(casino_id), word, (size_t)(slash - word)))
		return names_player(session, casino_id, slash + 1, player);
	memset(player, 0, sizeof(*player));
	if (!slash && text_copy(name.player_id, sizeof(name.player_id), word))
		code = list_fetch(session, RECORD_PLAYER_NAME, &name, &found, NULL);
	if (code != OUTCOME_DONE)
		return code;
	memcpy(player->casino_id, name.casino_id, sizeof(player->casino_id));
	memcpy(player->user_id, name.user_id, sizeof(player->user_id));
	return fetch_player(session, player, found);
}

enum outcome names_of(struct session *session, const char *player_id, struct player_name *name)
{
	enum outcome code;
	bool found;

	if (name->player_id[0] && strcmp(name->player_id, player_id) == 0)
		return OUTCOME_DONE;
	memset(name, 0, sizeof(*name));
	if (!text_copy(name->player_id, sizeof(name->player_id), player_id))
		return names_missing(session, "a player's name");
	code = list_fetch(session, RECORD_PLAYER_NAME, name, &found, NULL);
	return code == OUTCOME_DONE && !found ? names_missing(session, "a player's name") : code;
}
