/*
 * note - the trail of what an operator does outside the ledger.
 */
#ifndef CMD_CTL_NOTE_H
#define CMD_CTL_NOTE_H

#include "cmd/ctl/ctl.h"

/*
 * Notes in the audit that @action is done to @object; what does not fit is cut. Before the deed, so
 * that none is without a trail. A failure is reported.
 */
enum ctl_exit ctl_note(struct ctl *ctl, enum note_action action, const char *object,
	const char *detail);

/* The same; a failure is told in @failure alone (ctl_try). */
enum ctl_exit ctl_note_try(struct ctl *ctl, enum note_action action, const char *object,
	const char *detail, struct ctl_failure *failure);

#endif
