/* edge_commands - the commands for workers and the sweeper, carried by edge.sock. */
#ifndef LINK_EDGE_COMMANDS_H
#define LINK_EDGE_COMMANDS_H

#include "domain/callback.h"
#include "domain/statistics.h"
#include "link/verdict.h"

/*
 * The keys with which a worker verifies requests. A worker keeps them all. It asks again if an
 * answer has another generation, or after one second.
 */
struct keyring_entry {
	char caller_id[CASINO_ID_SIZE]; /* casino_id of a dealer, or client_id of a client */
	enum signature_algorithm signature_algorithm;
	enum signature_encoding signature_encoding;
	char signing_key_id[KEY_ID_SIZE];
	uint8_t decimals; /* decimals of a dealer's amounts; 4 for a client */
	bool yields; /* a dealer that is suspended or has left: another cell that has it serves it */
	struct dealer_key keys[DEALER_KEYS_MAX];
};
/* Keys of the dealers that call group A, or of the clients that call group C. */
enum keyring_of { KEYRING_DEALERS, KEYRING_CLIENTS, KEYRING_OF_COUNT };
extern const char *const keyring_of_names[KEYRING_OF_COUNT];
struct keyring_cmd {
	enum keyring_of of;
	uint64_t generation;        /* of the caller's keyring; 0: none */
	char after[CASINO_ID_SIZE]; /* continue after this caller; "": from the first */
};
struct keyring_result {
	struct verdict verdict;
	uint64_t generation; /* generation of the entries; never 0 */
	bool unchanged;      /* the caller's keyring is up to date: no entries */
	bool more;           /* request the next page with the last entry's caller_id */
	uint32_t count;
	struct bytes entries; /* packed keyring_entry, in the order of caller_id */
};

