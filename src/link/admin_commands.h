/* admin_commands - the commands of an operator, carried only by admin.sock. */
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
/* A measurement of the store under its own name; metrics/exposition.c lists the names. */
enum figure_unit { FIGURE_NUMBER, FIGURE_BYTES, FIGURE_US, FIGURE_UNIT_COUNT };
struct store_figure {
	char name[16]; /* "": there is none */
	enum figure_unit unit;
	uint64_t value;
};
#define STORE_FIGURES_MAX 8
struct status_result {
	struct verdict verdict;
	char version[32];
	char installation[33];
	char member[64]; /* the host of a cell whose ledger answers; "": the data is of one host */
	uint64_t epoch;  /* of its claim; 0: the data is of one host */
	uint32_t pid;    /* of the engine */
	uint32_t parent_pid; /* of creditbridge-ledger itself */
	bool halted;         /* the disk failed: requests are refused until `resume` */
	bool storage_low;    /* free space is below the limit: writes are refused */
	uint64_t disk_free_bytes;
	uint64_t disk_low_water_bytes; /* the mark */
	uint64_t log_bytes;
	struct table_size tables[RECORD_COUNT];
	struct store_figure store[STORE_FIGURES_MAX]; /* those that this kind of store has */
	uint64_t uptime_ms;
	uint32_t schema;
	uint64_t last_transaction_id;
	/* the remainder of its new ids (ledger/rows/life.h): the setting when the life began; halted: 0 */
	uint32_t ledger_number;
	uint64_t dealers;
	uint64_t held_dealers;     /* dealers whose callbacks are held until `release` */
	uint64_t unconfirmed_keys; /* dealers and clients whose keys wait for `key-confirm` */
	uint32_t connections;
	uint64_t commands; /* applied since the start */
	uint64_t batches;
	uint64_t commits;
	uint64_t checkpoints;
	uint64_t refused_busy; /* frames answered with "busy" */
	/* connections closed for garbage, half a frame, unread answers or a lease */
	uint64_t clients_cut;
	/* Of the peer (ledger/daemon/relay_board.h), since creditbridge-ledger was started. */
	uint64_t relayed;       /* connections of other hosts that it passed on, ever ... */
	uint64_t relayed_open;  /* ... and now */
	uint64_t peers_refused; /* connections to its TLS port that it refused */
	uint64_t engine_starts; /* engine starts since creditbridge-ledger was started */
	/* when the sweeper last requested due callbacks; 0: not since the start */
	int64_t swept_ms;
	int64_t backup_ms;          /* time up to which the last backup is complete; 0: none */
	uint32_t retention_days;    /* 0: bodies are never deleted */
	uint64_t bodies_dropped;    /* bodies deleted by retention since the start */
	uint64_t refused_bytes;     /* refused calls on disk */
	uint64_t refused_bytes_max; /* their bound; 0: none are kept on disk */
	int64_t refused_oldest_ms; /* time of the oldest; 0: there is none, or it is not known yet */
	uint64_t refused_left_out; /* refused calls that were not kept since the start */
};

/* Ends the halt after a disk error. The verdict is NOT_ALLOWED_NOW if the ledger is not halted. */
struct resume_cmd {
	struct operator operator;
};
struct resume_result {
	struct verdict verdict;
};

/* The members of dealer_put_cmd.dealer to change, as bits: 1 << value. */
enum dealer_member {
	DEALER_CURRENCY,
	DEALER_MODE,
	DEALER_DECIMALS,
	DEALER_SUSPENDED,
	DEALER_UTC_OFFSET,
	DEALER_RATE_LIMIT,
	DEALER_ALGORITHM,
	DEALER_ENCODING,
	DEALER_URL,
	DEALER_ALLOW_HTTP,
	DEALER_REFUND_DELAY,
	DEALER_MAX_INFLIGHT,
	DEALER_PATH_BALANCE_INQUIRE,
	DEALER_PATH_BETTING,
	DEALER_PATH_BETTING_RESULT,
	DEALER_PATH_BETTING_REFUND,
	DEALER_PATH_BETTING_CORRECTION,
	DEALER_UNKNOWN_BET_IDS,
	DEALER_DUPLICATE_IDS,
	DEALER_SUCCESS_NEEDS_BALANCE,
	DEALER_SEND_CURRENCY,
	DEALER_CALLBACKS_HELD, /* not 0: hold callbacks from now on, unless they are held already */
	/*
	 * the dealer's file was compared without open differences: sets restored_ms and related
	 * members to 0
	 */
	DEALER_RECONCILED,
	/* The result of `dealer test`. The ledger sets the time. */
	DEALER_EXAM_PASSED,
	DEALER_EXAM_FAILED,
	DEALER_EXAM_NOT_JUDGED,
	DEALER_EXAM_TIME,
	DEALER_MEMBER_COUNT
};
/* The bits of an exam, which are set together. */
#define DEALER_EXAM                                                                                \
	(1u << DEALER_EXAM_PASSED | 1u << DEALER_EXAM_FAILED | 1u << DEALER_EXAM_NOT_JUDGED |      \
		1u << DEALER_EXAM_TIME)

