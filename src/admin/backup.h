/*
 * backup - requests a backup from the ledger and waits until it is complete.
 */
#ifndef ADMIN_BACKUP_H
#define ADMIN_BACKUP_H

#include "admin/session.h"

/* Called each time that the ledger reported how far the backup is. */
typedef void backup_progress(void *context, const struct backup_result *result);

/*
 * Makes a backup in @directory, an absolute path. @whole: copies everything and builds on no
 * earlier backup in that directory. Fails with backup_failed if the ledger did not complete it, with
 * OUTCOME_BUSY if another backup runs.
 */
enum outcome backup_make(struct session *session, const char *directory, bool whole,
	struct backup_result *result, backup_progress *progress, void *context);

#endif
