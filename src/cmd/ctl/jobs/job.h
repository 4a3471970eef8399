/*
 * job - serves one connection of jobs.sock, and the acceptor for hosts without systemd.
 */
#ifndef CMD_CTL_JOBS_JOB_H
#define CMD_CTL_JOBS_JOB_H

#include "cmd/ctl/common/ctl.h"

/* How jobs are served. */
struct job_service {
	struct ctl *ctl;
	char program[SETTINGS_PATH_MAX]; /* the path of this program */
	int64_t limit_ms;                /* of --for; INT64_MAX: none */
};

/*
 * Reads one request from @fd, has the ledger confirm its session, runs the job, and answers. Logs one
 * line. Never returns a secret.
 */
void job_serve(const struct job_service *service, int fd);

/*
 * Makes jobs.sock and serves each connection in a process of its own, at most JOB_CHILDREN_MAX at a time,
 * until SIGTERM or SIGINT.
 */
#define JOB_CHILDREN_MAX 16
enum outcome job_listen(const struct job_service *service);

#endif
