/*
 * job - serves one connection of jobs.sock, and the acceptor for hosts without systemd.
 */
#ifndef CMD_CTL_JOBS_JOB_H
#define CMD_CTL_JOBS_JOB_H

#include "cmd/ctl/common/ctl.h"

#include <sys/types.h>

/* How jobs are served. */
struct job_service {
	struct ctl *ctl;
	char program[SETTINGS_PATH_MAX]; /* the path of this program */
	int64_t limit_ms;                /* of --for; INT64_MAX: none */
	pid_t inquiries;                 /* the process that serves ping.sock; -1: none */
};

/*
 * Reads one request from @fd, has the ledger confirm its session, runs the job, and answers. Logs one
 * line. Never returns a secret.
 */
void job_serve(const struct job_service *service, int fd);

/* Processes that serve connections at the same time. */
#define JOB_CHILDREN_MAX 16

/* Call this before the sockets are made: a signal that comes later then ends job_accept(). */
void job_catch_stop(void);

/*
 * Makes jobs.sock and serves it with job_accept(). Returns OUTCOME_FAILED if the process that serves ping.sock
 * has ended.
 */
enum outcome job_listen(const struct job_service *service);

/* Serves one connection of ping.sock (callback/ping_link.h). */
void job_serve_ping(const struct job_service *service, int fd);

/*
 * Call this as root, before root's rights are given up. Makes ping.sock as the ledger's user, and starts a process
 * that becomes the sweeper's user and serves ping.sock. If one of the two processes ends, the other ends, too.
 *
 * Sets service->inquiries to that process, or to -1 if this process is not root, the sweeper's user does not exist,
 * or another process serves ping.sock. If none serves it, the ledger's user sends the pings.
 */
enum outcome job_listen_pings(struct job_service *service);
/* Removes ping.sock, if job_listen_pings() made it. Call it before this process ends. */
void job_stop_pings(const struct job_service *service);

/*
 * Serves each connection to @listener in a process of its own, at most JOB_CHILDREN_MAX at a time, until SIGTERM
 * or SIGINT, which job_catch_stop() catches.
 */
void job_accept(const struct job_service *service, int listener,
	void (*serve)(const struct job_service *service, int fd));

#endif
