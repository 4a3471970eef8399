#include "ledger/sockets.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
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
static int make(const char *directory, const char *name, mode_t mode, gid_t group, char *why,
	size_t why_size)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd, len;

	len = snprintf(address.sun_path, sizeof(address.sun_path), "%s/%s", directory, name);
	if (len < 0 || (size_t)len >= sizeof(address.sun_path)) {
		snprintf(why, why_size, "socket_directory %s is too long for a socket's name",
			directory);
		return -1;
	}
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd >= 0 && (unlink(address.sun_path) == 0 || errno == ENOENT) &&
		bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
		chmod(address.sun_path, mode) == 0 &&
		(group == (gid_t)-1 || chown(address.sun_path, (uid_t)-1, group) == 0) &&
		listen(fd, BACKLOG) == 0)
		return fd;
	snprintf(why, why_size, "cannot make the socket %s: %s", address.sun_path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

static void take_from_systemd(struct sockets *sockets)
{
	char **names = NULL;
	int count = sd_listen_fds_with_names(1, &names);

	for (int i = 0; i < count; i++) {
		int fd = SD_LISTEN_FDS_START + i;

		if (strcmp(names[i], "edge") == 0)
			sockets->edge = fd;
		else if (strcmp(names[i], "admin") == 0)
			sockets->admin = fd;
		fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
		free(names[i]);
	}
	free(names);
}

enum status sockets_open(const struct settings *settings, struct sockets *sockets, char *why,
	size_t why_size)
{
	gid_t group = (gid_t)-1;
	const struct group *entry;
	mode_t mask;

	*sockets = (struct sockets){-1, -1};
	take_from_systemd(sockets);
	if (settings->socket_group[0]) {
		entry = getgrnam(settings->socket_group);
		if (!entry) {
			snprintf(why, why_size, "socket_group %s is no group of this host",
				settings->socket_group);
			return STATUS_CONFIG;
		}
		group = entry->gr_gid;
	}
	mask = umask(0177);
	if (sockets->edge < 0)
		sockets->edge = make(settings->socket_directory, SOCKETS_EDGE, 0660, group, why,
			why_size);
	if (sockets->edge >= 0 && sockets->admin < 0)
		sockets->admin = make(settings->socket_directory, SOCKETS_ADMIN, 0600, (gid_t)-1,
			why, why_size);
	umask(mask);
	return sockets->edge >= 0 && sockets->admin >= 0 ? STATUS_OK : STATUS_CONFIG;
}
