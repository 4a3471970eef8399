#include "cmd/ctl/jobs/job_run.h"

#include "base/clock.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define POLL_MS 5
/* What reports of the command itself begin with. */
#define OWN_NAME "creditbridgectl: "

/* A command under way. */
struct job_relay {
	const struct job_run *run;
	struct job_end *end;
	pid_t pid;
	int out, err; /* -1: ended */
	uint64_t bytes;
	size_t err_len;
	bool stopped; /* the outcome is known, or there is no one to send it to */
	struct buffer part;
};

/* Sends @len bytes. Returns false if the console does not take them. */
static bool send_bytes(int fd, const uint8_t *data, size_t len, int64_t until_ms)
{
	struct pollfd pfd = {.fd = fd, .events = POLLOUT};
	ssize_t sent;
	int64_t left_ms;

	while (len) {
		sent = send(fd, data, len, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (sent > 0) {
			data += sent;
			len -= (size_t)sent;
			continue;
		}
		left_ms = until_ms - clock_boot_ms();
		if (sent < 0 && errno != EAGAIN && errno != EINTR)
			return false;
		if (left_ms <= 0 || (poll(&pfd, 1, (int)left_ms) < 0 && errno != EINTR))
			return false;
	}
	return true;
}

bool job_send_end(int fd, const struct job_end *end)
{
	struct buffer part;
	bool sent;

	buffer_init(&part, JOB_ANSWER_MAX);
	sent = job_end_put(&part, end) &&
		send_bytes(fd, part.data, part.len, clock_boot_ms() + JOB_SEND_MS);
	buffer_free(&part);
	return sent;
}

/* The command's own process. It ends with this one. */
static void run_command(const struct job_run *run, pid_t parent, int null, int out, int err)
{
	setpgid(0, 0);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent && dup2(null, 0) == 0 &&
		dup2(out, 1) == 1 && dup2(err, 2) == 2 && close_range(3, ~0u, 0) == 0 &&
		setenv("LC_ALL", "C.UTF-8", 1) == 0)
		execv(run->program, (char *const *)(uintptr_t)run->words);
	_exit(127);
}

static void close_pipe(const int ends[2])
{
	if (ends[0] >= 0)
		close(ends[0]);
	if (ends[1] >= 0)
		close(ends[1]);
}

/* Starts the command. Returns false with errno. */
static bool start_command(struct job_relay *relay)
{
	int out[2] = {-1, -1}, err[2] = {-1, -1};
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	const pid_t parent = getpid();
	bool started = false;

	if (null >= 0 && pipe2(out, O_CLOEXEC) == 0 && pipe2(err, O_CLOEXEC) == 0) {
		relay->pid = fork();
		if (relay->pid == 0)
			run_command(relay->run, parent, null, out[1], err[1]);
		started = relay->pid > 0;
	}
	if (null >= 0)
		close(null);
	if (!started) {
		close_pipe(out);
		close_pipe(err);
		return false;
	}
	setpgid(relay->pid, relay->pid);
	close(out[1]);
	close(err[1]);
	relay->out = out[0];
	relay->err = err[0];
	return true;
}

/* Notes the outcome of a command that is to be ended. */
static void stop_command(struct job_relay *relay, enum job_outcome outcome)
{
	relay->stopped = true;
	relay->end->outcome = outcome;
}

static void close_end(int *fd)
{
	close(*fd);
	*fd = -1;
}

static void pass_output(struct job_relay *relay)
{
	uint8_t chunk[JOB_CHUNK_MAX];
	const ssize_t got = read(relay->out, chunk, sizeof(chunk));
	int64_t until_ms = clock_boot_ms() + JOB_SEND_MS;

	if (got < 0 && errno == EINTR)
		return;
	if (got <= 0) {
		close_end(&relay->out);
		return;
	}
	relay->bytes += (uint64_t)got;
	if (relay->bytes > relay->run->bytes_max) {
		stop_command(relay, JOB_TOO_LARGE);
		return;
	}
	if (until_ms > relay->run->until_ms)
		until_ms = relay->run->until_ms;
	buffer_reset(&relay->part);
	if (!job_output_put(&relay->part, chunk, (size_t)got) ||
		!send_bytes(relay->run->fd, relay->part.data, relay->part.len, until_ms))
		stop_command(relay, JOB_TOO_LONG);
}

