/*
 * backup - a backup is asked of the ledger and waited for.
 */
#ifndef CMD_CTL_BACKUP_H
#define CMD_CTL_BACKUP_H

#include "cmd/ctl/ctl.h"

/*
 * Makes a backup in @directory, which is absolute; @whole: nothing that is there is built upon. A
 * failure is reported.
 */
enum outcome backup_make(struct ctl *ctl, const char *directory, bool whole,
	struct backup_result *result);

#endif
