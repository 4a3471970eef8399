/*
 * sim - the whole service in virtual time: the real ledger, and a simulation of all others.
 *
 * One seed is one run: game servers, workers, sweepers, an operator, dealers and the network
 * between them take their steps as timers of one queue, in one thread, and every choice comes from
 * the seed. The ledger is the real one (ledger_run() and its neighbours on tests/lib/memory_store),
 * with its commands, retry policy, permits, breaker and schedule. All else is simulated:
 *
 *   host.c     the ledger's process and its sockets: batches, saves that fail, kills, reboots
 *   process.c  a process that asks the ledger: repeats, deadlines, death, SIGSTOP
 *   worker.c   serves a game server's call: the command, the callback, CALLBACK_END
 *   sweeper.c  CALLBACK_FIND, CALLBACK_CLAIM, sending, CALLBACK_END
 *   flight.c   one attempt: the fence, the first byte, the end of the connection
 *   network.c  what becomes of a request and its answer; what leaves is counted and compared there
 *   dealer.c   the other side, by the specification's rules 1 to 4
 *   game.c     game servers: bets, results, repeats, conflicts; hear.c their answers
 *   cancel.c   game servers cancel bets; correct.c they, and operators, correct settled rounds
 *   batch.c    game servers send several results at once
 *   seal.c     dealers: transfers, and seals of those that were not answered
 *   operator.c retry, hold, release, cancel; holds and releases dealers
 *   hold.c     no call of a held dealer is granted
 *   plan.c     what a seed draws: how many of each, and what goes wrong how often
 *   rows.c     what the rows must be at any time; check.c what must be in the end
 *
 * The faults end at a time; then everything goes on without faults until nothing is left to do. The
 * assumption of refund_delay is kept: no dealer without a tombstone processes a betting later
 * than struct sim_dealer's bound_ms after its connection was closed, and no worker is stopped so
 * long between its fence and its connection's end that this comes too late (plan.c, excess_ms()).
 */
#ifndef TESTS_SIM_SIM_H
#define TESTS_SIM_SIM_H

#include "chance.h"
#include "memory_store.h"
#include "process.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct world {
	enum plant plant;
	struct plan plan;
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
	bool low;         /* the disk is almost full */
	bool save_faults; /* saves were made to fail so that commands do */
	uint32_t run;
	int64_t up_ms; /* when it is up again */
	int64_t tick_ms;
	uint64_t links;
	uint32_t closing; /* links that the ledger is to hear of */
	bool turn_set;
	uint32_t queued;
	uint32_t operation; /* ids of the operator's */

	struct sim_dealer dealers[SIM_DEALERS_MAX];
	struct sim_user users[SIM_USERS_MAX];
	struct sim_bet bets[SIM_BETS_MAX];
	struct sim_round rounds[SIM_BETS_MAX];
	struct sim_transfer transfers[SIM_SEALS_MAX];
	struct sim_cancel cancels[SIM_CANCELS_MAX];
	struct sim_correction corrections[SIM_CORRECTIONS_MAX];
	struct sim_batch batches[SIM_BATCHES_MAX];
	struct sim_call calls[SIM_CALLS_MAX];
	uint32_t call_count;
	struct sim_transaction transactions[SIM_TRANSACTIONS_MAX];
	struct note notes[SIM_EVENTS_MAX];
	uint32_t message_count;
	struct inquiry inquiries[SIM_EVENTS_MAX];
	uint32_t inquiry_count;
	int64_t closed_ms[SIM_MESSAGES_MAX]; /* by connection; -1: open */
	struct callback_end_cmd
		ends[SIM_ENDS_MAX]; /* some that were reported, to be reported again */
	uint32_t end_count;
	uint32_t connection_count;

	/* what a run came to, for the test that all of it happens */
	struct tally {
		uint64_t commands, kills, reboots, deaths, stops, takeovers, refunds, parked,
			conflicts, lates, bets[BET_STATE_COUNT], operations, breakers, tombstones,
			repeats_refused, holds, transfers[TRANSFER_STATE_COUNT], cancelled, barred,
			corrections, conflicts_of_revision, open, increases, decreases, shortfalls,
			items, items_again, by_operator;
	} tally;
};

/* Too large to be cleared for each seed; it holds nothing from one to the next. */
extern struct ledger sim_ledger;

/* world.c. Runs one seed; returns what was found; w->why describes it. */
enum flaw world_run(struct world *w, uint64_t seed, enum plant plant);
void world_at(struct world *w, int64_t in_ms, sim_run *run, uint32_t who, uint32_t what);
void world_push(struct world *w, const struct timer *timer);
struct moment world_moment(const struct world *w);
int64_t world_boot_ms(const struct world *w);
/* Sets the wall clock. */
sim_run world_step_wall;
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
/* The process's link is closed, and the ledger hears of it a little later. */
void host_link_close(struct world *w, struct process *p);
/* The row before it is read, for PLANT_NO_COMPARE. */
void plant_rewind(struct world *w, const struct callback_end_cmd *end);
/* The same for PLANT_BLIND_SEAL. */
void plant_forget(struct world *w, const struct transfer_inquire_cmd *inquiry);
/* Deletes the key that a cancellation left, for PLANT_NO_TOMBSTONE. */
void plant_no_tombstone(struct world *w, const struct bet_place_cmd *bet);
/* Changes the command for PLANT_NO_REVISION: it names the revision that would be made. */
void plant_renumber(struct world *w, struct round_correct_cmd *cmd);
/* Deletes what a batch left, for PLANT_NO_BATCH_ROW. */
void plant_no_batch(struct world *w, const struct settle_batch_cmd *batch);
/* Deletes the key of an operator's correction, for PLANT_NO_OPERATION. */
void plant_no_operation(struct world *w, const struct operator_correct_cmd *cmd);
/* PLANT_NO_OPEN_CHECK is at work. */
extern bool plant_blind;

