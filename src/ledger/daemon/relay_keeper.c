#include "ledger/daemon/relay_keeper.h"

#include "base/clock.h"
#include "base/log.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAUSE_FIRST_MS 50
#define PAUSE_MAX_MS   1000
/* After a process that ran for this long, the pauses start at 0 again. */
#define LIVED_MS 2000

enum status relay_keeper_open(struct relay_keeper *keeper, const struct relay_process *process,
	const struct settings *settings, struct sockets *sockets, const char *cell, char *why,
	size_t why_size)
{
	enum status status;

	*keeper = (struct relay_keeper){.settings = settings,
		.sockets = sockets,
		.cell = cell,
		.listener = -1};
	if (!settings->cell_listen[0])
		return STATUS_OK;
	status = process->prepare(settings, &keeper->listener, why, why_size);
	if (status)
		return status;
	sockets->relay = relay_board_new();
	if (!sockets->relay) {
		snprintf(why, why_size, "out of memory");
		return STATUS_NOMEM;
	}
	keeper->process = process;
	return STATUS_OK;
}

void relay_keeper_start(struct relay_keeper *keeper)
{
	sigset_t ends, before;
	pid_t pid;

	if (!keeper->process)
		return;
	keeper->started_ms = clock_boot_ms() + keeper->pause_ms;
	/*
	 * The handler of the supervisor must not take a signal in the child. peer_run() reads the signals that
	 * wait until then.
	 */
	sigemptyset(&ends);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGINT);
	sigprocmask(SIG_BLOCK, &ends, &before);
	pid = fork();
	if (pid != 0)
		sigprocmask(SIG_SETMASK, &before, NULL);
	if (pid == 0) {
		/* Here, so that the supervisor does not wait. */
		clock_sleep_ms(keeper->pause_ms);
		_exit(keeper->process->run(keeper->settings, keeper->sockets, keeper->listener,
			keeper->cell, keeper->sockets->relay));
	}
	keeper->pid = pid > 0 ? pid : 0;
	if (pid < 0)
		log_line(LOG_LEVEL_ERROR, "peer_not_started", "error=\"%s\"", strerror(errno));
}

bool relay_keeper_ended(struct relay_keeper *keeper, pid_t pid, int status)
{
	/* 0: the last start failed, and another child gives the occasion. */
	const bool was_peer = keeper->pid == pid;

	if (!keeper->process || (keeper->pid && pid != keeper->pid))
		return false;
	if (was_peer)
		log_line(LOG_LEVEL_WARNING, "peer_process_ended", "exit=%d signal=%d",
			WIFEXITED(status) ? WEXITSTATUS(status) : -1,
			WIFSIGNALED(status) ? WTERMSIG(status) : 0);
	if (clock_boot_ms() - keeper->started_ms >= LIVED_MS)
		keeper->pause_ms = 0;
	else
		keeper->pause_ms = keeper->pause_ms ? 2 * keeper->pause_ms : PAUSE_FIRST_MS;
	if (keeper->pause_ms > PAUSE_MAX_MS)
		keeper->pause_ms = PAUSE_MAX_MS;
	relay_keeper_start(keeper);
	return was_peer;
}

void relay_keeper_stop(struct relay_keeper *keeper)
{
	int status;

	if (!keeper->pid)
		return;
	kill(keeper->pid, SIGTERM);
	while (waitpid(keeper->pid, &status, 0) < 0 && errno == EINTR)
		;
	keeper->pid = 0;
}
