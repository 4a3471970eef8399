#include "state/lock.h"

#include "base/directory.h"
#include "base/lock.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define RESTORING "restoring"

static void close_if(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void state_hold_release(struct state_hold *hold)
{
	close_if(&hold->db);
	close_if(&hold->directory);
	close_if(&hold->lock);
	close_if(&hold->place);
}

/*
 * Takes the lock beside the sockets. If it cannot be created, the lock in the state must suffice.
 */
static enum status take_place(struct state_hold *hold, const char *socket_directory, int wait_ms,
	char *why, size_t why_size)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/" STATE_HOLD_PLACE, socket_directory);
	hold->place = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (hold->place >= 0 && lock_wait(hold->place, wait_ms)) {
		/* A lock file without text counts for any state. */
		if (ftruncate(hold->place, 0) < 0 ||
			write(hold->place, hold->path, strlen(hold->path)) < 0)
			log_line(LOG_LEVEL_WARNING, "lock_not_signed", "file=%s error=\"%s\"", path,
				strerror(errno));
		return STATUS_OK;
	}
	if (hold->place >= 0 && errno == EWOULDBLOCK) {
		snprintf(why, why_size,
			"another ledger serves at %s: stop it, or give this one "
			"another socket_directory",
			socket_directory);
		close_if(&hold->place);
		return STATUS_BUSY;
	}
	log_line(LOG_LEVEL_WARNING, "lock_failed", "file=%s error=\"%s\"", path, strerror(errno));
	close_if(&hold->place);
	return STATUS_OK;
}

static enum status open_directories(struct state_hold *hold, char *why, size_t why_size)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
	int error;

	hold->directory = open(hold->path, flags);
	if (hold->directory >= 0)
		hold->db = openat(hold->directory, "db", flags | O_NOFOLLOW);
	if (hold->db >= 0)
		return STATUS_OK;
	error = errno;
	snprintf(why, why_size, "%s%s: %s", hold->path, hold->directory < 0 ? "" : "/db",
		strerror(error));
	return status_of_errno(error);
}

/* A user may delete the lock file while a ledger runs. The lock on db/ stays. */
static enum status lock_data(const struct state_hold *hold, char *why, size_t why_size)
{
	if (flock(hold->db, LOCK_EX | LOCK_NB) == 0)
		return STATUS_OK;
	snprintf(why, why_size,
		"%s/db is in use by another ledger, though its lock is gone: end that "
		"process, and start the ledger again",
		hold->path);
	return STATUS_BUSY;
}

enum status state_hold_take(struct state_hold *hold, const char *path, const char *socket_directory,
	int wait_ms, char *why, size_t why_size)
{
	enum status status;

	*hold = (struct state_hold){.path = path,
		.directory = -1,
		.db = -1,
		.lock = -1,
		.place = -1};
	status = state_dir_check(path, hold->installation, why, why_size);
	if (status)
		return status;
	hold->lock = state_dir_lock(path, wait_ms, why, why_size);
	status = hold->lock < 0 ? STATUS_BUSY : STATUS_OK;
	if (!status && socket_directory)
		status = take_place(hold, socket_directory, wait_ms, why, why_size);
	/* The previous holder may have restored another installation. */
	if (!status)
		status = state_dir_check(path, hold->installation, why, why_size);
	if (!status)
		status = open_directories(hold, why, why_size);
	if (!status)
		status = lock_data(hold, why, why_size);
	if (!status)
		status = state_hold_check(hold, why, why_size);
	if (status)
		state_hold_release(hold);
	return status;
}

/*
 * Checks that @name, relative to @directory, is the file that @fd is open on. Returns false with
 * errno; errno 0 means another file.
 */
static bool leads_to(int directory, const char *name, int fd)
{
	struct stat named, held;

	if (fstatat(directory, name, &named, 0) < 0 || fstat(fd, &held) < 0)
		return false;
	errno = 0;
	return named.st_dev == held.st_dev && named.st_ino == held.st_ino;
}

/* Reports why @what is not the held file, by errno. */
static enum status refuse_lock(const struct state_hold *hold, const char *what, char *why,
	size_t why_size)
{
	const int error = errno;

	if (error && error != ENOENT && error != ENOTDIR) {
		snprintf(why, why_size, "%s%s: %s", hold->path, what, strerror(error));
		return status_of_errno(error);
	}
	snprintf(why, why_size,
		"%s%s is %s: it was moved, replaced, mounted over or unmounted while the "
		"ledger ran. Put the state back that it had, and start the ledger again",
		hold->path, what, error ? "gone" : "not the one that this ledger locked");
	return STATUS_CONFIG;
}

enum status state_hold_check(const struct state_hold *hold, char *why, size_t why_size)
{
	char installation[STATE_INSTALLATION_MAX];
	enum status status;

	if (!leads_to(AT_FDCWD, hold->path, hold->directory))
		return refuse_lock(hold, "", why, why_size);
	if (!leads_to(hold->directory, "db", hold->db))
		return refuse_lock(hold, "/db", why, why_size);
	if (!leads_to(hold->directory, "lock", hold->lock))
		return refuse_lock(hold, "/lock", why, why_size);
	if (faccessat(hold->directory, RESTORING, F_OK, 0) == 0) {
		snprintf(why, why_size,
			"a restore to %s (or an import) is under way, or was "
			"interrupted: repeat it",
			hold->path);
		return STATUS_CONFIG;
	}
	status = state_dir_check(hold->path, installation, why, why_size);
	if (status || strcmp(installation, hold->installation) == 0)
		return status;
	snprintf(why, why_size,
		"%s holds installation %s, and the ledger was started for %s: start it "
		"again",
		hold->path, installation, hold->installation);
	return STATUS_CONFIG;
}

bool state_hold_is_running(const char *path, const char *socket_directory)
{
	char place[PATH_MAX], state[PATH_MAX];
	ssize_t len;
	bool runs;
	int fd;

	snprintf(place, sizeof(place), "%s/" STATE_HOLD_PLACE, socket_directory);
	fd = open(place, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return false;
	runs = flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
	len = read(fd, state, sizeof(state));
	close(fd);
	return runs &&
		(len <= 0 ||
			((size_t)len == strlen(path) && memcmp(state, path, (size_t)len) == 0));
}
