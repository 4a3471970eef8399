/*
 * case_moves - a move of a dealer between two ledgers.
 *
 * The ledger that the dealer leaves is case_ledger. The other one takes its place when it is to be proved.
 */
#ifndef TESTS_LEDGER_CASE_MOVES_H
#define TESTS_LEDGER_CASE_MOVES_H

#include "case_wagers.h"

#include "admin/move/move.h"

extern struct ledger other;
extern struct store *other_db;
extern struct slot slots[2];
extern struct session sessions[2];
extern int calls_left; /* until one fails; below 0: none does */
extern bool is_done;   /* the call that fails was done, and its answer is lost */
extern const char *mover;
extern bool is_doubled;   /* each command is sent twice, as after a broken connection */
extern bool back;         /* the dealer moves from the other ledger to case_ledger */
extern int64_t settle_ms; /* of the moves; 0: there are no workers */
/* Boot time of the last command of the kind: a step of a move, or a page that was deleted. */
extern int64_t step_ms[MOVE_ACTION_COUNT], drop_ms;
/* What the command line shows of a move; NULL: nothing. */
extern void (*watch_progress)(void *closure, const struct move_progress *progress);

/* What demo did before it moved. */
extern struct transfer_result transferred;
extern uint64_t due_event, last_id;

/* Makes case_ledger with the dealers demo and else, and the other one with the dealer there. */
void make_world(int kind, enum wallet_mode mode);
void close_world(void);
/* Makes an empty other ledger, with the dealer there. */
void open_there(void);
/* Begins the first life of a ledger. */
void begin_life(struct store *store, uint32_t number);
/* Ends both ledgers and starts them again, as after a kill. */
void restart(void);
/* The two ledgers change their places, and start again. */
void swap_ledgers(void);
/* The other ledger takes the place of the one that the dealer left. */
void go_there(void);

/* Sends a command to the ledger @closure. */
enum status ask(void *closure, enum command command, const void *cmd, void *result);
/* Runs one command in the other ledger. */
struct slot *run_there(enum command command, const void *cmd);
/* A batch of results of a round of demo and of one of else. */
struct settle_batch_result run_batch(void);
/* Likewise of the rounds @game, with another key. */
struct settle_batch_result send_batch(const char *key, const char *request_id, const char *game);
struct adjust_result adjust(const char *casino_id, const char *operation_id);
void place_bet(const char *casino_id, const char *id, const char *game);

/* Runs the command once. Returns its outcome; what failed is in sessions[0].failure. */
enum outcome run_move(enum outcome (*what)(struct move *move));
/*
 * Runs it again and again, each time to a later command, until the two ledgers are in these states. Each command that
 * is the last of its run is done, and its answer is lost.
 */
void move_until(const struct ledger *one, enum move_state state, const struct ledger *another,
	enum move_state at_another);
/* Runs it to its end. */
void move_all(void);

/* Counts all rows of a kind, hidden ones too. */
unsigned int count_stored(struct store *store, enum record record);
/* Likewise of each kind, in both ledgers. */
void count_all(unsigned int counts[RECORD_COUNT]);
/* No row is lost or there twice, except those that stay in both ledgers. */
void counts_are(const unsigned int before[RECORD_COUNT]);
/* Proves both ledgers, and that demo goes on in the other one. */
void goes_on_there(enum wallet_mode mode);

#endif
