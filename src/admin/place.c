#include "admin/place.h"

#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static enum outcome fail_path(struct session *session, const char *text)
{
	return session_fail(session, OUTCOME_FAILED, "failed", "cannot use %s: %s", text,
		strerror(errno));
}

enum outcome place_absolute(struct session *session, const char *text, char *path, size_t size)
{
	char whole[PATH_MAX], parent[PATH_MAX], last[PATH_MAX];
	bool fits;

	if (realpath(text, whole))
		return text_copy(path, size, whole)
			? OUTCOME_DONE
			: session_usage(session, "the path '%s' is too long", text);
	if (errno != ENOENT)
		return fail_path(session, text);
	/* The parent directory must exist. */
	if (!text_copy(parent, sizeof(parent), text) || !text_copy(last, sizeof(last), text))
		return session_usage(session, "the path '%s' is too long", text);
	if (!realpath(dirname(parent), whole))
		return fail_path(session, dirname(parent));
	fits = (size_t)snprintf(path, size, "%s/%s", strcmp(whole, "/") == 0 ? "" : whole,
		       basename(last)) < size;
	return fits ? OUTCOME_DONE : session_usage(session, "the path '%s' is too long", text);
}

static bool is_empty(int fd)
{
	int own = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = own < 0 ? NULL : fdopendir(own);
	const struct dirent *entry;
	bool empty = dir != NULL;

	while (empty && (entry = readdir(dir)))
		empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
	if (dir)
		closedir(dir);
	else if (own >= 0)
		close(own);
	return empty;
}

enum outcome place_give(struct session *session, const char *path, uid_t uid)
{
	enum outcome code = OUTCOME_DONE;
	struct stat st;
	int fd;

	if (geteuid() != 0 || uid == 0)
		return OUTCOME_DONE;
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return fail_path(session, path);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		code = fail_path(session, path);
	else if (st.st_uid == 0 && !is_empty(fd))
		code = session_fail(session, OUTCOME_FAILED, "failed",
			"%s belongs to root and is not empty, so its owner was not changed: "
			"give an empty directory, or chown it",
			path);
	else if (st.st_uid == 0 && fchown(fd, uid, (gid_t)-1) < 0)
		code = fail_path(session, path);
	if (fd >= 0)
		close(fd);
	return code;
}

bool place_program(const char *name, const char *directory, char *path, size_t size)
{
	char own[PATH_MAX] = "";

	if (readlink("/proc/self/exe", own, sizeof(own) - 1) > 0) {
		snprintf(path, size, "%s/%s", dirname(own), name);
		if (access(path, X_OK) == 0)
			return true;
	}
	snprintf(path, size, "%s/%s", directory, name);
	return access(path, X_OK) == 0;
}
