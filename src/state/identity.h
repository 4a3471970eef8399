/*
 * identity - where a state directory is, noted in the file `identity` in it.
 *
 * A ledger that starts compares it with what it finds. A difference means that the state was copied
 * or moved: another copy of it may have given out ids and made movements since, so that only an
 * operator can say whether it may be served (`creditbridgectl adopt`).
 *
 *     version 1
 *     installation ID   as in the file `installation`
 *     machine ID        /etc/machine-id of the host; "-": it has none
 *     directory INODE   of the state directory, and ...
 *     db INODE          ... of db/ in it; 0: this file system may give others after a mount
 *     path PATH         of the state directory, without symbolic links
 *
 * Device numbers are not in it: they may differ after a reboot. A copy of a whole host, with its
 * machine id, is not noticed. Ids that begin at the clock (ledger/rows/life.h) are for those.
 */
#ifndef STATE_IDENTITY_H
#define STATE_IDENTITY_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

#define STATE_IDENTITY "identity"

/*
 * Notes, durably, where the state @installation is: the directory that @fd is open on, which is at
 * @path, with db/ in it. False with errno.
 */
bool state_identity_write(int fd, const char *path, const char *installation);

/*
 * Compares. STATUS_NOT_FOUND: nothing was noted, as by a version before. STATUS_CONFIG: the state was
 * copied or moved, with a sentence in @why that names what differs and the remedy. Else a failure as
 * of status_of_errno(), with a sentence in @why.
 */
enum status state_identity_check(int fd, const char *path, const char *installation, char *why,
	size_t why_size);

#endif
