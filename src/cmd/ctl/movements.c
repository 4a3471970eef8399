#include "cmd/ctl/movements.h"

#include "cmd/ctl/list.h"
#include "cmd/ctl/names.h"
#include "proof/chain.h"

#include <inttypes.h>
#include <string.h>

enum ctl_exit transaction_fetch(struct ctl *ctl, uint64_t transaction_id, struct transaction *row,
	bool *found)
{
	memset(row, 0, sizeof(*row));
	row->transaction_id = transaction_id;
	return list_fetch(ctl, RECORD_TRANSACTION, row, found, NULL);
}

enum ctl_exit movement_fetch(struct ctl *ctl, uint64_t transaction_id, struct transaction *entry)
{
	bool found;
	enum ctl_exit code = transaction_fetch(ctl, transaction_id, entry, &found);

	return code == CTL_DONE && !found ? names_missing(ctl, "a movement") : code;
}

void movements_open(struct movements *movements, struct ctl *ctl, const struct player *player)
{
	memset(movements, 0, sizeof(*movements));
	movements->ctl = ctl;
	movements->player = *player;
	movements->code = CTL_DONE;
}

/* What the player row, or the movement taken before, tells of the next. */
static struct proof_link tell_next(const struct movements *movements)
{
	const struct player *player = &movements->player;

	return movements->last.transaction_id
		? proof_link_before(&movements->last)
		: proof_link_last(player);
}

bool movements_next(struct movements *movements, struct transaction *entry)
{
	const uint64_t later = movements->last.transaction_id;
	struct proof_link link;
	const char *fault;

	if (movements->code != CTL_DONE)
		return false;
	link = tell_next(movements);
	if (!link.seq && !link.transaction_id)
		return false;
	movements->code = movement_fetch(movements->ctl, link.transaction_id, entry);
	if (movements->code != CTL_DONE)
		return false;
	fault = proof_link_entry(&link, entry);
	/* An older one has a smaller id: a chain that does not say so would have no end. */
	if (!fault && later && link.transaction_id >= later)
		fault = "is no older one";
	if (fault)
		movements->code = ctl_fail(movements->ctl, CTL_FAILED, "damaged",
			"movement %s/%" PRIu64 " is named as transaction %" PRIu64
			", which %s: run creditbridgectl check", link.player_id, link.seq,
			link.transaction_id, fault);
	movements->last = *entry;
	return !fault;
}
