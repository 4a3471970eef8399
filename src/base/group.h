/* group - looks up a user group of this host by name or number. */
#ifndef BASE_GROUP_H
#define BASE_GROUP_H

#include "base/status.h"

#include <stddef.h>
#include <sys/types.h>

/*
 * Looks up the group that @option names (base/settings.h). @name is a name, or a number if it has only
 * digits. Sets *@gid to its number, or to (gid_t)-1 if @name is "". Returns STATUS_CONFIG if the group
 * does not exist. Another status means that the look-up failed, or took longer than GROUP_LOOKUP_S, and
 * may succeed later. @why gets a sentence in both cases. For programs that start (base/isolated.h).
 */
#define GROUP_LOOKUP_S 10
enum status group_find(const char *option, const char *name, gid_t *gid, char *why,
	size_t why_size);

#endif
