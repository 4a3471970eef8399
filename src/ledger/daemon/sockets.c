#include "ledger/daemon/sockets.h"

#include "base/acl.h"
#include "base/group.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#define BACKLOG 4096

/* Sets mode and group before anyone can connect: between bind() and listen(). */
static enum status make_socket(int *made, const char *directory, const char *name, mode_t mode,
	gid_t group, char *why, size_t why_size)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd, len, error;

	len = snprintf(address.sun_path, sizeof(address.sun_path), "%s/%s", directory, name);
	if (len < 0 || (size_t)len >= sizeof(address.sun_path)) {
		snprintf(why, why_size,
			"socket_directory %s is longer than a socket's path "
			"may be: shorten it",
			directory);
		return STATUS_CONFIG;
	}
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd >= 0 && (unlink(address.sun_path) == 0 || errno == ENOENT) &&
		bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
		chmod(address.sun_path, mode) == 0 &&
		(group == (gid_t)-1 || chown(address.sun_path, (uid_t)-1, group) == 0) &&
		listen(fd, BACKLOG) == 0) {
		*made = fd;
		return STATUS_OK;
	}
	error = errno;
	snprintf(why, why_size,
		"cannot make the socket %s: %s; see that its directory exists "
		"and belongs to this user",
		address.sun_path, strerror(error));
	if (fd >= 0)
		close(fd);
	return status_of_errno(error);
}

/*
 * If systemd holds a socket and the ledger does not take it, the socket is lost: a new one takes
 * its name, and the next ledger gets the one that no client can reach. Therefore the ledger takes
 * all of them or does not start.
 */
static enum status take_from_systemd(struct sockets *sockets, char *why, size_t why_size)
{
	char **names = NULL;
	int count = sd_listen_fds_with_names(1, &names);

	if (count < 0) {
		snprintf(why, why_size,
			"cannot take the sockets that systemd passes: %s; see "
			"creditbridge-ledger-*.socket",
			strerror(-count));
		return count == -ENOMEM ? STATUS_NOMEM : STATUS_CONFIG;
	}
	for (int i = 0; i < count; i++) {
		int fd = SD_LISTEN_FDS_START + i;

		if (strcmp(names[i], "edge") == 0)
			sockets->edge = fd;
		else if (strcmp(names[i], "admin") == 0)
			sockets->admin = fd;
		else if (strcmp(names[i], "desk") == 0)
			sockets->desk = fd;
		fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
		free(names[i]);
	}
	free(names);
	return STATUS_OK;
}

/* Returns true if the web console is set up. A file that cannot be examined counts: its reader logs why. */
static bool has_front_file(const struct settings *settings)
{
	return settings->console_front_file[0] &&
		(access(settings->console_front_file, F_OK) == 0 || errno != ENOENT);
}

enum status sockets_open(const struct settings *settings, struct sockets *sockets, char *why,
	size_t why_size)
{
	enum status status;
	gid_t group;
	mode_t mask;

	*sockets = (struct sockets){-1, -1, -1, NULL, {(gid_t)-1, (gid_t)-1}, -1};
	status = take_from_systemd(sockets, why, why_size);
	if (!status)
		status = group_find("socket_group", settings->socket_group, &group, why, why_size);
	if (status)
		return status;
	mask = umask(0177);
	if (sockets->edge < 0)
		status = make_socket(&sockets->edge, settings->socket_directory, SOCKETS_EDGE, 0660,
			group, why, why_size);
	if (!status && sockets->admin < 0)
		status = make_socket(&sockets->admin, settings->socket_directory, SOCKETS_ADMIN,
			0600, (gid_t)-1, why, why_size);
	if (!status && settings->cell_listen[0])
		status = make_socket(&sockets->peer, settings->socket_directory, SOCKETS_PEER, 0600,
			(gid_t)-1, why, why_size);
	if (!status && sockets->desk < 0 && has_front_file(settings))
		status = make_socket(&sockets->desk, settings->socket_directory, SOCKETS_DESK, 0600,
			(gid_t)-1, why, why_size);
	umask(mask);
	return status;
}

