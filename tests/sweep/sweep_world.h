/*
 * sweep_world - a ledger, dealers and a clock for the sweeper's tests. The linker replaces the
 * functions that src/sweep/ calls (--wrap). Time advances only here.
 */
#ifndef TESTS_SWEEP_SWEEP_WORLD_H
#define TESTS_SWEEP_SWEEP_WORLD_H

#include "callback/sender.h"
#include "link/commands.h"
#include "sweep/sweep.h"

#define WORLD_CALLBACKS_MAX 512
#define WORLD_START_MS      1000000
#define WORLD_ASK_MS        1    /* the duration of each command */
#define WORLD_TIMEOUT_MS    3000 /* a longer call has no answer, as in libcurl */

struct world_callback {
	struct due_entry entry;
	enum callback_state state;
	int64_t due_ms; /* not found earlier; while sending: the end of its lease */
	bool abandoned; /* while sending: its sender has exited */
	uint32_t attempts;
	uint64_t sender;
	/* the dealer's answer */
	enum callback_class answer;
	int64_t takes_ms;
	/* the failures of the ledger */
	enum refusal refusal;     /* of its claim */
	enum status claim_status; /* if not STATUS_OK: returned in place of an answer */
	int64_t claim_takes_ms;
	int64_t lease_ms;      /* 0: 10 s */
	bool end_late;         /* another process ended the attempt first */
	uint32_t end_attempts; /* with end_late: the number of attempts by then */
	enum status end_status;
	bool no_place; /* the sender has no memory for it */
	/* counters */
	unsigned int claims, sends, ends;
	enum callback_class told;
};

struct world {
	int64_t now_ms;
	struct world_callback callbacks[WORLD_CALLBACKS_MAX];
	unsigned int count;
	enum status find_status;
	int64_t away_until_ms;     /* until then every command returns find_status */
	int64_t end_takes_ms;      /* the duration of a callback_end beyond WORLD_ASK_MS */
	int64_t signal_ms;         /* when a stop signal arrives; 0: never */
	unsigned int max_inflight; /* of each dealer, as CALLBACK_FIND reports it */
	/* counters */
	unsigned int finds, asked, under_way, most_under_way;
	int64_t last_claim_ms, first_end_ms;
};
extern struct world world;

/* Empties it. */
void world_reset(void);
/* Adds a betting-result that is due now. Its dealer accepts it after 10 ms. */
struct world_callback *world_add(uint64_t event, const char *casino_id);
/* Returns how many callbacks are in @state. */
unsigned int world_count(enum callback_state state);

#endif
