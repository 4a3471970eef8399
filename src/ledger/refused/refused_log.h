/*
 * refused_log - refused calls on disk (link/refused_calls.h), in files of the directory refused/
 * of the state.
 *
 *     STATE/refused/0123456789abcdef   a segment; its name is the number of its first call
 *     STATE/refused/new                a segment being rewritten; deleted at the start
 *
 * All calls of a command are appended by one write(), without a sync: a ledger that is killed loses
 * no call, and a power cut loses those of the last seconds. After a power cut, the incomplete end
 * of the newest segment is cut off. A failed write never stops the ledger: the calls are counted as
 * left out.
 *
 * Bounds: bytes and days. While there are too many bytes, a sender that holds more than its part
 * loses its oldest calls (trim.c). If no sender does, the oldest segment is deleted. So a flood
 * of refused calls by one sender does not push out the calls of others.
 *
 * Segments of before the start are read after the start, one at each step, so that a start takes no
 * longer. Until all are read, the sizes by sender are not known, and nothing is trimmed.
 */
#ifndef LEDGER_REFUSED_REFUSED_LOG_H
#define LEDGER_REFUSED_REFUSED_LOG_H

#include "base/clock.h"
#include "ledger/refused/segment.h"
#include "link/refused_shares.h"

#define REFUSED_LOG_DIRECTORY "refused"
#define REFUSED_LOG_NEW       "new"
#define REFUSED_LOG_NAME_SIZE 17
/* The parts of the bound that one caller, one network and all networks may hold. */
#define REFUSED_CALLER_PART   8
#define REFUSED_NETWORK_PART  32
#define REFUSED_NETWORKS_PART 4
/* Most segments. Rewritten ones are merged, so that there are about twice as many as needed. */
#define REFUSED_SEGMENTS_MAX 8192
/* After a failed write, nothing is written for this time. */
#define REFUSED_RETRY_MS 10000
/* Nothing is deleted for its age for this time after a start or a change of the wall clock. */
#define REFUSED_CLOCK_REST_MS (60 * 60 * 1000)
/* Limits of one command that reads. */
#define REFUSED_READ_FILES 16

/* The bytes of one sender in a segment. */
struct segment_part {
	uint16_t sender; /* refused_sender() */
	uint32_t bytes;
};

struct segment {
	uint64_t first; /* its name */
	uint64_t last;  /* number of the last call; not before it is @known */
	uint32_t bytes;
	bool known; /* it was read since the start, or written; the following members are valid */
	int64_t oldest_ms, newest_ms;
	struct segment_part *parts;
	uint32_t part_count, part_room;
};

/* How many of the calls that a command looks at have each cause. */
struct refused_tally {
	struct refused_cause causes[REFUSED_CAUSES_MAX];
};

struct refused_log {
	int dir; /* -1: closed; nothing is kept or read */
	uint64_t bytes_max;
	uint32_t segment_max;     /* bytes of a segment */
	int64_t keep_ms;          /* 0: no limit */
	struct segment *segments; /* the oldest first */
	uint32_t count, room;
	uint32_t unknown;                 /* of the segments */
	uint64_t bytes;                   /* of all segments */
	uint64_t totals[REFUSED_SENDERS]; /* bytes of each sender in the known segments */
	uint64_t networks;                /* bytes of all networks */
	uint64_t next_number;
	int fd;            /* of the newest segment; -1: the next call begins one */
	struct buffer out; /* the records of one write */
	struct buffer file;
	struct buffer file2;
	struct refused_shares shares;
	int64_t retry_ms; /* boot time: nothing is written before */
	int64_t rest_ms;  /* boot time: nothing is deleted for its age before */
	int64_t clock_ms; /* the wall clock's distance to the boot's */
	bool failing;     /* the last write failed, which was logged */
	uint64_t left_out;
	int64_t started_ms;         /* when it was opened */
	struct refused_tally tally; /* of the command under way */
};

/* A closed log. */
void refused_log_init(struct refused_log *log);

/*
 * Opens the log in @state, the descriptor of a directory in which refused/ is made if it is absent.
 * @keep_mib 0 leaves it closed and deletes what was kept. @days 0: no limit. Returns false with
 * errno if the directory cannot be used; the log is then closed.
 */
bool refused_log_open(struct refused_log *log, int state, uint32_t keep_mib, uint32_t days,
	const struct moment *now);
void refused_log_close(struct refused_log *log);

/*
 * Appends the packed calls @calls, each with the next number. @storage_low: writes nothing. Counts
 * in @result. A call that does not decode ends the command: the rest is left out.
 */
void refused_log_keep(struct refused_log *log, struct bytes calls, bool storage_low,
	const struct moment *now, struct refused_keep_result *result);

/* Answers @cmd. The calls or the causes are packed into @rows, whose limit they do not exceed. */
void refused_log_list(struct refused_log *log, const struct refused_list_cmd *cmd,
	struct buffer *rows, struct refused_list_result *result);

/* Once a second: reads one segment that is not known yet, deletes what is too old. */
void refused_log_step(struct refused_log *log, const struct moment *now);

/* Returns the time of the oldest call; 0: there is none, or its segment was not read yet. */
int64_t refused_log_oldest_ms(const struct refused_log *log);

/* ---- for the files of this folder */

void segment_name(const struct segment *segment, char name[REFUSED_LOG_NAME_SIZE]);
/* Counts @bytes of @call in the segment and in the sums. Returns false if memory is exhausted. */
bool segment_count(struct refused_log *log, struct segment *segment,
	const struct refused_call *call, uint32_t bytes);
/* Reads segment @n and counts its calls. Deletes it if it cannot be read or is empty. */
void segment_learn(struct refused_log *log, uint32_t n);
/* As segment_learn(), for a segment whose file of @bytes bytes was rewritten. */
void segment_relearn(struct refused_log *log, uint32_t n, uint32_t bytes);
/* Deletes segment @n with its file. */
void segment_delete(struct refused_log *log, uint32_t n);
/* Counts @call. */
void tally_count(struct refused_tally *tally, const struct refused_call *call);
/* Appends the causes that have calls, packed. Returns false if @out is full. */
bool tally_pack(const struct refused_tally *tally, struct buffer *out);
/* Deletes calls until the log is within its bounds, or a bounded amount of work was done. */
void refused_log_trim(struct refused_log *log);

#endif
