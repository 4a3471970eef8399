/*
 * process - the clients of the ledger: workers, sweepers, the operator; and the attempts that they
 * send.
 */
#ifndef TESTS_SIM_PROCESS_H
#define TESTS_SIM_PROCESS_H

#include "cast.h"

struct world;
typedef void sim_run(struct world *w, uint32_t who, uint32_t what);

enum timer_kind {
	TIMER_WORLD,
	TIMER_STEP,   /* of a process: void when it died; it may die here, or be stopped */
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

/* One attempt of a callback, by the process that sends it. */
struct flight {
	bool used;
	bool open;  /* between begin and close */
	bool ended; /* closed, and not yet reported */
	uint32_t serial;
	uint64_t event;
	enum callback_kind kind;
	uint32_t dealer;
	uint32_t attempt;
	int64_t lease_until_ms;
	int64_t begun_ms, fenced_ms;
	uint32_t run;        /* of the ledger that granted it ... */
	uint64_t link;       /* ... on this link */
	bool again;          /* after an answer that was lost */
	uint32_t connection; /* 0: none */
	enum callback_class class;
	const char *error_id;
	bool has_balance;
	money_t balance;
	money_t shortfall;
	uint32_t len;
	uint8_t body[SIM_BODY_MAX];
};

/* What a call of a game server has that is not as before. */
enum twist { TWIST_NOTHING, TWIST_AGAIN, TWIST_CONTENT, TWIST_KEY, TWIST_COUNT };

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
	uint32_t try; /* raised with each sending, never set back */
	bool asking;
	bool answer_coming;
	bool maybe_done;
	enum command command;
	int64_t deadline_ms;
	process_then *then;
	enum status status;
	uint32_t run; /* of the ledger that answered */
	union any_cmd cmd;
	union any_result result;
	uint8_t body[SIM_BODY_MAX]; /* of result's grant */
	/* attempts */
	uint32_t serial;
	struct flight flights[SIM_FLIGHTS_MAX];
	/* of a worker: the call that it serves */
	bool serving;
	uint32_t call, call_try;
	enum twist twist;
	bool seals; /* the dealer's call asks for a transfer, with a seal */
	struct round_settle_result settled;
	struct bet_cancel_result cancelled;
	struct round_correct_result corrected;
	uint32_t answer_count; /* of a batch */
	struct settle_answer answers[SIM_BATCH_MAX];
	/* of a sweeper */
	uint32_t found_count, found_next;
	uint64_t found[SIM_FOUND_MAX];
	bool stopping, cut_off, resting, waking;
	int64_t find_ms, poll_ms, until_ms, asked_ms;
	int64_t asked_boot_ms; /* when the last try of a command was sent; boot time */
};
extern struct process sim_processes[SIM_PROCESSES_MAX];

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
void worker_serve(struct world *w, struct process *p, uint32_t call, enum twist twist);
/* It repeated a command, and was not given leave to send: then nothing is its own to send. */
void worker_check_granted(struct world *w, uint64_t event, uint64_t sender);
void worker_flight_ended(struct world *w, struct process *p, struct flight *f);

/* The client_id of a round's game server. */
const char *worker_client(const struct world *w, uint32_t round);
void worker_name_player(struct world *w, uint32_t user, struct player_ref *ref);

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

#endif
