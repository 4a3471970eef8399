/*
 * group - a group of this host, found by its name.
 */
#ifndef BASE_GROUP_H
#define BASE_GROUP_H

#include "base/status.h"

#include <stddef.h>
#include <sys/types.h>

/*
 * Looks up socket_group, of base/settings.h: *@gid is its number, (gid_t)-1 for "". STATUS_CONFIG:
 * there is no such group. Another status: it could not be looked up, and may be later. @why gets a
 * sentence for both. For programs that start (base/apart.h).
 */
enum status group_find(const char *name, gid_t *gid, char *why, size_t why_size);

#endif
