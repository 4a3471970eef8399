/*
 * sim - the whole service in virtual time: the real ledger, and everybody around it played.
 *
 * One seed is one run: game servers, workers, sweepers, an operator, dealers and the network between
 * them take their steps as events of one queue, in one thread, and every choice comes from the seed.
 * The ledger is the real one (ledger_run() and its neighbours on tests/lib/memory_store), with its
 * commands, retry policy, permits, breaker and schedule. All else is simulated:
 *
 *   host.c     the ledger's process and its sockets: batches, saves that fail, kills, reboots
 *   process.c  a process that asks the ledger: repeats, deadlines, death, SIGSTOP
 *   worker.c   serves a game server's call: BET_PLACE, ROUND_SETTLE, PLAYER_BALANCE, then CALLBACK_END
 *   sweeper.c  CALLBACK_FIND, CALLBACK_CLAIM, sending, CALLBACK_END
 *   flight.c   one attempt: the fence, the first byte, the end of the connection
 *   network.c  what becomes of a request and its answer
 *   dealer.c   the other side, by the specification's rules 1 to 4
 *   game.c     game servers: bets, results, repeats, conflicts
 *   operator.c retry, hold, release, cancel
 *   plan.c     what a seed draws: how many of each, and what goes wrong how often
 *   rows.c     what the rows must be at any time; check.c what must be in the end
 *
 * The faults end at a time; then everything goes on without faults until nothing is left to do. The
 * assumption behind refund_delay is kept: no dealer without a tombstone processes a betting later
 * than struct sim_dealer's bound_ms after its connection was closed.
 */
#ifndef TESTS_SIM_SIM_H
#define TESTS_SIM_SIM_H

#include "chance.h"
#include "ledger/ledger.h"
#include "memory_store.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SIM_DEALERS_MAX      4
#define SIM_USERS_MAX        8
#define SIM_BETS_MAX         64
#define SIM_INQUIRIES_MAX    16
#define SIM_CALLS_MAX        (2 * SIM_BETS_MAX + SIM_INQUIRIES_MAX)
#define SIM_EVENTS_MAX       1024 /* of callbacks */
#define SIM_TRANSACTIONS_MAX 1024
#define SIM_WORKERS_MAX      6
#define SIM_SWEEPERS_MAX     2
#define SIM_PROCESSES_MAX    (SIM_WORKERS_MAX + SIM_SWEEPERS_MAX + 1)
#define SIM_FLIGHTS_MAX      6
#define SIM_FOUND_MAX        16
#define SIM_BODY_MAX         1024
#define SIM_QUEUE_MAX        32
#define SIM_TIMERS_MAX       4096
#define SIM_MESSAGES_MAX     4096
#define SIM_STEPS_MAX        400000

#define SIM_SECOND  INT64_C(1000)
#define SIM_MINUTE  (60 * SIM_SECOND)
#define SIM_TIMEOUT_MS 3000 /* of a callback */
#define SIM_ASK_MS     5000 /* how long the ledger is asked */
/* Without faults nothing waits longer: refund_delay, a sender's patience, the longest back-off. */
#define SIM_CALM_MS    (30 * SIM_MINUTE)

/* What is wrong in the harness, to be found (test_sim.c). */
enum plant {
	PLANT_NOTHING,
	PLANT_NO_FENCE,        /* a worker sends whatever is left of its lease, and is stopped long */
	PLANT_EARLY_ANSWER,    /* the ledger answers before the batch is saved */
	PLANT_NO_REFUND_DELAY, /* refund_delay is 0 for dealers that may be slow */
	PLANT_LATE_DEALER,     /* dealers process a betting later than refund_delay */
	PLANT_LATE_TOMBSTONE,  /* the same, but they refuse a bet after its refund: nothing is wrong */
	PLANT_LONG_STOP,       /* a worker is stopped longer than its lease while its link is lost */
	PLANT_NO_COMPARE,      /* the end of a betting is applied whatever became of it */
	PLANT_TOLD_EARLY,      /* the game server hears before CALLBACK_END is answered */
	PLANT_SENT_AGAIN,      /* a betting that was not answered is sent again */
	PLANT_OTHER_BYTES,     /* a later attempt is rendered anew */
	PLANT_UNKNOWN_IS_OK,   /* a sweeper takes what is unknown for delivered */
	PLANT_UNKNOWN_IS_NO,   /* a worker takes what is unknown for not sent */
	PLANT_FORGETFUL_DEALER, /* the dealer does not know a transaction_id again */
	PLANT_NO_TAKEOVER,     /* sweepers leave alone what others left */
	PLANT_COUNT
};

