/*
 * cast - the actors of a seed, and the record of their actions.
 */
#ifndef TESTS_SIM_CAST_H
#define TESTS_SIM_CAST_H

#include "ledger/ledger.h"

#define SIM_DEALERS_MAX     4
#define SIM_USERS_MAX       8
#define SIM_BETS_MAX        64
#define SIM_INQUIRIES_MAX   16
#define SIM_SEALS_MAX       8 /* transfers, of which the dealer asks with a seal */
#define SIM_CANCELS_MAX     8
#define SIM_CORRECTIONS_MAX 12
#define SIM_BATCHES_MAX     3
#define SIM_BATCH_MAX       8    /* results of a batch */
#define SIM_ITEMS_MAX       4096 /* bytes of them */
#define SIM_CALLS_MAX                                                                              \
	(2 * SIM_BETS_MAX + SIM_INQUIRIES_MAX + SIM_SEALS_MAX + SIM_CANCELS_MAX +                  \
		SIM_CORRECTIONS_MAX + SIM_BATCHES_MAX)
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
#define SIM_ENDS_MAX         16
#define SIM_STEPS_MAX        400000

#define SIM_SECOND     INT64_C(1000)
#define SIM_MINUTE     (60 * SIM_SECOND)
#define SIM_TIMEOUT_MS 3000 /* of a callback */
#define SIM_ASK_MS     5000 /* how long the ledger is asked */
/* Without faults nothing waits longer: refund_delay, a sender's patience, the longest back-off. */
#define SIM_CALM_MS (30 * SIM_MINUTE)

/* What is wrong in the harness, to be found (test_sim.c). */
enum plant {
	PLANT_NOTHING,
	PLANT_NO_FENCE,         /* a worker sends whatever is left of its lease, and is stopped */
	PLANT_EARLY_ANSWER,     /* the ledger answers before the batch is saved */
	PLANT_NO_REFUND_DELAY,  /* refund_delay is 0 for dealers that may be slow */
	PLANT_LATE_DEALER,      /* dealers process a betting later than refund_delay */
	PLANT_LATE_TOMBSTONE,   /* the same, but they refuse a bet after its refund: harmless */
	PLANT_LONG_STOP,        /* a worker is stopped beyond its lease while its link is lost */
	PLANT_NO_COMPARE,       /* the end of a betting is applied whatever became of it */
	PLANT_ANSWERED_EARLY,   /* the game server is answered before CALLBACK_END is */
	PLANT_SENT_AGAIN,       /* a betting that was not answered is sent again */
	PLANT_OTHER_BYTES,      /* a later attempt is rendered anew */
	PLANT_UNKNOWN_IS_OK,    /* a sweeper takes what is unknown for delivered */
	PLANT_UNKNOWN_IS_NO,    /* a worker takes what is unknown for not sent */
	PLANT_FORGETFUL_DEALER, /* the dealer does not know a transaction_id again */
	PLANT_NO_TAKEOVER,      /* sweepers take over no attempts */
	PLANT_HELD_STARTS,      /* an attempt for a dealer begins although its callbacks are held */
	PLANT_HELD_AGAIN,       /* what was granted before is granted again meanwhile */
	PLANT_BLIND_SEAL,       /* a transfer's id is sealed whatever became of it */
	PLANT_NO_TOMBSTONE,     /* the cancellation of an unused key writes no row */
	PLANT_NO_REVISION,      /* a correction is made whatever revision it names */
	PLANT_NO_OPEN_CHECK,    /* a correction does not wait for the callback before it */
	PLANT_TAKES_TWICE,      /* the dealer does not know a betting-correction again */
	PLANT_NO_BATCH_ROW,     /* the answers to a batch are not kept */
	PLANT_NO_OPERATION,     /* the correction of an operator is not known again */
	PLANT_COUNT
};

/* What was found. */
enum flaw {
	FLAW_NONE,
	FLAW_HARNESS, /* the simulation's own bounds */
	FLAW_ANSWER,  /* the ledger answered what it may not */
	FLAW_ROWS,    /* the rows contradict each other */
	FLAW_INTENT,  /* sent before it was on disk */
	FLAW_LEASE,   /* taken from a sender within its lease */
	FLAW_EARLY,   /* sent again before its time */
	FLAW_BYTES,   /* two attempts of an event differ, or name what they may not */
	FLAW_BET_SENT_TWICE,
	FLAW_RESULT_SENT_TOO_OFTEN,
	FLAW_ANSWERED,  /* a game server got an answer that is not true */
	FLAW_STUCK,     /* it does not come to an end */
	FLAW_STAKE,     /* a dealer holds a stake that it must not, or not one that it must */
	FLAW_PAYOUT,    /* a dealer paid what it must not, or not what it must */
	FLAW_MONEY,     /* the sums differ */
	FLAW_PERMITS,   /* some are held by no process */
	FLAW_HELD,      /* a call of a dealer whose callbacks are held is granted */
	FLAW_CANCELLED, /* a bet counts although the game server got "cancelled" */
	FLAW_REVISION,  /* the corrections of a round are not one after the other */
	FLAW_OVERTAKEN, /* two callbacks of a round are open, or one reached the dealer too early */
	FLAW_COUNT
};
extern const char *const flaw_names[FLAW_COUNT];

