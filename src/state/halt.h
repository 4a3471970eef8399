/*
 * halt - the mark that the ledger is halted, which stays until the operator clears it.
 *
 * A file "halted" in the socket directory, which is made at once, and in the state directory, whose disk
 * may be slow to take it or not take it any more. The first is gone after a reboot, as is what the
 * system's memory holds and the disk does not.
 */
#ifndef STATE_HALT_H
#define STATE_HALT_H

#include "base/settings.h"

#include <limits.h>
#include <stdbool.h>

/*
 * Sets the mark durably, in both directories. Whoever met the failure does so before it ends. False: in
 * neither.
 */
bool halt_mark(const struct settings *settings);

/*
 * Whether the mark is set; then @path is the file that says so. That beside the sockets names the state
 * that it is of: another state's is none, and is not cleared.
 */
bool halt_is_marked(const struct settings *settings, char path[PATH_MAX]);

/* Clears it: what the disk has was read since, and is what is served; or other data takes its place. */
void halt_clear(const struct settings *settings);

/*
 * When the mark is set: makes the system forget what it holds in memory of the files in @directory
 * (disk.h). For whoever opens the data without an operator's word that the disk is well.
 */
void halt_forget_cached(const struct settings *settings, const char *directory);

#endif
