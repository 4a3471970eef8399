/*
 * records - the rows of the ledger: one struct and one field table for each row kind.
 *
 * Times are Unix milliseconds, money is money_t, strings are NUL-terminated UTF-8. The limits are
 * those of the contract, "Ids". Zero each struct before you fill it, so that equal rows are
 * equal byte for byte.
 */
#ifndef DOMAIN_RECORDS_H
#define DOMAIN_RECORDS_H

#include "base/field.h"
#include "domain/bet_index_rows.h"
#include "domain/callback_rows.h"
#include "domain/desk_operator.h"
#include "domain/kinds.h"
#include "domain/money.h"
#include "domain/refusal.h"
#include "domain/sizes.h"

enum record {
#define RECORD(name, struct_, keys) RECORD_##name,
#include "domain/records.def"
#undef RECORD
	RECORD_COUNT
};

/* A persistent counter. Its names are in SCHEMA (store/bdb/). */
struct counter {
	char name[32];
	uint64_t value; /* the last number assigned */
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
	uint8_t decimals; /* 0 to 4; an amount with more decimals is refused */
	bool suspended;
	int32_t utc_offset_min; /* the dealer's day boundary */
	uint32_t rate_limit;    /* calls per second; 0: unlimited (contract, "Rate limit") */
	enum signature_algorithm signature_algorithm;
	enum signature_encoding signature_encoding;
	char url[URL_SIZE]; /* dealer_base_url of the callbacks; "": none */
	bool allow_http;
	bool send_currency; /* callbacks name the currency */
	/* A 2xx without a balance is unreadable (contract, "Answers of a dealer"). */
	bool success_needs_balance;
	uint32_t refund_delay_s;
	uint32_t max_inflight;
	/* Path of each callback below the URL; "": as the specification suggests. */
	char path_balance_inquire[CALLBACK_PATH_SIZE];
	char path_betting[CALLBACK_PATH_SIZE];
	char path_betting_result[CALLBACK_PATH_SIZE];
	char path_betting_refund[CALLBACK_PATH_SIZE];
	char path_betting_correction[CALLBACK_PATH_SIZE]; /* "": none is sent */
	/* Comma-separated error ids by which the dealer reports an unknown bet (B4). */
	char unknown_bet_ids[UNKNOWN_BET_IDS_SIZE];
	/* Comma-separated error ids by which the dealer reports a callback that it knows already. */
	char duplicate_ids[UNKNOWN_BET_IDS_SIZE];
	uint32_t keys_issued;             /* number of the newest key id */
	char signing_key_id[KEY_ID_SIZE]; /* signs callbacks */
	struct dealer_key keys[DEALER_KEYS_MAX];
	int64_t created_ms;
	/* time since which no callback is sent (ledger/outbox/hold.h); 0: not held */
	int64_t callbacks_held_ms;
	int64_t keys_restored_ms; /* time of a restore whose keys are not yet confirmed; 0: none */
	/* A restore without a comparison of the dealer's file yet; all 0: there is none. */
	int64_t restored_ms;    /* time of the restore */
	int64_t restored_to_ms; /* time up to which the restored data are known to be complete */
	uint64_t restored_id;   /* transactions before the restore have smaller ids */
	/* The last `creditbridgectl dealer test` of this dealer. */
	uint32_t exam_passed;
	uint32_t exam_failed;
	uint32_t exam_not_judged; /* because of a case that failed before them */
	int64_t exam_ms;          /* 0: there was none */
	/*
	 * Rows from this time on are counted in the sums of days (struct dealer_day). It is set when a
	 * version without these sums is upgraded, and when utc_offset_min changes. 0: all rows.
	 */
	int64_t days_from_ms;
};

/*
 * Running sums of a dealer:
 * balance = in - out + adjusted - staked + paid + corrected + cancelled.
 */
