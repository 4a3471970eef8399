/*
 * halt - the mark that the ledger is halted. It stays until the operator clears it.
 *
 * The mark is a file "halted" in the socket directory and in the state directory. The first is
 * created at once; the disk of the second may be slow or fail. A reboot removes the first,
 * together with cached data that the disk does not hold.
 */
#ifndef STATE_HALT_H
#define STATE_HALT_H

#include "base/settings.h"

#include <limits.h>
#include <stdbool.h>

/*
 * Durably sets the mark in both directories. The thread that met the failure calls this before the
 * process ends. Returns false if neither file could be written.
 */
bool halt_mark(const struct settings *settings);

/*
 * Returns true if the mark is set and writes the path of its file to @path. The file beside the
 * sockets names its state; without a name it counts for any state. The mark of another state is
 * ignored and never cleared.
 */
bool halt_is_marked(const struct settings *settings, char path[PATH_MAX]);

/*
 * Clears the mark: the data was read from the disk since and is served, or other data replaces it.
 */
void halt_clear(const struct settings *settings);

/*
 * If the mark is set, drops the files in @directory from the page cache (disk.h). For callers that
 * open the data before an operator has confirmed that the disk works.
 */
void halt_forget_cached(const struct settings *settings, const char *directory);

#endif