/* hold.c: around each batch. */
void hold_before(struct world *w, const struct slot *slots, uint32_t count);
void hold_after(struct world *w, const struct slot *slots, uint32_t count);

/* network.c */
void network_send(struct world *w, struct process *p, struct flight *f);
/* Whether nothing takes the connection. */
bool network_refuses(struct world *w, uint32_t dealer, int64_t *in_ms);
/* The attempt is still this process's own. */
void network_check_lease(struct world *w, const struct process *p, const struct flight *f);

/* dealer.c */
void dealer_read(struct world *w, const struct flight *f, struct message *message);
/* What the dealer says; *error_id with CALLBACK_REFUSED, *shortfall of a betting-correction. */
enum callback_class dealer_take(struct world *w, const struct message *message,
	const char **error_id, money_t *shortfall);
bool dealer_is_off(const struct world *w, uint32_t dealer);

/* game.c */
void game_open(struct world *w);
/* Its bets are numbered before rounds, so a bet's call has its number. */
bool game_bets_are_done(const struct world *w, uint32_t round);
/* The game server does not know what came of the call, or it does. */
void game_try_again(struct world *w, struct sim_call *call);
void game_done(struct world *w, struct sim_call *call);
/* hear.c */
void game_hear_bet(struct world *w, const struct process *p, enum refusal refusal,
	const struct bet_answer *bet);
void game_hear_round(struct world *w, const struct process *p, enum refusal refusal,
	const struct round_settle_result *result);
void game_hear_balance(struct world *w, const struct process *p, enum refusal refusal);
/* Of a transfer, a cancellation, a correction or a batch. */
void game_hear_other(struct world *w, const struct process *p, enum refusal refusal);
void game_hear_nothing(struct world *w, const struct process *p);
/* game.c. Every call has its answer. */
bool game_is_done(const struct world *w);
/* Settles what has accepted bets. True: something is to be done. */
bool game_settle_rest(struct world *w);
/* A result of its own was sent for the round. */
bool game_was_settled_alone(const struct world *w, uint32_t round);

/* seal.c */
void seal_plan(struct world *w);
/* What the worker asks the ledger. */
void seal_ask(struct world *w, struct process *p, uint32_t index, process_then *then);
/* The ledger's answer. True: it is final. */
bool seal_hear(struct world *w, const struct process *p, uint32_t index);
/* Counts a movement of a transfer; returns its number, SIM_SEALS_MAX: it is of none. */
uint32_t seal_number(const struct transaction *entry);
/* @moved: how often each transfer moved credit. */
void seal_check(struct world *w, const uint32_t moved[SIM_SEALS_MAX]);

/* cancel.c */
void cancel_plan(struct world *w);
void cancel_ask(struct world *w, struct process *p, uint32_t index, process_then *then);
/* The refund of the bet; 0: none. */
uint64_t cancel_event(struct world *w, uint32_t index);
/* The ledger's answer. True: it is final. */
bool cancel_hear(struct world *w, const struct process *p, uint32_t index, enum refusal refusal);
/* The row of a bet, or NULL; valid until the next. */
const struct bet *cancel_bet_row(struct world *w, uint32_t bet);
void cancel_check(struct world *w);

/* correct.c */
void correct_plan(struct world *w);
void correct_ask(struct world *w, struct process *p, uint32_t index, process_then *then);
/* The ledger's answer. True: it is final. */
bool correct_hear(struct world *w, const struct process *p, uint32_t index, enum refusal refusal);
/* A visit of the corrections: the first before it, the second for each, then the third for each
 * round. */
void correct_rows_begin(void);
bool correct_see(void *context, struct bytes key, const void *row);
bool correct_see_round(void *context, struct bytes key, const void *row);
/* Callbacks of corrections that are open. */
uint32_t correct_open(uint32_t dealer);
void correct_check(struct world *w);

/* batch.c */
void batch_plan(struct world *w);
/* A result of the batch waits for its bets. */
bool batch_waits(const struct world *w, uint32_t index);
void batch_ask(struct world *w, struct process *p, uint32_t index, process_then *then);
/* Copies the answers, which lie in the ledger's memory. */
void batch_keep(struct world *w, struct process *p, const struct settle_batch_result *result);
/* The ledger's answer. True: it is final. */
bool batch_hear(struct world *w, const struct process *p, uint32_t index, enum refusal refusal);

/* operator.c */
void operator_open(struct world *w);
/* Releases every dealer, once nothing goes wrong any more. */
sim_run operator_release;
/* Retries what is parked, releases what is held. True: something is to be done. */
bool operator_clear(struct world *w);

/* rows.c: what must be so at any time. */
void rows_check(struct world *w);
/* Visits all rows of a kind. */
void rows_visit(struct world *w, enum record record,
	bool (*visit)(void *context, struct bytes key, const void *row));
/* The number in a name like "g17". */
uint32_t rows_number(const char *name);
/* What rows_check() saw of a callback. */
struct seen {
	bool there;
	enum callback_kind kind;
	enum callback_state state;
	uint32_t attempts;
	int64_t first_ms;
	bool due;
	bool known_to_dealer;
};
extern struct seen sim_seen[SIM_EVENTS_MAX];
/* check.c: what must be so in the end. */
void final_check(struct world *w);

#endif
