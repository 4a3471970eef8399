/*
 * job_ping - the process that asks dealers' servers for balances, for jobs and for `dealer ping`. It has
 * no rights: systemd starts it as a user of its own (creditbridge-ping@.service). Without systemd it is
 * the sweeper's user, without its further groups.
 */
#include "admin/operator.h"
#include "base/log.h"
#include "base/no_dump.h"
#include "callback/ping_link.h"
#include "cmd/ctl/jobs/job.h"
#include "fcgi/socket.h"

#include <errno.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

void job_serve_ping(const struct job_service *service, int fd)
{
	/* A dealer that closes the connection must not end the process. */
	signal(SIGPIPE, SIG_IGN);
	if (!ping_link_serve(fd, &service->ctl->session.settings))
		log_line(LOG_LEVEL_WARNING, "inquiry", "reason=\"no inquiry, or no reader\"");
}

static void name_path(const struct settings *settings, char path[SETTINGS_PATH_MAX + 16])
{
	snprintf(path, SETTINGS_PATH_MAX + 16, "%s/" PING_SOCKET, settings->socket_directory);
}

/*
 * Makes the socket with the rights of the ledger's user @uid, in whose directory it is: root would follow
 * what that user puts there. Returns false with the reason in @why.
 */
static bool make_socket(struct fcgi_socket *own, const char *path, uid_t uid, char *why,
	size_t why_size)
{
	bool made;

	if (seteuid(uid) < 0) {
		snprintf(why, why_size, "cannot act as user %lu: %s", (unsigned long)uid,
			strerror(errno));
		return false;
	}
	made = socket_open(own, path, "", why, why_size) == STATUS_OK;
	if (made && chmod(path, 0600) < 0) {
		snprintf(why, why_size, "cannot set the mode of " PING_SOCKET ": %s",
			strerror(errno));
		made = false;
	}
	if (seteuid(0) < 0)
		_exit(OUTCOME_FAILED);
	return made;
}

/* The process. It ends with @parent. */
static void serve_inquiries(const struct job_service *service, pid_t parent, int listener,
	uid_t uid, gid_t gid)
{
	/* The sweeper's further groups may open edge.sock. */
	if (setgroups(0, NULL) < 0 || setgid(gid) < 0 || setuid(uid) < 0 || setuid(0) == 0) {
		log_line(LOG_LEVEL_ERROR, "inquiry",
			"reason=\"cannot become the sweeper's user: %s\"", strerror(errno));
		_exit(OUTCOME_NOT_PERMITTED);
	}
	no_dump_begin();
	/* A change of the user clears this. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
		_exit(OUTCOME_FAILED);
	job_accept(service, listener, job_serve_ping);
	_exit(OUTCOME_DONE);
}

enum outcome job_listen_pings(struct job_service *service)
{
	const struct settings *settings = &service->ctl->session.settings;
	const pid_t parent = getpid();
	struct fcgi_socket own;
	char path[SETTINGS_PATH_MAX + 16], owner[64], name[80], why[256];
	struct stat st;
	uid_t uid;
	gid_t gid;

	service->inquiries = -1;
	if (geteuid() != 0 || stat(settings->state_directory, &st) < 0)
		return OUTCOME_DONE;
	operator_user_name(st.st_uid, owner, sizeof(owner));
	snprintf(name, sizeof(name), "%s-sweep", owner);
	/* Debian's creditbridge-ping.socket may be active without jobs.sock. */
	if (!operator_find_user(name, &uid, &gid) || ping_link_is_served(settings))
		return OUTCOME_DONE;
	name_path(settings, path);
	if (!make_socket(&own, path, st.st_uid, why, sizeof(why)))
		return ctl_fail(service->ctl, OUTCOME_CONFIG, "configuration", "%s", why);
	service->inquiries = fork();
	if (service->inquiries == 0)
		serve_inquiries(service, parent, own.fd, uid, gid);
	close(own.fd);
	if (service->inquiries < 0)
		return ctl_fail(service->ctl, OUTCOME_FAILED, "failed", "cannot fork: %s",
			strerror(errno));
	return OUTCOME_DONE;
}

void job_stop_pings(const struct job_service *service)
{
	char path[SETTINGS_PATH_MAX + 16];

	if (service->inquiries <= 0)
		return;
	name_path(&service->ctl->session.settings, path);
	unlink(path);
}
