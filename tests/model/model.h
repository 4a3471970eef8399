/*
 * model - every way that one bet can go, searched exhaustively.
 *
 * A state is one bet's rows in the ledger, the processes that work on it, what the dealer holds and
 * what is on the wire. From the state before the bet each step that any actor could take is taken,
 * and again from what it leads to, until no new state appears. Each state is judged: judge.c says
 * what must never be. The proof holds only for the parameters in struct model.
 *
 * The real transition code decides every step of the ledger: delivery_open(), delivery_begin(),
 * delivery_end(), delivery_operate(), due_boot_ms(), bet_conclude(), bet_move(), settlement_add(),
 * settlement_close(), and through them retry_next(). rows.c keeps the rows and composes the calls
 * as the ledger's commands do, each of which is one transaction.
 *
 * Modelled:
 *   worker   BET_PLACE (durable PENDING, betting opened and begun), the same again when it was not
 *            answered, the fence, the send, its outcome, CALLBACK_END, which is repeated when it
 *            was not answered, the answer to the game server. From the fence to the close of its
 *            connection it may be stopped, for @stop ticks together or for ever; elsewhere it may
 *            take any time. It may die between any two steps, and lose its link to the ledger.
 *   sweeper  one or two; each is also the worker of a ROUND_SETTLE: claims, sends, ends, repeats
 *            its end, dies, is stopped anywhere for any time, takes over what others left. It has
 *            no fence and no timeout here: B3 and B4 must be right without.
 *   ledger   dies and starts again: it forgets the senders, and what is being sent counts as leased
 *            from then. The machine reboots: everyone at once, and another boot's clock.
 *   network  loses a request or its answer, delays it, repeats it. Copies of B3 and B4 arrive at
 *            any time later; those of B2 while its connection is open and less than @bound ticks
 *            after it was closed. That is the assumption of refund_delay.
 *   dealer   the specification's rules (dealer.c), heard or not; it may refuse a bet or a call.
 *   others   The game server repeats its command, settles by win, loss or refund, and cancels its
 *            bet, before or after BET_PLACE arrives. Two of them correct a win to a loss. The operator retries, holds, releases and
 *            cancels callbacks, @operations times.
 *
 * Not modelled, and why: corrections that raise a payout (their B3 takes the way of the first B3, and no
 * other callback of the round is open meanwhile); batches of results (each result is a settlement with
 * a key of its own, which acts once when it is repeated: that adds no state); seals (a seal refuses a
 * later transfer of a dealer, and neither reads nor writes a row of a bet or round; tests/sim/seal.c
 * plays both orders of the two, and so does one_of_transfer_and_seal_wins of tests/ledger/test_seal.c,
 * of which `make campaign-seal` plays 100,000 races); more bets of a round (no bet's step asks for another; the sums are tested
 * with settlement_add()); breaker and max_inflight (a step that is withheld is a step not taken,
 * which is tried everywhere); bytes, signatures, idempotency keys, batches (the tests of the ledger
 * and the simulator run the commands themselves); a wall clock that is set; a dealer that lies,
 * answering success without doing it, or refusing after doing it: no protocol can be right about that.
 *
 * Time passes in ticks of MODEL_TICK_MS. All times of a state are relative to its present and end
 * where they make no difference any more, so that there are finitely many states.
 */
#ifndef TESTS_MODEL_MODEL_H
#define TESTS_MODEL_MODEL_H

#include "domain/delivery.h"

#define MODEL_TICK_MS  1000
#define MODEL_FOREVER  UINT8_MAX
#define MODEL_SWEEPERS 2
/* One bet: what it stakes, and what a win pays. */
#define MODEL_STAKE 1
#define MODEL_PRIZE 3

/* What is wrong in the harness, to be found. The code under test is never changed. */
enum planted {
	PLANTED_NOTHING,
	PLANTED_NO_INTENT,      /* the bet is stored when its outcome is known */
	PLANTED_NO_COMPARE,     /* an end is applied without a look at what is there */
	PLANTED_NO_FENCE,       /* the worker sends whatever is left of its lease */
	PLANTED_ANSWERED_EARLY, /* the game server hears the outcome before it is stored */
	PLANTED_NO_TAKEOVER,    /* no sweeper looks for what others left */
	PLANTED_LATE_COUNT,     /* an attempt is counted when it ends */
	PLANTED_UNKNOWN_IS_OK,  /* what is unknown counts as delivered */
	PLANTED_FORGETFUL,      /* the dealer does not know a transaction_id again */
	PLANTED_NO_TOMBSTONE,   /* the cancellation of an unused key leaves nothing behind */
	PLANTED_NO_REVISION,    /* a correction is made whatever revision it names */
	PLANTED_NO_OPEN_CHECK   /* a correction does not wait for the callback before it */
};

