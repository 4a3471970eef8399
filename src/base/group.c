#include "base/group.h"

#include "base/isolated.h"

#include <errno.h>
#include <grp.h>
#include <signal.h>
#include <stdint.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

	/* The name service may ask another host. SIGALRM ends this process. */
	signal(SIGALRM, SIG_DFL);
	alarm(GROUP_LOOKUP_S);
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

/* Reads a number; the last one, (gid_t)-1, means no group. */
static bool read_number(const char *name, gid_t *gid)
{
	unsigned long number;

	if (strspn(name, "0123456789") != strlen(name) || strlen(name) > 10)
		return false;
	number = strtoul(name, NULL, 10);
	if (number >= UINT32_MAX)
		return false;
	*gid = (gid_t)number;
	return true;
}

enum status group_find(const char *option, const char *name, gid_t *gid, char *why, size_t why_size)
{
	struct looking looking = {.name = name};
	char reason[ISOLATED_WHY_MAX];
	enum status status;

	*gid = (gid_t)-1;
	if (!name[0] || read_number(name, gid))
		return STATUS_OK;
	status = isolated_run(look_up_group, &looking, sizeof(looking), reason);
	if (!status)
		status = judge_lookup(&looking, reason);
	if (!status)
		*gid = looking.gid;
	else if (status == STATUS_CONFIG)
		snprintf(why, why_size,
			"%s %s is no group of this host: leave it empty, or name an existing group",
			option, name);
	else
		snprintf(why, why_size, "%s %s cannot be looked up: %s", option, name, reason);
	return status;
}
