/*
 * jobs - the protocol of jobs.sock, by which the web console requests from creditbridgectl work
 * that needs keys or a long read. One connection is one job:
 *
 *     request  "CBJ1" length:u32 record               console -> job, once
 *     answer   kind:u8 length:u32 payload             job -> console, any number of JOB_OUTPUT, one JOB_END
 *
 * Numbers are big-endian. The record is a packed struct job_request. The payload of JOB_OUTPUT is bytes
 * that the command wrote, that of JOB_END a packed struct job_end. An answer without JOB_END is not
 * complete.
 *
 * The request has the front secret and the session of the operator. The job asks the ledger on desk.sock
 * whether they are valid and which role they have; the console decides nothing. No key goes over the
 * socket.
 */
#ifndef LINK_JOBS_H
#define LINK_JOBS_H

#include "domain/records.h"
#include "domain/role.h"
#include "link/frame.h"

enum job {
#define JOB(name, lower, role, seconds, kib, places, arguments, command) JOB_##name,
#include "link/jobs.def"
#undef JOB
	JOB_COUNT
};
extern const char *const job_names[JOB_COUNT];

enum job_argument {
	JOB_HAS_REQUEST = 1,
	JOB_HAS_CASINO = 2,
	JOB_HAS_DATE = 4,
	JOB_HAS_USER = 8,
	JOB_AS_JSON = 16
};

struct job_info {
	enum role least;
	uint32_t seconds;
	uint64_t bytes;
	unsigned int places;
	unsigned int arguments; /* enum job_argument, or-ed */
	const char *command;
};
extern const struct job_info job_infos[JOB_COUNT];

/* No job has more places. */
#define JOB_PLACES_MAX 8
/* The name of the socket in settings.socket_directory. */
#define JOBS_SOCKET    "jobs.sock"
#define JOBS_DATE_SIZE 11 /* YYYY-MM-DD */

struct job_request {
	enum job job;
	char front[FRAME_VOUCH_SIZE];
	char session[FRAME_VOUCH_SIZE];
	char request_id[FRAME_REQUEST_ID_SIZE]; /* of the console's request, for the log */
	char request[FRAME_REQUEST_ID_SIZE];    /* the refused call that is explained */
	char casino_id[CASINO_ID_SIZE];
	char date[JOBS_DATE_SIZE];
	char user_id[EXTERNAL_ID_SIZE];
};

enum job_outcome {
	JOB_ENDED,       /* the command ended by itself: see exit_code */
	JOB_BAD_REQUEST, /* the request cannot be read */
	JOB_NO_FRONT,    /* the front secret is missing or wrong */
	JOB_SIGNED_OUT,  /* there is no such session, or it has ended */
	JOB_ROLE_NEEDED, /* the role of the session is too low */
	JOB_BUSY,        /* all places of the job are taken */
	JOB_TOO_LONG,    /* it was ended after its time */
	JOB_TOO_LARGE,   /* it was ended because it wrote too much */
	JOB_NO_LEDGER,   /* no ledger confirmed the session */
	JOB_FAILED,      /* it could not be run, or a signal ended it */
	JOB_NOT_SERVED,  /* never sent: the console found no process on jobs.sock */
	JOB_OUTCOME_COUNT
};
extern const char *const job_outcome_names[JOB_OUTCOME_COUNT];

#define JOB_DETAIL_SIZE 1024
struct job_end {
	enum job_outcome outcome;
	uint32_t exit_code; /* of JOB_ENDED */
	char detail
		[JOB_DETAIL_SIZE]; /* for people; of JOB_ENDED what the command wrote to standard error */
};

/* Bytes of a whole request, and of a payload of an answer. */
#define JOB_REQUEST_MAX 1024
#define JOB_CHUNK_MAX   32768
#define JOB_HEAD_SIZE   5
#define JOB_ANSWER_MAX  (JOB_HEAD_SIZE + JOB_CHUNK_MAX)

/* Appends the request. Returns false if memory is exhausted. */
bool job_request_put(struct buffer *out, const struct job_request *request);
/*
 * Reads a request from @in. FRAME_COMPLETE: every member is what its job takes: an argument that the job
 * does not take is "", and those that it takes are no options of a command.
 */
enum frame_read job_request_get(struct bytes in, struct job_request *request);

enum job_part_kind { JOB_OUTPUT = 1, JOB_END = 2 };
struct job_part {
	enum job_part_kind kind;
	struct bytes output; /* of JOB_OUTPUT; points into the input */
	struct job_end end;  /* of JOB_END */
};
/* Append a part of an answer. @len is at most JOB_CHUNK_MAX. Return false if memory is exhausted. */
bool job_output_put(struct buffer *out, const void *data, size_t len);
bool job_end_put(struct buffer *out, const struct job_end *end);
/* Reads the first part of @in. On FRAME_COMPLETE, *size is its length. */
enum frame_read job_part_get(struct bytes in, struct job_part *part, size_t *size);

/* Returns true if @date is a day, YYYY-MM-DD. Whether that day exists is the command's to say. */
bool job_date_is(const char *date);

#endif