/* The parameters of a search. Times in ticks. */
struct model {
	uint8_t lease;
	uint8_t timeout;  /* of a call, and so from the fence to the close of its connection */
	uint8_t patience; /* after the lease, until a sender that hangs counts as gone */
	uint8_t refund_delay;
	uint8_t bound;    /* a B2 is processed less than this after its connection was closed */
	uint8_t stop;     /* the worker is stopped so long at most, from fence to close */
	uint8_t sweepers; /* 1 or 2 */
	uint8_t operations;
	bool tombstone;        /* the dealer refuses a bet that comes after its refund */
	bool forgets_refusals; /* the dealer may take a copy of a bet that it refused */
	bool steady;           /* no link is lost, ledger and machine run on */
	bool cancels;          /* the game server may cancel the bet, once */
	bool corrects; /* two game servers may correct a win to a loss, both as revision 1 */
	enum planted planted;
};

enum worker_phase {
	WORKER_NEW,
	WORKER_GRANTED,
	WORKER_FENCED, /* the fence let it pass, no byte has left */
	WORKER_SENT,
	WORKER_GOT,     /* an outcome; the connection is closed */
	WORKER_ANSWERS, /* its CALLBACK_END was answered, the game server was not */
	WORKER_GONE
};
enum sweeper_phase { SWEEPER_IDLE, SWEEPER_GRANTED, SWEEPER_SENT, SWEEPER_GOT };

/* The deliveries of a bet. */
enum place { PLACE_BETTING, PLACE_RESULT, PLACE_REFUND, PLACE_CORRECTION, PLACE_COUNT };

/* What the dealer holds of the bet's transaction. */
enum stake { STAKE_NONE, STAKE_TAKEN, STAKE_REFUSED, STAKE_RETURNED, STAKE_BARRED, STAKE_COUNT };

/* What the game server got as an answer. */
enum { ANSWERED_ACCEPTED = 1, ANSWERED_NOT_ACCEPTED = 2, ANSWERED_CANCELLED = 4 };

/* A struct delivery, its times relative to now. */
struct place_row {
	uint8_t there;
	uint8_t state; /* enum callback_state */
	uint8_t attempts;
	int8_t due;    /* ticks until it is due, or until the lease is over; 0 or less: since */
	uint8_t owner; /* while sending: 1 the worker, 2 and 3 the sweepers, 0 gone */
	int8_t age;    /* of a refund: ticks since it was to be sent first */
	uint8_t once_more;
};

/* Only bytes, so that equal states are equal byte for byte. */
struct state {
	uint8_t worker; /* enum worker_phase */
	int8_t lease;   /* GRANTED: ticks left */
	uint8_t since;  /* FENCED, SENT: ticks since the fence */
	uint8_t got;    /* GOT: enum callback_class; ANSWERS: enum bet_state */
	struct {
		uint8_t phase;
		uint8_t place;
		uint8_t attempt;
		uint8_t got; /* GOT: CALLBACK_SUCCESS, or CALLBACK_REFUSED: the bet is unknown */
	} sweepers[MODEL_SWEEPERS];
	struct place_row rows[PLACE_COUNT];
	uint8_t bet;                       /* enum bet_state + 1; 0: no bet is stored */
	uint8_t result;                    /* enum round_result; NONE: the round is open */
	uint8_t stake;                     /* enum stake */
	uint8_t debits, refunds, payments; /* that the dealer made */
	uint8_t live;  /* ticks in which a B2 of a closed connection can still be processed */
	uint8_t sent;  /* 1 << place: has left, copies of it may arrive */
	uint8_t sends; /* of B3 */
	uint8_t extra; /* sends of B3 that the operator asked for */
	uint8_t answered;
	uint8_t operations;  /* the operator's, left */
	uint8_t cancelled;   /* 1 << place: by the operator */
	uint8_t barred;      /* the key of the bet was cancelled before the bet came */
	uint8_t corrections; /* made */
	uint8_t taken;       /* decreases that the dealer made */
	uint8_t revoked;     /* the bet was accepted, and then cancelled by the game server */
	uint8_t bad; /* a step did what no step may: BAD_ROWS, BAD_ANSWERED_EARLY, BAD_OVERTAKEN */
};

