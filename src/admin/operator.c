#include "admin/operator.h"

#include "base/no_dump.h"
#include "base/text.h"
#include "wire/signature.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint32_t read_login_uid(void)
{
	FILE *file = fopen("/proc/self/loginuid", "re");
	unsigned long uid = UINT32_MAX;

	if (!file)
		return UINT32_MAX;
	if (fscanf(file, "%10lu", &uid) != 1 || uid > UINT32_MAX)
		uid = UINT32_MAX;
	fclose(file);
	return (uint32_t)uid;
}

bool operator_identify(struct operator* operator)
{
	const char *sudo_user = getuid() == 0 ? getenv("SUDO_USER") : NULL;

	memset(operator, 0, sizeof(*operator));
	operator->uid = getuid();
	operator->login_uid = read_login_uid();
	if (sudo_user && text_is_utf8_clean(sudo_user, strlen(sudo_user)))
		text_copy(operator->sudo_user, sizeof(operator->sudo_user), sudo_user);
	return signature_random_id(operator->operation_id, sizeof(operator->operation_id));
}

void operator_user_name(uid_t uid, char *name, size_t size)
{
	const struct passwd *user = getpwuid(uid);

	if (user)
		snprintf(name, size, "%s", user->pw_name);
	else
		snprintf(name, size, "%lu", (unsigned long)uid);
}

bool operator_find_user(const char *name, uid_t *uid, gid_t *gid)
{
	const struct passwd *user = getpwnam(name);
	unsigned long number;
	char *end;

	if (!user && *name >= '0' && *name <= '9') {
		number = strtoul(name, &end, 10);
		user = *end || number >= UINT32_MAX ? NULL : getpwuid((uid_t)number);
	}
	if (!user)
		return false;
	*uid = user->pw_uid;
	*gid = user->pw_gid;
	return true;
}

bool operator_become(uid_t uid, char *why, size_t why_size)
{
	const struct passwd *user;

	if (geteuid() != 0 || uid == 0)
		return true;
	errno = 0;
	user = getpwuid(uid);
	if (!user) {
		snprintf(why, why_size, "user %lu has no account", (unsigned long)uid);
		return false;
	}
	if (initgroups(user->pw_name, user->pw_gid) || setgid(user->pw_gid) || setuid(uid)) {
		snprintf(why, why_size, "cannot become user %s: %s", user->pw_name,
			strerror(errno));
		return false;
	}
	/* If root can be regained, the process has not dropped it. */
	if (setuid(0) == 0) {
		snprintf(why, why_size, "root's rights could not be given up");
		return false;
	}
	no_dump_begin();
	return true;
}
