/*
 * parent - the small process that holds the listening sockets and keeps an engine running.
 *
 * Connections made while the engine is being started again wait in the sockets' backlog; none is
 * refused. The parent never touches the data. Pauses between engines that never serve grow to 5 s, others
 * to 0.2 s.
 */
#ifndef LEDGER_PARENT_H
#define LEDGER_PARENT_H

#include "base/settings.h"

/*
 * Runs until SIGTERM or SIGINT. Returns the exit code: 0 stopped, 74 or 76
 * the disk failed or the data is damaged while it stopped, 78 the configuration or the
 * state cannot be used, 1 another ledger runs on this state or a system call failed; a sentence
 * was written to standard error.
 */
int parent_run(const struct settings *settings);

#endif
