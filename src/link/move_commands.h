/*
 * move_commands - the commands by which creditbridgectl moves a dealer between two cells (domain/dealer_move.h).
 */
#ifndef LINK_MOVE_COMMANDS_H
#define LINK_MOVE_COMMANDS_H

#include "domain/dealer_move.h"
#include "link/verdict.h"

/* The steps of a move. Each is repeatable. */
enum move_action {
	MOVE_LOOK, /* changes nothing */
	/* in the cell that the dealer moves from */
	MOVE_LEAVE,  /* none -> leaving */
	MOVE_STAY,   /* leaving -> none: the move is aborted */
	MOVE_CUT,    /* leaving -> left: nothing is being sent */
	MOVE_REMOVE, /* left -> removing: deletes the row of the dealer */
	MOVE_FINISH, /* removing -> gone: all rows are deleted */
	/* in the cell that the dealer moves to */
	MOVE_ARRIVE, /* none -> arriving */
	MOVE_UNDO,   /* arriving -> undoing */
	MOVE_UNDONE, /* undoing -> none: all rows are deleted */
	MOVE_OPEN,   /* arriving -> arrived: adds the row of the dealer */
	MOVE_ACTION_COUNT
};
extern const char *const move_action_names[MOVE_ACTION_COUNT];

/*
 * Does a step of the move @id. The audit records it. Refusals: dealer_not_found; already_exists; too_many_dealers;
 * key_known; not_allowed_now with a detail, such as a step that does not follow the state.
 */
struct dealer_move_cmd {
	struct operator operator; /* its operation_id is not used: the step and @id are the key */
	enum move_action action;
	char casino_id[CASINO_ID_SIZE];
	char id[MOVE_ID_SIZE];
	char peer[MOVE_PEER_SIZE];  /* MOVE_LEAVE, MOVE_ARRIVE: installation of the other cell */
	char other[CELL_NAME_SIZE]; /* and its name; "": not known */
	struct bytes dealer;        /* MOVE_ARRIVE, MOVE_OPEN: the row of the dealer, packed */
	/* MOVE_OPEN: what was put when the rows were compared. Refused if the ledger has another number. */
	uint64_t page;
	uint64_t rows;
	/*
	 * MOVE_OPEN: nonzero if the ledger may have served the dealer already, before its data went back. It opens the
	 * dealer as a restore leaves one, whose data is complete up to this time.
	 */
	int64_t complete_to_ms;
};
struct dealer_move_result {
	struct verdict verdict;
	bool has_dealer; /* this cell has the row of the dealer */
	bool has_move;   /* and one of a move of it, which is @move */
	struct dealer_move move;
	uint64_t sending; /* callbacks of the dealer under way */
	/*
	 * What the audit of this cell has of the move @id, whatever became of the dealer later. They go back with the
	 * data: a restore of an earlier backup clears them.
	 */
	bool has_opened; /* MOVE_OPEN: the dealer arrived here with all rows */
	bool has_stayed; /* MOVE_STAY: this cell aborted the move */
};

/*
 * Reads rows of the dealer, page by page: those of one kind after @cursor, in the order of their keys. Members
 * that have a meaning only in this cell are cleared. A page has at most MOVE_ROWS_MAX rows and may be empty with
 * @more set, because one command looks at MOVE_LOOK_MAX rows at most. A move of the dealer must be under way here.
 * Holds secrets. Refusals: not_allowed_now.
 */
#define MOVE_ROWS_MAX 256
#define MOVE_LOOK_MAX 1024
/* Batches of results in a page, and that one command looks at. Each names up to 500 rows. */
#define MOVE_BATCHES_MAX 4
enum move_want {
	MOVE_WANT_SUMS, /* no row */
	MOVE_WANT_ROWS, /* packed rows */
	MOVE_WANT_KEYS, /* packed keys */
	MOVE_WANT_COUNT
};
struct move_read_cmd {
	char casino_id[CASINO_ID_SIZE];
	char id[MOVE_ID_SIZE];
	enum record record;
	enum move_want want;
	struct bytes cursor;
	char digest[DIGEST_TEXT_SIZE]; /* of the pages before; "": this is the first */
};
struct move_read_result {
	struct verdict verdict;
	bool more;
	uint32_t count;
	uint32_t looked; /* rows of all dealers that were looked at for the page */
	/* The part of all rows of the kind that is before the next page, in millionths: an estimate. 0: not known. */
	uint32_t part;
	char digest[DIGEST_TEXT_SIZE]; /* of all rows so far */
	sum_t amount;                  /* sum of the amounts of the rows of the page */
	struct bytes rows;
	struct bytes cursor; /* of the next page */
};

/*
 * Puts a page of rows, as MOVE_READ gave them, in the cell that the dealer moves to. A page that is sent twice acts
 * once. A row that exists must be the same. Refusals: not_allowed_now if the dealer is not arriving, or it is another
 * page than the next; bad_request for a row of another dealer; client_not_found; transaction_conflict with a detail.
 */
struct move_put_cmd {
	struct operator operator;
	char casino_id[CASINO_ID_SIZE];
	char id[MOVE_ID_SIZE];
	uint64_t page; /* 1, 2, 3 ... */
	enum record record;
	struct bytes rows;
	struct bytes cursor; /* after the page; empty: the kind is complete */
};
struct move_put_result {
	struct verdict verdict;
	uint64_t page; /* pages that were put */
};

/*
 * Deletes rows of the dealer by their packed keys, while it is removing or undoing. A batch of results stays if it has
 * an item of another dealer. Refusals: not_allowed_now; bad_request for a row of another dealer.
 */
struct move_drop_cmd {
	char casino_id[CASINO_ID_SIZE];
	char id[MOVE_ID_SIZE];
	enum record record;
	struct bytes keys;
	struct bytes cursor; /* as in MOVE_PUT */
};
struct move_drop_result {
	struct verdict verdict;
	uint32_t dropped;
};

/* The kinds of rows that move with a dealer, in the order in which they are put. The row of the dealer is the last. */
extern const enum record move_records[];
extern const unsigned int move_record_count;

/* The most rows of a page. */
uint32_t move_page_max(enum record record);

/* Returns true for a kind whose rows stay in the cell, too: those that other dealers need there. */
bool move_copies(enum record record);

#endif
