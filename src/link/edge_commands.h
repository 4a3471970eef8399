/*
 * edge_commands - the commands that workers and the sweeper need: edge.sock carries them.
 */
#ifndef LINK_EDGE_COMMANDS_H
#define LINK_EDGE_COMMANDS_H

#include "domain/callback.h"
#include "domain/statistics.h"
#include "link/verdict.h"

/*
 * The keys a worker verifies with. A worker keeps them all and asks again when an answer's
 * generation differs from its own or a second has passed.
 */
struct keyring_entry {
	char casino_id[CASINO_ID_SIZE]; /* of a dealer, or the client_id of a client */
	enum signature_algorithm signature_algorithm;
	enum signature_encoding signature_encoding;
	char signing_key_id[KEY_ID_SIZE];
	uint8_t decimals; /* of a dealer's amounts; of a client 4 */
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

/* A4. Refusals: user_not_found; invalid_signature when the dealer is not known. */
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
 * A5. The round and its bets by pages: ask again with @after_bet = @last_bet while @more. Refusals:
 * user_not_found, game_not_found; invalid_signature when the dealer is not known.
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

/*
 * Leave to send one attempt of a callback, and everything that takes. Whoever gets one sends it
 * once, with the first byte leaving while the call's timeout and CALLBACK_FENCE_SPARE_MS are left of
 * the lease, and tells what came of it with CALLBACK_END; if he dies, the sweeper takes over (api.md, Bet states). Holds secrets.
 */
struct callback_grant {
	uint64_t event; /* 0: there is nothing to send */
	enum callback_kind kind;
	uint32_t attempt;
	int64_t lease_until_ms; /* boot time */
	struct callback_target target;
	struct bytes body; /* exactly these bytes */
};
/* What must be left of the lease beyond the call's own timeout when its first byte leaves. */
#define CALLBACK_FENCE_SPARE_MS 500

/*
 * C balance. For a seamless dealer @send is B1, an event without a row; its CALLBACK_END gives the
 * permit back. Refusals: dealer_not_found, user_not_found, dealer_busy, and of a seamless dealer, since
 * the event takes a number, storage_full.
 */
struct player_balance_cmd {
	struct player_ref player;
};
struct player_balance_result {
	struct verdict verdict;
	enum wallet_mode mode; /* seamless: the balance is the dealer's to tell (B1) */
	char player_id[PLAYER_ID_SIZE];
	char user_id[EXTERNAL_ID_SIZE];
	char casino_id[CASINO_ID_SIZE];
	money_t balance; /* transfer mode */
	char currency[CURRENCY_SIZE];
	struct callback_grant send; /* seamless mode */
};

/*
 * C bets. The idempotency key is (client_id, request_transaction_id); a repeat is answered by the
 * bet's present state (api.md C 1). Refusals, in this order: transaction_conflict or the replay,
 * dealer_not_found, dealer_suspended, user_suspended, wrong_wallet_mode (the game was begun in the
 * other), invalid_amount (decimals), user_not_found, game_not_found, already_settled, round_full,
 * then in transfer mode insufficient_balance (recorded under the key), in seamless mode dealer_busy.
 *
 * Seamless mode: the bet is PENDING when the answer comes, @send is B2 and the verdict is that of a
 * bet under way (bet_in_progress, not a replay); CALLBACK_END answers the bet. The same command
 * sent again with the same @sender gets the same @send.
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
	uint64_t sender;       /* random: who will send */
};
/* What a bet came to; the verdict beside it tells how it is answered. */
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
 * C results: settles all accepted bets of the player in the game as one round. Refusals:
 * transaction_conflict or the replay, dealer_not_found, user_not_found, game_not_found,
 * already_settled, bet_in_progress, bet_not_found, invalid_amount, balance_limit. Suspension is no
 * obstacle (api.md A 9). Seamless mode: @send is the first attempt of B3, unless it is left to the
 * sweeper (callback_state due).
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
	uint64_t sender; /* random: who will send */
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
 * What came of an attempt that was granted. An attempt ends once: news that come late change
 * nothing. Answers by the present state, so it may be sent again. Refusals: callback_not_found; for
 * a betting the verdict is the bet's, as BET_PLACE would give it on a repeat, but no replay.
 */
struct callback_end_cmd {
	uint64_t event;
	enum callback_kind kind;
	char casino_id[CASINO_ID_SIZE]; /* of a balance inquiry, which has no row */
	uint32_t attempt;
	struct callback_outcome outcome;
	bool is_look; /* of a balance inquiry: the operator's (`dealer ping`), which is no traffic */
};
struct callback_end_result {
	struct verdict verdict;
	bool late; /* the attempt had ended before */
	enum callback_state state;
	uint32_t attempts;
	int64_t next_ms;       /* when it is due again, wall clock; 0: not */
	struct bet_answer bet; /* of a betting */
};

/*
 * The callbacks that could be claimed now: due ones and those whose sender is gone, oldest first,
 * round the dealers, no more of a dealer than it takes now (max_inflight, breaker).
 */
#define CALLBACK_FIND_MAX 256
struct due_entry {
	uint64_t event;
	char casino_id[CASINO_ID_SIZE];
	enum callback_kind kind;
	bool takeover;      /* being sent by someone who is gone */
	uint64_t overdue_ms; /* since it was due */
};
struct callback_find_cmd {
	uint32_t most; /* 0: CALLBACK_FIND_MAX, which is also the most */
	bool sweeping; /* what is found will be sent: this is a sweeper at work */
};
struct callback_find_result {
	struct verdict verdict;
	uint64_t waiting; /* callbacks that are due now or later, or being sent */
	uint32_t count;
	struct bytes entries; /* packed due_entry */
};

/*
 * Claims one callback for sending, or takes over what somebody left: a betting becomes REFUNDING, an
 * attempt of another kind counts as unknown and is due again later or parked. Refusals:
 * callback_not_found; dealer_busy; not_allowed_now: it is not due, or somebody is sending it. The same
 * command sent again with the same @sender gets the same @send.
 */
struct callback_claim_cmd {
	uint64_t event;
	uint64_t sender; /* random: who will send */
};
struct callback_claim_result {
	struct verdict verdict;
	bool taken_over; /* nothing is to be sent */
	char casino_id[CASINO_ID_SIZE];
	enum callback_kind kind;
	enum callback_state state;
	uint32_t attempts;
	int64_t next_ms; /* after a takeover: when it is due again, wall clock; 0: not */
	struct callback_grant send;
};

extern const struct field keyring_entry_fields[];
extern const struct field player_ref_fields[];
extern const struct field callback_grant_fields[];
extern const struct field bet_answer_fields[];
extern const struct field due_entry_fields[];

#endif
