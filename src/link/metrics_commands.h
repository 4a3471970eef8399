/* metrics_commands - the ledger's state and counters, for /metrics, /readyz and creditbridgectl. */
#ifndef LINK_METRICS_COMMANDS_H
#define LINK_METRICS_COMMANDS_H

#include "base/histogram.h"
#include "domain/callback.h"
#include "link/admin_commands.h"

struct callback_count {
	uint64_t count;
};
#define METRICS_RECENT_MS (5 * 60 * 1000)
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
	/* Attempts that ended in the last METRICS_RECENT_MS, by class. */
	struct callback_count recent[CALLBACK_CLASS_COUNT];
	uint64_t breaker_ms; /* how long ago the breaker opened; 0: it is closed */
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

/*
 * How many calls the workers of the ledger's host answered in the last 24 hours, in any state, also halted
 * (metrics/activity.h). It is known as long as creditbridge-ledger runs, across restarts of its engine.
 */
struct activity_cmd {
	bool unused; /* a struct needs a member */
};
/* A quarter of an hour. */
struct activity_span {
	int64_t begin_ms; /* wall-clock time */
	/* The part of it that is known: from the first sample on, until now, without gaps of more than 2 minutes. */
	uint64_t known_ms;
	uint64_t calls;
	uint64_t refused;   /* of the calls, answered 4xx */
	uint64_t failed;    /* of the calls, answered 5xx */
	uint64_t transfers; /* accepted */
	uint64_t bets;      /* accepted */
};
struct activity_result {
	struct verdict verdict;
	int64_t since_ms; /* calls are known since then; 0: nothing is known */
	uint32_t count;
	struct bytes spans; /* packed activity_span, the oldest first */
};

/* Ages of callbacks, since they were made: up to a minute, 10 minutes, an hour, a day, and above. */
#define CALLBACK_AGES 5
/* Rows of parked and held callbacks that one CALLBACK_AGES counts. */
#define CALLBACK_AGES_LOOK_MAX 1000
/* Due and sending callbacks that it counts. */
#define CALLBACK_AGES_DUE_MAX 10000
/* Callbacks that it reads for the players that are owed. */
#define CALLBACK_AGES_OWED_MAX 256

/*
 * Counts the callbacks that wait, by state and age. Repeat it with @after_casino_id and @after_event from
 * the result while more is set, and add up the counts: the first answer has those that are due or sending.
 */
struct callback_ages_cmd {
	char casino_id[CASINO_ID_SIZE];       /* "": of all dealers */
	char after_casino_id[CASINO_ID_SIZE]; /* of @after_event */
	uint64_t after_event;                 /* 0: from the beginning */
	uint32_t limit;                       /* rows to look at; 0: the maximum */
	/* Count the players that the dealer @casino_id owes. Only with an @after_event of 0. */
	bool players;
};
struct callback_ages_result {
	struct verdict verdict;
	struct callback_count counts[CALLBACK_STATE_COUNT * CALLBACK_AGES];
	uint32_t looked; /* rows of parked and held ones */
	bool more;       /* further ones follow */
	char last_casino_id[CASINO_ID_SIZE];
	uint64_t last_event;
	uint64_t due_left; /* due or sending ones that were not counted */
	/* With @players: of the first CALLBACK_AGES_OWED_MAX callbacks of the answer. */
	uint32_t owed_players;
	bool owed_more; /* the dealer has further callbacks: it may owe more players */
};

/* Returns the counter of callbacks in @state of @age. */
static inline uint64_t *callback_ages_count(struct callback_ages_result *result,
	enum callback_state state, unsigned int age)
{
	return &result->counts[state * CALLBACK_AGES + age].count;
}

extern const struct field callback_count_fields[];
extern const struct field activity_span_fields[];
extern const struct field breaker_opening_fields[];
extern const struct field dealer_metrics_fields[];

/* Returns the counter of attempts of @kind that ended with this class. */
static inline uint64_t *dealer_attempts(struct dealer_metrics *dealer, enum callback_kind kind,
	enum callback_class class)
{
	return &dealer->ended[kind * CALLBACK_CLASS_COUNT + class].count;
}

#endif
