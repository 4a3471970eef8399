/*
 * check_entries - walks every player's name and row, and every movement, for `check`.
 *
 * Movements up to the point never change, so that they may be read at any time; players go on
 * playing: from the last movement that a player row names it goes back to the last one of the point.
 */
#include "cmd/ctl/check.h"

#include "cmd/ctl/list.h"
#include "cmd/ctl/proof_links.h"

#include <string.h>

/* Goes back over the movements that the player made since the point. */
static enum ctl_exit find_last(struct check *check, struct proof_link *last)
{
	struct entry entry;
	enum ctl_exit code = CTL_DONE;
	bool found;

	while (code == CTL_DONE && proof_link_is_late(&check->proof, last)) {
		code = check_find_entry(check, last->transaction_id, &entry, &found);
		if (code == CTL_DONE &&
			!proof_link_back(&check->proof, last, found ? &entry : NULL))
			return CTL_DONE;
	}
	if (code == CTL_DONE)
		proof_last(&check->proof, last);
	return code;
}

static enum ctl_exit check_name(struct check *check, const struct player_name *name)
{
	struct player player;
	struct proof_link last;
	enum ctl_exit code;
	bool found;

	memset(&player, 0, sizeof(player));
	memcpy(player.casino_id, name->casino_id, sizeof(player.casino_id));
	memcpy(player.user_id, name->user_id, sizeof(player.user_id));
	code = list_fetch(check->ctl, RECORD_PLAYER, &player, &found, NULL);
	if (code != CTL_DONE)
		return code;
	last = proof_name(&check->proof, name, found ? &player : NULL,
		found && player.created_ms < check->point.begin_ms);
	return find_last(check, &last);
}

enum ctl_exit check_walk_names(struct check *check)
{
	struct list list;
	struct player_name name;
	enum ctl_exit code = CTL_DONE;

	list_open(&list, check->ctl, RECORD_PLAYER_NAME, false, 0, NULL);
	while (code == CTL_DONE && list_next(&list, &name)) {
		code = check_name(check, &name);
		check_progress(check, "players' movements", list.taken);
	}
	return list_end(&list, code);
}

/*
 * Movements and transactions, both in the order of their ids, up to the last that any of the sums counts:
 * behind that others are appended while it is walked.
 */
struct join {
	uint64_t last;
	struct list entries;
	struct list transactions;
	struct entry entry;
	struct transaction transaction;
	bool has_entry;
	bool has_transaction;
	struct player_name name; /* of a movement without a transaction row */
};

static void next_entry(struct join *join)
{
	join->has_entry = list_next(&join->entries, &join->entry) &&
		join->entry.transaction_id <= join->last;
}

static void next_transaction(struct join *join)
{
	join->has_transaction = list_next(&join->transactions, &join->transaction) &&
		join->transaction.transaction_id <= join->last;
}

/* Feeds the movement; its transaction row tells whose player it was, or, where there is none, a name. */
static enum ctl_exit feed_entry(struct check *check, struct join *join, bool has_row)
{
	const char *casino_id = has_row ? join->transaction.casino_id : "";
	enum ctl_exit code = CTL_DONE;
	bool found;

	if (!has_row) {
		code = check_find_name(check, join->entry.player_id, &join->name, &found);
		casino_id = found ? join->name.casino_id : "";
	}
	if (code == CTL_DONE)
		proof_entry(&check->proof, &join->entry, casino_id, join->entries.as_of);
	next_entry(join);
	return code == CTL_DONE ? join->entries.code : code;
}

static enum ctl_exit feed_transaction(struct check *check, struct join *join)
{
	const uint64_t id = join->transaction.transaction_id;

	proof_transaction(&check->proof, &join->transaction, join->transactions.as_of);
	if (id <= check->point.as_of)
		check->last_transaction_id = id;
	check_progress(check, "transactions", check->proof.transactions);
	next_transaction(join);
	return join->transactions.code;
}

/* The last rows: behind the ids that were given out there are none. */
static enum ctl_exit check_ids(struct check *check)
{
	struct list list;
	struct entry entry;
	struct transaction transaction;
	enum ctl_exit code;

	list_open(&list, check->ctl, RECORD_ENTRY, true, 0, NULL);
	list.page = 1;
	if (list_next(&list, &entry) && entry.transaction_id > list.as_of)
		proof_entry(&check->proof, &entry, "", list.as_of);
	code = list_end(&list, CTL_DONE);
	if (code != CTL_DONE)
		return code;
	list_open(&list, check->ctl, RECORD_TRANSACTION, true, 0, NULL);
	list.page = 1;
	if (list_next(&list, &transaction) && transaction.transaction_id > list.as_of)
		proof_transaction(&check->proof, &transaction, list.as_of);
	return list_end(&list, CTL_DONE);
}

static uint64_t last_counted(const struct check *check)
{
	uint64_t last = check->proof.point.as_of;

	for (size_t i = 0; i < check->proof.dealer_count; i++) {
		if (check->proof.dealers[i].moment.as_of > last)
			last = check->proof.dealers[i].moment.as_of;
	}
	return last;
}

enum ctl_exit check_walk_transactions(struct check *check)
{
	struct join join = {.last = last_counted(check)};
	enum ctl_exit code;

	list_open(&join.entries, check->ctl, RECORD_ENTRY, false, 0, NULL);
	list_open(&join.transactions, check->ctl, RECORD_TRANSACTION, false, 0, NULL);
	next_entry(&join);
	next_transaction(&join);
	code = join.entries.code == CTL_DONE ? join.transactions.code : join.entries.code;
	while (code == CTL_DONE && (join.has_entry || join.has_transaction)) {
		const uint64_t entry = join.entry.transaction_id;
		const uint64_t row = join.transaction.transaction_id;
		const bool both = join.has_entry && join.has_transaction;
		const bool take_entry = join.has_entry && (!both || entry <= row);
		const bool take_row = join.has_transaction && (!both || row <= entry);

		if (take_entry)
			code = feed_entry(check, &join, take_row);
		if (code == CTL_DONE && take_row)
			code = feed_transaction(check, &join);
	}
	code = list_end(&join.transactions, code);
	code = list_end(&join.entries, code);
	return code == CTL_DONE ? check_ids(check) : code;
}
