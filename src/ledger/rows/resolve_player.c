#include "ledger/rows/resolve_player.h"

#include "ledger/rows/keys.h"
#include "ledger/rows/post.h"

/* Group C may name a player by player_id. The row that maps the name is then loaded first. */
static bool name_player(struct ws *ws, const struct player_ref *ref, struct player *key)
{
	struct player_name name_key = player_id_named(ref->player_id);
	const struct player_name *name;

	if (!ref->player_id[0]) {
		*key = player_named(ref->casino_id, ref->user_id);
		return true;
	}
	name = ws_get(ws, RECORD_PLAYER_NAME, &name_key);
	if (!name)
		return false;
	*key = player_named(name->casino_id, name->user_id);
	return true;
}

/* If a command gives more than player_id, all members must name the same player. */
static bool ref_agrees(const struct player_ref *ref, const struct player *key)
{
	return (!ref->casino_id[0] || strcmp(ref->casino_id, key->casino_id) == 0) &&
		(!ref->user_id[0] || strcmp(ref->user_id, key->user_id) == 0);
}

bool resolve_player_want(struct ws *ws, const struct player_ref *ref, struct player *key)
{
	struct player_name name_key = player_id_named(ref->player_id);

	if (ref->player_id[0]) {
		ws_want(ws, RECORD_PLAYER_NAME, &name_key);
		if (!ws_loaded(ws, RECORD_PLAYER_NAME, &name_key))
			return false;
	}
	if (!name_player(ws, ref, key))
		return false;
	post_want(ws, key->casino_id, key->user_id);
	return ws_loaded(ws, RECORD_PLAYER, key);
}

enum refusal resolve_player(struct ws *ws, const struct player_ref *ref,
	struct resolved_player *subject)
{
	struct player key;
	struct dealer dealer_key;

	*subject = (struct resolved_player){NULL, NULL};
	if (!name_player(ws, ref, &key) || !ref_agrees(ref, &key))
		return REFUSAL_USER_NOT_FOUND;
	dealer_key = dealer_named(key.casino_id);
	subject->dealer = ws_get(ws, RECORD_DEALER, &dealer_key);
	subject->player = ws_get(ws, RECORD_PLAYER, &key);
	/* The row of a name without its dealer is one that moves: another cell may serve the player. */
	if (!subject->dealer)
		return ref->casino_id[0] || !ref->player_id[0] ? REFUSAL_DEALER_NOT_FOUND
							       : REFUSAL_USER_NOT_FOUND;
	return subject->player ? REFUSAL_NONE : REFUSAL_USER_NOT_FOUND;
}
