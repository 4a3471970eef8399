/*
 * supervisor - the small parent process that holds the listening sockets and keeps an engine
 * running.
 *
 * While an engine restarts, new connections wait in the backlog of the sockets; none is refused.
 * The supervisor never accesses the data.
 *
 * When an engine ends, the supervisor starts the next one at once. If several end soon after their
 * start, the pauses grow. The maximum is 0.2 s if they served, 1 s while the disk is full, and 5 s
 * if they never served.
 */
#ifndef LEDGER_DAEMON_SUPERVISOR_H
#define LEDGER_DAEMON_SUPERVISOR_H

#include "base/settings.h"
#include "ledger/daemon/relay_board.h"

/*
 * @peer: the process that carries clients of other hosts, started if settings.cell_listen is set.
 *
 * Runs until SIGTERM or SIGINT. Returns the exit code after writing the reason of a failure to
 * standard error. 0: stopped. 74 or 76: the disk failed or the data is damaged, found during the
 * stop. 78: the configuration or the state cannot be used. 1: another ledger runs on this state,
 * or a system call failed.
 */
int supervisor_run(const struct settings *settings, const struct relay_process *peer);

#endif
