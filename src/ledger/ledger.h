/*
 * ledger - runs batches of commands on a store: load, apply, save, answer.
 *
 * This code has no sockets and reads no clock: the caller (server, test or simulation) supplies
 * the commands and the time. Each batch is saved in one durable transaction. No answer may be sent
 * before ledger_run() has returned. If a batch cannot be applied or saved as a whole, its commands
 * run one by one, so that a faulty command affects only itself.
 */
#ifndef LEDGER_LEDGER_H
#define LEDGER_LEDGER_H

#include "ledger/commands/ops.h"
#include "ledger/commands/refused/rejected_requests.h"
#include "ledger/derived_state.h"
#include "ledger/limiter.h"
#include "ledger/outbox/metrics.h"
#include "ledger/outbox/outbox.h"
#include "ledger/refused/refused_log.h"
#include "ledger/retention.h"
#include "ledger/rows/accepted_calls.h"
#include "ledger/slot.h"
#include "link/frame.h"

#define LEDGER_BATCH_MAX 256
/*
 * A batch that has loaded this many bytes of rows accepts no further commands. This limits the
 * waiting time of other callers and the memory of the ledger. One command may exceed the limit by
 * a round with its bets (ROUND_OBJECTS_MAX).
 */
#define LEDGER_BATCH_BYTES (2 * 1024 * 1024)

/*
 * When another host's ledger takes over, the times of new rows are not before those of older ones,
 * if the clock of that host is slow by less than this.
 */
#define LEDGER_CLOCK_BEHIND_MAX_MS 10000

struct ledger {
	struct store *store; /* NULL: halted; every command except CONTROL is answered busy */
	struct outbox_options outbox;
	struct metrics *metrics; /* not owned; NULL, as after ledger_init(): nothing is counted */
	int64_t started_ms;      /* boot time */
	bool storage_low;        /* set by the server: commands that write are refused */
	bool resume_asked;

	/* What is held in memory. */
	struct derived_state derived;
	struct limiter limiter;
	struct accepted_calls accepted;
	struct refused_ring refused;
	struct refused_log refused_log; /* closed by ledger_init(); the caller may open it */
	uint32_t replay_rate; /* callbacks a second and dealer; ledger_init() sets 50; 0: none */
	int64_t replay_stepped_ms;    /* boot time of the last step of a replay */
	struct retention retention;   /* the caller sets its days; ledger_init() sets 0 */
	struct status_result figures; /* the answer of `status`; the server fills in its own part */
	uint32_t doubts; /* batches left that look up every row, after a wrong assumption */

	/* The batch under way, and its answers. */
	struct ws ws;
	struct moment now;
	struct metrics_notes notes;
	struct retired_notes retired;
	struct arena answers; /* data that results of this batch point to */
	struct buffer rows;
	struct buffer cursor;
};

/*
 * Initialises the ledger. The caller keeps @store, which is NULL for a halted ledger. @seed makes
 * the generations of two runs differ. The leases of callbacks that were being sent start at @now.
 * @options NULL selects the defaults. Returns STATUS_OK, STATUS_NOMEM, or the status of rows that
 * cannot be read, such as STATUS_CORRUPT.
 */
enum status ledger_init(struct ledger *ledger, struct store *store, uint64_t seed,
	const struct outbox_options *options, const struct moment *now);
void ledger_free(struct ledger *ledger);

/*
 * Runs @count commands (at most LEDGER_BATCH_MAX) in order and makes their changes durable. Sets
 * the outcome and result of each slot. Returns STATUS_OK or STATUS_IO. After STATUS_IO the outcome
 * of the batch is unknown: the caller must send no answer, and the process must end and recover.
 */
enum status ledger_run(struct ledger *ledger, struct slot *slots, unsigned int count,
	const struct moment *now);

/*
 * Like ledger_run(), for as many of the first @slots as one batch accepts. *@count is their
 * number: in, all; out, those that ran. Their results are valid until the next call.
 */
enum status ledger_run_some(struct ledger *ledger, struct slot *slots, unsigned int *count,
	const struct moment *now);

/* Fills @status with the state of the ledger, for STATUS. */
void ledger_status(const struct ledger *ledger, struct status_result *status);

/* Returns true if a due callback can be claimed now (CALLBACK_WAIT). */
bool ledger_has_due(struct ledger *ledger, int64_t boot_ms);

/* The connection was closed. Its callbacks may be taken over when their leases expire. */
void ledger_link_gone(struct ledger *ledger, uint64_t link);

/* Returns a link that exceeds its lease by far and must be closed (contract, "Leases"), or 0. */
uint64_t ledger_link_overdue(const struct ledger *ledger, int64_t boot_ms);

/*
 * Appends the answer to @slot as a frame. Commands with read() read here, so that they see the
 * batch. Sets @out->failed if the frame did not fit.
 */
void ledger_answer(struct ledger *ledger, struct slot *slot, uint64_t tag, struct buffer *out);

#endif