struct total {
	char casino_id[CASINO_ID_SIZE];
	uint64_t players;
	sum_t balance; /* sum of the players' balances */
	sum_t transferred_in;
	sum_t transferred_out;
	sum_t adjusted;
	sum_t staked; /* stakes of transfer-wallet players */
	sum_t paid;   /* payouts of rounds to them */
	/* bets PENDING, ACCEPTED or REFUNDING, and results not delivered or cancelled */
	uint64_t open_bets;
	uint64_t parked; /* parked callbacks, */
	uint64_t held;   /* and in this */
	/* of transfer-wallet players */
	sum_t corrected; /* corrections of settled rounds */
	sum_t cancelled; /* stakes returned by cancellations */
	sum_t shortfall; /* part of corrections that the balance did not cover */
	/* of seamless-wallet players */
	sum_t seamless_staked;   /* stakes that the dealer accepted */
	sum_t seamless_paid;     /* payouts of settled rounds, with their corrections */
	sum_t seamless_refunded; /* stakes of bets REFUNDING and REFUNDED */
	sum_t owed_payouts;      /* payouts and corrections not delivered nor cancelled */
	sum_t owed_refunds;      /* stakes of bets REFUNDING */
	/* betting callbacks that the dealer answered with success, with and without the balance */
	uint64_t bets_with_balance;
	uint64_t bets_without_balance;
};

struct player {
	char casino_id[CASINO_ID_SIZE];
	char user_id[EXTERNAL_ID_SIZE];
	char player_id[PLAYER_ID_SIZE];
	money_t balance;               /* equals current_balance of the last transaction */
	uint64_t entry_seq;            /* number of the player's last transaction; 0: none */
	uint64_t entry_transaction_id; /* id of that transaction; 0: none */
	bool suspended;
	int64_t created_ms;
};

/* Maps a player_id to the player's own key. */
struct player_name {
	char player_id[PLAYER_ID_SIZE];
	char casino_id[CASINO_ID_SIZE];
	char user_id[EXTERNAL_ID_SIZE];
};

/*
 * A transaction id's row: a change of a player's credit, or a bet or result without one here.
 * Written once, never changed or deleted. Rows are stored in id order, so new rows go to the end
 * and a transfer touches no page of older rows. A player's transactions form a chain from the last,
 * named in the player row, to the first.
 */
struct transaction {
	uint64_t transaction_id;
	char casino_id[CASINO_ID_SIZE];
	char player_id[PLAYER_ID_SIZE];
	enum entry_kind kind;
	int64_t time_ms;
	char game_id[EXTERNAL_ID_SIZE]; /* of a bet or a result; "": neither */
	uint32_t bet_number;            /* 0: a result; of a correction: its revision */
	/* number among the player's transactions: 1, 2, 3 ... without a gap; 0: no credit moved */
	uint64_t entry_seq;
	/* of a movement */
	/* transaction_id of the player's previous transaction; 0: entry_seq is 1 */
	uint64_t previous;
	money_t amount; /* signed change of the balance */
	money_t before_balance;
	money_t current_balance;
	/* The request key of the transaction. */
	enum request_scope scope;
	char request_transaction_id[REQUEST_KEY_SIZE];
	char client_id[CLIENT_ID_SIZE]; /* owner of a client's key; "": the owner is the dealer */
};

/* A used idempotency key (contract, "Idempotency"): the request and its response. Never expires. */
struct request {
	enum request_scope scope;
	char owner[CASINO_ID_SIZE]; /* casino_id, or client_id for a client's key */
	char request_transaction_id[REQUEST_KEY_SIZE];
	enum entry_kind kind;
	enum refusal outcome; /* REFUSAL_NONE, or a refusal that is recorded */
	money_t amount;       /* as requested; positive for a transfer, signed for an adjustment */
	char player_id[PLAYER_ID_SIZE]; /* "": sealed, the player is not known; or a batch */
	uint64_t entry_seq;             /* 0: nothing moved */
	uint64_t transaction_id;        /* 0: nothing moved */
	money_t current_balance;        /* after the transaction, or at the refusal */
	int64_t time_ms;
	/* of a bet or a result */
	char game_id[EXTERNAL_ID_SIZE];
	uint32_t bet_number; /* 0: a result; of a correction: its revision */
	bool addition;       /* of a bet */
	/* of a transfer out: it asked for the whole balance, which is the amount */
	bool all;
};

/*
 * Returns true if the dealer sealed the key: no transfer can use it (contract,
 * "Final answer about a transfer"). Such a row has a key and a time; its other members are zeros.
 */
static inline bool request_is_sealed(const struct request *request)
{
	return request->outcome == REFUSAL_TRANSACTION_SEALED;
}

/* Returns true for the key of a batch of results. It names no player and moved nothing. */
static inline bool request_is_batch(const struct request *request)
{
	return request->kind == ENTRY_RESULT_BATCH;
}

/* Returns true if a game server owns the keys of the scope. */
static inline bool scope_is_of_client(enum request_scope scope)
{
	return scope == SCOPE_CLIENT || scope == SCOPE_BATCH;
}