/* What must not be; the text is in judge.c. */
enum bad {
	BAD_ROWS,
	BAD_ANSWERED_EARLY,
	BAD_OVERTAKEN,
	BAD_ANSWERED_OTHERWISE,
	BAD_ACCEPTED_REFUNDED,
	BAD_REFUNDED_SETTLED,
	BAD_STAKE_KEPT,
	BAD_BOOKS,
	BAD_DEBITED_TWICE,
	BAD_PAID_TWICE,
	BAD_SENT_TOO_OFTEN,
	BAD_CANCELLED_COUNTS,
	BAD_CORRECTED_TWICE,
	BAD_STUCK, /* found by the search: no way leads from there to an end */
	BAD_COUNT
};
extern const char *const bad_names[BAD_COUNT];

/* judge.c: everything that is wrong with the state, as 1 << enum bad. */
unsigned int state_judge(const struct state *state);
/* The bet has ended, or waits where the operator sees it. */
bool state_is_end(const struct state *state);

/* dealer.c: a request arrives. Returns how a dealer that answers at all would answer. */
enum callback_class dealer_take_bet(const struct model *model, struct state *state, bool refuse);
/* B3, B4 or B5. */
void dealer_take(const struct model *model, struct state *state, enum place place);

/* rows.c: the commands of the ledger. */
void ledger_place(const struct model *model, struct state *state);
/* For @owner. False: it is not due. */
bool ledger_claim(const struct model *model, struct state *state, enum place place, uint8_t owner);
/* False: a request may still be under way. */
bool ledger_take_over(const struct model *model, struct state *state, enum place place);
void ledger_end(const struct model *model, struct state *state, enum place place, uint8_t attempt,
	const struct callback_outcome *outcome);
/* @owner begins B3 at once; 0: it is left to the sweeper. False: refused. */
bool ledger_settle(const struct model *model, struct state *state, enum round_result result,
	uint8_t owner);
/* False: it is refused. The refund is left to the sweepers: one may claim it in the next step. */
bool ledger_cancel(const struct model *model, struct state *state);
/* A win becomes a loss; B5 is left to the sweepers. False: it is refused. */
bool ledger_correct(const struct model *model, struct state *state);
bool ledger_operate(const struct model *model, struct state *state, enum place place,
	enum callback_action action);
void ledger_restart(const struct model *model, struct state *state, bool reboot);
void ledger_link_closed(struct state *state, uint8_t owner);
void ledger_tick(const struct model *model, struct state *state);

/* steps.c: what can happen. */
enum step {
#define STEP(name, friendly, names, before, after) STEP_##name,
#include "steps.def"
#undef STEP
	STEP_COUNT
};
struct label {
	uint8_t step;
	uint8_t which; /* of the names that its text is about */
};
typedef void model_emit(void *context, const struct state *next, struct label label);

struct state model_start(const struct model *model);
/* Calls @emit for everything that can happen next. */
void model_step(const struct model *model, const struct state *state, model_emit *emit,
	void *context);
/* Nothing has to go wrong for it, and no operator is needed. */
bool step_is_friendly(enum step step);
/* Writes what the step did. */
void step_describe(struct label label, char *text, size_t size);

/* search.c */
struct findings {
	bool complete;    /* every state was seen; false: ended with a bad one, or too many */
	unsigned int bad; /* of the states seen, as 1 << enum bad */
	uint32_t states;
	uint64_t steps_taken;
	uint64_t steps[STEP_COUNT];          /* how often each was taken */
	unsigned int bets;                   /* seen, as 1 << enum bet_state */
	unsigned int callbacks[PLACE_COUNT]; /* seen, as 1 << enum callback_state */
	unsigned int depth;                  /* of the trace */
};
/*
 * Searches breadth first: all of it, or until something of @wanted is found (0: anything that is
 * bad), whose shortest trace is then printed: on standard output as comments of TAP, or as an error
 * if nothing was wanted. @name: of the search; NULL: nothing is printed.
 */
struct findings model_search(const char *name, const struct model *model, unsigned int wanted);

#endif
