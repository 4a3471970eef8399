/*
 * isolated - runs a function in a child process. It contains libraries that abort, exit or crash
 * when an allocation fails.
 */
#ifndef BASE_ISOLATED_H
#define BASE_ISOLATED_H

#include "base/status.h"

#include <stddef.h>

#define ISOLATED_WHY_MAX 128

/*
 * Returns @size zeroed bytes that this process shares with the processes it forks, or NULL.
 * isolated_free() unmaps the memory; so does the end of the processes.
 */
void *isolated_memory(size_t size);
void isolated_free(void *memory, size_t size);

/*
 * Calls @work with @data, of @size bytes, in a child process and waits without a time limit for the
 * child to end. The kernel kills the child when this process ends. For programs that start: call it
 * without threads and without other children to wait for.
 *
 * Returns STATUS_OK if @work returned; @data is then as @work left it. Otherwise @data is
 * unchanged. Returns STATUS_NOMEM if the child could not be made or ended early, as it does when
 * memory is exhausted. @why gets a phrase. The child may have written to standard error.
 */
enum status isolated_run(void (*work)(void *data), void *data, size_t size,
	char why[ISOLATED_WHY_MAX]);

#endif
