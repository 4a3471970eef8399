#include "base/group.h"

#include "base/isolated.h"

#include <errno.h>
#include <grp.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct looking {
	const char *name;
	bool found;
	gid_t gid;
	int error;
};

/* Runs in a child process: without memory the C library's name service crashes. */
static void look_up_group(void *data)
{
	struct looking *looking = data;
	const struct group *group;

	errno = 0;
	group = getgrnam(looking->name);
	looking->error = errno;
	looking->found = group != NULL;
	if (group)
		looking->gid = group->gr_gid;
}

/* If the group does not exist, errno may be 0 or one of several numbers; see getgrnam(3). */
static enum status judge_lookup(const struct looking *looking, char why[ISOLATED_WHY_MAX])
{
	if (looking->found)
		return STATUS_OK;
	snprintf(why, ISOLATED_WHY_MAX, "%s", strerror(looking->error));
	return status_of_errno(looking->error);
}

enum status group_find(const char *name, gid_t *gid, char *why, size_t why_size)
{
	struct looking looking = {.name = name};
	char reason[ISOLATED_WHY_MAX];
	enum status status;

	*gid = (gid_t)-1;
	if (!name[0])
		return STATUS_OK;
	status = isolated_run(look_up_group, &looking, sizeof(looking), reason);
	if (!status)
		status = judge_lookup(&looking, reason);
	if (!status)
		*gid = looking.gid;
	else if (status == STATUS_CONFIG)
		snprintf(why, why_size,
			"socket_group %s is no group of this host: leave it "
			"empty, or name an existing group",
			name);
	else
		snprintf(why, why_size, "socket_group %s cannot be looked up: %s", name, reason);
	return status;
}