/* A1 and A2. Refusals: those from the idempotency key on (contract, "Order of checks"). */
struct transfer_cmd {
	char casino_id[CASINO_ID_SIZE];
	enum entry_kind kind; /* ENTRY_TRANSFER_IN or ENTRY_TRANSFER_OUT */
	char request_transaction_id[EXTERNAL_ID_SIZE];
	char user_id[EXTERNAL_ID_SIZE];
	money_t amount; /* above 0; 0 with @all */
	bool all;       /* of a transfer out: the whole balance */
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

/*
 * The outcome of a transfer (contract, "Final answer about a transfer"). With @seal, an id that is
 * not known is recorded as TRANSACTION_SEALED. Refusals: invalid_signature if the dealer is
 * unknown.
 */
struct transfer_inquire_cmd {
	char casino_id[CASINO_ID_SIZE];
	char request_transaction_id[EXTERNAL_ID_SIZE];
	bool seal;
};
enum transfer_state {
	TRANSFER_UNKNOWN, /* no call used the id */
	TRANSFER_DONE,
	TRANSFER_REFUSED,
	TRANSFER_SEALED,
	TRANSFER_STATE_COUNT
};
extern const char *const transfer_state_names[TRANSFER_STATE_COUNT];
struct transfer_inquire_result {
	struct verdict verdict;
	enum transfer_state state;
	/* done or refused: what a repeated call gets */
	struct transfer_result transfer;
	/*
	 * The transfer was made in the same batch, and its user_id is not loaded. @transfer has no
	 * user_id. Send the command again.
	 */
	bool again;
};

/* A3. Refusals: user_not_found; invalid_signature if the dealer is unknown. */
struct balance_cmd {
	char casino_id[CASINO_ID_SIZE];
	char user_id[EXTERNAL_ID_SIZE];
};
struct balance_result {
	struct verdict verdict;
	char user_id[EXTERNAL_ID_SIZE];
	char player_id[PLAYER_ID_SIZE];
	money_t balance;
	money_t staked; /* in accepted, unsettled bets; 0 for a seamless dealer */
	char currency[CURRENCY_SIZE];
};

/* A4. Refusals: user_not_found; invalid_signature if the dealer is unknown. */
struct user_stat_cmd {
	char casino_id[CASINO_ID_SIZE];
	char user_id[EXTERNAL_ID_SIZE];
	bool bet_summary;
};
struct user_stat_result {
	struct verdict verdict;
	char user_id[EXTERNAL_ID_SIZE];
	char player_id[PLAYER_ID_SIZE];
	char currency[CURRENCY_SIZE];
	struct statistics sums; /* of all time */
	int32_t utc_offset_min;
	uint32_t today;                          /* the number of the last of @days */
	struct statistics days[STATISTICS_DAYS]; /* with bet_summary: oldest first */
};

/*
 * A5. The round and its bets in pages: ask again with @after_bet = @last_bet while @more is set.
 * Refusals: user_not_found, game_not_found; invalid_signature if the dealer is unknown.
 */
struct result_inquire_cmd {
	char casino_id[CASINO_ID_SIZE];
	char user_id[EXTERNAL_ID_SIZE];
	char game_id[EXTERNAL_ID_SIZE];
	uint32_t after_bet; /* 0: from the first */
};
struct result_inquire_result {
	struct verdict verdict;
	struct round round;
	bool more;
	uint32_t last_bet;
	uint32_t count;
	struct bytes bets; /* packed struct bet, in the order of their numbers */
	/*
	 * The corrections of the round, packed struct correction_entry. The objects of @round are
	 * those of the last correction that has some.
	 */
	struct bytes corrections;
	uint32_t correction_count;
};
/* A correction as A5 shows it. */
struct correction_entry {
	uint32_t revision;
	uint64_t transaction_id;
	money_t delta;
	money_t shortfall;
	int64_t timestamp;
	char reason[REASON_SIZE];
};
extern const struct field correction_entry_fields[];

/*
 * C players: registers a player. A second registration returns the first. Refusals:
 * dealer_not_found, dealer_suspended.
 */
struct player_register_cmd {
	char casino_id[CASINO_ID_SIZE];
	char user_id[EXTERNAL_ID_SIZE];
	char player_id[PLAYER_ID_SIZE]; /* random; used if the player is new */
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

/*
 * Asks which of several player_ids this ledger has, for workers with several cells (web/request/cell_links.h).
 * Reads only. An id is PLAYER_ID_SIZE - 1 characters, without a separator.
 */
#define PLAYER_FIND_MAX BATCH_RESULTS_MAX
struct player_find_cmd {
	struct bytes player_ids; /* at most PLAYER_FIND_MAX */
};
struct player_find_result {
	struct verdict verdict; /* bad_request: no such list */
	struct bytes
		found; /* for each id one byte, in their order: 1 if there is the player, else 0 */
};

/*
 * Permission to send one attempt of a callback, with all data for it. The holder sends it once and
 * reports the outcome with CALLBACK_END. When the first byte leaves, the lease must still have the
 * call's timeout and CALLBACK_FENCE_SPARE_MS left. If the holder dies, the sweeper takes over
 * (contract, "Leases"). Holds secrets.
 */
struct callback_grant {
	uint64_t event; /* 0: there is nothing to send */
	enum callback_kind kind;
	uint32_t attempt;
	/* what is left of the lease when the ledger grants it: the holder counts from its request on */
	int64_t lease_left_ms;
	struct callback_target target;
	struct bytes body; /* exactly these bytes */
};
/*
 * Time that the lease must have left, in addition to the call's timeout, when the first byte
 * leaves.
 */
#define CALLBACK_FENCE_SPARE_MS 500

/*
 * C balance. For a seamless dealer @send is B1, an event without a row. Its CALLBACK_END returns
 * the permit. Refusals: dealer_not_found, user_not_found, dealer_busy. A seamless dealer also gets
 * storage_full, because the event consumes a number.
 */
struct player_balance_cmd {
	struct player_ref player;
};
struct player_balance_result {
	struct verdict verdict;
	enum wallet_mode mode; /* seamless: the dealer must be asked for the balance (B1) */
	char player_id[PLAYER_ID_SIZE];
	char user_id[EXTERNAL_ID_SIZE];
	char casino_id[CASINO_ID_SIZE];
	money_t balance; /* transfer mode */
	char currency[CURRENCY_SIZE];
	struct callback_grant send; /* seamless mode */
};

/*
 * C bets. The idempotency key is (client_id, request_transaction_id). A repetition gets the bet's
 * present state (contract, "Repeated bets"). Refusals, in this order: transaction_conflict or the
 * replay, dealer_not_found, dealer_suspended, user_suspended, wrong_wallet_mode (the game began in
 * the other mode), invalid_amount (decimals), user_not_found, game_not_found, already_settled,
 * round_full. Then in transfer mode insufficient_balance (recorded under the key), in seamless mode
 * dealer_busy.
 *
 * Seamless mode: the result has a PENDING bet and @send is B2. The verdict is that of an unfinished
 * bet (bet_in_progress, not a replay). CALLBACK_END answers the bet. If the same command is
 * repeated with the same @sender, it gets the same @send.
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
	uint64_t sender;       /* random number of the sender */
};
/* The state of a bet; the verdict is the answer to its caller. */
struct bet_answer {
	uint64_t transaction_id;
	enum bet_state state;
	bool has_balance;
	money_t balance;
	char dealer_error_id[DEALER_ERROR_ID_SIZE]; /* bet_rejected */
	char dealer_error_detail[DEALER_ERROR_TEXT_SIZE];
};
struct bet_place_result {
	struct verdict verdict;
	struct bet_answer bet;
	struct callback_grant send;
};

/*
 * C bets/cancel: cancels one bet (contract, "Cancelled bets"). The idempotency key is (client_id,
 * request_transaction_id). Refusals: transaction_conflict or the replay, dealer_not_found,
 * user_not_found, bet_in_progress, already_settled, balance_limit. Seamless mode: @send is the
 * first attempt of B4, unless the sweeper is to send it.
 */
struct bet_cancel_cmd {
	char client_id[CLIENT_ID_SIZE];
	char request_transaction_id[EXTERNAL_ID_SIZE];
	struct player_ref player;
	char game_id[EXTERNAL_ID_SIZE];
	char bet_request_transaction_id[EXTERNAL_ID_SIZE]; /* the key of the bet */
	char reason[REASON_SIZE];
	uint64_t sender; /* random number of the sender */
};
struct bet_cancel_result {
	struct verdict verdict;
	uint64_t transaction_id; /* of the bet; 0: no bet used the key, and none can any more */
	enum bet_state state;
	struct callback_grant send;
};

/*
 * C results: settles all accepted bets of the player in the game as one round. Refusals:
 * transaction_conflict or the replay, dealer_not_found, user_not_found, game_not_found,
 * already_settled, bet_in_progress, bet_not_found, invalid_amount, balance_limit. Suspension does
 * not prevent it (contract, "Suspension"). Seamless mode: @send is the first attempt of B3, unless
 * the sweeper is to send it (callback_state due).
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
	uint64_t sender; /* random number of the sender */
	/* 1 and more: place in a batch, only within the ledger; no attempt is begun (SETTLE_BATCH) */
	uint32_t item;
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
	struct callback_grant send;
};

