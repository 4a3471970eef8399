/*
 * case - a ledger on a store with a dealer `demo` and a player `alice`, and one-line commands.
 */
#ifndef TESTS_LEDGER_CASE_H
#define TESTS_LEDGER_CASE_H

#include "ledger/ledger.h"
#include "memory_store.h"
#include "tap.h"

enum case_store { CASE_MEMORY, CASE_DISK };
/*
 * Number of stores that a test of every store runs on: both; only the first with CB_LEDGER_STORES=1, for
 * runs under a tool that makes Berkeley DB very slow.
 */
#define CASE_STORE_COUNT case_store_count()
int case_store_count(void);

/* How the durable store of CASE_DISK is made and opened. A program may set another than Berkeley DB. */
struct case_durable {
	void (*make)(void);   /* an empty place for the data of a case */
	void (*open)(void);   /* sets case_db */
	void (*remove)(void); /* the place, after the store was closed */
};
extern const struct case_durable *case_durable;

#define CASE_SECRET "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

/* Writes a key that is unique to @name. */
void case_secret(const char *name, char secret[KEY_SECRET_SIZE]);

extern struct ledger case_ledger;
extern struct store *case_db;
extern int64_t case_now_ms; /* the wall clock passed to commands */
extern int64_t case_boot_ms;
extern uint64_t case_boot;                /* the number of the boot */
extern struct outbox_options case_outbox; /* set by case_open_empty() to the defaults */
const struct moment *case_moment(void);

/* Opens a ledger on an empty store of @kind. */
void case_open_empty(int kind);
/* As case_open_empty(), with dealer demo (transfer, thb, 2 decimals) and player alice. */
void case_open(int kind);
void case_close(void);
/* Closes and reopens the data (CASE_DISK). */
void case_reopen(void);
/* Returns true if the two functions that follow can be used: the durable store is Berkeley DB. */
bool case_can_damage(void);
/*
 * As case_reopen(), with an undecodable row in the table of @record. Returns the result of
 * ledger_init().
 */
enum status case_reopen_with_garbage(enum record record);

/*
 * As case_reopen(), with a row of @record as an older version stored it: packed key and value,
 * including the version.
 */
void case_reopen_with_row(enum record record, struct bytes key, struct bytes value);

/* Runs one command in its own batch. The slot is valid until the next call. */
struct slot *case_run(enum command command, const void *cmd);
void case_run_batch(struct slot *slots, unsigned int count);

struct transfer_cmd case_transfer_cmd(enum entry_kind kind, const char *user, const char *id,
	money_t amount);
struct transfer_result case_transfer(enum entry_kind kind, const char *user, const char *id,
	money_t amount);
#define case_in(user, id, amount)  case_transfer(ENTRY_TRANSFER_IN, user, id, amount)
#define case_out(user, id, amount) case_transfer(ENTRY_TRANSFER_OUT, user, id, amount)
struct balance_result case_balance(const char *user);
struct adjust_result case_adjust(const char *user, money_t amount, const char *operation_id);

struct dealer_put_cmd case_dealer_cmd(const char *casino_id);
/* Adds a dealer with a player, alice. */
void case_add_dealer(const char *casino_id, enum wallet_mode mode);
struct dealer_put_result case_dealer_set(uint32_t member, const struct dealer *values);
void case_suspend_dealer(bool suspended);
struct player_put_result case_player_add(const char *casino_id, const char *user);
void case_suspend_player(const char *user, bool suspended);
struct operator case_operator(void); /* with a new operation_id */

/*
 * Reads all rows of a kind in pages of @limit, and calls @visit for each. Returns their number.
 */
unsigned int case_list(enum record record, bool reverse, uint32_t limit,
	void (*visit)(void *context, const void *row), void *context);

/* Asserts every invariant of src/store/bdb/SCHEMA over all rows. */
void case_prove(void);

Suite *atrest_suite(void);
Suite *transfers_suite(void);
Suite *moves_suite(void);
Suite *moves_back_suite(void);
Suite *moves_seen_suite(void);
Suite *operator_suite(void);
Suite *batches_suite(void);
Suite *random_suite(void);
Suite *wagers_suite(void);
Suite *seal_suite(void);
Suite *result_batches_suite(void);
Suite *cancels_suite(void);
Suite *corrections_suite(void);
Suite *seamless_suite(void);
Suite *reports_suite(void);
Suite *days_suite(void);
Suite *permits_suite(void);
Suite *gather_suite(void);
Suite *histories_suite(void);
Suite *hold_suite(void);
Suite *inquiries_suite(void);
Suite *life_suite(void);
Suite *replays_suite(void);
Suite *retention_suite(void);
Suite *backups_suite(void);
Suite *feed_suite(void);
Suite *figures_suite(void);
Suite *limits_suite(void);
Suite *lists_suite(void);
Suite *refused_suite(void);
Suite *refused_log_suite(void);
Suite *server_suite(void);
Suite *accepted_calls_suite(void);
Suite *ages_suite(void);
Suite *desk_suite(void);

#endif
