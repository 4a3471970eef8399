/*
 * admin_commands - the commands of an operator: admin.sock alone carries them.
 */
#ifndef LINK_ADMIN_COMMANDS_H
#define LINK_ADMIN_COMMANDS_H

#include "domain/delivery.h"
#include "link/verdict.h"

struct status_cmd {
	bool unused; /* a struct needs a member */
};
/* A table of the store. */
struct table_size {
	char name[16];
	uint64_t bytes; /* on the disk */
};
struct status_result {
	struct verdict verdict;
	char version[32];
	char installation[33];
	uint32_t pid;        /* of the engine */
	uint32_t parent_pid; /* of creditbridge-ledger itself */
	bool halted;         /* the disk failed: nothing is served until `resume` */
	bool storage_low;    /* writes are refused: free space below the mark */
	uint64_t disk_free_bytes;
	uint64_t disk_low_water_bytes; /* the mark */
	uint64_t log_bytes;
	struct table_size tables[RECORD_COUNT];
	uint64_t uptime_ms;
	uint32_t schema;
	uint64_t last_transaction_id;
	uint64_t dealers;
	uint64_t held_dealers; /* whose callbacks are held until `release` */
	uint64_t unconfirmed_keys; /* dealers and clients whose keys wait for `key-confirm` */
	uint32_t connections;
	uint64_t commands; /* applied since the start */
	uint64_t batches;
	uint64_t commits;
	uint64_t checkpoints;
	uint64_t refused_busy;  /* frames answered "busy" */
	uint64_t clients_cut;   /* connections ended: garbage, half a frame, unread answers, a lease */
	uint64_t engine_starts; /* since creditbridge-ledger was started */
	int64_t swept_ms;       /* when the sweeper last asked what is due; 0: not since then */
	int64_t backup_ms;      /* to when the last backup of this data is complete; 0: none */
	uint32_t retention_days; /* 0: bodies are kept for ever */
	uint64_t bodies_dropped; /* because they were older, since the start */
};

/* Leaves the halt after a disk error. verdict NOT_ALLOWED_NOW when not halted. */
struct resume_cmd {
	struct operator operator;
};
struct resume_result {
	struct verdict verdict;
};

/* Which members of dealer_put_cmd.dealer are to be taken: 1 << bit. */
enum dealer_member {
	DEALER_CURRENCY, DEALER_MODE, DEALER_DECIMALS, DEALER_SUSPENDED, DEALER_UTC_OFFSET,
	DEALER_RATE_LIMIT, DEALER_ALGORITHM, DEALER_ENCODING, DEALER_URL, DEALER_ALLOW_HTTP,
	DEALER_REFUND_DELAY, DEALER_MAX_INFLIGHT, DEALER_PATH_BALANCE_INQUIRE, DEALER_PATH_BETTING,
	DEALER_PATH_BETTING_RESULT, DEALER_PATH_BETTING_REFUND, DEALER_UNKNOWN_BET_IDS,
	DEALER_CALLBACKS_HELD, /* not 0: they are held from now on, if they are not yet */
	DEALER_RECONCILED,     /* the file was compared, and nothing is open: restored_ms and its kind are 0 */
	DEALER_MEMBER_COUNT
};
/*
 * Adds a dealer (@create: every member counts, keys[0] is its first key, id "k1") or changes the
 * members in @mask. Refusals: already_exists, dealer_not_found, too_many_dealers, and
 * not_allowed_now with a detail (api.md, What an operator may change; ledger/hold.h).
 */
struct dealer_put_cmd {
	struct operator operator;
	bool create;
	uint32_t mask;
	bool unreconciled; /* callbacks are released although the dealer's file was not compared */
	struct dealer dealer;
};
struct dealer_put_result {
	struct verdict verdict;
	struct dealer dealer; /* as it is now */
};

/* KEY_CONFIRM: the keys that a restore brought back are the right ones; all at once, without an id. */
enum key_action { KEY_ADD, KEY_USE, KEY_RETIRE, KEY_CONFIRM, KEY_ACTION_COUNT };
extern const char *const key_action_names[KEY_ACTION_COUNT];
/* Refusals: dealer_not_found, key_not_found, key_in_use, too_many_keys. */
struct dealer_key_cmd {
	struct operator operator;
	char casino_id[CASINO_ID_SIZE];
	enum key_action action;
	char key_id[KEY_ID_SIZE];      /* of use and retire */
	char secret[KEY_SECRET_SIZE];  /* of add */
};
struct dealer_key_result {
	struct verdict verdict;
	char key_id[KEY_ID_SIZE];
};

/*
 * Registers a player, or suspends or resumes one (@change_suspended). Registering twice returns
 * the first. Refusals: dealer_not_found, dealer_suspended (a new player), user_not_found.
 */
struct player_put_cmd {
	struct operator operator;
	char casino_id[CASINO_ID_SIZE];
	char user_id[EXTERNAL_ID_SIZE];
	char player_id[PLAYER_ID_SIZE]; /* random: taken when the player is new */
	bool change_suspended;
	bool suspended;
};
struct player_put_result {
	struct verdict verdict;
	char casino_id[CASINO_ID_SIZE];
	char user_id[EXTERNAL_ID_SIZE];
	char player_id[PLAYER_ID_SIZE];
	char currency[CURRENCY_SIZE];
	bool created;
	bool suspended;
	money_t balance;
};

