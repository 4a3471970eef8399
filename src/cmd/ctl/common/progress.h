/*
 * progress - one line on the terminal that shows the progress of a long command.
 */
#ifndef CMD_CTL_COMMON_PROGRESS_H
#define CMD_CTL_COMMON_PROGRESS_H

#include "cmd/ctl/common/ctl.h"

struct progress {
	bool wanted; /* standard error is a terminal, and --json was not given */
	bool shown;
	int64_t every_ms; /* minimum interval between two updates */
	int64_t last_ms;
};

struct progress progress_begin(const struct ctl *ctl);

/* Updates the line, unless it was updated less than @progress->every_ms ago. */
void progress_show(struct progress *progress, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Removes the line, if there is one. */
void progress_end(struct progress *progress);

/* Shows the progress of a backup. @progress is a struct progress. */
void progress_backup(void *progress, const struct backup_result *result);

#endif