/* Keeps the beginning of what the command writes to standard error. */
static void keep_error(struct job_relay *relay)
{
	char chunk[4096];
	const ssize_t got = read(relay->err, chunk, sizeof(chunk));
	const size_t room = JOB_DETAIL_SIZE - 1 - relay->err_len;
	const size_t part = got > 0 && (size_t)got < room ? (size_t)got : room;

	if (got < 0 && errno == EINTR)
		return;
	if (got <= 0) {
		close_end(&relay->err);
		return;
	}
	memcpy(relay->end->detail + relay->err_len, chunk, part);
	relay->err_len += part;
	relay->end->detail[relay->err_len] = '\0';
}

/* Passes the output on until the command has ended its streams, or must be ended. */
static void relay_output(struct job_relay *relay)
{
	while (!relay->stopped && (relay->out >= 0 || relay->err >= 0)) {
		struct pollfd fds[] = {{.fd = relay->out, .events = POLLIN},
			{.fd = relay->err, .events = POLLIN},
			{.fd = relay->run->fd, .events = POLLRDHUP}};
		const int64_t left_ms = relay->run->until_ms - clock_boot_ms();

		if (left_ms <= 0 || poll(fds, 3, (int)left_ms) == 0) {
			stop_command(relay, JOB_TOO_LONG);
			return;
		}
		if (fds[2].revents) {
			stop_command(relay, JOB_FAILED);
			return;
		}
		if (fds[0].revents)
			pass_output(relay);
		if (fds[1].revents)
			keep_error(relay);
	}
}

/* Makes one line of what the command reported. */
static void tidy_error(struct job_relay *relay)
{
	char *detail = relay->end->detail;
	const size_t own = sizeof(OWN_NAME) - 1;

	while (relay->err_len && detail[relay->err_len - 1] == '\n')
		detail[--relay->err_len] = '\0';
	for (size_t i = 0; i < relay->err_len; i++) {
		if (detail[i] == '\n')
			detail[i] = ' ';
	}
	if (strncmp(detail, OWN_NAME, own) == 0) {
		memmove(detail, detail + own, relay->err_len - own + 1);
		relay->err_len -= own;
	}
	text_clean(detail, relay->err_len);
}

/* Waits for the command, and ends it if it must be ended. */
static void end_command(struct job_relay *relay)
{
	int status = 0;
	pid_t ended = 0;

	while (!relay->stopped && ended == 0) {
		ended = waitpid(relay->pid, &status, WNOHANG);
		if (ended == 0 && clock_boot_ms() >= relay->run->until_ms)
			stop_command(relay, JOB_TOO_LONG);
		else if (ended == 0)
			clock_sleep_ms(POLL_MS);
	}
	/* The processes that the command started must end, too. */
	kill(-relay->pid, SIGKILL);
	while (ended == 0 && waitpid(relay->pid, &status, 0) < 0 && errno == EINTR)
		;
	if (relay->stopped) {
		relay->end->detail[0] = '\0';
		return;
	}
	tidy_error(relay);
	relay->end->outcome = WIFEXITED(status) ? JOB_ENDED : JOB_FAILED;
	relay->end->exit_code = WIFEXITED(status) ? (uint32_t)WEXITSTATUS(status) : 0;
	if (!WIFEXITED(status))
		snprintf(relay->end->detail, sizeof(relay->end->detail),
			"The command was ended by the signal %d.", WTERMSIG(status));
}

void job_run(const struct job_run *run, struct job_end *end)
{
	struct job_relay relay = {.run = run, .end = end, .out = -1, .err = -1};

	memset(end, 0, sizeof(*end));
	buffer_init(&relay.part, JOB_ANSWER_MAX);
	if (!start_command(&relay)) {
		end->outcome = JOB_FAILED;
		snprintf(end->detail, sizeof(end->detail), "The command cannot be started: %s.",
			strerror(errno));
		return;
	}
	relay_output(&relay);
	end_command(&relay);
	if (relay.out >= 0)
		close(relay.out);
	if (relay.err >= 0)
		close(relay.err);
	buffer_free(&relay.part);
}
