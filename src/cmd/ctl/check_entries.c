/*
 * check_entries - walks every player's name, row and movements for `check`.
 *
 * Names and entries, both in the order of player_id, are walked side by side. For a batch of names
 * the player rows are read first and the entries after that: so every movement that a player row
 * counts is among the entries. Where a batch ends in a page of entries, that page is read again.
 */
#include "cmd/ctl/check.h"

#include "cmd/ctl/list.h"

#include <stdlib.h>
#include <string.h>

#define BATCH_PLAYERS LIST_ROWS_MAX

/* Both walks, and the batch. */
struct join {
	struct list names;
	struct list entries;
	struct entry entry;
	bool pending; /* @entry is not used yet */
	char done[PLAYER_ID_SIZE]; /* players up to here are */
	unsigned int count;
	struct named {
		struct player_name name;
		struct player player;
		bool found;
		uint64_t as_of;       /* of @player */
		uint64_t names_as_of; /* of @name */
	} batch[BATCH_PLAYERS];
};

static enum ctl_exit read_batch(struct check *check, struct join *join)
{
	enum ctl_exit code = CTL_DONE;

	join->count = 0;
	while (join->count < BATCH_PLAYERS &&
		list_next(&join->names, &join->batch[join->count].name)) {
		struct named *named = &join->batch[join->count++];

		named->names_as_of = join->names.as_of;
		memcpy(named->player.casino_id, named->name.casino_id,
			sizeof(named->player.casino_id));
		memcpy(named->player.user_id, named->name.user_id, sizeof(named->player.user_id));
		code = list_fetch(check->ctl, RECORD_PLAYER, &named->player, &named->found,
			&named->as_of);
		if (code != CTL_DONE)
			return code;
	}
	return join->names.code;
}

static void begin_player(struct check *check, const struct named *named)
{
	proof_begin(&check->proof, &named->name, named->found ? &named->player : NULL, named->as_of,
		named->found && named->player.created_ms < check->point.begin_ms);
}

/* Takes the next entry behind the players that are done. False: none, or a failure. */
static bool next_entry(struct join *join)
{
	while (!join->pending && list_next(&join->entries, &join->entry))
		join->pending = strcmp(join->entry.player_id, join->done) > 0;
	return join->pending;
}

/* Feeds the entries of the batch; behind the @last batch everything that is left is an orphan. */
static void join_batch(struct check *check, struct join *join, bool last)
{
	unsigned int i = 0;
	bool begun = false;
	int order;

	while (next_entry(join)) {
		order = i < join->count
			? strcmp(join->batch[i].name.player_id, join->entry.player_id)
			: 1;
		if (order < 0) {
			if (!begun)
				begin_player(check, &join->batch[i]);
			proof_end(&check->proof);
			begun = false;
			i++;
			continue;
		}
		if (i == join->count && !last)
			break;
		if (order > 0) {
			proof_orphan(&check->proof, &join->entry,
				i < join->count ? join->batch[i].names_as_of : join->names.as_of);
		} else {
			if (!begun)
				begin_player(check, &join->batch[i]);
			begun = true;
			proof_entry(&check->proof, &join->entry, join->entries.as_of);
			check_progress(check, "movements", check->proof.entries);
		}
		join->pending = false;
	}
	for (; i < join->count; i++, begun = false) {
		if (!begun)
			begin_player(check, &join->batch[i]);
		proof_end(&check->proof);
	}
}

enum ctl_exit check_walk_entries(struct check *check)
{
	struct join *join = calloc(1, sizeof(*join));
	enum ctl_exit code = CTL_DONE;
	bool last = false;

	if (!join)
		return ctl_fail(check->ctl, CTL_FAILED, "failed", "out of memory");
	list_open(&join->names, check->ctl, RECORD_PLAYER_NAME, false, 0, NULL);
	list_open(&join->entries, check->ctl, RECORD_ENTRY, false, 0, NULL);
	while (code == CTL_DONE && !last) {
		code = read_batch(check, join);
		last = join->count < BATCH_PLAYERS;
		join->pending = false;
		if (code == CTL_DONE && join->entries.started && !list_again(&join->entries))
			code = join->entries.code;
		if (code != CTL_DONE)
			break;
		join_batch(check, join, last);
		code = join->entries.code;
		if (join->count)
			memcpy(join->done, join->batch[join->count - 1].name.player_id,
				sizeof(join->done));
	}
	list_close(&join->names);
	list_close(&join->entries);
	free(join);
	return code;
}
