#include "cmd/ctl/names.h"

#include "base/text.h"
#include "cmd/ctl/list.h"

#include <string.h>

enum ctl_exit names_missing(struct ctl *ctl, const char *what)
{
	return ctl_fail(ctl, CTL_FAILED, "damaged",
		"the ledger's rows do not agree: %s is missing; run 'creditbridgectl check'", what);
}

enum ctl_exit names_dealer(struct ctl *ctl, const char *casino_id, struct dealer *dealer)
{
	enum ctl_exit code;
	bool found;

	memset(dealer, 0, sizeof(*dealer));
	code = ctl_casino_id(ctl, casino_id, dealer->casino_id);
	if (code == CTL_DONE)
		code = list_fetch(ctl, RECORD_DEALER, dealer, &found, NULL);
	if (code == CTL_DONE && !found)
		return ctl_fail(ctl, CTL_FAILED, "dealer_not_found", "there is no dealer '%s'; "
			"see `creditbridgectl dealer list`",
			casino_id);
	return code;
}

static enum ctl_exit fetch_player(struct ctl *ctl, struct player *player, bool named)
{
	enum ctl_exit code = CTL_DONE;
	bool found = named;

	if (named)
		code = list_fetch(ctl, RECORD_PLAYER, player, &found, NULL);
	if (code == CTL_DONE && !found && player->user_id[0])
		return ctl_fail(ctl, CTL_FAILED, "user_not_found",
			"dealer '%s' has no player '%s'; see `creditbridgectl player list %s`",
			player->casino_id, player->user_id, player->casino_id);
	if (code == CTL_DONE && !found)
		return ctl_fail(ctl, CTL_FAILED, "user_not_found",
			"there is no player of this player id; see `creditbridgectl player list CASINO`");
	return code;
}

enum ctl_exit names_player(struct ctl *ctl, const char *casino_id, const char *user_id,
	struct player *player)
{
	enum ctl_exit code;

	memset(player, 0, sizeof(*player));
	code = ctl_casino_id(ctl, casino_id, player->casino_id);
	if (code == CTL_DONE)
		code = ctl_external_id(ctl, "a user id", user_id, player->user_id);
	return code == CTL_DONE ? fetch_player(ctl, player, true) : code;
}

enum ctl_exit names_player_word(struct ctl *ctl, const char *word, struct player *player)
{
	const char *slash = strchr(word, '/');
	struct player_name name = {.player_id = ""};
	char casino_id[CASINO_ID_SIZE];
	enum ctl_exit code = CTL_DONE;
	bool found = false;

	if (slash && text_copy_len(casino_id, sizeof(casino_id), word, (size_t)(slash - word)))
		return names_player(ctl, casino_id, slash + 1, player);
	memset(player, 0, sizeof(*player));
	if (!slash && text_copy(name.player_id, sizeof(name.player_id), word))
		code = list_fetch(ctl, RECORD_PLAYER_NAME, &name, &found, NULL);
	if (code != CTL_DONE)
		return code;
	memcpy(player->casino_id, name.casino_id, sizeof(player->casino_id));
	memcpy(player->user_id, name.user_id, sizeof(player->user_id));
	return fetch_player(ctl, player, found);
}

enum ctl_exit names_of(struct ctl *ctl, const char *player_id, struct player_name *name)
{
	enum ctl_exit code;
	bool found;

	if (name->player_id[0] && strcmp(name->player_id, player_id) == 0)
		return CTL_DONE;
	memset(name, 0, sizeof(*name));
	if (!text_copy(name->player_id, sizeof(name->player_id), player_id))
		return names_missing(ctl, "a player's name");
	code = list_fetch(ctl, RECORD_PLAYER_NAME, name, &found, NULL);
	return code == CTL_DONE && !found ? names_missing(ctl, "a player's name") : code;
}
