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
 * A batch that has loaded this many bytes of rows accepts no further commands. This limits the
 * waiting time of other callers and the memory of the ledger. One command may exceed the limit by
 * a round with its bets (ROUND_OBJECTS_MAX).
 */
#define LEDGER_BATCH_BYTES (2 * 1024 * 1024)

/* A command that the ledger processes. */
struct slot {
	enum command command;
	uint32_t peer_uid;
	uint64_t link; /* identifies the connection of the caller; never 0 */
	char request_id[FRAME_REQUEST_ID_SIZE]; /* "": none */
	uint32_t payload_len; /* length of the payload as received; for the server */
	enum frame_outcome outcome;
	bool admitted; /* the rate limit was checked; a rerun of the batch does not check again */
	bool limited;  /* the rate limit refused the command */
	bool granted_again; /* an existing grant is returned to its caller again */
	union any_cmd cmd;
	union any_result result;
};

struct ledger {
	struct store *store; /* NULL: halted; every command except CONTROL is answered busy */
	struct ws ws;
	struct limiter limiter;
	struct permits permits;
	struct schedule schedule;
	struct outbox_options outbox;
	struct metrics *metrics; /* not owned; NULL, as after ledger_init(): nothing is counted */
	struct metrics_notes notes; /* of this batch */
	struct refused_ring refused;
	struct key_book key_book;
	struct unconfirmed unconfirmed;
	struct retired_notes retired; /* in this batch */
	struct retention retention; /* the caller sets its days; ledger_init() sets 0 */
	struct arena answers; /* data that results of this batch point to */
	struct moment now;    /* of the batch */
	uint64_t generation; /* of the keyring; changes with every change of a dealer */
	uint64_t transaction_id;
	uint32_t doubts;     /* batches left that look up every row, after a wrong assumption */
	bool storage_low; /* set by the server: commands that write are refused */
	bool resume_asked;
	struct buffer rows;
	struct buffer cursor;
	struct status_result figures; /* the answer of `status`; the server fills in its own part */
	int64_t started_ms; /* boot time */
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
