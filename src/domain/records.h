/*
 * records - what the ledger keeps: one struct a row kind, one field table a struct.
 *
 * Times are Unix milliseconds, money is money_t, strings are NUL-terminated UTF-8. The bounds are
 * those of api.md, Common rules, Ids. Every struct is zeroed before it is filled, so that two equal
 * rows are equal byte for byte.
 */
#ifndef DOMAIN_RECORDS_H
#define DOMAIN_RECORDS_H

#include "base/field.h"
#include "domain/money.h"
#include "domain/refusal.h"

#define CASINO_ID_SIZE      65  /* [A-Za-z0-9_.-]{1,64} */
#define EXTERNAL_ID_SIZE    129 /* user_id, game_id, request_transaction_id: 1 to 128 bytes UTF-8 */
#define PLAYER_ID_SIZE      21  /* 20 lower-case base32 characters */
#define CURRENCY_SIZE       9   /* [a-z0-9]{2,8} */
#define KEY_ID_SIZE         8   /* "k1", "k2", ...: unique within the dealer, never reused */
#define KEY_SECRET_SIZE     65  /* 64 hex characters; they are the HMAC key as they stand */
#define URL_SIZE            512
#define DEALER_KEYS_MAX     2
#define DEALERS_MAX         4096
#define OPERATION_ID_SIZE   21
#define SUDO_USER_SIZE      33
#define REASON_SIZE         257
#define ACTION_SIZE         33
#define OBJECT_SIZE         257
#define DETAIL_SIZE         513
#define CLIENT_ID_SIZE      CASINO_ID_SIZE
#define REMARK_SIZE         257 /* description of the game bet on */
#define DEALER_ERROR_ID_SIZE   65 /* of a dealer's error body, cut to fit */
#define DEALER_ERROR_TEXT_SIZE 257
#define CALLBACK_NOTE_SIZE     161 /* on an attempt, for the operator */
#define CALLBACK_PATH_SIZE  129 /* of a dealer's callback */
#define UNKNOWN_BET_IDS_SIZE 257
#define ROUND_BETS_MAX      256 /* that are part of it */
/* All bets of a round, those that were rejected or refunded too, have numbers up to this. */
#define ROUND_NUMBERS_MAX   (UINT32_C(1) << 30)
/*
 * Bytes of the user_bet of the bets that are part of a round: sixteen of the largest, or 4 KiB for
 * each. Its result reads and writes them, while everything else waits.
 */
#define ROUND_OBJECTS_MAX   (1024 * 1024)
/* transaction_id: 1 to 2^53-1, so that a double of JSON holds it. */
#define TRANSACTION_ID_MAX ((UINT64_C(1) << 53) - 1)

enum record {
#define RECORD(name, struct_, keys) RECORD_##name,
#include "domain/records.def"
#undef RECORD
	RECORD_COUNT
};

/* Where the credit of a dealer's players lives. */
enum wallet_mode { WALLET_TRANSFER, WALLET_SEAMLESS, WALLET_MODE_COUNT };
/* What a movement was. The order is stored: append. */
enum entry_kind {
	ENTRY_TRANSFER_IN, ENTRY_TRANSFER_OUT, ENTRY_ADJUST,
	ENTRY_BET,    /* a stake of a transfer-wallet player */
	ENTRY_PAYOUT, /* what a round paid, or gave back when the game was cancelled */
	ENTRY_KIND_COUNT
};
/* Whose key space a request id belongs to. The order is stored: append. */
enum request_scope { SCOPE_DEALER, SCOPE_OPERATOR, SCOPE_CLIENT, SCOPE_COUNT };
enum signature_algorithm { HMAC_SHA256, HMAC_SHA512, HMAC_SHA1, SIGNATURE_ALGORITHM_COUNT };
enum signature_encoding { ENCODING_HEX, ENCODING_BASE64, SIGNATURE_ENCODING_COUNT };

