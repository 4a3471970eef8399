/*
 * explain_player - why a player was not found: an id that differs in little from that of a player.
 */
#include "cmd/ctl/explain.h"

#include "base/text.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define WHITE " \t\r\n\v\f"

static struct bytes trim(const char *id)
{
	size_t len;

	id += strspn(id, WHITE);
	len = strlen(id);
	while (len && strchr(WHITE, id[len - 1]))
		len--;
	return (struct bytes){(const uint8_t *)id, (uint32_t)len};
}

bool explain_is_near(const char *one, const char *other)
{
	const struct bytes a = trim(one), b = trim(other);

	return a.len == b.len && strncasecmp((const char *)a.data, (const char *)b.data, a.len) == 0;
}

void explain_near_ids(const char *sent, char ids[EXPLAIN_NEAR_IDS][EXTERNAL_ID_SIZE])
{
	const struct bytes bare = trim(sent);

	for (unsigned int i = 0; i < EXPLAIN_NEAR_IDS; i++)
		text_copy_len(ids[i], EXTERNAL_ID_SIZE, (const char *)bare.data, bare.len);
	for (char *c = ids[1]; *c; c++) {
		if (*c >= 'A' && *c <= 'Z')
			*c = (char)(*c - 'A' + 'a');
	}
}

/* In what two ids differ that are near to each other. */
static const char *difference(const char *one, const char *other)
{
	const struct bytes a = trim(one), b = trim(other);
	const bool letters = memcmp(a.data, b.data, a.len) != 0;
	const bool white = strlen(one) != a.len || strlen(other) != b.len;

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
		explain_add(explanation, CAUSE_USER_THERE, "there is a player '%s' now", player->sent);
	else if (player->near_id[0])
		explain_add(explanation, CAUSE_USER_MISSPELT,
			"there is no player '%s', but there is a player '%s', which differs in %s",
			player->sent, player->near_id, difference(player->sent, player->near_id));
	else
		explain_add(explanation, CAUSE_USER_UNKNOWN, "there is no player '%s' of this dealer%s",
			player->sent, player->all ? ", nor one of a similar id" : "");
}
