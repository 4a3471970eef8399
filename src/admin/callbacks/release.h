/*
 * release - previews and releases the callbacks of dealers.
 *
 * A restore or an import holds the callbacks of every dealer (ledger/outbox/hold.h). A release lifts
 * the hold, only for dealers whose file was compared since (recon/reconcile.h).
 */
#ifndef ADMIN_CALLBACKS_RELEASE_H
#define ADMIN_CALLBACKS_RELEASE_H

#include "admin/session.h"

/* A dealer whose callbacks are held. */
struct held_dealer {
	char casino_id[CASINO_ID_SIZE];
	int64_t callbacks_held_ms;
	int64_t restored_ms; /* as in struct dealer: the dealer's file must be compared */
	int64_t restored_to_ms;
	uint64_t callbacks; /* number of waiting callbacks */
	bool released;
	struct failure failure; /* why it was not released; id "": it was, or was not tried */
};

/* A callback that would be sent. */
struct waiting_row {
	char webhook_id[CALLBACK_EVENT_ID_SIZE];
	int64_t created_ms;
	char casino_id[CASINO_ID_SIZE];
	char user_id[EXTERNAL_ID_SIZE];
	char game_id[EXTERNAL_ID_SIZE];
	money_t amount;
	uint64_t transaction_id;
	uint32_t attempts;
	char bet[16]; /* the state of the bet, or the result of the round */
};

struct release {
	struct session *session;
	struct held_dealer *dealers; /* room for DEALERS_MAX, sorted by casino_id */
	size_t count;
	uint64_t callbacks; /* waiting callbacks of all these dealers */
};

/* Returns false if memory is exhausted. */
bool release_init(struct release *release, struct session *session);
void release_free(struct release *release);

/* Finds the dealers to release: @casino_id, or all that are held if it is NULL. */
enum outcome release_find_dealers(struct release *release, const char *casino_id);

/* Counts the waiting callbacks of these dealers. Calls @visit for the first @limit of them. */
typedef void release_visit(void *context, const struct waiting_row *row);
enum outcome release_walk(struct release *release, uint64_t limit, release_visit *visit,
	void *context);

/*
 * Returns the number of dealers whose file was not compared since the restore, and sets *first to the
 * first of them, or to NULL. *callbacks: the number of their waiting callbacks.
 */
size_t release_count_unreconciled(const struct release *release, const char **first,
	uint64_t *callbacks);

/*
 * Releases the dealers in turn; sets @released or @failure of each. If one fails, the others are
 * released all the same, unless the ledger does not answer. Returns OUTCOME_DONE if all were
 * released, OUTCOME_PARTLY if some were, otherwise the outcome of the first one. Reports nothing.
 * @unreconciled: also those whose file was not compared, which the ledger refuses otherwise.
 */
enum outcome release_lift(struct release *release, bool unreconciled);

/* Releases the dealer if @held_ms is 0; otherwise holds it from the ledger's time on. */
enum outcome release_set_held(struct session *session, const char *casino_id, int64_t held_ms,
	bool unreconciled, struct dealer_put_result *result);

#endif
