/*
 * counters - what the workers count, in a file that all of them map: a worker that is killed at any
 * instruction takes nothing of it away.
 *
 * The ledger makes the file, COUNTERS_FILE in the socket directory, with the mode and the group of
 * edge.sock, so that who may ask the ledger may count. It never maps the file: a worker that
 * damages it harms the figures and its fellows, not the ledger. The layout is that of struct
 * counters, whose members are uint64_t all through; the file's head tells a digest of it, and who
 * was built with another one does not count there.
 *
 * A worker that cannot map the file serves all the same. It logs that once, keeps its counts for
 * itself and adds them when the file is there.
 */
#ifndef METRICS_COUNTERS_H
#define METRICS_COUNTERS_H

#include "base/histogram.h"
#include "domain/refusal.h"

#include <stddef.h>

#define COUNTERS_FILE "counters"

enum web_operation {
#define OPERATION(name, text) OPERATION_##name,
#include "metrics/operations.def"
#undef OPERATION
	OPERATION_COUNT
};
extern const char *const operation_names[OPERATION_COUNT];

/*
 * The X-Request-Id of a call of `creditbridgectl doctor` begins so. Such a call without any id of a
 * caller and without a signature is counted as OPERATION_DOCTOR when it is refused, and as no failed
 * authentication. It guesses no key, so a stranger who sends the same hides nothing.
 */
#define COUNTERS_DOCTOR_PREFIX "doctor-"

/* Who could not be let in ... */
enum caller_kind { CALLER_DEALER, CALLER_CLIENT, CALLER_KIND_COUNT };
/* ... and why. The order is that of the checks. */
enum auth_failure {
	AUTH_HEADERS,   /* id or signature missing, sent twice, or with characters none has */
	AUTH_UNKNOWN,   /* no dealer or client has this id */
	AUTH_SIGNATURE, /* none of the caller's keys made it */
	AUTH_STALE,     /* request_timestamp is outside the window */
	AUTH_FLOOD,     /* too much was hashed for callers that were not let in: answered 429 */
	AUTH_FAILURE_COUNT
};
/* What became of the note of a request that was answered 400, 401 or user_not_found (web/rejection_log.h). */
enum refused_note_end { NOTE_SENT, NOTE_DROPPED, NOTE_END_COUNT };
extern const char *const refused_note_names[NOTE_END_COUNT];
extern const char *const caller_kind_names[CALLER_KIND_COUNT];
extern const char *const auth_failure_names[AUTH_FAILURE_COUNT];

struct counters {
	uint64_t requests[OPERATION_COUNT][REFUSAL_COUNT]; /* answered so */
	struct histogram latency_us[OPERATION_COUNT];      /* from the whole request to its reply */
	uint64_t auth_failures[CALLER_KIND_COUNT][AUTH_FAILURE_COUNT];
	uint64_t refused_notes[NOTE_END_COUNT];
};

/*
 * Makes the file in @directory, unless there is one of this layout already: what was counted stays.
 * Its mode and group are those of the file @like in the directory, 0600 if there is none. False:
 * @why says why not; errno tells, too.
 */
bool counters_make(const char *directory, const char *like, char *why, size_t why_size);

/* Reads what all workers have counted. False: there is no file of this layout at @path. */
bool counters_read(const char *path, struct counters *counters);

/* A worker's access to the file. Not for use by two threads at once: each has its own. */
struct counters_page;
struct counting {
	char path[128];
	struct counters_page *page; /* NULL: none */
	uint64_t device, inode;     /* which file it is */
	int64_t looked_ms;
	bool looked;
	bool told;            /* that there is none, in the log */
	struct counters kept; /* what was counted without it */
};

/* False: @path is too long. */
bool counting_init(struct counting *counting, const char *path);
void counting_free(struct counting *counting);

/*
 * Looks once in COUNTING_LOOK_MS whether the file is there and is still the same. To be called
 * before something is counted; @now_ms is boot time.
 */
#define COUNTING_LOOK_MS 1000
void counting_look(struct counting *counting, int64_t now_ms);

/* Counts an answer, and how long the request took. */
void counting_request(struct counting *counting, enum web_operation operation, enum refusal refusal,
	uint64_t us);
void counting_auth_failure(struct counting *counting, enum caller_kind caller,
	enum auth_failure why);
void counting_refused_note(struct counting *counting, enum refused_note_end end);

#endif