/*
 * Adds a dealer if @create is set; every member then counts and keys[0] is its first key, id "k1".
 * Otherwise changes the members in @mask. Refusals: already_exists, dealer_not_found,
 * too_many_dealers, and not_allowed_now with a detail (contract,
 * "What an operator may change"; ledger/outbox/hold.h).
 */
struct dealer_put_cmd {
	struct operator operator;
	bool create;
	uint32_t mask;
	bool unreconciled; /* release callbacks although the dealer's file was not compared */
	struct dealer dealer;
};
struct dealer_put_result {
	struct verdict verdict;
	struct dealer dealer; /* the dealer after the command */
};

/* KEY_CONFIRM: confirms all keys that a restore brought back; it has no key id. */
enum key_action { KEY_ADD, KEY_USE, KEY_RETIRE, KEY_CONFIRM, KEY_ACTION_COUNT };
extern const char *const key_action_names[KEY_ACTION_COUNT];
/* Refusals: dealer_not_found, key_not_found, key_in_use, too_many_keys. */
struct dealer_key_cmd {
	struct operator operator;
	char casino_id[CASINO_ID_SIZE];
	enum key_action action;
	char key_id[KEY_ID_SIZE];     /* for KEY_USE and KEY_RETIRE */
	char secret[KEY_SECRET_SIZE]; /* of add */
};
struct dealer_key_result {
	struct verdict verdict;
	char key_id[KEY_ID_SIZE];
};

/*
 * Registers a player, or suspends or resumes one (@change_suspended). A second registration returns
 * the first. Refusals: dealer_not_found, dealer_suspended (for a new player), user_not_found.
 */
