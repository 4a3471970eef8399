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
enum entry_kind { ENTRY_TRANSFER_IN, ENTRY_TRANSFER_OUT, ENTRY_ADJUST, ENTRY_KIND_COUNT };
/* Whose key space a request id belongs to. The order is stored: append. */
enum request_scope { SCOPE_DEALER, SCOPE_OPERATOR, SCOPE_COUNT };
enum signature_algorithm { HMAC_SHA256, HMAC_SHA512, HMAC_SHA1, SIGNATURE_ALGORITHM_COUNT };
enum signature_encoding { ENCODING_HEX, ENCODING_BASE64, SIGNATURE_ENCODING_COUNT };

extern const char *const wallet_mode_names[WALLET_MODE_COUNT];
extern const char *const entry_kind_names[ENTRY_KIND_COUNT];
extern const char *const request_scope_names[SCOPE_COUNT];
extern const char *const signature_algorithm_names[SIGNATURE_ALGORITHM_COUNT];
extern const char *const signature_encoding_names[SIGNATURE_ENCODING_COUNT];

/* A number that outlives the process. Names: "schema", "transaction_id", "dealers", "audit". */
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
	uint32_t keys_issued;     /* number of the newest key id */
	char signing_key_id[KEY_ID_SIZE]; /* signs callbacks */
	struct dealer_key keys[DEALER_KEYS_MAX];
	int64_t created_ms;
};

/* Running sums of a dealer, kept with every movement: balance = in - out + adjusted. */
struct total {
	char casino_id[CASINO_ID_SIZE];
	uint64_t players;
	money_t balance; /* sum of the players' balances */
	money_t transferred_in;
	money_t transferred_out;
	money_t adjusted;
};

struct player {
	char casino_id[CASINO_ID_SIZE];
	char user_id[EXTERNAL_ID_SIZE];
	char player_id[PLAYER_ID_SIZE];
	money_t balance; /* equals current_balance of entry number entry_seq */
	uint64_t entry_seq; /* number of the player's last entry; 0: none */
	bool suspended;
	int64_t created_ms;
};

/* From player_id to the player's own key. */
struct player_name {
	char player_id[PLAYER_ID_SIZE];
	char casino_id[CASINO_ID_SIZE];
	char user_id[EXTERNAL_ID_SIZE];
};

/* One movement of a player's credit. Written once, never changed, never deleted. */
struct entry {
	char player_id[PLAYER_ID_SIZE];
	uint64_t seq; /* 1, 2, 3 ... without a gap */
	enum entry_kind kind;
	money_t amount; /* signed: what the balance gained */
	money_t before_balance;
	money_t current_balance;
	uint64_t transaction_id;
	int64_t time_ms;
	/* the request key that moved it */
	enum request_scope scope;
	char request_transaction_id[EXTERNAL_ID_SIZE];
};

/*
 * An idempotency key that was consumed (api.md A 1, 2): what was asked and what was answered.
 * Never expires.
 */
struct request {
	enum request_scope scope;
	char owner[CASINO_ID_SIZE]; /* casino id */
	char request_transaction_id[EXTERNAL_ID_SIZE];
	enum entry_kind kind;
	enum refusal outcome; /* REFUSAL_NONE or REFUSAL_INSUFFICIENT_BALANCE */
	money_t amount; /* as asked; positive for a transfer, signed for an adjustment */
	char player_id[PLAYER_ID_SIZE];
	uint64_t entry_seq;      /* 0: nothing moved */
	uint64_t transaction_id; /* 0: nothing moved */
	money_t current_balance; /* after the movement, or when it was refused */
	int64_t time_ms;
};

/* From transaction_id to the movement. */
struct transaction {
	uint64_t transaction_id;
	char casino_id[CASINO_ID_SIZE];
	char player_id[PLAYER_ID_SIZE];
	uint64_t entry_seq;
	int64_t time_ms;
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

/* From an operator's operation_id to what it did: the same command sent again acts once. */
struct operation {
	char operation_id[OPERATION_ID_SIZE];
	uint64_t audit_seq;
};

/* Describes a row kind. */
struct record_info {
	const char *name;
	uint32_t size;          /* sizeof the struct */
	unsigned int key_count; /* the first fields are the key */
	const struct field *fields;
};

extern const struct record_info record_infos[RECORD_COUNT];

#define RECORD(name, struct_, keys) extern const struct field struct_##_fields[];
#include "domain/records.def"
#undef RECORD
extern const struct field dealer_key_fields[];

/* The live key called @key_id, or NULL. */
const struct dealer_key *dealer_key_find(const struct dealer *dealer, const char *key_id);

#endif
