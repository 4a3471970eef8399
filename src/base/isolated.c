#include "base/isolated.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

void *isolated_memory(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

void isolated_free(void *memory, size_t size)
{
	if (memory)
		munmap(memory, size);
}

/* Shared by both processes. */
struct shared {
	bool returned;
	max_align_t data[];
};

/* Runs in the child. If the parent was killed before prctl(), getppid() returns another id. */
static void run_in_child(pid_t parent, void (*work)(void *data), struct shared *shared)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() == parent) {
		work(shared->data);
		shared->returned = true;
	}
	_exit(EXIT_SUCCESS);
}

/* Returns the status from waitpid(2). Returns -1 and sets errno if the child could not be made. */
static int fork_and_wait(void (*work)(void *data), struct shared *shared)
{
	const struct sigaction standard = {.sa_handler = SIG_DFL};
	struct sigaction before;
	pid_t self = getpid(), pid;
	int end = -1, error;

	/* Empty the stdio buffers. Otherwise a library's exit() in the child writes them again. */
	fflush(NULL);
	/* If SIGCHLD is ignored, waitpid() gets no status. A process can inherit that setting. */
	sigaction(SIGCHLD, &standard, &before);
	pid = fork();
	if (pid == 0)
		run_in_child(self, work, shared);
	while (pid > 0 && waitpid(pid, &end, 0) < 0 && errno == EINTR)
		;
	error = errno;
	sigaction(SIGCHLD, &before, NULL);
	errno = error;
	return end;
}

enum status isolated_run(void (*work)(void *data), void *data, size_t size,
	char why[ISOLATED_WHY_MAX])
{
	struct shared *shared = isolated_memory(sizeof(*shared) + size);
	enum status status = STATUS_NOMEM;
	int end, number;

	snprintf(why, ISOLATED_WHY_MAX, "%s", status_text(STATUS_NOMEM));
	if (!shared)
		return STATUS_NOMEM;
	memcpy(shared->data, data, size);
	end = fork_and_wait(work, shared);
	if (end == -1)
		snprintf(why, ISOLATED_WHY_MAX, "no process for it: %s", strerror(errno));
	if (shared->returned) {
		memcpy(data, shared->data, size);
		status = STATUS_OK;
	}
	isolated_free(shared, sizeof(*shared) + size);
	/* SIGABRT means a failed assertion. SIGKILL is the kernel's reply to exhausted memory. */
	number = end != -1 && WIFSIGNALED(end) ? WTERMSIG(end) : 0;
	if (number && number != SIGABRT && number != SIGKILL)
		snprintf(why, ISOLATED_WHY_MAX, "the process for it was ended by signal %d",
			number);
	return status;
}
