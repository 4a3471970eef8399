#include "state/halt.h"

#include "base/log.h"
#include "state/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/*
 * Writes the name of the state into the mark beside the sockets. An empty mark counts for any
 * state.
 */
static void write_halt_mark(const struct settings *settings)
{
	const char *state = settings->state_directory;
	char path[PATH_MAX];
	int fd;

	disk_mark_path(path, settings->socket_directory, DISK_HALTED);
	fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	if (fd < 0)
		return;
	if (write(fd, state, strlen(state)) != (ssize_t)strlen(state) && ftruncate(fd, 0) < 0)
		log_line(LOG_LEVEL_WARNING, "mark_failed", "file=%s", path);
	close(fd);
}

/* Returns true if the mark at @path, beside the sockets, exists and belongs to this state. */
static bool is_ours(const struct settings *settings, const char *path)
{
	char state[SETTINGS_PATH_MAX + 1];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len;

	if (fd < 0)
		return errno != ENOENT && access(path, F_OK) == 0;
	len = read(fd, state, sizeof(state) - 1);
	close(fd);
	if (len <= 0)
		return true;
	state[len] = '\0';
	return strcmp(state, settings->state_directory) == 0;
}

bool halt_mark(const struct settings *settings)
{
	bool is_marked = disk_mark_set(settings->socket_directory, DISK_HALTED);

	if (is_marked)
		write_halt_mark(settings);
	if (disk_mark_set(settings->state_directory, DISK_HALTED) || is_marked)
		return true;
	log_line(LOG_LEVEL_ERROR, "halt_not_marked",
		"remedy=\"do not start the ledger again before a reboot\"");
	return false;
}

bool halt_is_marked(const struct settings *settings, char path[PATH_MAX])
{
	disk_mark_path(path, settings->state_directory, DISK_HALTED);
	if (access(path, F_OK) == 0)
		return true;
	disk_mark_path(path, settings->socket_directory, DISK_HALTED);
	return is_ours(settings, path);
}

void halt_clear(const struct settings *settings)
{
	char path[PATH_MAX];

	disk_mark_clear(settings->state_directory, DISK_HALTED);
	disk_mark_path(path, settings->socket_directory, DISK_HALTED);
	if (is_ours(settings, path))
		disk_mark_clear(settings->socket_directory, DISK_HALTED);
}

void halt_forget_cached(const struct settings *settings, const char *directory)
{
	char path[PATH_MAX];

	if (halt_is_marked(settings, path))
		disk_forget_cached(directory);
}
