/*
 * commands - what can be asked of the ledger, and what it answers.
 *
 * One table (commands.def) names every command, the socket that may carry it, its request and its
 * result struct; the codec is the field tables. Every result begins with a verdict.
 */
#ifndef LINK_COMMANDS_H
#define LINK_COMMANDS_H

#include "base/field.h"
#include "domain/records.h"
#include "domain/refusal.h"

enum command {
#define COMMAND(name, lower, socket, access, limited) COMMAND_##name,
#include "link/commands.def"
#undef COMMAND
	COMMAND_COUNT
};

/* How the wallet answered: the first member of every result. */
struct verdict {
	enum refusal refusal;
	bool replay;              /* the answer was given before (X-Idempotent-Replay) */
	char field[32];           /* transaction_conflict: the field that differs */
	char detail[128];         /* more than the refusal's own text; "": nothing */
	money_t current_balance;  /* insufficient_balance: the balance when it was refused */
	uint32_t retry_after_s;   /* rate_limited and 503 */
};

/* Who stands behind an admin command; kept in the audit. */
struct operator {
	uint32_t uid;
	uint32_t login_uid;
	char sudo_user[SUDO_USER_SIZE];
	char operation_id[OPERATION_ID_SIZE]; /* random: the same command sent again acts once */
	char reason[REASON_SIZE];
};

/*
 * The keys a worker verifies with. A worker keeps them all and asks again when an answer's
 * generation differs from its own or a second has passed.
 */
struct keyring_entry {
	char casino_id[CASINO_ID_SIZE]; /* of a dealer, or the client_id of a client */
	enum signature_algorithm signature_algorithm;
	enum signature_encoding signature_encoding;
	char signing_key_id[KEY_ID_SIZE];
	struct dealer_key keys[DEALER_KEYS_MAX];
};
/* Whose keys: of the dealers that call group A, or of the clients that call group C. */
enum keyring_of { KEYRING_DEALERS, KEYRING_CLIENTS, KEYRING_OF_COUNT };
extern const char *const keyring_of_names[KEYRING_OF_COUNT];
struct keyring_cmd {
	enum keyring_of of;
	uint64_t generation; /* of the caller's keyring; 0: none */
	char after[CASINO_ID_SIZE]; /* continue behind this dealer; "": from the first */
};
struct keyring_result {
	struct verdict verdict;
	uint64_t generation; /* what the entries belong to; never 0 */
	bool unchanged;      /* the caller's keyring is this generation: no entries */
	bool more;           /* ask again with the last entry's casino_id */
	uint32_t count;
	struct bytes entries; /* packed keyring_entry, in the order of casino_id */
};

/* A1 and A2. Refusals: api.md's for A1 and A2 from the idempotency key on. */
struct transfer_cmd {
	char casino_id[CASINO_ID_SIZE];
	enum entry_kind kind; /* ENTRY_TRANSFER_IN or ENTRY_TRANSFER_OUT */
	char request_transaction_id[EXTERNAL_ID_SIZE];
	char user_id[EXTERNAL_ID_SIZE];
	money_t amount; /* above 0 */
};
struct transfer_result {
	struct verdict verdict;
	money_t amount;
	money_t before_balance;
	char currency[CURRENCY_SIZE];
	money_t current_balance;
	char player_id[PLAYER_ID_SIZE];
	char request_transaction_id[EXTERNAL_ID_SIZE];
	uint64_t transaction_id;
	char user_id[EXTERNAL_ID_SIZE];
};

/* A3. Refusals: user_not_found; invalid_signature when the dealer is not known. */
struct balance_cmd {
	char casino_id[CASINO_ID_SIZE];
	char user_id[EXTERNAL_ID_SIZE];
};
struct balance_result {
	struct verdict verdict;
	char user_id[EXTERNAL_ID_SIZE];
	char player_id[PLAYER_ID_SIZE];
	money_t balance;
	char currency[CURRENCY_SIZE];
};

struct status_cmd {
	bool unused; /* a struct needs a member */
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
	uint64_t log_bytes;
	uint64_t uptime_ms;
	uint32_t schema;
	uint64_t last_transaction_id;
	uint64_t dealers;
	uint32_t connections;
	uint64_t commands; /* applied since the start */
	uint64_t batches;
	uint64_t commits;
	uint64_t checkpoints;
	uint64_t refused_busy;  /* frames answered "busy" */
	uint64_t clients_cut;   /* connections ended for garbage or not reading */
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
	DEALER_REFUND_DELAY, DEALER_MAX_INFLIGHT, DEALER_MEMBER_COUNT
};
/*
 * Adds a dealer (@create: every member counts, keys[0] is its first key, id "k1") or changes the
 * members in @mask. Refusals: already_exists, dealer_not_found, too_many_dealers, and
 * not_allowed_now with a detail (api.md, What an operator may change).
 */
struct dealer_put_cmd {
	struct operator operator;
	bool create;
	uint32_t mask;
	struct dealer dealer;
};
struct dealer_put_result {
	struct verdict verdict;
	struct dealer dealer; /* as it is now */
};