/*
 * C corrections: a settled round gets another result (contract, "Corrections"). The idempotency key
 * is (client_id, request_transaction_id). Refusals: transaction_conflict or the replay,
 * dealer_not_found, user_not_found, game_not_found, revision_conflict, round_full, callback_open,
 * invalid_amount, payload_too_large, correction_not_supported, insufficient_balance, balance_limit.
 * Seamless mode: @send is the first attempt of B3 or B5, unless the sweeper is to send it.
 */
struct round_correct_cmd {
	char client_id[CLIENT_ID_SIZE];
	char request_transaction_id[EXTERNAL_ID_SIZE];
	struct player_ref player;
	char game_id[EXTERNAL_ID_SIZE];
	uint32_t revision; /* that the correction makes: 1, 2, 3 ... */
	enum round_result result;
	money_t payout_amount;
	bool allow_shortfall;
	char reason[REASON_SIZE];
	struct bytes game_result; /* JSON objects as text; empty: unchanged */
	struct bytes user_bet_result;
	uint64_t sender; /* random number of the sender */
};
struct round_correct_result {
	struct verdict verdict;
	uint64_t transaction_id;
	uint32_t revision; /* of the round; in a refusal the one in force */
	enum round_result previous_result;
	money_t delta; /* new payout less the previous one */
	money_t shortfall;
	money_t payout_amount;
	uint64_t event; /* 0: nothing is sent */
	enum callback_state callback_state;
	uint32_t callback_attempts;
	struct callback_grant send;
};

