/*
 * explain_player - explains why a player was not found: the id is similar to a player's id.
 */
#include "explain/explain.h"

#include "domain/near_id.h"

#include <string.h>

/* Describes the difference between two similar ids. */
static const char *describe_difference(const char *one, const char *other)
{
	const struct bytes a = near_id_trim(one), b = near_id_trim(other);
	const bool letters = a.len != b.len || memcmp(a.data, b.data, a.len) != 0;
	const char *edit = near_id_edit(one, other);
	const bool white = strlen(one) != a.len || strlen(other) != b.len;

	if (!near_id_is(one, other) && edit)
		return edit;
	if (letters && white)
		return "upper and lower case, and the white space around it";
	return letters ? "upper and lower case" : "the white space around it";
}

void explain_player(const struct explain_case *explain, struct explanation *explanation)
{
	const struct explain_player *player = &explain->player;

	if (!player->sent[0])
		return;
	if (player->is_there)
		explain_add(explanation, CAUSE_USER_THERE, "there is a player '%s' now",
			player->sent);
	else if (player->near_id[0])
		explain_add(explanation, CAUSE_USER_MISSPELT,
			"there is no player '%s', but there is a player '%s', which differs in %s",
			player->sent, player->near_id,
			describe_difference(player->sent, player->near_id));
	else
		explain_add(explanation, CAUSE_USER_UNKNOWN,
			"there is no player '%s' of this dealer%s", player->sent,
			player->all ? ", nor one with a similar id" : "");
}
