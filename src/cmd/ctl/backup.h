/*
 * backup - requests a backup from the ledger and waits until it is complete.
 */
#ifndef CMD_CTL_BACKUP_H
#define CMD_CTL_BACKUP_H

#include "cmd/ctl/ctl.h"

/*
 * Makes a backup in @directory, an absolute path. @whole: copies everything and builds on no
 * earlier backup in that directory. Reports a failure.
 */
enum outcome backup_make(struct ctl *ctl, const char *directory, bool whole,
	struct backup_result *result);

#endif
