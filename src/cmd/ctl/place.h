/*
 * place - directories on the command line, and whose they are.
 */
#ifndef CMD_CTL_PLACE_H
#define CMD_CTL_PLACE_H

#include "cmd/ctl/ctl.h"

#include <sys/types.h>

/*
 * The absolute name of a directory, which need not be there, for a process with another working
 * directory. A failure is reported.
 */
enum ctl_exit place_absolute(struct ctl *ctl, const char *text, char *path, size_t size);

/*
 * As root: makes the directory for @uid, since its parent may be root's alone, or gives it away when
 * it is root's own and empty. As anybody else: nothing. A failure is reported.
 */
enum ctl_exit place_give(struct ctl *ctl, const char *path, uid_t uid);

#endif