/* api.md, Bet states and callback states. The orders are stored: append. */
enum bet_state {
	BET_PENDING, BET_ACCEPTED, BET_REJECTED, BET_REFUNDING, BET_REFUNDED, BET_SETTLED,
	BET_STATE_COUNT
};
enum round_state { ROUND_OPEN, ROUND_SETTLED, ROUND_STATE_COUNT };
enum round_result { RESULT_NONE, RESULT_WIN, RESULT_LOSS, RESULT_REFUND, ROUND_RESULT_COUNT };
enum callback_state {
	CALLBACK_DUE, CALLBACK_SENDING, CALLBACK_DELIVERED, CALLBACK_PARKED, CALLBACK_HELD,
	CALLBACK_CANCELLED,
	CALLBACK_FAILED, /* a betting callback that was not accepted: it is never sent again */
	CALLBACK_STATE_COUNT
};

/* The callbacks B1 to B4. The order is stored: append. */
enum callback_kind {
	CALLBACK_BALANCE_INQUIRE,
	CALLBACK_BETTING,
	CALLBACK_BETTING_RESULT,
	CALLBACK_BETTING_REFUND,
	CALLBACK_KIND_COUNT
};
/*
 * The class of an attempt (api.md, B, the table of answers). Zero is the class of what is not known
 * to be any other. The order is stored: append.
 */
enum callback_class {
	CALLBACK_UNKNOWN,  /* the request may have arrived; its effect is not known */
	CALLBACK_SUCCESS,  /* the dealer did it */
	CALLBACK_REFUSED,  /* the dealer says no */
	CALLBACK_NOT_SENT, /* not one byte of the request left */
	CALLBACK_CLASS_COUNT
};
/* "balance-inquire", "betting", "betting-result", "betting-refund". */
extern const char *const callback_kind_names[CALLBACK_KIND_COUNT];
extern const char *const callback_class_names[CALLBACK_CLASS_COUNT];

extern const char *const wallet_mode_names[WALLET_MODE_COUNT];
extern const char *const entry_kind_names[ENTRY_KIND_COUNT];
extern const char *const request_scope_names[SCOPE_COUNT];
extern const char *const bet_state_names[BET_STATE_COUNT];
extern const char *const round_state_names[ROUND_STATE_COUNT];
extern const char *const round_result_names[ROUND_RESULT_COUNT];
extern const char *const callback_state_names[CALLBACK_STATE_COUNT];
extern const char *const signature_algorithm_names[SIGNATURE_ALGORITHM_COUNT];
extern const char *const signature_encoding_names[SIGNATURE_ENCODING_COUNT];

/* A number that outlives the process. Its names are in SCHEMA (store/bdb/). */
struct counter {
	char name[32];
	uint64_t value; /* the last number given out */
};

/* An authentication key of a dealer. An unused slot has an empty key_id. */
struct dealer_key {
	char key_id[KEY_ID_SIZE];
	char secret[KEY_SECRET_SIZE];
	int64_t created_ms;
};

struct dealer {
	char casino_id[CASINO_ID_SIZE];
	char currency[CURRENCY_SIZE];
	enum wallet_mode mode;
	uint8_t decimals; /* 0 to 4: an amount with more is refused */
	bool suspended;
	int32_t utc_offset_min; /* the dealer's day boundary */
	uint32_t rate_limit;    /* calls per second; 0: unlimited (api.md A 10) */
	enum signature_algorithm signature_algorithm;
	enum signature_encoding signature_encoding;
	char url[URL_SIZE]; /* dealer_base_url of the callbacks; "": none */
	bool allow_http;
	uint32_t refund_delay_s;
	uint32_t max_inflight;
	/* Where each callback goes below the URL; "": as the specification suggests. */
	char path_balance_inquire[CALLBACK_PATH_SIZE];
	char path_betting[CALLBACK_PATH_SIZE];
	char path_betting_result[CALLBACK_PATH_SIZE];
	char path_betting_refund[CALLBACK_PATH_SIZE];
	/* Error ids, separated by commas, by which the dealer tells that it never saw a bet (B4). */
	char unknown_bet_ids[UNKNOWN_BET_IDS_SIZE];
	uint32_t keys_issued;     /* number of the newest key id */
	char signing_key_id[KEY_ID_SIZE]; /* signs callbacks */
	struct dealer_key keys[DEALER_KEYS_MAX];
	int64_t created_ms;
	int64_t callbacks_held_ms; /* since when no callback is sent (ledger/outbox/hold.h); 0: they are */
	int64_t keys_restored_ms;  /* when a restore brought the keys back that were not confirmed since;
				      0: never, or they were */
	/* Of a restore after which the dealer's file was not compared; all are 0: there is none. */
	int64_t restored_ms;       /* when it was */
	int64_t restored_to_ms;    /* up to when the data that it brought back are known to be whole */
	uint64_t restored_id;      /* a transaction of before has a smaller id */
};

