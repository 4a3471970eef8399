/*
 * counters - the workers' counters, in a file that all workers map. A worker that is killed at any
 * instruction loses none.
 *
 * The ledger makes the file, COUNTERS_FILE in the socket directory, with the mode and group of
 * edge.sock. So any process that may use the ledger may count. The ledger never maps the file: a
 * worker that damages it harms the metrics and other workers, not the ledger.
 *
 * The file has the layout of struct counters, whose members are all uint64_t, and then the counts by
 * dealer (metrics/dealer_counts.h). Its head contains a digest of the layout; a program built with
 * another layout does not use the file.
 *
 * A worker that cannot map the file still serves requests. It logs this once, counts in its own
 * memory, and adds those counts when the file exists.
 */
#ifndef METRICS_COUNTERS_H
#define METRICS_COUNTERS_H

#include "base/histogram.h"
#include "domain/refusal.h"
#include "metrics/dealer_counts.h"
#include "wire/operations.h"

#include <stddef.h>

#define COUNTERS_FILE "counters"

/* As in the table of operations. */
extern const char *const operation_names[OPERATION_COUNT];

/*
 * Prefix of the X-Request-Id of calls by `creditbridgectl doctor`. If such a call has no caller id
 * and no signature, its refusal is counted as OPERATION_DOCTOR, not as failed authentication. It
 * guesses no key, so an attacker that sends the same prefix hides nothing.
 */
#define COUNTERS_DOCTOR_PREFIX "doctor-"

/* The kind of caller whose authentication failed ... */
enum caller_kind { CALLER_DEALER, CALLER_CLIENT, CALLER_KIND_COUNT };
/* ... and the reason, in the order of the checks. */
enum auth_failure {
	AUTH_HEADERS,   /* id or signature missing, sent twice, or with invalid characters */
	AUTH_UNKNOWN,   /* no dealer or client has this id */
	AUTH_SIGNATURE, /* no key of the caller made it */
	AUTH_STALE,     /* request_timestamp is outside the window */
	AUTH_FLOOD,     /* over the limit of hashing for failed callers: answered 429 */
	AUTH_FAILURE_COUNT
};
/*
 * The outcome of noting a request answered with 400, 401 or user_not_found (web/rejection_log.h).
 */
enum refused_note_end { NOTE_SENT, NOTE_DROPPED, NOTE_END_COUNT };
extern const char *const refused_note_names[NOTE_END_COUNT];
extern const char *const caller_kind_names[CALLER_KIND_COUNT];
extern const char *const auth_failure_names[AUTH_FAILURE_COUNT];

struct counters {
	uint64_t requests[OPERATION_COUNT][REFUSAL_COUNT]; /* answered so */
	struct histogram latency_us[OPERATION_COUNT]; /* from the complete request to its reply */
	uint64_t auth_failures[CALLER_KIND_COUNT][AUTH_FAILURE_COUNT];
	uint64_t refused_notes[NOTE_END_COUNT];
	uint64_t refused_calls[NOTE_END_COUNT]; /* calls answered 4xx, for the ledger to keep */
	/* answers to dealers without a slot, or while a worker had no file, by counted_codes */
	uint64_t other_dealers[COUNTED_CODES];
};

/*
 * Makes the file in @directory. An existing file of this layout keeps its counts. Mode and group
 * are those of the file @like in the directory; without it the mode is 0600. Returns false with a
 * reason in @why, and sets errno.
 */
bool counters_make(const char *directory, const char *like, char *why, size_t why_size);

/* Reads the counts of all workers. Returns false if there is no file of this layout at @path. */
bool counters_read(const char *path, struct counters *counters);
/*
 * As counters_read(), without mapping the file: a worker that shortens it meanwhile does the caller no
 * harm. For the ledger.
 */
bool counters_copy(const char *path, struct counters *counters);
/* Reads the counts of the dealers that have a slot. Returns how many these are; 0 without a file. */
uint32_t counters_read_dealers(const char *path, struct dealer_counts counts[COUNTED_DEALERS]);

/* A thread's access to the file. Not for use by two threads at once. */
struct counters_page;
struct counting {
	char path[128];
	struct counters_page *page; /* NULL: none */
	uint64_t device, inode;     /* identifies the mapped file */
	int64_t looked_ms;
	bool looked;
	bool logged;          /* the missing file was logged */
	struct counters kept; /* counts made without the file */
};

/* Returns false if @path is too long. */
bool counting_init(struct counting *counting, const char *path);
void counting_free(struct counting *counting);

/*
 * Checks once in COUNTING_LOOK_MS whether the file exists and is unchanged. Call it before
 * counting; @now_ms is boot time.
 */
#define COUNTING_LOOK_MS 1000
void counting_look(struct counting *counting, int64_t now_ms);

/* Counts an answer and the duration of its request. */
void counting_request(struct counting *counting, enum web_operation operation, enum refusal refusal,
	uint64_t us);
/* Counts an answer to a dealer that proved its key. */
void counting_dealer(struct counting *counting, const char *casino_id, enum refusal refusal);
void counting_auth_failure(struct counting *counting, enum caller_kind caller,
	enum auth_failure why);
void counting_refused_note(struct counting *counting, enum refused_note_end end);
/* Counts @count refused calls that were queued for the ledger, or dropped (web/refusal_queue.h). */
void counting_refused_calls(struct counting *counting, enum refused_note_end end, uint64_t count);

#endif