struct player_put_cmd {
	struct operator operator;
	char casino_id[CASINO_ID_SIZE];
	char user_id[EXTERNAL_ID_SIZE];
	char player_id[PLAYER_ID_SIZE]; /* random; used if the player is new */
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
 * An adjustment of either sign by the operator. Its key is operator.operation_id (scope operator).
 * Suspended dealers and players can be adjusted. Refusals: dealer_not_found, user_not_found,
 * wrong_wallet_mode, invalid_amount, insufficient_balance, balance_limit, transaction_conflict.
 *
 * With @event it stands for a parked betting-result of that player, which is then never sent again.
 * The wallet is then seamless, and the credit is held here. Further refusals: callback_not_found;
 * not_allowed_now with a detail if it is not parked, of another player, owes another amount, or has
 * an adjustment.
 */
struct adjust_cmd {
	struct operator operator;
	char casino_id[CASINO_ID_SIZE];
	char user_id[EXTERNAL_ID_SIZE];
	money_t amount; /* signed */
	uint64_t event; /* 0: it stands for no callback */
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
 * Corrects a settled round as COMMAND_ROUND_CORRECT does, by an operator: of any game server. Its key
 * is operator.operation_id (scope operator). The sweeper sends the callback. With @preview nothing
 * changes: the answer is what the correction would do. Refusals: those of COMMAND_ROUND_CORRECT.
 */
struct operator_correct_cmd {
	struct operator operator;
	bool preview;
	char casino_id[CASINO_ID_SIZE];
	char user_id[EXTERNAL_ID_SIZE];
	char game_id[EXTERNAL_ID_SIZE];
	uint32_t revision; /* that the correction makes */
	enum round_result result;
	money_t payout_amount;
	bool allow_shortfall;
};
struct operator_correct_result {
	struct verdict verdict;
	uint64_t transaction_id;
	uint32_t revision; /* of the round; in a refusal the one in force */
	enum round_result previous_result;
	money_t delta;
	money_t shortfall;
	money_t payout_amount;
	uint64_t event; /* 0: nothing is sent */
	enum callback_state callback_state;
	uint32_t callback_attempts;
};

/*
 * Adds a game server (@secret is its first key, "k1"), or removes it with its keys. A removed one
 * may be added again. Refusals: already_exists, client_not_found.
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

/* Like struct dealer_key_cmd. A client's keys only verify; `use` marks the key to be kept. */
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
 * Performs an operator's action on a callback (domain/delivery.h). Refusals: callback_not_found;
 * not_allowed_now with a detail if it is being sent, has ended, or is a betting.
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
 * Records in the audit an operator's action outside the ledger. Refusals: those of any operation_id
 * that is repeated with other content.
 */
enum note_action {
	NOTE_DEALER_TEST, /* callbacks without a row were sent to a dealer */
	NOTE_RESUME,      /* the ledger resumed after a halt, during which it had no store */
	NOTE_SIGN,        /* a body was signed with a dealer's key */
	NOTE_REQUEST,     /* a call was made with a dealer's key */
	NOTE_EXPORT,      /* all rows were written to a file */
	/* From here on: for the console only (roles.def, desk.def). */
	NOTE_RECON, /* a dealer's day was written to a file by a job of the console (jobs.h) */
	NOTE_PING,  /* a dealer's server was asked for a balance by a job of the console */
	NOTE_CSV,   /* an operator of the console took a list as CSV */
	NOTE_VIEW,  /* an operator of the console looked at a page (console_audit_views) */
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
 * Begins a backup into a directory owned by the ledger's user (@start), or reports the progress of
 * the backup begun by operator.operation_id. A repeated command begins no second backup. Refusals:
 * not_allowed_now if another backup is running; bad_request if the path is not absolute.
 */
#define BACKUP_PATH_SIZE 1024
enum backup_stage {
	/* unknown: the ledger was restarted since, and the backup was not finished */
	BACKUP_STAGE_NONE,
	BACKUP_STAGE_RUNNING,
	BACKUP_STAGE_DONE,
	BACKUP_STAGE_FAILED,
	BACKUP_STAGE_COUNT
};
extern const char *const backup_stage_names[BACKUP_STAGE_COUNT];
struct backup_cmd {
	struct operator operator;
	bool start;
	bool whole; /* a full backup: does not extend an existing one */
	char directory[BACKUP_PATH_SIZE];
};
struct backup_result {
	struct verdict verdict;
	enum backup_stage stage;
	bool added;         /* only log was added to the existing backup */
	uint64_t bytes;     /* copied so far ... */
	uint64_t bytes_all; /* ... of about this total; 0: unknown */
	uint64_t tables;    /* files */
	uint64_t logs;
	int64_t begun_ms;
	int64_t ended_ms;
	/* when done: every transaction acknowledged before this time is in the backup */
	int64_t complete_to_ms;
	char why[512]; /* failed: a sentence */
};

/*
 * Reads rows of one kind in key order, or backwards with @reverse. @prefix is the packed beginning
 * of a key (link_list_key()). All key fields name one row, fewer a range, none all rows. Secrets
 * are blanked; on admin.sock an operator that has a code secret has LIST_SECRET_KEPT in its place.
 * On desk.sock a page has at most 64 rows, and about 32 KiB. For the next page, repeat with @cursor
 * while @more is set. With @own, which only the audit knows, the rows are those of the caller: of
 * the operator of the session, or of the uid that the kernel reports. A page looks at
 * LIST_OWN_LOOK_MAX rows at most. With @casino_id, for transactions and callbacks, the rows are
 * those of a dealer. A page looks at LIST_DEALER_LOOK_MAX rows at most. In both cases a page may be
 * empty and have @more set.
 *
 * With @keys, packed keys one after the other (link_list_key()), the rows are those of the keys, in their order,
 * without their JSON and bytes; a key without a row is passed over. @prefix and @cursor are then empty, and there
 * are at most as many keys as a page may have rows. If @more is set, the page ended after the key of its last row.
 *
 * With @chain, the one key of @keys is that of a transaction. The rows are this one and the player's earlier ones, each
 * the @previous of the row before it. If @more is set, repeat it with the @previous of the last row.
 *
 * With @aside_of, which names a dealer, the rows are only those callbacks of the dealer that are parked or held. @prefix
 * is then empty.
 */
#define LIST_SECRET_KEPT "set"
#define LIST_KEY_MAX     512
#define LIST_ROWS_MAX    256
/* Rows that one command looks at with @own, and with @casino_id. */
#define LIST_OWN_LOOK_MAX    1024
#define LIST_DEALER_LOOK_MAX 256
struct list_cmd {
	enum record record;
	bool reverse;
	bool own;
	uint32_t limit; /* 0: LIST_ROWS_MAX, which is also the maximum */
	struct bytes prefix;
	struct bytes cursor;
	struct bytes keys;
	bool chain;
	char aside_of[CASINO_ID_SIZE];  /* "": none */
	char casino_id[CASINO_ID_SIZE]; /* "": of each dealer */
};
struct list_result {
	struct verdict verdict;
	uint64_t last_transaction_id; /* last id assigned when this page was read */
	bool more;
	uint32_t count;
	/* With @own and @casino_id: rows that the page looked at, and the time of the last one; 0: none. */
	uint32_t looked;
	int64_t looked_ms;
	struct bytes rows;   /* packed records in order (link_list_row()) */
	struct bytes cursor; /* of the next page */
};

#endif