/* Running sums of a dealer: balance = in - out + adjusted - staked + paid. */
struct total {
	char casino_id[CASINO_ID_SIZE];
	uint64_t players;
	sum_t balance; /* sum of the players' balances */
	sum_t transferred_in;
	sum_t transferred_out;
	sum_t adjusted;
	sum_t staked; /* by bets of transfer-wallet players */
	sum_t paid;   /* to them by rounds */
	uint64_t open_bets; /* PENDING, ACCEPTED or REFUNDING; and results not delivered or cancelled */
	uint64_t parked;    /* callbacks in this state, */
	uint64_t held;      /* and in this */
};

struct player {
	char casino_id[CASINO_ID_SIZE];
	char user_id[EXTERNAL_ID_SIZE];
	char player_id[PLAYER_ID_SIZE];
	money_t balance; /* equals current_balance of the last movement */
	uint64_t entry_seq; /* number of the player's last movement; 0: none */
	uint64_t entry_transaction_id; /* of that movement; 0: none */
	bool suspended;
	int64_t created_ms;
};

/* From player_id to the player's own key. */
struct player_name {
	char player_id[PLAYER_ID_SIZE];
	char casino_id[CASINO_ID_SIZE];
	char user_id[EXTERNAL_ID_SIZE];
};

/*
 * What a transaction id was given out for: a movement of a player's credit, or a bet or a result that
 * moved nothing here. Written once, never changed, never deleted. All are in the order of their ids, so
 * that they are appended to one place and a transfer touches no page of its player's past; the
 * movements of a player are a chain from the last, which the player row names, to the first.
 */
struct transaction {
	uint64_t transaction_id;
	char casino_id[CASINO_ID_SIZE];
	char player_id[PLAYER_ID_SIZE];
	enum entry_kind kind;
	int64_t time_ms;
	char game_id[EXTERNAL_ID_SIZE]; /* of a bet or a result; "": neither */
	uint32_t bet_number;            /* 0: a result */
	uint64_t entry_seq; /* the movement's number: 1, 2, 3 ... without a gap; 0: nothing moved here */
	/* of a movement */
	uint64_t previous; /* transaction_id of the player's movement before; 0: entry_seq is 1 */
	money_t amount; /* signed: what the balance gained */
	money_t before_balance;
	money_t current_balance;
	/* the request key that moved it */
	enum request_scope scope;
	char request_transaction_id[EXTERNAL_ID_SIZE];
	char client_id[CLIENT_ID_SIZE]; /* owner of a client's key; "": the owner is the dealer */
};

/*
 * An idempotency key that was consumed (api.md A 1, 2): what was asked and what was answered.
 * Never expires.
 */
struct request {
	enum request_scope scope;
	char owner[CASINO_ID_SIZE]; /* casino_id, or client_id of a client's */
	char request_transaction_id[EXTERNAL_ID_SIZE];
	enum entry_kind kind;
	enum refusal outcome; /* REFUSAL_NONE or REFUSAL_INSUFFICIENT_BALANCE */
	money_t amount; /* as asked; positive for a transfer, signed for an adjustment */
	char player_id[PLAYER_ID_SIZE];
	uint64_t entry_seq;      /* 0: nothing moved */
	uint64_t transaction_id; /* 0: nothing moved */
	money_t current_balance; /* after the movement, or when it was refused */
	int64_t time_ms;
	/* of a bet or a result */
	char game_id[EXTERNAL_ID_SIZE];
	uint32_t bet_number; /* 0: a result */
	bool addition;       /* of a bet */
};