/* What a seed draws. Chances are a thousandth each. */
struct plan {
	uint32_t dealers, users, workers, sweepers, bets, rounds, inquiries, transfers, cancels,
		corrections, batches;
	int64_t active_ms;                /* bets begin within */
	int64_t faults_ms;                /* from then on nothing goes wrong */
	uint32_t die, stop, stop_sending; /* at a process's step */
	int64_t stop_ms;
	int64_t fence_to_close_ms; /* at most, however long it is stopped */
	uint32_t link_break;       /* an answer of the ledger is lost, with its link */
	uint32_t kill_before, kill_after, save_fails, slow_start; /* of a batch */
	uint32_t turn_ms; /* a batch gathers for so long at most */
	bool reboots;
	uint32_t steps;      /* of the wall clock, while the machine runs */
	int64_t step_ms;     /* either way at most */
	bool storage_low;    /* for a while */
	uint32_t operations; /* of the operator */
	bool holds;          /* the operator holds, too */
	bool release;        /* what is held is released in the end */
	uint32_t nasty;      /* how bad the network is: 0 to 100 */
	int64_t poll_max_ms; /* of the sweepers when there is nothing to do */
	struct outbox_options outbox;
};

enum unknown_style { UNKNOWN_SUCCESS, UNKNOWN_STANDARD_ID, UNKNOWN_OWN_ID, UNKNOWN_STYLE_COUNT };

struct sim_dealer {
	bool seamless;
	bool tombstone;
	bool refuses_repeats; /* with an error id that is one of its duplicate_ids */
	bool corrects;        /* it has a path for betting-corrections */
	enum unknown_style unknown;
	uint8_t decimals;
	uint32_t refund_delay_s;
	uint32_t max_inflight;
	int64_t bound_ms; /* a betting is processed less than this after its connection's end */
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
enum stake {
	STAKE_NONE,
	STAKE_TAKEN,
	STAKE_REFUSED,
	STAKE_RETURNED,
	STAKE_BARRED,
	STAKE_PAID,
	STAKE_LOWERED
};
struct sim_transaction {
	enum stake stake;
	uint32_t dealer;
	uint32_t user;
	uint32_t debits, returns, payments, decreases;
	money_t amount;
	money_t shortfall; /* of a decrease: what the balance did not cover */
};

/* A callback as the network saw it. */
struct note {
	bool known;
	enum callback_kind kind;
	uint32_t dealer;
	uint32_t sends;   /* whose first byte left */
	uint32_t retries; /* that the operator asked for */
	bool hurried;     /* the operator retried or released it */
	uint32_t losses;  /* deliveries of a loss */
	money_t bet_amount;
	uint64_t hash;
	uint32_t len;
	int64_t sent_ms; /* the last fence that let it pass; 0: none */
};

/* A balance inquiry that was granted: it has a permit and no row. */
struct inquiry {
	uint64_t event;
	uint32_t dealer;
	uint32_t run;
	int64_t until_ms; /* boot time */
	bool ended;
};

enum answered {
	ANSWERED_NOTHING,
	ANSWERED_ACCEPTED,
	ANSWERED_REJECTED,
	ANSWERED_TIMEOUT,
	ANSWERED_NO,
	ANSWERED_CANCELLED
};

struct sim_bet {
	uint32_t round;
	money_t amount;
	bool addition;
	int64_t at_ms; /* when it is placed first */
	enum answered answered;
	enum refusal refusal;
	uint64_t transaction_id;
	bool cancelled; /* the game server got this answer: the bet never counts from then on */
};

struct sim_round {
	uint32_t user;
	uint32_t client;
	enum round_result result;
	money_t payout;
	bool hasty; /* it is settled without waiting for its bets */
	bool settled;
	uint64_t transaction_id;
	uint32_t batch;    /* 1 and more: the batch that settles it; 0: a result of its own */
	uint32_t revision; /* as the game server knows it */
	uint32_t taken;    /* the last revision that the dealer took */
};

/* A transfer of a dealer. Once it has no answer, the dealer may ask for the outcome with a seal. */
struct sim_transfer {
	uint32_t user;
	enum entry_kind kind;
	money_t amount;
	bool seals;                   /* it asks from now on */
	enum transfer_state answered; /* TRANSFER_UNKNOWN: nothing final */
};

/* A game server cancels one of its bets. */
struct sim_cancel {
	uint32_t bet;
	bool answered; /* that the bet does not count */
};

/* A game server sends the results of some of its rounds at once. */
struct sim_batch {
	uint32_t client;
	uint32_t count, rounds[SIM_BATCH_MAX];
	bool stored; /* it was answered */
	/* the final answer to each item was sent */
	bool answered[SIM_BATCH_MAX];
	enum refusal refusals[SIM_BATCH_MAX];
	uint32_t len;
	uint8_t items[SIM_ITEMS_MAX];
};

/* A game server or an operator corrects a round, at times beside another that does. */
struct sim_correction {
	uint32_t round;
	bool by_operator;
	uint32_t revision; /* 0: not asked yet */
	enum round_result result;
	money_t payout;
	bool allow_shortfall;
	bool made; /* the answer said so */
	uint64_t transaction_id;
	bool late;      /* another made the revision */
	uint32_t opens; /* how often a callback of the round was open */
};

enum call_kind {
	CALL_BET,
	CALL_SETTLE,
	CALL_INQUIRE,
	CALL_TRANSFER,
	CALL_CANCEL,
	CALL_CORRECT,
	CALL_BATCH
};
struct sim_call {
	enum call_kind kind;
	uint32_t index; /* of the bet, the round, the user, the transfer and so on */
	uint32_t tries;
	uint32_t waiting; /* the try whose answer counts; 0: none */
	uint32_t repeats; /* after it is done */
	bool done;
};

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
	uint32_t round, revision;
	/* where its answer goes */
	uint32_t connection;
	uint32_t process, life, what;
	uint8_t answer; /* of network.c */
	bool late;      /* it arrives as late as may be */
};

#endif