/* An action of an operator. */
struct audit {
	uint64_t seq;
	int64_t time_ms;
	uint32_t uid;       /* uid of the caller of creditbridgectl, before it dropped root */
	uint32_t login_uid; /* of the login session (audit_loginuid); UINT32_MAX: none */
	uint32_t peer_uid;  /* uid of the peer process of the socket (SO_PEERCRED) */
	char sudo_user[SUDO_USER_SIZE];
	char action[ACTION_SIZE];
	char object[OBJECT_SIZE];
	char detail[DETAIL_SIZE];
	char reason[REASON_SIZE];
	/* of the web console, whose session sent the command; "": a person at a shell */
	char operator[DESK_NAME_SIZE];
};

/* A game server that calls group C. */
struct client {
	char client_id[CLIENT_ID_SIZE];
	bool removed;
	uint32_t keys_issued;
	struct dealer_key keys[DEALER_KEYS_MAX];
	int64_t created_ms;
	int64_t keys_restored_ms; /* like a dealer's */
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
	uint32_t bets;  /* number of bet numbers assigned */
	money_t staked; /* stakes of the bets that are part of the round; limits the refund */
	enum round_result result;
	money_t bet_amount; /* accepted stakes without additions */
	money_t addition_amount;
	money_t payout_amount;
	money_t win_amount;
	uint64_t transaction_id; /* of the result; 0 for a loss */
	uint64_t event;          /* of its betting-result; 0: transfer wallet */
	int64_t settled_ms;
	char remark[REMARK_SIZE];
	struct bytes user_bet; /* JSON objects as the game server sent them; empty: none */
	struct bytes game_result;
	struct bytes user_bet_result;
	struct bytes listed;  /* the bets that are part of the round (domain/round_list.h) */
	uint32_t objects_len; /* bytes of the user_bet of those bets */
	uint32_t refunded;    /* bets refunded by a betting-refund, or being refunded */
	bool dropped; /* retention deleted those three members and the body of the betting-result */
	/*
	 * The members above are those of the settlement. Corrections change only the members below
	 * (contract, "Corrections").
	 */
	uint32_t revision;                /* number of corrections */
	enum round_result current_result; /* result in force; of an open round RESULT_NONE */
	money_t current_payout;           /* payout in force */
	money_t shortfall;   /* what corrections could not debit and have not taken since */
	uint64_t last_event; /* of the last betting-result or betting-correction; 0: none */
};

/* A correction of a settled round (contract, "Corrections"). Written once; retention drops its objects. */
struct correction {
	char player_id[PLAYER_ID_SIZE];
	char game_id[EXTERNAL_ID_SIZE];
	uint32_t revision; /* 1, 2, 3 ... */
	uint64_t transaction_id;
	char casino_id[CASINO_ID_SIZE];
	enum request_scope scope; /* of its request key: SCOPE_CLIENT or SCOPE_OPERATOR */
	char client_id[CLIENT_ID_SIZE];
	char request_transaction_id[EXTERNAL_ID_SIZE];
	enum round_result previous_result;
	money_t previous_payout;
	enum round_result result;
	money_t payout_amount;
	money_t shortfall;    /* above 0: part not taken; below 0: an earlier one, taken now */
	bool allow_shortfall; /* of the request */
	uint64_t event;       /* of its callback; 0: none was made */
	int64_t time_ms;
	char reason[REASON_SIZE];
	struct bytes game_result; /* empty: unchanged */
	struct bytes user_bet_result;
	bool dropped; /* retention deleted both objects and the body of the callback */
};

/* The cancellation of one bet (contract, "Cancelled bets"). Written once. */
struct cancellation {
	char player_id[PLAYER_ID_SIZE];
	char game_id[EXTERNAL_ID_SIZE];
	uint32_t number; /* of the bet */
	char casino_id[CASINO_ID_SIZE];
	char client_id[CLIENT_ID_SIZE];
	char request_transaction_id[EXTERNAL_ID_SIZE];
	uint64_t transaction_id; /* of the returned stake; 0: seamless wallet */
	int64_t time_ms;
	char reason[REASON_SIZE];
};

/*
 * A batch of results: what it asked for and its answers (contract, "Results of a live round").
 * Written again only while an item with a retryable error is tried again. Never expires.
 */
