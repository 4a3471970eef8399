/*
 * supervisor - the small process that holds the listening sockets and keeps an engine running.
 *
 * Connections made while the engine is being started again wait in the sockets' backlog; none is
 * refused. The parent never touches the data.
 *
 * An engine that ends is followed by the next at once. If several end soon after their start the pauses
 * grow: to 0.2 s where they served, to 1 s while the disk is full, and to 5 s where they never served.
 */
#ifndef LEDGER_DAEMON_SUPERVISOR_H
#define LEDGER_DAEMON_SUPERVISOR_H

#include "base/settings.h"

/*
 * Runs until SIGTERM or SIGINT. Returns the exit code: 0 stopped, 74 or 76
 * the disk failed or the data is damaged while it stopped, 78 the configuration or the
 * state cannot be used, 1 another ledger runs on this state or a system call failed; a sentence
 * was written to standard error.
 */
int parent_run(const struct settings *settings);

#endif
