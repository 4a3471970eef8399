/*
 * derived_state - the state that the ledger derives from the rows and holds in memory.
 *
 * It is built from the rows at the start and follows each saved batch. A command may read it. The
 * permits and the keys of a batch under way are undone by their rooms if the batch is not saved.
 */
#ifndef LEDGER_DERIVED_STATE_H
#define LEDGER_DERIVED_STATE_H

#include "ledger/outbox/outbox.h"
#include "ledger/outbox/permits.h"
#include "ledger/outbox/schedule.h"
#include "ledger/rows/issued_keys.h"
#include "ledger/rows/moves.h"
#include "ledger/rows/operators.h"
#include "ledger/rows/recent.h"
#include "ledger/rows/replays.h"
#include "ledger/unconfirmed.h"
#include "store/store.h"

#include <stdbool.h>
#include <stdint.h>

struct derived_state {
	struct permits permits;         /* of callbacks under way */
	struct schedule schedule;       /* times and senders of callbacks */
	struct key_book key_book;       /* the keys that were issued */
	struct unconfirmed unconfirmed; /* keys that a restore brought back */
	uint64_t generation; /* of the keyring; changes with every change of a dealer or client */
	uint64_t transaction_id;    /* the last that was given out */
	uint64_t dealers;           /* the number of dealers */
	struct recent recent;       /* the newest transactions */
	struct operators operators; /* of the web console */
	struct replay_book replays; /* those that run */
	struct moves moves;         /* of dealers, under way */
	uint64_t arrivals;          /* moves to this cell that ended since the start */
};

/*
 * Initialises @state without rows. @seed makes the generations of two runs differ. Returns false
 * if memory is exhausted. derived_state_free() may be called in either case.
 */
bool derived_state_init(struct derived_state *state, uint64_t seed,
	const struct outbox_options *options);
void derived_state_free(struct derived_state *state);

/*
 * Builds the state from the rows at the start, at @now. @ws loads single rows and gets its id
 * stride and floor. Returns STATUS_NOMEM, or the status of a row that cannot be read.
 */
enum status derived_state_load(struct derived_state *state, struct store *store, struct ws *ws,
	const struct outbox_options *options, const struct moment *now);

/*
 * Applies the rows of the batch in @ws, which was saved at @now, to the state. Returns false if
 * memory is exhausted; then only a restart makes both agree.
 */
bool derived_state_follow(struct derived_state *state, const struct ws *ws,
	const struct moment *now);

#endif
