/*
 * job_run - runs a command for a job and passes on what it writes, within bounds of time and size.
 */
#ifndef CMD_CTL_JOBS_JOB_RUN_H
#define CMD_CTL_JOBS_JOB_RUN_H

#include "link/jobs.h"

struct job_run {
	int fd;                   /* the connection of the console */
	const char *program;      /* its path */
	const char *const *words; /* its command line, ended by NULL; no shell reads it */
	int64_t until_ms;         /* boot time at which it is ended */
	uint64_t bytes_max;       /* that it may write */
};

/*
 * Runs the command with an empty standard input and a process group of its own. Sends each part of its
 * output as JOB_OUTPUT. Ends the whole group when the time has passed, too much was written, or the
 * console has closed the connection. Fills @end, without a detail for JOB_TOO_LONG and JOB_TOO_LARGE.
 */
void job_run(const struct job_run *run, struct job_end *end);

/* Sends the end of the answer. Waits for at most JOB_SEND_MS. */
#define JOB_SEND_MS 20000
bool job_send_end(int fd, const struct job_end *end);

#endif