/* A group that does not exist is usual on a host without Debian's package, which makes it. */
static gid_t find_role_group(const char *option, const char *name)
{
	char why[256];
	gid_t gid;
	enum status status = group_find(option, name, &gid, why, sizeof(why));

	if (status)
		log_line(status == STATUS_CONFIG ? LOG_LEVEL_INFO : LOG_LEVEL_WARNING, "no_role",
			"group=%s reason=\"%s\"", name, why);
	return gid;
}

/* Lets the @count groups @gids use the socket @fd. Its path is read from it: systemd may have made it elsewhere. */
static bool admit_groups(int fd, const gid_t *gids, size_t count, char *why, size_t why_size)
{
	struct sockaddr_un address;
	socklen_t len = sizeof(address);

	memset(&address, 0, sizeof(address));
	if (getsockname(fd, (struct sockaddr *)&address, &len) == 0)
		return acl_set_groups(address.sun_path, gids, count, why, why_size);
	snprintf(why, why_size, "the path of a socket is unknown: %s", strerror(errno));
	return false;
}

/* The console's process is of a group that the ledger's user is not in, so that user could not
 * chown the socket. */
static void admit_console(const struct settings *settings, int desk)
{
	gid_t gid = find_role_group("console_group", settings->console_group);
	char why[512];

	if (!admit_groups(desk, &gid, gid != (gid_t)-1, why, sizeof(why)))
		log_line(LOG_LEVEL_WARNING, "no_console", "reason=\"%s\"", why);
}

void sockets_admit_groups(const struct settings *settings, struct sockets *sockets)
{
	struct role_groups *groups = &sockets->groups;
	gid_t gids[ACL_GROUPS_MAX];
	size_t count = 0;
	char why[512];

	groups->read = find_role_group("read_group", settings->read_group);
	groups->support = find_role_group("support_group", settings->support_group);
	if (groups->read != (gid_t)-1)
		gids[count++] = groups->read;
	if (groups->support != (gid_t)-1 && groups->support != groups->read)
		gids[count++] = groups->support;
	if (!admit_groups(sockets->admin, gids, count, why, sizeof(why))) {
		*groups = (struct role_groups){(gid_t)-1, (gid_t)-1};
		if (count)
			log_line(LOG_LEVEL_WARNING, "no_roles", "reason=\"%s\"", why);
	}
	if (sockets->desk >= 0)
		admit_console(settings, sockets->desk);
}

/* Gives the directory at @fd the mode and the group of the processes that may open edge.sock. */
static bool share_with_group(int fd, const char *edge)
{
	struct stat info, model;

	if (fstat(fd, &info) < 0 || stat(edge, &model) < 0)
		return false;
	if (info.st_uid != geteuid()) {
		errno = EPERM;
		return false;
	}
	return (info.st_gid == model.st_gid || fchown(fd, (uid_t)-1, model.st_gid) == 0) &&
		fchmod(fd, S_ISVTX | S_IRWXU | S_IRWXG) == 0;
}

bool sockets_make_together(const char *directory, char *why, size_t why_size)
{
	char path[PATH_MAX], edge[PATH_MAX];
	bool made = false;
	int fd, error;

	snprintf(path, sizeof(path), "%s/" SETTINGS_TOGETHER, directory);
	snprintf(edge, sizeof(edge), "%s/" SOCKETS_EDGE, directory);
	if (mkdir(path, S_IRWXU) < 0 && errno != EEXIST) {
		snprintf(why, why_size, "cannot make %s: %s", path, strerror(errno));
		return false;
	}
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	made = fd >= 0 && share_with_group(fd, edge);
	error = errno;
	if (fd >= 0)
		close(fd);
	if (!made)
		snprintf(why, why_size, "cannot give %s to the group of " SOCKETS_EDGE ": %s", path,
			strerror(error));
	return made;
}