struct result_batch {
	char client_id[CLIENT_ID_SIZE];
	char request_transaction_id[EXTERNAL_ID_SIZE];
	char digest[DIGEST_TEXT_SIZE];          /* of the items, to know a repetition */
	char request_id[BATCH_REQUEST_ID_SIZE]; /* of the first call; its error bodies repeat it */
	int64_t time_ms;
	uint32_t count;       /* of items */
	struct bytes answers; /* struct settle_answer of each, packed (link/batch_commands.h) */
};

struct bet {
	char player_id[PLAYER_ID_SIZE];
	char game_id[EXTERNAL_ID_SIZE];
	uint32_t number; /* number in its round: 1, 2, 3 ... */
	uint64_t transaction_id;
	char casino_id[CASINO_ID_SIZE];
	char client_id[CLIENT_ID_SIZE];
	char request_transaction_id[EXTERNAL_ID_SIZE];
	enum wallet_mode mode;
	enum bet_state state;
	bool addition;
	money_t bet_amount;
	int64_t accepted_ms; /* timestamp of the bet command */
	/* day of accepted_ms, in the dealer's utc_offset at that time (contract, "Statistics") */
	uint32_t day;
	int64_t changed_ms;    /* of the last transition */
	uint64_t event;        /* of its betting callback; 0: transfer wallet */
	uint64_t refund_event; /* of its betting-refund; 0: none */
	enum refusal outcome;  /* of a rejected bet */
	char dealer_error_id[DEALER_ERROR_ID_SIZE];
	char dealer_error_detail[DEALER_ERROR_TEXT_SIZE];
	bool has_balance; /* the response contained the balance */
	money_t balance;
	char resolved_by[SUDO_USER_SIZE]; /* operator that cancelled its refund */
	char remark[REMARK_SIZE];
	struct bytes user_bet;
	bool dropped;        /* retention deleted user_bet and the body of its betting callback */
	bool refund_dropped; /* retention deleted the body of its betting-refund */
	bool cancelled;      /* a game server cancelled it; it has a row of cancellation */
};

/* Sums of a player's bets and winnings (domain/statistics.h). */
struct statistics {
	uint64_t bet_count;
	sum_t turnover;
	sum_t profit_loss;
};

/* ... over all time. */
struct lifetime {
	char player_id[PLAYER_ID_SIZE];
	struct statistics sums;
	money_t staked; /* stakes of the accepted, unsettled bets of a transfer wallet */
};

/* ... for bets accepted on one day. */
struct day {
	char player_id[PLAYER_ID_SIZE];
	uint32_t number; /* days since 1970-01-01 */
	struct statistics sums;
};

/* A number of rows and the sum of their amounts. */
struct day_sum {
	uint64_t count;
	sum_t amount;
};

/* Running sums of a dealer's day (domain/dealer_day.h). */
struct dealer_day {
	char casino_id[CASINO_ID_SIZE];
	uint32_t number; /* days since 1970-01-01 in the dealer's utc_offset */
	/* movements of credit of the day */
	struct day_sum transferred_in;
	struct day_sum transferred_out;
	struct day_sum adjusted;
	struct day_sum cancelled; /* stakes returned by cancellations */
	/* results and corrections of the day, of both wallets */
	struct day_sum paid;
	struct day_sum corrected;
	/* bets recorded on the day, by their present state */
	struct day_sum pending;
	struct day_sum accepted;
	struct day_sum rejected;
	struct day_sum refunding;
	struct day_sum refunded;
	struct day_sum settled;
	/* callbacks created on the day, by the class of the last attempt that ended */
	uint64_t callbacks_waiting; /* no attempt has ended */
	uint64_t callbacks_unknown;
	uint64_t callbacks_success;
	uint64_t callbacks_refused;
	uint64_t callbacks_not_sent;
};

/* Maps an operator's operation_id to its effect, so that a repeated command acts only once. */
struct operation {
	char operation_id[OPERATION_ID_SIZE];
	uint64_t audit_seq;
	char action[ACTION_SIZE];
	char object[OBJECT_SIZE];
};

/* A key that a row of the audit retires (domain/retired_digest.h). */
struct retired_digest {
	uint64_t audit_seq;
	uint32_t number;               /* of the keys that the row retires: 1, 2 ... */
	bool of_client;                /* of a game server, not of a dealer */
	char owner[CASINO_ID_SIZE];    /* casino_id or client_id */
	char digest[DIGEST_TEXT_SIZE]; /* SHA-256 of the key */
};

/*
 * Selects parked callbacks of one dealer. It is frozen: a callback that is made or parked later is not
 * selected.
 */
