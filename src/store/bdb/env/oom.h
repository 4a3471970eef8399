/*
 * oom - whether the process survives that libdb finds no memory.
 *
 * As a rule it does: libdb tells ENOMEM, and the call fails. While it makes a handle or opens files for a
 * recovery it goes on with what it has not made, and crashes. Nothing was begun then that the next start
 * would not do again: so the process ends (70, BDB_EXIT_LOST) with a message.
 */
#ifndef STORE_BDB_ENV_OOM_H
#define STORE_BDB_ENV_OOM_H

#include <stdbool.h>

/*
 * From now on an allocation of libdb's that fails ends the process, or not. No other thread may use
 * libdb meanwhile.
 */
void memory_must_suffice(bool must);

#endif