/* What was found. */
enum flaw {
	FLAW_NONE,
	FLAW_HARNESS,  /* the simulation's own bounds */
	FLAW_ANSWER,   /* the ledger answered what it may not */
	FLAW_ROWS,     /* the rows contradict each other */
	FLAW_INTENT,   /* sent before it was on disk */
	FLAW_BYTES,    /* two attempts of an event differ, or name what they may not */
	FLAW_BET_SENT_TWICE,
	FLAW_RESULT_SENT_TOO_OFTEN,
	FLAW_TOLD,     /* a game server was told what is not so */
	FLAW_STUCK,    /* it does not come to an end */
	FLAW_STAKE,    /* a dealer holds a stake that it must not, or not one that it must */
	FLAW_PAYOUT,   /* a dealer paid what it must not, or not what it must */
	FLAW_MONEY,    /* the sums differ */
	FLAW_PERMITS,  /* some are held by nobody */
	FLAW_COUNT
};
extern const char *const flaw_names[FLAW_COUNT];

struct world;
typedef void sim_run(struct world *w, uint32_t who, uint32_t what);

enum timer_kind {
	TIMER_WORLD,
	TIMER_STEP,   /* of a process: void when it died, later while it is stopped; it may die or be
		       * stopped right before */
	TIMER_STEADY, /* the same, but it is not stopped here */
};
struct timer {
	int64_t at_ms;
	uint64_t order;
	sim_run *run;
	enum timer_kind kind;
	uint32_t who; /* a process of @life; or anything */
	uint32_t life;
	uint32_t what;
};

/* What a seed draws. Chances are a thousandth each. */
struct plan {
	uint32_t dealers, users, workers, sweepers, bets, rounds, inquiries;
	int64_t active_ms; /* bets begin within */
	int64_t faults_ms; /* from then on nothing goes wrong */
	uint32_t die, stop, stop_sending; /* at a process's step */
	int64_t stop_ms;
	int64_t fence_to_close_ms; /* at most, however long it is stopped */
	uint32_t link_break;       /* an answer of the ledger is lost, with its link */
	uint32_t kill_before, kill_after, save_fails, slow_start; /* of a batch */
	bool reboots;
	bool storage_low; /* for a while */
	uint32_t operations; /* of the operator */
	bool release;        /* what is held is released in the end */
	uint32_t nasty;      /* how bad the network is: 0 to 100 */
	int64_t poll_max_ms; /* of the sweepers when there is nothing to do */
	struct outbox_options outbox;
};

enum unknown_style { UNKNOWN_SUCCESS, UNKNOWN_STANDARD_ID, UNKNOWN_OWN_ID, UNKNOWN_STYLE_COUNT };

struct sim_dealer {
	bool seamless;
	bool tombstone;
	enum unknown_style unknown;
	uint8_t decimals;
	uint32_t refund_delay_s;
	uint32_t max_inflight;
	int64_t bound_ms; /* a betting is processed less than this after its connection was closed */
	int64_t off_ms, on_ms; /* switched off from then to then */
	uint32_t refusals;     /* a thousandth of what could be accepted */
};

struct sim_user {
	uint32_t dealer;
	char user_id[16];
	char player_id[PLAYER_ID_SIZE];
	money_t opening;
	money_t balance; /* at the dealer; of a transfer wallet: what was transferred in */
};

/* A transaction as its dealer knows it. */
enum stake { STAKE_NONE, STAKE_TAKEN, STAKE_REFUSED, STAKE_RETURNED, STAKE_BARRED, STAKE_PAID };
struct sim_transaction {
	enum stake stake;
	uint32_t dealer;
	uint32_t user;
	uint32_t debits, returns, payments;
	money_t amount;
};

/* A callback as it is seen at the door. */
struct note {
	bool known;
	enum callback_kind kind;
	uint32_t dealer;
	uint32_t sends;   /* whose first byte left */
	uint32_t retries; /* that the operator asked for */
	uint32_t losses;  /* deliveries of a loss */
	money_t bet_amount;
	uint64_t hash;
	uint32_t len;
};

enum told { TOLD_NOTHING, TOLD_ACCEPTED, TOLD_REJECTED, TOLD_TIMEOUT, TOLD_NO };

struct sim_bet {
	uint32_t round;
	money_t amount;
	bool addition;
	enum told told;
	enum refusal refusal;
	uint64_t transaction_id;
};

struct sim_round {
	uint32_t user;
	uint32_t client;
	enum round_result result;
	money_t payout;
	bool hasty; /* it is settled without waiting for its bets */
	bool settled;
	uint64_t transaction_id;
};

