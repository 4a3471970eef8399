#include "base/apart.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
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

int apart_run(void (*work)(void *data), void *data, int *end)
{
	pid_t pid;

	/* What is in the buffers is written once, though the library may call exit(). */
	fflush(NULL);
	pid = fork();
	if (pid < 0)
		return -1;
	if (pid == 0) {
		work(data);
		_exit(EXIT_SUCCESS);
	}
	*end = 0;
	while (waitpid(pid, end, 0) < 0 && errno == EINTR)
		;
	return 0;
}
