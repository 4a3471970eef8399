/*
 * ledger - batches of commands on a store: load, apply, save, answer.
 *
 * No sockets and no clock here: the server brings commands and the time, tests and simulations do
 * the same. A batch is saved in one durable transaction; no answer may be sent before ledger_run()
 * returned. When a batch cannot be applied or saved as a whole its commands are run one by one, so
 * that a bad command harms itself only.
 */
#ifndef LEDGER_LEDGER_H
#define LEDGER_LEDGER_H

#include "ledger/commands/ops.h"
#include "ledger/commands/rejected_requests.h"
#include "ledger/limiter.h"
#include "ledger/outbox/metrics.h"
#include "ledger/outbox/outbox.h"
#include "ledger/outbox/permits.h"
#include "ledger/outbox/schedule.h"
#include "ledger/retention.h"
#include "ledger/rows/issued_keys.h"
#include "ledger/unconfirmed.h"
#include "link/frame.h"

#define LEDGER_BATCH_MAX 256
/*
 * A batch that has loaded so many bytes of rows takes in no further commands: those of other callers do
 * not wait for more, and the ledger's memory stays small. One command loads at most a round with its
 * bets (ROUND_OBJECTS_MAX), beyond this.
 */
#define LEDGER_BATCH_BYTES (2 * 1024 * 1024)

/* A command on its way through the ledger. */
struct slot {
	enum command command;
	uint32_t peer_uid;
	uint64_t link; /* a number of the caller's link; never 0 */
	char request_id[FRAME_REQUEST_ID_SIZE]; /* "": none */
	uint32_t payload_len; /* bytes that came with the command: the server's own */
	enum frame_outcome outcome;
	bool admitted; /* the rate limit was asked, once, also when the batch is run again */
	bool limited;  /* and said no */
	bool granted_again; /* its caller is told again what to send, which was kept before */
	union any_cmd cmd;
	union any_result result;
};

struct ledger {
	struct store *store; /* NULL: halted, every command but CONTROL is answered busy */
	struct ws ws;
	struct limiter limiter;
	struct flow flow;
	struct schedule schedule;
	struct outbox_options outbox;
	struct metrics *metrics; /* not owned; NULL, as ledger_init() sets it: nothing is counted */
	struct metrics_notes notes; /* of this batch */
	struct refused_ring refused;
	struct key_book key_book;
	struct unconfirmed unconfirmed;
	struct retired_notes retired; /* in this batch */
	struct retention retention; /* its days: the caller's, 0 as ledger_init() sets it */
	struct arena answers; /* what results of this batch point to */
	struct moment now;    /* of the batch */
	uint64_t generation; /* of the keyring; changes with every change of a dealer */
	uint64_t transaction_id;
	uint32_t doubts;     /* batches to come that look every row up: one that supposed was wrong */
	bool storage_low; /* set by the server: commands that write are refused */
	bool resume_asked;
	struct buffer rows;
	struct buffer cursor;
	struct status_result figures; /* what `status` answers; the server fills in its own */
	int64_t started_ms; /* boot time */
};

/*
 * @store is not owned; NULL for a halted ledger. @seed makes generations differ between two runs.
 * Callbacks that were being sent count as leased from @now on. @options NULL: the defaults. Another
 * status than STATUS_OK: no memory, or STATUS_CORRUPT and the like of rows that cannot be read.
 */
enum status ledger_init(struct ledger *ledger, struct store *store, uint64_t seed,
	const struct outbox_options *options, const struct moment *now);
void ledger_free(struct ledger *ledger);

/*
 * Runs @count (at most LEDGER_BATCH_MAX) commands in order and makes what they did durable. Each
 * slot's outcome and result are set. STATUS_OK, or STATUS_IO: the outcome of the batch is unknown
 * and nothing may be answered; the process has to end and recover.
 */
enum status ledger_run(struct ledger *ledger, struct slot *slots, unsigned int count,
	const struct moment *now);

/*
 * The same of the first of @slots, *count of them: as many as one batch takes. *count tells how many
 * that were; their results are valid until the next call.
 */
enum status ledger_run_some(struct ledger *ledger, struct slot *slots, unsigned int *count,
	const struct moment *now);

/* How the ledger is, as STATUS tells it. */
void ledger_status(const struct ledger *ledger, struct status_result *status);

/* The link was closed: what it was sending may be taken over when its lease is over. */
void ledger_link_gone(struct ledger *ledger, uint64_t link);

/* A link that keeps a lease far too long and is to be closed (api.md, Bet states); 0: none. */
uint64_t ledger_link_overdue(const struct ledger *ledger, int64_t boot_ms);

/*
 * Appends the answer to @slot as a frame. Commands with read() do their reading here, so that it
 * sees the batch. @out->failed tells that it did not fit.
 */
void ledger_answer(struct ledger *ledger, struct slot *slot, uint64_t tag, struct buffer *out);

#endif