enum call_kind { CALL_BET, CALL_SETTLE, CALL_INQUIRE };
struct sim_call {
	enum call_kind kind;
	uint32_t index; /* of the bet, the round, the user */
	uint32_t tries;
	uint32_t waiting; /* the try whose answer counts; 0: none */
	uint32_t repeats; /* after it is done */
	bool done;
};

/* One attempt of a callback, by the process that sends it. */
struct flight {
	bool used;
	bool open;  /* between begin and close */
	bool ended; /* closed, and not yet told */
	uint32_t serial;
	uint64_t event;
	enum callback_kind kind;
	uint32_t dealer;
	uint32_t attempt;
	int64_t lease_until_ms;
	int64_t begun_ms, fenced_ms;
	uint32_t connection; /* 0: none */
	enum callback_class class;
	const char *error_id;
	bool has_balance;
	money_t balance;
	uint32_t len;
	uint8_t body[SIM_BODY_MAX];
};

enum process_kind { PROCESS_WORKER, PROCESS_SWEEPER, PROCESS_OPERATOR };
struct process;
typedef void process_then(struct world *w, struct process *p);
struct process {
	uint32_t index;
	enum process_kind kind;
	uint32_t life; /* raised when it dies */
	bool alive;
	int64_t stopped_until_ms;
	uint64_t link; /* 0: not connected */
	/* the question under way */
	uint32_t try;  /* raised with each sending, never set back */
	bool asking;
	bool answer_coming;
	bool maybe_done;
	enum command command;
	int64_t deadline_ms;
	process_then *then;
	enum status status;
	union any_cmd cmd;
	union any_result result;
	uint8_t body[SIM_BODY_MAX]; /* of result's grant */
	/* attempts */
	uint32_t serial;
	struct flight flights[SIM_FLIGHTS_MAX];
	/* of a worker: the call that it serves */
	bool serving;
	uint32_t call, call_try;
	bool twisted; /* with other content than before */
	struct round_settle_result settled;
	/* of a sweeper */
	uint32_t found_count, found_next;
	uint64_t found[SIM_FOUND_MAX];
	bool stopping, cut_off, resting, waking;
	int64_t find_ms, poll_ms, until_ms, asked_ms;
};

struct message;

struct world {
	enum plant plant;
	struct plan plan;
	uint64_t seed;
	uint64_t chance;
	uint64_t senders;
	int64_t now_ms;
	int64_t boot_began_ms;
	uint64_t boot;
	int64_t wall_step_ms;
	bool calm; /* the faults are over */
	int64_t calm_ms;
	bool trace;

	enum flaw flaw;
	char why[512];

	uint32_t timer_count;
	uint64_t timer_order;
	uint32_t steps;

	/* the ledger's process */
	struct store *store;
	bool up;
	bool low; /* the disk is almost full */
	bool save_faults; /* saves were made to fail so that commands do */
	uint32_t run;
	int64_t up_ms; /* when it is up again */
	int64_t tick_ms;
	uint64_t links;
	bool turn_set;
	uint32_t queued;
	uint32_t operation; /* ids of the operator's */

	struct sim_dealer dealers[SIM_DEALERS_MAX];
	struct sim_user users[SIM_USERS_MAX];
	struct sim_bet bets[SIM_BETS_MAX];
	struct sim_round rounds[SIM_BETS_MAX];
	struct sim_call calls[SIM_CALLS_MAX];
	uint32_t call_count;
	struct sim_transaction transactions[SIM_TRANSACTIONS_MAX];
	struct note notes[SIM_EVENTS_MAX];
	uint32_t message_count;
	int64_t closed_ms[SIM_MESSAGES_MAX]; /* by connection; -1: open */
	uint32_t connection_count;

	/* what a run came to, for the test that all of it happens */
	struct tally {
		uint64_t commands, kills, reboots, deaths, stops, takeovers, refunds, parked,
			conflicts, lates, bets[BET_STATE_COUNT], operations, breakers, tombstones;
	} tally;
};

/* Too large to be cleared for each seed; they hold nothing from one to the next. */
extern struct ledger sim_ledger;
extern struct process sim_processes[SIM_PROCESSES_MAX];

