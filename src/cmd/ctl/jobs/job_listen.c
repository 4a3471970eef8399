#include "cmd/ctl/jobs/job.h"

#include "base/acl.h"
#include "base/group.h"
#include "base/log.h"
#include "fcgi/socket.h"
#include "link/jobs.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* How long a signal to stop may be overlooked. */
#define LOOK_MS 500

static volatile sig_atomic_t stopping;
/* The process that serves ping.sock has ended: without it the ledger's user would send pings. */
static bool inquiries_ended;

static void on_stop(int number)
{
	(void)number;
	stopping = 1;
}

void job_catch_stop(void)
{
	struct sigaction stop = {.sa_handler = on_stop};

	sigaction(SIGTERM, &stop, NULL);
	sigaction(SIGINT, &stop, NULL);
}

/* Serves the connection in a child, which ends with this process. */
static bool serve_apart(const struct job_service *service, int listener, int fd,
	void (*serve)(const struct job_service *service, int fd))
{
	const pid_t parent = getpid();
	const pid_t pid = fork();

	if (pid != 0)
		return pid > 0;
	close(listener);
	signal(SIGTERM, SIG_DFL);
	signal(SIGINT, SIG_DFL);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
		_exit(OUTCOME_FAILED);
	serve(service, fd);
	_exit(OUTCOME_DONE);
}

/* Forgets the children that have ended. @wait: waits for one of them. */
static unsigned int reap_children(const struct job_service *service, unsigned int children,
	bool wait)
{
	pid_t pid;

	while ((pid = waitpid(-1, NULL, wait ? 0 : WNOHANG)) > 0) {
		wait = false;
		if (pid == service->inquiries) {
			log_line(LOG_LEVEL_ERROR, "inquiry",
				"reason=\"the process that serves ping.sock ended: start this again\"");
			inquiries_ended = true;
			stopping = 1;
		} else if (children) {
			children--;
		}
	}
	return children;
}

void job_accept(const struct job_service *service, int listener,
	void (*serve)(const struct job_service *service, int fd))
{
	struct pollfd pfd = {.fd = listener, .events = POLLIN};
	unsigned int children = 0;
	int fd;

	while (!stopping) {
		children = reap_children(service, children, children == JOB_CHILDREN_MAX);
		if (children == JOB_CHILDREN_MAX || poll(&pfd, 1, LOOK_MS) <= 0)
			continue;
		fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		if (fd < 0)
			continue;
		if (serve_apart(service, listener, fd, serve))
			children++;
		else
			log_line(LOG_LEVEL_ERROR, "job_fork", "error=\"%s\"", strerror(errno));
		close(fd);
	}
}

/*
 * Lets the console's group connect, by a list, as the ledger does for desk.sock: this process does not belong
 * to that group. Without such a group only this process' user may connect.
 */
static bool admit_console(const struct settings *settings, const char *path, char *why,
	size_t why_size)
{
	gid_t gid;

	if (group_find("console_group", settings->console_group, &gid, why, why_size))
		log_line(LOG_LEVEL_INFO, "no_role", "group=%s reason=\"%s\"",
			settings->console_group, why);
	return acl_set_groups(path, &gid, gid != (gid_t)-1, why, why_size);
}

enum outcome job_listen(const struct job_service *service)
{
	const struct settings *settings = &service->ctl->session.settings;
	struct fcgi_socket own;
	char path[SETTINGS_PATH_MAX + 16], why[256];
	enum status status;

	snprintf(path, sizeof(path), "%s/" JOBS_SOCKET, settings->socket_directory);
	status = socket_open(&own, path, "", why, sizeof(why));
	if (status)
		return ctl_fail(service->ctl, OUTCOME_CONFIG, "configuration", "%s", why);
	if (!admit_console(settings, path, why, sizeof(why))) {
		socket_unlink(&own);
		return ctl_fail(service->ctl, OUTCOME_CONFIG, "configuration",
			"the group of console_group cannot use %s: %s", path, why);
	}
	log_line(LOG_LEVEL_INFO, "start", "jobs=\"%s\"", path);
	job_accept(service, own.fd, job_serve);
	socket_unlink(&own);
	return inquiries_ended ? OUTCOME_FAILED : OUTCOME_DONE;
}
