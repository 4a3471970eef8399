/* metrics_commands - the ledger's state and counters, for /metrics, /readyz and creditbridgectl. */
#ifndef LINK_METRICS_COMMANDS_H
#define LINK_METRICS_COMMANDS_H

#include "base/histogram.h"
#include "domain/callback.h"
#include "link/admin_commands.h"

struct callback_count {
	uint64_t count;
};
/*
 * A dealer, in the order of casino_id. The sums are those of struct total (domain/records.h); a
 * correction or a cancelled bet may lower them.
 */
struct dealer_metrics {
	char casino_id[CASINO_ID_SIZE];
	char currency[CURRENCY_SIZE];
	enum wallet_mode mode;
	sum_t transferred_in;
	sum_t transferred_out;
	sum_t adjusted;
	sum_t staked;
	sum_t paid;
	sum_t balance;
	sum_t corrected;
	sum_t cancelled;
	sum_t shortfall;
	sum_t seamless_staked;
	sum_t seamless_paid;
	sum_t seamless_refunded;
	sum_t owed_payouts;
	sum_t owed_refunds;
	bool called;  /* it has or had callbacks; otherwise all members below are 0 */
	uint64_t due; /* now or later */
	uint64_t sending;
	uint64_t held;
	uint64_t parked;
	uint64_t overdue_ms; /* age of the oldest due callback */
	enum breaker breaker;
	uint32_t inflight;
	/* Bets that the dealer accepted, since it was added. */
	uint64_t bets_with_balance;
	uint64_t bets_without_balance;
	/*
	 * Callbacks that ended since creditbridge-ledger was started because the dealer answered that it
	 * does not know the bet, or that it has the callback already (struct callback).
	 */
	uint64_t unknown_to_dealer;
	uint64_t known_to_dealer;
	/* Ended attempts by kind and class; see dealer_attempts(). */
	struct callback_count ended[CALLBACK_KIND_COUNT * CALLBACK_CLASS_COUNT];
};

/*
 * The ledger's metrics, in any state, also halted. Dealers are listed in pages: ask again with
 * @after = @last while @more is set. A page may be empty; later pages contain only dealers. Counts
 * of attempts and histograms last as long as creditbridge-ledger, across restarts of its engine.
 * Those in @status last as long as the engine.
 */
struct metrics_cmd {
	bool without_dealers;
	char after[CASINO_ID_SIZE]; /* "": from the first */
};
struct metrics_result {
	struct verdict verdict;
	struct status_result status;
	bool swept; /* the sweeper has requested due callbacks since the ledger started, ... */
	uint64_t swept_ms_ago;    /* ... this long ago for the last time */
	struct histogram batches; /* commands in a batch, by histogram_sizes */
	struct histogram commits; /* by histogram_durations_us */
	/* likewise, for attempts whose sender reported the outcome */
	struct histogram attempts[CALLBACK_KIND_COUNT];
	bool more;
	char last[CASINO_ID_SIZE];
	uint32_t count;
	struct bytes dealers; /* packed dealer_metrics */
};

/* From when the breaker of a dealer opened until it was closed. */
struct breaker_opening {
	int64_t opened_ms; /* 0: there is no such opening */
	int64_t closed_ms; /* 0: it is not closed yet */
	uint32_t tests;    /* test calls that failed meanwhile */
};
#define BREAKER_OPENINGS 16

/*
 * One dealer's figures and the history of its breaker, which is in memory: a restart of the engine clears it.
 * Refusal: dealer_not_found.
 */
struct dealer_state_cmd {
	char casino_id[CASINO_ID_SIZE];
};
struct dealer_state_result {
	struct verdict verdict;
	struct dealer_metrics dealer; /* a dealer without a movement has sums of 0 */
	int64_t started_ms;           /* when the engine started */
	int64_t next_ms; /* of an open breaker: when it admits a test call; otherwise 0 */
	uint32_t opened; /* how often the breaker opened since the engine started */
	struct breaker_opening openings[BREAKER_OPENINGS]; /* the newest first */
	/*
	 * The last call with an unknown outcome, or that was not sent: both open the breaker. bad_ms 0: there was none. A
	 * balance inquiry has an event without a row.
	 */
	int64_t bad_ms;
	uint64_t bad_event;
	enum callback_class bad_class;
};
extern const struct field breaker_opening_fields[];

extern const struct field callback_count_fields[];
extern const struct field dealer_metrics_fields[];

/* Returns the counter of attempts of @kind that ended with this class. */
static inline uint64_t *dealer_attempts(struct dealer_metrics *dealer, enum callback_kind kind,
	enum callback_class class)
{
	return &dealer->ended[kind * CALLBACK_CLASS_COUNT + class].count;
}

#endif