struct replay_filter {
	char casino_id[CASINO_ID_SIZE];
	char player_id[PLAYER_ID_SIZE]; /* "": any */
	char game_id[EXTERNAL_ID_SIZE]; /* "": any */
	uint32_t kinds;                 /* bits 1 << enum callback_kind; 0: any */
	int64_t since_ms;               /* made at this time or later; 0: any */
	int64_t until_ms;               /* made before this time; 0: any */
	uint64_t first_event;           /* 1 or more */
	uint64_t last_event;
	int64_t parked_to_ms; /* parked at this time or earlier */
};

/*
 * A replay: the ledger gives each callback that the filter selects one more attempt, in steps
 * (ledger/replay.h). The counts after "parked_later" are of callbacks that it made due.
 */
struct replay {
	uint64_t id; /* 1, 2, 3 ... */
	struct replay_filter filter;
	struct bytes events; /* only these, in rising order, 8 bytes each, big-endian; empty: all */
	int64_t time_ms;
	uint32_t uid; /* of the operator, as in struct audit */
	char by[SUDO_USER_SIZE];
	char reason[REASON_SIZE];
	enum replay_state state;
	int64_t ended_ms;                /* 0: it runs */
	char stopped_by[SUDO_USER_SIZE]; /* "": it was not stopped */
	uint64_t expected;               /* callbacks that the preview counted */
	uint64_t next_event;             /* events below were looked at */
	uint64_t made_due;
	uint64_t left_out; /* parked, but an adjustment stands for it */
	uint64_t
		parked_later; /* left out by the preview: parked at a time that was not reached yet */
	uint64_t delivered;   /* made due, and then delivered ... */
	uint64_t parked_again; /* ... parked again ... */
	uint64_t withdrawn;    /* ... held or cancelled by an operator before they were sent */
};

/*
 * The move of a dealer to another cell, or from it, as this cell sees it (domain/dealer_move.h). The row stays
 * when the move has ended.
 */
struct dealer_move {
	char casino_id[CASINO_ID_SIZE];
	enum move_state state;
	char id[MOVE_ID_SIZE];      /* of the move, the same in both cells */
	char peer[MOVE_PEER_SIZE];  /* the installation of the other cell */
	char other[CELL_NAME_SIZE]; /* its name; "": not known */
	int64_t begun_ms;
	int64_t changed_ms; /* of the last change of the state */
	/* How far the rows are: put in the cell that the dealer moves to, deleted in the other one. */
	uint64_t page;      /* pages that were put */
	uint32_t page_kind; /* enum record: the kind of the last page */
	struct bytes after; /* the packed key after which the next page begins; empty: the first */
	uint64_t rows;      /* rows that were put or deleted */
	uint64_t first_transaction; /* the lowest id of a transaction that was put; 0: none */
};

/* Describes a row kind. */
struct record_info {
	const char *name;
	uint32_t size;          /* sizeof the struct */
	unsigned int key_count; /* number of first fields that form the key */
	const struct field *fields;
};

/* Returns the first schema whose data has rows of the kind; 0: every schema has them. */
uint8_t record_since(enum record record);
/* Returns the version with which rows of the kind are stored (store/bdb/SCHEMA), 1 or more. */
uint8_t record_version(enum record record);
/*
 * Returns the fields, with keys, of a row stored with @version; all versions fill the same struct.
 * Returns NULL if that version never existed.
 */
const struct field *record_fields_of(enum record record, uint8_t version);
/* Returns the memory that the row uses, in bytes, including data that it points to. */
size_t record_weigh(enum record record, const void *row);
/*
 * Returns false if a number in @row would make a command access an array out of bounds. No command
 * may use such a row, and the ledger stores none.
 */
bool record_sane(enum record record, const void *row);
/* Converts @row, stored with @version, to the current version by setting the missing members. */
void record_complete(enum record record, uint8_t version, void *row);

extern const struct record_info record_infos[RECORD_COUNT];

#define RECORD(name, struct_, keys) extern const struct field struct_##_fields[];
#include "domain/records.def"
#undef RECORD
extern const struct field dealer_key_fields[];
extern const struct field statistics_fields[];
extern const struct field replay_filter_fields[];

/* Returns the owner of the key space of the request key of @entry. */
const char *entry_owner(const struct transaction *entry);
/* Returns the live key named @key_id, or NULL. */
const struct dealer_key *dealer_key_find(const struct dealer *dealer, const char *key_id);

#endif
