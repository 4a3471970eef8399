/*
 * sweep_world - a ledger, dealers and a clock for the sweeper's tests: what src/sweep/ calls is
 * taken over by the linker (--wrap), and time passes only here.
 */
#ifndef TESTS_UNIT_SWEEP_WORLD_H
#define TESTS_UNIT_SWEEP_WORLD_H

#include "callback/sender.h"
#include "link/commands.h"
#include "sweep/sweep.h"

#define WORLD_CALLBACKS_MAX 512
#define WORLD_START_MS      1000000
#define WORLD_ASK_MS        1 /* what each command takes */
#define WORLD_TIMEOUT_MS    3000 /* a call that goes on for longer has no answer, as libcurl sees it */

struct world_callback {
	struct due_entry entry;
	enum callback_state state;
	int64_t due_ms;      /* not found before; while sending: its lease */
	bool abandoned;      /* while sending: its sender is gone */
	uint32_t attempts;
	uint64_t sender;
	/* the dealer's answer */
	enum callback_class answer;
	int64_t takes_ms;
	/* the ledger's moods */
	enum refusal refusal;      /* of its claim */
	enum status claim_status;  /* not STATUS_OK: instead of an answer */
	int64_t claim_takes_ms;
	int64_t lease_ms; /* 0: 10 s */
	bool end_late;    /* somebody ended the attempt before */
	uint32_t end_attempts; /* with end_late: attempts by then */
	enum status end_status;
	bool no_place;    /* the sender has no memory for it */
	/* what happened */
	unsigned int claims, sends, ends;
	enum callback_class told;
};

struct world {
	int64_t now_ms;
	struct world_callback callbacks[WORLD_CALLBACKS_MAX];
	unsigned int count;
	enum status find_status;
	int64_t away_until_ms;  /* until then every command is answered by find_status */
	int64_t end_takes_ms;   /* what a callback_end takes beyond WORLD_ASK_MS */
	int64_t signal_ms;      /* a signal to stop arrives; 0: none */
	unsigned int max_inflight; /* of each dealer, as CALLBACK_FIND sees it */
	/* what happened */
	unsigned int finds, asked, under_way, most_under_way;
	int64_t last_claim_ms, first_end_ms;
};
extern struct world world;

/* Empties it. */
void world_reset(void);
/* Adds a betting-result, due now, of a dealer who takes it in 10 ms. */
struct world_callback *world_add(uint64_t event, const char *casino_id);
/* How many callbacks are @state. */
unsigned int world_count(enum callback_state state);

#endif
