/* group - looks up a user group of this host by name. */
#ifndef BASE_GROUP_H
#define BASE_GROUP_H

#include "base/status.h"

#include <stddef.h>
#include <sys/types.h>

/*
 * Looks up the group of the option socket_group (base/settings.h). Sets *@gid to its number, or to
 * (gid_t)-1 if @name is "". Returns STATUS_CONFIG if the group does not exist. Another status means
 * that the look-up failed and may succeed later. @why gets a sentence in both cases. For programs
 * that start (base/isolated.h).
 */
enum status group_find(const char *name, gid_t *gid, char *why, size_t why_size);

#endif
