/*
 * move - moves a dealer with all its rows to another ledger, or undoes that (domain/dealer_move.h).
 *
 * Both ledgers keep the state of the move. After any failure, and after a kill of any of the three processes,
 * the same call goes on. The copy is compared by counts, digests and sums before the first ledger gives the
 * dealer up. Failures of both ledgers are reported by the session of the first one.
 */
#ifndef ADMIN_MOVE_MOVE_H
#define ADMIN_MOVE_MOVE_H

#include "admin/session.h"
#include "base/buffer.h"

/* How long to wait until no callback of the dealer is being sent: a lost sender is taken over after 70 s at most. */
#define MOVE_PATIENCE_MS 90000

/*
 * How long both ledgers have the keys of the dealer: longer than workers use keys without asking
 * (web/request/fresh_keyring.h, KEYRING_FRESH_MS).
 */
#define MOVE_SETTLE_MS 1500

/* The rows of one kind. */
struct move_tally {
	uint64_t count;
	sum_t amount;
	char digest[DIGEST_TEXT_SIZE];
};

/* One of the two ledgers. */
struct move_side {
	struct session *session;
	uint64_t table_bytes[RECORD_COUNT]; /* move_estimate() sets them */
	char installation[MOVE_PEER_SIZE];
	struct dealer_move_result now; /* its half of the move; the bytes in it are in @after */
	struct buffer after;
};

/* How far a copy, a comparison or a deletion is. Rows and bytes are those of this call. */
struct move_progress {
	const char *what;     /* "rows copied" */
	uint64_t count;       /* of that */
	uint64_t looked;      /* rows of all dealers that were looked at */
	uint64_t bytes;       /* of the tables, an estimate */
	uint64_t bytes_all;   /* that it reads in all; 0: not known */
	uint64_t bytes_kinds; /* of @bytes, those of the kinds that are complete */
};

/* What a move will look at. */
struct move_estimate {
	bool has_dealer; /* the first ledger has the dealer, and the counts are known */
	bool at_least;   /* older movements, bets and callbacks were never counted */
	uint64_t players;
	uint64_t movements;
	uint64_t bets;
	uint64_t callbacks;
	uint64_t read_bytes; /* of both ledgers' tables, until the second one serves the dealer */
};

struct move {
	struct move_side from;
	struct move_side to;
	char casino_id[CASINO_ID_SIZE];
	char from_name[CELL_NAME_SIZE]; /* of the cells, for people; "": not known */
	char to_name[CELL_NAME_SIZE];
	char id[MOVE_ID_SIZE];
	struct buffer dealer;   /* the row of the dealer, packed; has secrets */
	uint64_t rows;          /* copied or deleted by this call */
	uint64_t compared;      /* rows of both ledgers that this call compared */
	bool is_compared;       /* this call has compared the rows, and they were equal */
	int64_t settle_ms;      /* move_open() sets MOVE_SETTLE_MS */
	uint64_t compared_page; /* what the second ledger had then: its last page, and its rows */
	uint64_t compared_rows;
	/* Nonzero: the second ledger went back, and is complete up to this time. Its callbacks for the dealer are held. */
	int64_t complete_to_ms;
	struct move_progress pass; /* the present one */
	/* Called after each page. NULL: not called. */
	void (*progress)(void *closure, const struct move_progress *progress);
	void *progress_closure;
	struct move_tally tallies[RECORD_COUNT]; /* of the kinds that were compared by this call */
};

/* Begins with the sessions of the two ledgers. Call move_close() in any case. */
void move_open(struct move *move, struct session *from, struct session *to, const char *casino_id);
void move_close(struct move *move);

/*
 * Finds out what move_dealer() will look at, which changes nothing. Without it, the progress has no bytes. The sums of the
 * dealer's days (struct dealer_day) and the sizes of the tables are at hand, so this takes no longer than one page.
 */
enum outcome move_estimate(struct move *move, struct move_estimate *estimate);

/* Moves the dealer, or goes on with its move. */
enum outcome move_dealer(struct move *move);

/* Undoes a move that has not cut the dealer off the first ledger. Without a move it does nothing. */
enum outcome move_abort(struct move *move);

/* ---- the rows (rows.c) */

/* Returns the bytes of the tables that a walk over all kinds reads in the side's ledger. @compared: over those compared. */
uint64_t move_walk_bytes(const struct move_side *side, bool compared);

/* Copies the rows from where the second ledger has them. */
enum outcome move_copy(struct move *move);
/* Compares the rows of both ledgers. OUTCOME_FAILED if they differ. */
enum outcome move_compare(struct move *move);
/* Deletes the rows of one side, which is removing or undoing. */
enum outcome move_delete(struct move *move, struct move_side *side);
/* Fetches the row of the dealer from the first ledger into move->dealer. */
enum outcome move_fetch_dealer(struct move *move);

/*
 * Sets move->complete_to_ms if the data of the second ledger went back since the move began (restored.c). It may have
 * served the dealer before.
 */
enum outcome move_find_restore(struct move *move);

/* Reports a failure of the side's session as one of the first ledger's. */
enum outcome move_ask(struct move *move, struct move_side *side, enum command command,
	const void *cmd, void *result);

#endif
