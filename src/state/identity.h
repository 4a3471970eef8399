/*
 * identity - the location of a state directory, recorded in its file `identity`.
 *
 * At its start a ledger compares the file with the actual location. A difference means that the
 * state was copied or moved. Another copy may have given out ids and made transactions since. Only
 * an operator can then decide that it may be served (`creditbridgectl adopt`).
 *
 *     version 1
 *     installation ID   as in the file `installation`
 *     machine ID        /etc/machine-id of the host; "-": it has none
 *     directory INODE   of the state directory, and ...
 *     db INODE          ... of db/ in it; 0: this file system may give others after a mount
 *     path PATH         of the state directory, without symbolic links
 *
 * Device numbers are left out because they may change at a reboot. The comparison does not detect
 * a copy of a whole host with its machine id. Ids that begin at the clock (ledger/rows/life.h)
 * cover that case.
 */
#ifndef STATE_IDENTITY_H
#define STATE_IDENTITY_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

#define STATE_IDENTITY "identity"
/* Bytes of the id of an installation, with its NUL. */
#define STATE_INSTALLATION_MAX 33

/*
 * Durably records the location of the state @installation. @fd is open on the directory, which
 * lies at @path and contains db/. Returns false and sets errno on failure.
 */
bool state_identity_write(int fd, const char *path, const char *installation);

/*
 * Compares the recorded location with the actual one. Returns STATUS_NOT_FOUND if none is
 * recorded, as after an older version. Returns STATUS_CONFIG if the state was copied or moved;
 * @why then names the difference and the remedy. Other failures are returned as status_of_errno()
 * maps them, with a reason in @why.
 */
enum status state_identity_check(int fd, const char *path, const char *installation, char *why,
	size_t why_size);

#endif
