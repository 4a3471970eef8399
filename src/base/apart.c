#include "base/apart.h"

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

void *apart_memory(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

void apart_free(void *memory, size_t size)
{
	if (memory)
		munmap(memory, size);
}

/* What both processes see: whether the work has returned, and its data. */
struct shared {
	bool returned;
	max_align_t data[];
};

/* In the new process. A parent that was killed at once has another's number by now. */
static void become(pid_t parent, void (*work)(void *data), struct shared *shared)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() == parent) {
		work(shared->data);
		shared->returned = true;
	}
	_exit(EXIT_SUCCESS);
}

/* Returns how it ended, as waitpid(2) gives it; -1 and errno: there was no process. */
static int run(void (*work)(void *data), struct shared *shared)
{
	const struct sigaction standard = {.sa_handler = SIG_DFL};
	struct sigaction before;
	pid_t self = getpid(), pid;
	int end = -1, error;

	/* What is in the buffers is written once, though a library calls exit(). */
	fflush(NULL);
	/* Whoever ignores it hears of no end; so may whoever was started by such a one. */
	sigaction(SIGCHLD, &standard, &before);
	pid = fork();
	if (pid == 0)
		become(self, work, shared);
	while (pid > 0 && waitpid(pid, &end, 0) < 0 && errno == EINTR)
		;
	error = errno;
	sigaction(SIGCHLD, &before, NULL);
	errno = error;
	return end;
}

enum status apart_run(void (*work)(void *data), void *data, size_t size, char why[APART_WHY_MAX])
{
	struct shared *shared = apart_memory(sizeof(*shared) + size);
	enum status status = STATUS_NOMEM;
	int end, number;

	snprintf(why, APART_WHY_MAX, "%s", status_text(STATUS_NOMEM));
	if (!shared)
		return STATUS_NOMEM;
	memcpy(shared->data, data, size);
	end = run(work, shared);
	if (end == -1)
		snprintf(why, APART_WHY_MAX, "no process for it: %s", strerror(errno));
	if (shared->returned) {
		memcpy(data, shared->data, size);
		status = STATUS_OK;
	}
	apart_free(shared, sizeof(*shared) + size);
	/* An assertion, and the kernel's means when the machine has no memory left, are that. */
	number = end != -1 && WIFSIGNALED(end) ? WTERMSIG(end) : 0;
	if (number && number != SIGABRT && number != SIGKILL)
		snprintf(why, APART_WHY_MAX, "the process for it was ended by signal %d", number);
	return status;
}