/* world.c. Runs one seed; returns what was found, told in w->why. */
enum flaw world_run(struct world *w, uint64_t seed, enum plant plant);
void world_at(struct world *w, int64_t in_ms, sim_run *run, uint32_t who, uint32_t what);
void world_push(struct world *w, const struct timer *timer);
struct moment world_moment(const struct world *w);
int64_t world_boot_ms(const struct world *w);
/* The row as it is stored, or NULL; valid until the next. */
const void *world_load(struct world *w, enum record record, const void *key_row);
void violate(struct world *w, enum flaw flaw, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void trace_line(const struct world *w, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
#define trace(w, ...)                                                                              \
	do {                                                                                       \
		if ((w)->trace)                                                                    \
			trace_line((w), __VA_ARGS__);                                              \
	} while (0)

static inline uint32_t below(struct world *w, uint64_t bound)
{
	return bound ? (uint32_t)chance_below(&w->chance, bound) : 0;
}
/* True in @permille of 1000 cases; never when the faults are over. */
static inline bool fate(struct world *w, uint32_t permille)
{
	return permille && !w->calm && below(w, 1000) < permille;
}

/* plan.c */
void plan_make(struct world *w);

/* host.c */
void host_open(struct world *w);
void host_close(struct world *w);
/* Runs a command at once, outside of the sockets. The slot is valid until the next command. */
const struct slot *host_direct(struct world *w, enum command command, const void *cmd);
sim_run host_arrive;
/* The link @who of the ledger's run @what was closed. */
sim_run host_link_closed;
/* The row before it is read, for PLANT_NO_COMPARE. */
void plant_rewind(struct world *w, const struct callback_end_cmd *end);
struct operator sim_operator(struct world *w);

/* process.c */
void process_open(struct world *w);
void process_die(struct world *w, struct process *p);
void process_ask(struct world *w, struct process *p, enum command command, process_then *then);
/* The ledger did not answer this time. */
void process_unanswered(struct world *w, struct process *p, bool maybe_done);
void process_at(struct world *w, const struct process *p, int64_t in_ms, enum timer_kind kind,
	sim_run *run, uint32_t what);
/* Whether it dies or is stopped before @timer's step. */
bool process_goes_on(struct world *w, struct process *p, struct timer *timer);

/* worker.c */
void worker_serve(struct world *w, struct process *p, uint32_t call, bool twisted);
void worker_flight_ended(struct world *w, struct process *p, struct flight *f);

/* sweeper.c */
sim_run sweeper_start;
void sweeper_flight_ended(struct world *w, struct process *p);

/* flight.c */
struct flight *flight_free_place(struct process *p);
void flight_begin(struct world *w, struct process *p, const struct callback_grant *grant,
	const char *casino_id);
void flight_close(struct world *w, struct process *p, struct flight *f, enum callback_class class);
void flights_drop(struct world *w, struct process *p);
void flight_end_cmd(struct world *w, const struct flight *f, struct callback_end_cmd *cmd);
sim_run flight_timeout;

/* network.c */
void network_send(struct world *w, struct process *p, struct flight *f);
/* Whether nothing takes the connection. */
bool network_refuses(struct world *w, uint32_t dealer, int64_t *in_ms);
uint64_t body_hash(const uint8_t *body, uint32_t len);

/* A request on its way. */
struct message {
	enum callback_kind kind;
	uint32_t dealer;
	uint64_t event;
	uint64_t transaction_id;
	uint32_t user;
	money_t bet_amount;
	money_t payout_amount;
	enum round_result result;
	/* where its answer goes */
	uint32_t connection;
	uint32_t process, life, what;
	uint8_t answer; /* of network.c */
};
/* dealer.c */
void dealer_read(struct world *w, const struct flight *f, struct message *message);
/* What the dealer says; *error_id with CALLBACK_REFUSED. */
enum callback_class dealer_take(struct world *w, const struct message *message,
	const char **error_id);
bool dealer_is_off(const struct world *w, uint32_t dealer);

/* game.c */
void game_open(struct world *w);
void game_hear_bet(struct world *w, const struct process *p, enum refusal refusal,
	const struct bet_answer *bet);
void game_hear_round(struct world *w, const struct process *p, enum refusal refusal,
	const struct round_settle_result *result);
void game_hear_balance(struct world *w, const struct process *p, enum refusal refusal);
void game_hear_nothing(struct world *w, const struct process *p);
/* Every call has its answer. */
bool game_is_done(const struct world *w);
/* Settles what has accepted bets. True: something is to be done. */
bool game_settle_rest(struct world *w);

/* operator.c */
void operator_open(struct world *w);
/* Retries what is parked, releases what is held. True: something is to be done. */
bool operator_clear(struct world *w);

/* rows.c: what must be so at any time. */
void rows_check(struct world *w);
/* Visits all rows of a kind. */
void rows_visit(struct world *w, enum record record, bool (*visit)(void *context,
	struct bytes key, const void *row));
/* The number in a name like "g17". */
uint32_t rows_number(const char *name);
/* What rows_check() saw of a callback. */
struct seen {
	bool there;
	enum callback_kind kind;
	enum callback_state state;
	uint32_t attempts;
	bool due;
};
extern struct seen sim_seen[SIM_EVENTS_MAX];
/* check.c: what must be so in the end. */
void final_check(struct world *w);

#endif