/*
 * A movement by the operator, either sign, keyed by operator.operation_id (scope operator).
 * Refusals: dealer_not_found, user_not_found, wrong_wallet_mode, invalid_amount,
 * insufficient_balance, balance_limit, transaction_conflict. An operator may adjust what is
 * suspended.
 */
struct adjust_cmd {
	struct operator operator;
	char casino_id[CASINO_ID_SIZE];
	char user_id[EXTERNAL_ID_SIZE];
	money_t amount; /* signed */
};
struct adjust_result {
	struct verdict verdict;
	char player_id[PLAYER_ID_SIZE];
	money_t amount;
	money_t before_balance;
	money_t current_balance;
	uint64_t transaction_id;
};

/*
 * Adds a game server (@secret is its first key, "k1"), or takes it away with its keys. Refusals:
 * already_exists, client_not_found. One that was removed may be added again.
 */
struct client_put_cmd {
	struct operator operator;
	char client_id[CLIENT_ID_SIZE];
	bool remove;
	char secret[KEY_SECRET_SIZE];
};
struct client_put_result {
	struct verdict verdict;
	char key_id[KEY_ID_SIZE];
};

/* As struct dealer_key_cmd. A client's keys only verify; `use` marks the one to be kept. */
struct client_key_cmd {
	struct operator operator;
	char client_id[CLIENT_ID_SIZE];
	enum key_action action;
	char key_id[KEY_ID_SIZE];
	char secret[KEY_SECRET_SIZE];
};
struct client_key_result {
	struct verdict verdict;
	char key_id[KEY_ID_SIZE];
};

/*
 * What an operator does to a callback (domain/delivery.h). Refusals: callback_not_found;
 * not_allowed_now with a detail: it is being sent, has ended, or is a betting.
 */
struct callback_operate_cmd {
	struct operator operator;
	uint64_t event;
	enum callback_action action;
};
struct callback_operate_result {
	struct verdict verdict;
	enum callback_kind kind;
	char casino_id[CASINO_ID_SIZE];
	enum callback_state state; /* now */
	uint32_t attempts;
};

/*
 * Notes in the trail what an operator did outside the ledger. Refusals: those of every operation
 * that is repeated with another content.
 */
enum note_action {
	NOTE_DEALER_TEST, /* callbacks that are in no row were sent to a dealer */
	NOTE_RESUME,      /* the ledger goes on after a halt, in which it had no store */
	NOTE_SIGN,        /* a body was signed with a dealer's key */
	NOTE_REQUEST,     /* a call was made with a dealer's key */
	NOTE_EXPORT,      /* everything was written to a file */
	NOTE_ACTION_COUNT
};
extern const char *const note_action_names[NOTE_ACTION_COUNT];
struct note_cmd {
	struct operator operator;
	enum note_action action;
	char object[OBJECT_SIZE];
	char detail[DETAIL_SIZE];
};
struct note_result {
	struct verdict verdict;
};

/*
 * Begins a backup of everything into a directory of the ledger's own user (@start), or tells how far
 * the one is that operator.operation_id began. Refusals: not_allowed_now: another one is under way;
 * bad_request: no absolute path. Sent again it begins nothing new.
 */
#define BACKUP_PATH_SIZE 1024
enum backup_stage {
	BACKUP_STAGE_NONE, /* not known: the ledger was started again since, and it was not finished */
	BACKUP_STAGE_RUNNING, BACKUP_STAGE_DONE, BACKUP_STAGE_FAILED,
	BACKUP_STAGE_COUNT
};
extern const char *const backup_stage_names[BACKUP_STAGE_COUNT];
struct backup_cmd {
	struct operator operator;
	bool start;
	bool whole; /* nothing of a backup that is there is built upon */
	char directory[BACKUP_PATH_SIZE];
};
struct backup_result {
	struct verdict verdict;
	enum backup_stage stage;
	bool added;         /* only log was added to the backup that was there */
	uint64_t bytes;     /* copied so far ... */
	uint64_t bytes_all; /* ... of about so many; 0: that is not known */
	uint64_t tables;    /* files */
	uint64_t logs;
	int64_t begun_ms;
	int64_t ended_ms;
	int64_t complete_to_ms; /* done: every movement acknowledged before is in it */
	char why[512];          /* failed: a sentence */
};

/*
 * Reads rows of one kind in the order of their keys. @prefix is the packed beginning of a key
 * (link_list_key): all fields of it name one row, fewer a range, none everything. Secrets are
 * blanked. With @reverse from the last to the first. Pages: give @cursor back until !more.
 */
#define LIST_KEY_MAX 512
#define LIST_ROWS_MAX 256
struct list_cmd {
	enum record record;
	bool reverse;
	uint32_t limit; /* 0: LIST_ROWS_MAX, which is also the most */
	struct bytes prefix;
	struct bytes cursor;
};
struct list_result {
	struct verdict verdict;
	uint64_t last_transaction_id; /* given out when this page was read: the page's point in time */
	bool more;
	uint32_t count;
	struct bytes rows;   /* packed records, one after the other (link_list_row) */
	struct bytes cursor; /* of the next page */
};

#endif
