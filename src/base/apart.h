/*
 * apart - work in a process of its own: a library that ends its process without memory, by an assertion,
 * exit(3) or worse, ends that one.
 */
#ifndef BASE_APART_H
#define BASE_APART_H

#include "base/status.h"

#include <stddef.h>

#define APART_WHY_MAX 128

/*
 * Memory of @size bytes, all zero, that this process shares with those it forks; NULL: none. It is
 * unmapped by apart_free(), or with the processes.
 */
void *apart_memory(size_t size);
void apart_free(void *memory, size_t size);

/*
 * Calls @work with @data, of @size bytes, in a new process and waits for its end, however long that
 * takes; the process ends with this one. For programs that start: without threads, and while no other
 * child is waited for.
 *
 * STATUS_OK: @work has returned, and @data is as it left it. Else @data is untouched. STATUS_NOMEM: there was no process for it, or it was ended before,
 * as by a lack of memory; @why gets a phrase. The process may have written to standard error.
 */
enum status apart_run(void (*work)(void *data), void *data, size_t size, char why[APART_WHY_MAX]);

#endif