/* What an operator did. */
struct audit {
	uint64_t seq;
	int64_t time_ms;
	uint32_t uid;       /* of the person who called creditbridgectl, before it dropped root */
	uint32_t login_uid; /* of the login session (audit_loginuid); UINT32_MAX: none */
	uint32_t peer_uid;  /* that the socket's other end ran as (SO_PEERCRED) */
	char sudo_user[SUDO_USER_SIZE];
	char action[ACTION_SIZE];
	char object[OBJECT_SIZE];
	char detail[DETAIL_SIZE];
	char reason[REASON_SIZE];
};

/* A game server that calls group C. */
struct client {
	char client_id[CLIENT_ID_SIZE];
	bool removed;
	uint32_t keys_issued;
	struct dealer_key keys[DEALER_KEYS_MAX];
	int64_t created_ms;
	int64_t keys_restored_ms; /* as a dealer's */
};

/* All bets of a player in one game; settled once. */
struct round {
	char player_id[PLAYER_ID_SIZE];
	char game_id[EXTERNAL_ID_SIZE];
	char casino_id[CASINO_ID_SIZE];
	char user_id[EXTERNAL_ID_SIZE];
	char client_id[CLIENT_ID_SIZE]; /* of the first bet */
	enum wallet_mode mode;
	enum round_state state;
	uint32_t bets; /* bet numbers given out */
	money_t staked; /* by those that are part of the round: bounds what is to be paid back */
	enum round_result result;
	money_t bet_amount;      /* accepted stakes without additions */
	money_t addition_amount;
	money_t payout_amount;
	money_t win_amount;
	uint64_t transaction_id; /* of the result; 0 for a loss */
	uint64_t event;          /* of its betting-result; 0: transfer wallet */
	int64_t settled_ms;
	char remark[REMARK_SIZE];
	struct bytes user_bet; /* JSON objects as the game server gave them; empty: none */
	struct bytes game_result;
	struct bytes user_bet_result;
	struct bytes listed;  /* the bets that are part of the round (domain/round_list.h) */
	uint32_t objects_len; /* bytes of their user_bet */
	uint32_t refunded;    /* bets that a betting-refund gives or gave back */
	bool dropped; /* by retention: those three, and what was sent of its betting-result */
};

struct bet {
	char player_id[PLAYER_ID_SIZE];
	char game_id[EXTERNAL_ID_SIZE];
	uint32_t number; /* in its round: 1, 2, 3 ... */
	uint64_t transaction_id;
	char casino_id[CASINO_ID_SIZE];
	char client_id[CLIENT_ID_SIZE];
	char request_transaction_id[EXTERNAL_ID_SIZE];
	enum wallet_mode mode;
	enum bet_state state;
	bool addition;
	money_t bet_amount;
	int64_t accepted_ms;    /* of the bet command: its timestamp */
	uint32_t day;           /* of the same, in the dealer's utc_offset of then (api.md A 4) */
	int64_t changed_ms;     /* of the last transition */
	uint64_t event;         /* of its betting callback; 0: transfer wallet */
	uint64_t refund_event;  /* of its betting-refund; 0: none */
	enum refusal outcome;   /* of a rejected bet */
	char dealer_error_id[DEALER_ERROR_ID_SIZE];
	char dealer_error_detail[DEALER_ERROR_TEXT_SIZE];
	bool has_balance; /* the answer told the balance */
	money_t balance;
	char resolved_by[SUDO_USER_SIZE]; /* its refund was cancelled: the operator */
	char remark[REMARK_SIZE];
	struct bytes user_bet;
	bool dropped;        /* by retention: user_bet, and what was sent of its betting */
	bool refund_dropped; /* what was sent of its betting-refund */
};