enum key_action { KEY_ADD, KEY_USE, KEY_RETIRE, KEY_ACTION_COUNT };
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
 * C players: registers a player; registering twice returns the first. Refusals: dealer_not_found,
 * dealer_suspended.
 */
struct player_register_cmd {
	char casino_id[CASINO_ID_SIZE];
	char user_id[EXTERNAL_ID_SIZE];
	char player_id[PLAYER_ID_SIZE]; /* random: taken when the player is new */
};
struct player_register_result {
	struct verdict verdict;
	char player_id[PLAYER_ID_SIZE];
	char user_id[EXTERNAL_ID_SIZE];
	char casino_id[CASINO_ID_SIZE];
	char currency[CURRENCY_SIZE];
	bool created;
};

/* Group C names a player by player_id, or by casino_id and user_id. */
struct player_ref {
	char player_id[PLAYER_ID_SIZE];
	char casino_id[CASINO_ID_SIZE];
	char user_id[EXTERNAL_ID_SIZE];
};

/* C balance. Refusals: dealer_not_found, user_not_found. */
struct player_balance_cmd {
	struct player_ref player;
};
struct player_balance_result {
	struct verdict verdict;
	enum wallet_mode mode; /* seamless: the balance is the dealer's to tell (B1) */
	char player_id[PLAYER_ID_SIZE];
	char user_id[EXTERNAL_ID_SIZE];
	char casino_id[CASINO_ID_SIZE];
	money_t balance;
	char currency[CURRENCY_SIZE];
};

/*
 * C bets. The idempotency key is (client_id, request_transaction_id); a repeat is answered by the
 * bet's present state (api.md C 1). Refusals, in this order: transaction_conflict or the replay,
 * dealer_not_found, dealer_suspended, user_suspended, invalid_amount (decimals), user_not_found,
 * game_not_found, already_settled, round_full, insufficient_balance (recorded under the key).
 */
struct bet_place_cmd {
	char client_id[CLIENT_ID_SIZE];
	char request_transaction_id[EXTERNAL_ID_SIZE];
	struct player_ref player;
	char game_id[EXTERNAL_ID_SIZE];
	money_t bet_amount; /* above 0 */
	bool addition;
	char remark[REMARK_SIZE];
	struct bytes user_bet; /* a JSON object as text */
};
struct bet_place_result {
	struct verdict verdict;
	uint64_t transaction_id;
	enum bet_state state;
	bool has_balance;
	money_t balance;
	char dealer_error_id[DEALER_ERROR_SIZE]; /* bet_rejected */
	char dealer_error_detail[DEALER_ERROR_SIZE];
};

/*
 * C results: settles all accepted bets of the player in the game as one round. Refusals:
 * transaction_conflict or the replay, dealer_not_found, user_not_found, game_not_found,
 * already_settled, bet_in_progress, bet_not_found, invalid_amount, balance_limit. Suspension is no
 * obstacle (api.md A 9).
 */
struct round_settle_cmd {
	char client_id[CLIENT_ID_SIZE];
	char request_transaction_id[EXTERNAL_ID_SIZE];
	struct player_ref player;
	char game_id[EXTERNAL_ID_SIZE];
	enum round_result result; /* not RESULT_NONE */
	money_t payout_amount;
	char remark[REMARK_SIZE];
	struct bytes user_bet; /* JSON objects as text; empty: none */
	struct bytes game_result;
	struct bytes user_bet_result;
};
struct round_settle_result {
	struct verdict verdict;
	uint64_t transaction_id; /* 0 for a loss */
	money_t bet_amount;
	money_t addition_amount;
	money_t win_amount;
	money_t payout_amount;
	uint64_t event; /* 0: transfer wallet, nothing is sent */
	enum callback_state callback_state;
	uint32_t callback_attempts;
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

enum command_socket { SOCKET_EDGE, SOCKET_ADMIN };
enum command_access { ACCESS_READ, ACCESS_WRITE, ACCESS_CONTROL };

struct command_info {
	const char *name;
	enum command_socket socket;
	enum command_access access;
	bool limited;
	uint32_t cmd_size;
	const struct field *cmd_fields;
	uint32_t result_size;
	const struct field *result_fields;
};

extern const struct command_info command_infos[COMMAND_COUNT];

#define COMMAND(name, lower, socket, access, limited)                                              \
	extern const struct field lower##_cmd_fields[];                                            \
	extern const struct field lower##_result_fields[];
#include "link/commands.def"
#undef COMMAND
extern const struct field keyring_entry_fields[];
extern const struct field verdict_fields[];
extern const struct field operator_fields[];
extern const struct field player_ref_fields[];

/* Any command, any result: for buffers that hold one of them. */
union any_cmd {
#define COMMAND(name, lower, socket, access, limited) struct lower##_cmd lower;
#include "link/commands.def"
#undef COMMAND
};
union any_result {
	struct verdict verdict;
#define COMMAND(name, lower, socket, access, limited) struct lower##_result lower;
#include "link/commands.def"
#undef COMMAND
};

/*
 * A number that two builds share iff they have the same commands with the same fields: the
 * protocol version in the greeting.
 */
uint64_t command_protocol(void);

#endif
