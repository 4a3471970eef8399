/*
 * doctor_process - finds running processes, and tests what another user may do.
 */
#ifndef DOCTOR_PROCESS_H
#define DOCTOR_PROCESS_H

#include "doctor/doctor.h"

#include <sys/types.h>

#define PROCESS_GROUPS_MAX 64

/* The user and groups with which an access is tested. */
struct process_identity {
	char name[64]; /* the user's name or number */
	uid_t uid;
	gid_t gid; /* the effective group */
	gid_t groups[PROCESS_GROUPS_MAX];
	unsigned int group_count;
};

struct process {
	pid_t pid;
	struct process_identity identity; /* effective */
	bool replaced;  /* its program file was deleted or replaced after it started */
	char serve[16]; /* of a worker: the argument of --serve; "": none */
};

/*
 * Calls @see for each process that runs the program @name with this configuration, until @see
 * returns false.
 */
typedef bool process_see(void *context, const struct process *process);
void process_walk(const struct doctor *doctor, const char *name, process_see *see, void *context);

/*
 * Fills @identity with the user @uid and all its groups. Returns false if there is no such
 * account.
 */
bool identity_of(uid_t uid, struct process_identity *identity);

/*
 * Fills @identity with the identity of the workers. It is that of a running worker. While none runs,
 * and for --worker-user, it is what executing the installed creditbridge.fcgi gives the user: the
 * program is setgid in Debian's package. The user is then --worker-user, or else www-data. Returns
 * false if there is no such user, after adding a finding.
 */
bool identity_worker(struct doctor *doctor, struct process_identity *identity);

/*
 * Calls @try in a child process with @identity. Returns its result: 0 or an errno. Returns -1 if
 * this process is not root and cannot change its user.
 */
typedef int identity_try(const char *path);
int identity_try_as(const struct process_identity *identity, identity_try *try, const char *path);

#endif