/* A message for a dealer: made once, sent byte for byte the same. */
struct callback {
	uint64_t event;
	enum callback_kind kind;
	char casino_id[CASINO_ID_SIZE];
	char player_id[PLAYER_ID_SIZE];
	char game_id[EXTERNAL_ID_SIZE];
	uint32_t bet_number; /* 0: of the round */
	enum callback_state state;
	uint32_t attempts;  /* begun */
	int64_t created_ms;
	int64_t first_ms;   /* when it was to be sent first: the 24 hours of a refund begin.
			       Moved with the wall clock when that is set within a boot */
	int64_t ended_ms;   /* delivered, failed or cancelled */
	bool once_more;     /* the operator asked for one more attempt */
	bool unknown_to_dealer; /* a refund's bet that the dealer says it never saw */
	enum callback_class last_class;
	uint32_t last_http_status;
	char resolved_by[SUDO_USER_SIZE]; /* cancelled: the operator */
};

struct callback_body {
	uint64_t event;
	struct bytes body;
};

/* One sending. Written before the first byte leaves, completed when its end is known. */
struct attempt {
	uint64_t event;
	uint32_t number;
	int64_t time_ms;
	uint64_t sender; /* random number of whoever began it */
	bool ended;
	enum callback_class class;
	uint32_t http_status;
	uint32_t ms;
	char dealer_error_id[DEALER_ERROR_ID_SIZE];
	char note[CALLBACK_NOTE_SIZE];
	int64_t next_ms; /* when the next one is due; 0: none */
};

/*
 * When a callback that is due or being sent is to be looked at next. Within one boot due_boot_ms
 * decides, after a reboot due_ms. While it is being sent this is its lease.
 */
struct due {
	uint64_t event;
	char casino_id[CASINO_ID_SIZE];
	enum callback_kind kind;
	bool sending;
	uint64_t owner; /* while sending: the sender's link, a number of this run of the ledger */
	int64_t due_ms;
	int64_t due_boot_ms;
	uint64_t boot; /* which boot due_boot_ms belongs to */
};

/* What a player has bet and won (domain/statistics.h). */
struct statistics {
	uint64_t bet_count;
	sum_t turnover;
	sum_t profit_loss;
};

/* ... altogether. */
struct lifetime {
	char player_id[PLAYER_ID_SIZE];
	struct statistics sums;
};

/* ... by bets that were accepted on one day. */
struct day {
	char player_id[PLAYER_ID_SIZE];
	uint32_t number; /* since 1970-01-01 */
	struct statistics sums;
};

/* From an operator's operation_id to what it did: the same command sent again acts once. */
struct operation {
	char operation_id[OPERATION_ID_SIZE];
	uint64_t audit_seq;
	char action[ACTION_SIZE];
	char object[OBJECT_SIZE];
};

/* Describes a row kind. */
struct record_info {
	const char *name;
	uint32_t size;          /* sizeof the struct */
	unsigned int key_count; /* the first fields are the key */
	const struct field *fields;
};

/* The version that rows of the kind are stored with (store/bdb/SCHEMA): 1 or more. */
uint8_t record_version(enum record record);
/*
 * The members of a row as it was stored with @version, keys included; they fill the same struct.
 * NULL: there never was that version.
 */
const struct field *record_fields_of(enum record record, uint8_t version);
/* Bytes that the row takes in memory, with what it points to. */
size_t record_weigh(enum record record, const void *row);
/*
 * False: what @row says of itself would lead a command beyond an array: no command may see it. The ledger
 * stores no such row.
 */
bool record_sane(enum record record, const void *row);
/* Fills in what @row, whose members were stored with @version, lacks to be one of today. */
void record_complete(enum record record, uint8_t version, void *row);

extern const struct record_info record_infos[RECORD_COUNT];

#define RECORD(name, struct_, keys) extern const struct field struct_##_fields[];
#include "domain/records.def"
#undef RECORD
extern const struct field dealer_key_fields[];
extern const struct field statistics_fields[];

/* Whose key space the key of @entry, a movement, is in. */
const char *entry_owner(const struct transaction *entry);

/* The live key called @key_id, or NULL. */
const struct dealer_key *dealer_key_find(const struct dealer *dealer, const char *key_id);

#endif
