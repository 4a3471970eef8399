/* The part of cell_links.h that finds players. */
#include "base/buffer.h"
#include "base/clock.h"
#include "base/text.h"
#include "domain/player_id.h"
#include "web/request/cell_links.h"

#include <string.h>

/* A search asks the cell that an id points to, then the others, and last those that do not answer. */
enum search_turn { TURN_HINTED, TURN_OTHERS, TURN_SILENT, TURN_COUNT };

struct player_search {
	struct cell_links *links;
	const char (*player_ids)[PLAYER_ID_SIZE];
	unsigned int count;
	unsigned int *at;
	uint8_t hints[PLAYER_FIND_MAX]; /* the cell that is asked first for each */
	unsigned int silent;            /* a bit for each cell that did not answer, or was passed */
	int64_t deadline_ms;
};

/* Returns the cell that is asked first. */
static unsigned int hinted_cell(const struct web_cells *cells, const char *player_id)
{
	const unsigned int number = player_id_number(player_id);

	for (unsigned int at = 0; number && at < cells->count; at++) {
		if (cells->list[at].number == number)
			return at;
	}
	return 0;
}

/* Returns true if the player at @i is to be searched in cell @at in this turn. */
static bool is_asked(const struct player_search *search, enum search_turn turn, unsigned int at,
	unsigned int i)
{
	const bool hinted = search->hints[i] == at;

	if (search->at[i] != CELL_NONE)
		return false;
	return turn == TURN_SILENT ? (search->silent & 1U << at) != 0
				   : hinted == (turn == TURN_HINTED);
}

/* Takes the answer of cell @at for the players that were asked for. */
static void take_found(struct player_search *search, enum search_turn turn, unsigned int at,
	struct bytes found)
{
	uint32_t next = 0;

	for (unsigned int i = 0; i < search->count && next < found.len; i++) {
		if (is_asked(search, turn, at, i) && found.data[next++])
			search->at[i] = at;
	}
}

/* Asks cell @at. Returns its failure. */
static enum status ask_cell(struct player_search *search, enum search_turn turn, unsigned int at)
{
	struct cell_links *links = search->links;
	struct player_find_cmd cmd;
	struct player_find_result result = {.verdict = {.refusal = REFUSAL_NONE}};
	struct buffer ids;
	enum status status = STATUS_OK;

	if (turn != TURN_SILENT && cell_links_is_silent(links, at))
		return STATUS_NOT_SENT;
	buffer_init(&ids, (size_t)PLAYER_FIND_MAX * (PLAYER_ID_SIZE - 1));
	for (unsigned int i = 0; i < search->count; i++) {
		if (is_asked(search, turn, at, i))
			buffer_append(&ids, search->player_ids[i], PLAYER_ID_SIZE - 1);
	}
	cmd.player_ids = (struct bytes){ids.data, (uint32_t)ids.len};
	if (ids.failed)
		status = STATUS_NOMEM;
	else if (ids.len)
		status = (turn == TURN_SILENT ? cell_links_ask : cell_links_look)(links, at,
			COMMAND_PLAYER_FIND, &cmd, &result, search->deadline_ms);
	if (!status && ids.len)
		take_found(search, turn, at, result.found);
	buffer_free(&ids);
	return status;
}

enum status cell_links_players(struct cell_links *links, const char (*player_ids)[PLAYER_ID_SIZE],
	unsigned int count, int64_t deadline_ms, unsigned int *at)
{
	struct player_search search = {.links = links,
		.player_ids = player_ids,
		.count = count,
		.at = at,
		.deadline_ms = deadline_ms};
	enum status status, failed = STATUS_OK;

	for (unsigned int i = 0; i < count; i++) {
		at[i] = CELL_NONE;
		search.hints[i] = (uint8_t)hinted_cell(links->cells, player_ids[i]);
	}
	for (enum search_turn turn = 0; turn < TURN_COUNT; turn++) {
		for (unsigned int cell = 0; cell < links->cells->count; cell++) {
			status = ask_cell(&search, turn, cell);
			if (status && turn != TURN_SILENT)
				search.silent |= 1U << cell;
			else if (status)
				failed = status;
		}
	}
	for (unsigned int i = 0; failed && i < count; i++) {
		if (at[i] == CELL_NONE)
			return failed;
	}
	return STATUS_OK;
}

/* Returns the place where the cell of the player is remembered. */
static struct cell_player *player_place(struct cell_links *links, const char *player_id)
{
	uint32_t hash = 2166136261U; /* FNV-1a */

	for (; *player_id; player_id++)
		hash = (hash ^ (uint8_t)*player_id) * 16777619U;
	return &links->players[hash % CELL_PLAYERS];
}

/* Finds the cell of the player. *@at is CELL_NONE if no cell has it. */
static enum status find_player(struct cell_links *links, const char *player_id, int64_t deadline_ms,
	unsigned int *at)
{
	struct cell_player *place = player_place(links, player_id);
	char ids[1][PLAYER_ID_SIZE];
	enum status status;

	*at = CELL_NONE;
	/* An id of another length names no player. */
	if (strlen(player_id) != PLAYER_ID_SIZE - 1)
		return STATUS_OK;
	if (strcmp(place->player_id, player_id) == 0) {
		links->remembered = place;
		*at = place->at;
		return STATUS_OK;
	}
	text_copy(ids[0], sizeof(ids[0]), player_id);
	status = cell_links_players(links, (const char(*)[PLAYER_ID_SIZE])ids, 1, deadline_ms, at);
	if (!status && *at != CELL_NONE) {
		text_copy(place->player_id, sizeof(place->player_id), player_id);
		place->at = (uint8_t)*at;
	}
	return status;
}

enum status cell_links_route(struct cell_links *links, const struct player_ref *player,
	int64_t deadline_ms)
{
	unsigned int at = CELL_NONE;
	enum status status = STATUS_OK;

	if (player->casino_id[0])
		status = cell_links_dealer(links, player->casino_id, true, clock_boot_ms(),
			deadline_ms, &at);
	else if (player->player_id[0])
		status = find_player(links, player->player_id, deadline_ms, &at);
	return status ? status : cell_links_choose(links, at == CELL_NONE ? 0 : at);
}

bool cell_links_forget(struct cell_links *links)
{
	if (!links->remembered)
		return false;
	memset(links->remembered, 0, sizeof(*links->remembered));
	links->remembered = NULL;
	return true;
}
