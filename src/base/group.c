#include "base/group.h"

#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>

enum status group_find(const char *name, gid_t *gid, char *why, size_t why_size)
{
	const struct group *found;
	enum status status;
	int error;

	*gid = (gid_t)-1;
	if (!name[0])
		return STATUS_OK;
	errno = 0;
	found = getgrnam(name);
	error = errno;
	if (found) {
		*gid = found->gr_gid;
		return STATUS_OK;
	}
	/* getgrnam(3): for a group that is not there errno may be one of several numbers. */
	status = status_of_errno(error);
	if (status == STATUS_CONFIG)
		snprintf(why, why_size, "socket_group %s is no group of this host", name);
	else
		snprintf(why, why_size, "socket_group %s cannot be looked up: %s", name,
			strerror(error));
	return status;
}
