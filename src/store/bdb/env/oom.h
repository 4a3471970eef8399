/*
 * oom - handles failed allocations inside libdb.
 *
 * libdb normally returns ENOMEM, and the call fails. While it creates a handle or opens files
 * during recovery, it uses the object that it failed to allocate and crashes. The next start
 * repeats that work. The process therefore ends (70, STORE_EXIT_LOST) with a message.
 */
#ifndef STORE_BDB_ENV_OOM_H
#define STORE_BDB_ENV_OOM_H

#include <stdbool.h>

/*
 * Sets whether a failed allocation of libdb ends the process. No other thread may use libdb
 * meanwhile.
 */
void oom_ends_process(bool must);

#endif
