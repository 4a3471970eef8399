/*
 * apart - work in a process of its own: a library that may end its process ends that one.
 */
#ifndef BASE_APART_H
#define BASE_APART_H

#include <stddef.h>

/*
 * Memory of @size bytes, all zero, that this process shares with those it forks; NULL: none. It is
 * unmapped by apart_free(), or with the processes.
 */
void *apart_memory(size_t size);
void apart_free(void *memory, size_t size);

/*
 * Calls @work(@data) in a new process and waits for its end, however long that takes. What @work
 * finds out it leaves in apart_memory(), and in the end a word that it was done: whether the process
 * came so far is known by that alone, for a caller that ignores SIGCHLD is told of no end.
 *
 * 0: it has ended. @end, as waitpid(2) gives it, tells how; 0: not known. -1 and errno: there was
 * no process.
 */
int apart_run(void (*work)(void *data), void *data, int *end);

#endif
