/*
 * job_link - requests a job over jobs.sock, and reads its answer part by part.
 *
 * The caller waits. A job that ends is bounded by its own time (jobs.def); the link waits a little longer.
 */
#ifndef LINK_JOB_LINK_H
#define LINK_JOB_LINK_H

#include "link/jobs.h"

struct job_link {
	int fd;           /* -1: none */
	int64_t until_ms; /* boot time at which the link is given up */
	struct buffer in;
	size_t taken; /* bytes at the beginning of @in that were returned already */
};

enum job_link_status {
	JOB_LINK_DONE,
	JOB_LINK_ABSENT, /* jobs.sock does not exist, no process listens, or this user may not use it */
	JOB_LINK_LOST, /* the answer is not complete: the job was killed, or refused unread */
	JOB_LINK_NO_MEMORY,
};

void job_link_init(struct job_link *link);
/* Connects to @path and sends @request. JOB_LINK_ABSENT: *@error is the errno. */
enum job_link_status job_link_begin(struct job_link *link, const char *path,
	const struct job_request *request, int *error);
/* Waits for the next part. Pointers in @part are valid until the next call. */
enum job_link_status job_link_next(struct job_link *link, struct job_part *part);
/* Ends a job that is under way. Has no effect if there is none. */
void job_link_close(struct job_link *link);
void job_link_free(struct job_link *link);

#endif