/*
 * Reports the outcome of a granted attempt. An attempt ends once: a late result changes nothing.
 * The answer is the present state, so the command may be repeated. Refusals: callback_not_found.
 * For a betting the verdict is that of a repeated BET_PLACE, but not a replay.
 */
struct callback_end_cmd {
	uint64_t event;
	enum callback_kind kind;
	char casino_id[CASINO_ID_SIZE]; /* for a balance inquiry, which has no row */
	uint32_t attempt;
	struct callback_outcome outcome;
	/* for a balance inquiry by the operator (`dealer ping`), not counted as traffic */
	bool is_look;
};
struct callback_end_result {
	struct verdict verdict;
	bool late; /* the attempt had ended before */
	enum callback_state state;
	uint32_t attempts;
	int64_t next_ms;       /* wall-clock time of the next attempt; 0: none */
	money_t shortfall;     /* of a correction: as in struct round_correct_result */
	struct bet_answer bet; /* of a betting */
};

/*
 * Lists callbacks that can be claimed now: due ones and those of lost senders, the oldest first,
 * alternating between dealers. A dealer gets no more than it accepts now (max_inflight, breaker).
 */
#define CALLBACK_FIND_MAX 256
struct due_entry {
	uint64_t event;
	char casino_id[CASINO_ID_SIZE];
	enum callback_kind kind;
	bool takeover;       /* its sender is lost */
	uint64_t overdue_ms; /* time since it was due */
};
struct callback_find_cmd {
	uint32_t most; /* 0: CALLBACK_FIND_MAX, which is also the maximum */
	bool sweeping; /* set by a working sweeper, which will send the callbacks */
};
struct callback_find_result {
	struct verdict verdict;
	uint64_t waiting; /* number of callbacks due now or later, or being sent */
	uint32_t count;
	struct bytes entries; /* packed due_entry */
};

/*
 * Is answered when a callback can be claimed: at once, or after the commit that made it due or made
 * room for it. The ledger looks at most every few milliseconds, and it does not look for lost senders
 * and for times that come; CALLBACK_FIND does. Any other command on the connection ends the wait.
 */
struct callback_wait_cmd {
	bool unused;
};
struct callback_wait_result {
	struct verdict verdict;
};

/*
 * Claims one callback for sending, or takes over the attempt of a lost sender. A betting taken over
 * becomes REFUNDING. Another attempt counts as unknown, and its callback is due later or parked.
 * Refusals: callback_not_found; dealer_busy; not_allowed_now if it is not due or is being sent. If
 * the same command is repeated with the same @sender, it gets the same @send.
 */
struct callback_claim_cmd {
	uint64_t event;
	uint64_t sender; /* random number of the sender */
};
struct callback_claim_result {
	struct verdict verdict;
	bool taken_over; /* taken over: nothing to send */
	char casino_id[CASINO_ID_SIZE];
	enum callback_kind kind;
	enum callback_state state;
	uint32_t attempts;
	int64_t next_ms; /* after a takeover: wall-clock time of the next attempt; 0: none */
	struct callback_grant send;
};

extern const struct field keyring_entry_fields[];
extern const struct field player_ref_fields[];
extern const struct field callback_grant_fields[];
extern const struct field bet_answer_fields[];
extern const struct field due_entry_fields[];

#endif
