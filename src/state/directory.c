#include "state/directory.h"

#include "base/directory.h"
#include "base/lock.h"
#include "base/text.h"
#include "state/identity.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PID_TEXT_MAX 16

/* The buffer for the reason that the operator reads. */
struct why {
	char *text;
	size_t size;
};

__attribute__((format(printf, 2, 3))) static enum status refuse_directory(const struct why *why,
	const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why->text, why->size, format, args);
	va_end(args);
	return STATUS_CONFIG;
}

/* Reports errno. A disk that failed or is full is not a configuration error. */
static enum status directory_failed(const struct why *why, const char *path, const char *what)
{
	const int error = errno;
	const enum status status = status_of_errno(error);
	const char *disk = status == STATUS_IO ? "the disk failed: "
		: status == STATUS_FULL        ? "the disk is full: "
					       : "";

	refuse_directory(why, "%s%s cannot be %s: %s", disk, path, what, strerror(error));
	return status;
}

/* Like directory_failed(), for a call that only reads. */
static enum status cannot_see(const struct why *why, const char *path)
{
	const int error = errno;

	refuse_directory(why, "%s: %s", path, strerror(error));
	return status_of_errno(error);
}

/* Checks the file type and the owner of @path, and that its mode has no bits besides @allowed. */
static enum status check_directory(const char *path, mode_t allowed, const struct why *why)
{
	struct stat st;

	if (stat(path, &st) < 0) {
		if (errno == ENOENT)
			return refuse_directory(why,
				"%s does not exist; create it with "
				"`creditbridgectl init`",
				path);
		return cannot_see(why, path);
	}
	if (!S_ISDIR(st.st_mode))
		return refuse_directory(why,
			"%s is not a directory: move it away, or correct the path", path);
	if (st.st_uid != geteuid())
		return refuse_directory(why,
			"%s belongs to uid %ld, this process runs as uid %ld; run it as "
			"the owner of the state",
			path, (long)st.st_uid, (long)geteuid());
	if (st.st_mode & 0777 & ~(0700 | allowed))
		return refuse_directory(why,
			"%s has mode %04o and is open to others; close it with "
			"`chmod 0700 %s`",
			path, (unsigned int)st.st_mode & 07777, path);
	return STATUS_OK;
}

static enum status open_directory(const char *path, int *fd, const struct why *why)
{
	*fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return *fd < 0 ? cannot_see(why, path) : STATUS_OK;
}

/*
 * Checks that the directory is empty, except for the remains of an interrupted creation or of a
 * first attempt to take the lock.
 */
static enum status check_empty(int fd, const char *path, const struct why *why)
{
	static const char identity_new[] = STATE_IDENTITY DIRECTORY_NEW;
	static const char *const leftovers[] = {".", "..", "lock", "installation.new",
		STATE_IDENTITY, identity_new};
	const size_t count = sizeof(leftovers) / sizeof(leftovers[0]);
	enum status status = STATUS_OK;
	struct dirent *entry;
	DIR *dir;
	int own;

	if (faccessat(fd, "installation", F_OK, 0) == 0)
		return refuse_directory(why,
			"%s already holds a ledger; start creditbridge-ledger to "
			"use it, or move it away first",
			path);
	if (faccessat(fd, "restoring", F_OK, 0) == 0)
		return refuse_directory(why,
			"a restore to %s (or an import) is under way, or was interrupted: "
			"repeat it",
			path);
	/*
	 * An empty db/ is a leftover, too. If db/ contains data, it stays, and the loop below
	 * finds it.
	 */
	unlinkat(fd, "db", AT_REMOVEDIR);
	own = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = own < 0 ? NULL : fdopendir(own);
	if (!dir) {
		status = cannot_see(why, path);
		if (own >= 0)
			close(own);
		return status;
	}
	while (status == STATUS_OK && (entry = readdir(dir))) {
		size_t i = 0;

		while (i < count && strcmp(leftovers[i], entry->d_name) != 0)
			i++;
		if (i == count)
			status = refuse_directory(why,
				"%s is not empty: it holds %s. Give an empty "
				"directory, or move that away",
				path, entry->d_name);
	}
	closedir(dir);
	return status;
}

/*
 * Writes the identity, then the file whose presence means "initialised". That file is either
 * complete and durable, or absent.
 */
static bool write_installation(int dir, const char *path, const char *installation)
{
	char line[STATE_INSTALLATION_MAX + 1];

	snprintf(line, sizeof(line), "%s\n", installation);
	return state_identity_write(dir, path, installation) &&
		directory_put_file(dir, "installation", line);
}

static bool is_installation(const char *text)
{
	return strlen(text) == STATE_INSTALLATION_MAX - 1 &&
		strspn(text, "0123456789abcdef") == STATE_INSTALLATION_MAX - 1;
}

enum status state_dir_create(const char *path, const char *installation, char *why, size_t why_size)
{
	struct why to = {why, why_size};
	enum status status;
	int fd, lock = -1;

	if (!is_installation(installation))
		return refuse_directory(&to, "an installation id is 32 lower-case hex characters");
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return directory_failed(&to, path, "created");
	status = check_directory(path, 0055, &to);
	if (status != STATUS_OK)
		return status;
	status = open_directory(path, &fd, &to);
	if (status != STATUS_OK)
		return status;
	status = check_empty(fd, path, &to);
	/* A ledger may hold the lock although none of its engines runs. */
	if (status == STATUS_OK && faccessat(fd, "lock", F_OK, 0) == 0) {
		lock = state_dir_lock(path, 0, why, why_size);
		status = lock < 0 ? STATUS_BUSY : STATUS_OK;
	}
	if (status != STATUS_OK)
		goto out;
	if (fchmod(fd, 0700) < 0 || !directory_sync_parent(fd) || mkdirat(fd, "db", 0700) < 0 ||
		!write_installation(fd, path, installation))
		status = directory_failed(&to, path, "initialised");
out:
	if (lock >= 0)
		close(lock);
	close(fd);
	return status;
}

/*
 * Reads the first line of the file @name, cut to @size - 1 bytes. Returns false and sets errno on
 * failure.
 */
static bool read_line(int dir, const char *name, char *text, size_t size)
{
	if (!directory_get_file(dir, name, text, size))
		return false;
	text[strcspn(text, "\n")] = '\0';
	return true;
}

enum status state_dir_check(const char *path, char *installation, char *why, size_t why_size)
{
	struct why to = {why, why_size};
	/*
	 * One byte more than an id needs, so that a longer text is not accepted as its beginning.
	 */
	char text[STATE_INSTALLATION_MAX + 2], file[PATH_MAX];
	enum status status;
	int fd;

	snprintf(file, sizeof(file), "%s/installation", path);
	status = check_directory(path, 0, &to);
	if (status != STATUS_OK)
		return status;
	status = open_directory(path, &fd, &to);
	if (status != STATUS_OK)
		return status;
	if (!read_line(fd, "installation", text, sizeof(text))) {
		if (errno == ENOENT && faccessat(fd, "restoring", F_OK, 0) == 0)
			status = refuse_directory(&to,
				"a restore to %s (or an import) is under way, or was "
				"interrupted: repeat it",
				path);
		else if (errno == ENOENT)
			status = refuse_directory(&to,
				"%s is not initialised: if its file system is "
				"mounted, initialise it with `creditbridgectl init`",
				path);
		else
			status = directory_failed(&to, file, "read");
	} else if (!is_installation(text)) {
		status = refuse_directory(&to,
			"%s is damaged: it must hold 32 lower-case hex characters; "
			"restore it from a backup",
			file);
	} else {
		text_copy(installation, STATE_INSTALLATION_MAX, text);
	}
	close(fd);
	return status;
}

/* Names the holder of the lock, as far as the lock file knows it. */
static void refuse_held(int dir, const char *path, const struct why *why)
{
	char pid[PID_TEXT_MAX];

	if (read_line(dir, "lock", pid, sizeof(pid)) && pid[0] &&
		strspn(pid, "0123456789") == strlen(pid))
		refuse_directory(why,
			"%s is in use by another ledger, process %s: stop that one first", path,
			pid);
	else
		refuse_directory(why, "%s is in use by another ledger: stop that one first", path);
}

/* Returns true if @name in the directory is the file that @fd is open on. */
static bool is_same_file(int dir, const char *name, int fd)
{
	struct stat named, opened;

	return fstatat(dir, name, &named, AT_SYMLINK_NOFOLLOW) == 0 && fstat(fd, &opened) == 0 &&
		named.st_dev == opened.st_dev && named.st_ino == opened.st_ino;
}

int state_dir_lock(const char *path, int wait_ms, char *why, size_t why_size)
{
	struct why to = {why, why_size};
	char pid[PID_TEXT_MAX];
	int dir, fd = -1;
	bool locked = false;

	if (open_directory(path, &dir, &to) != STATUS_OK)
		return -1;
	fd = openat(dir, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0) {
		refuse_directory(&to, "%s/lock cannot be locked: %s", path, strerror(errno));
		goto out;
	}
	if (!lock_wait(fd, wait_ms)) {
		if (errno == EWOULDBLOCK)
			refuse_held(dir, path, &to);
		else
			refuse_directory(&to, "%s/lock cannot be locked: %s", path,
				strerror(errno));
		goto out;
	}
	if (!is_same_file(dir, "lock", fd)) {
		refuse_directory(&to,
			"%s/lock was replaced meanwhile: see that no other ledger runs, and "
			"repeat this",
			path);
		goto out;
	}
	snprintf(pid, sizeof(pid), "%ld\n", (long)getpid());
	locked = ftruncate(fd, 0) == 0 && write(fd, pid, strlen(pid)) >= 0;
	/* The lock counts; its text only helps people. A full disk must not prevent a start. */
	if (!locked && (errno == ENOSPC || errno == EDQUOT))
		locked = true;
	if (!locked)
		refuse_directory(&to, "%s/lock cannot be locked: %s", path, strerror(errno));
out:
	if (!locked && fd >= 0) {
		close(fd);
		fd = -1;
	}
	close(dir);
	return fd;
}

/* Deletes the files that an interrupted restore left. */
static bool wipe_restore(int fd)
{
	int db = openat(fd, "db", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	DIR *dir = db < 0 ? NULL : fdopendir(db);
	struct dirent *entry;

	if (!dir) {
		if (db >= 0)
			close(db);
		return errno == ENOENT;
	}
	while ((entry = readdir(dir)))
		unlinkat(db, entry->d_name, 0);
	closedir(dir);
	unlinkat(fd, "created", 0);
	unlinkat(fd, STATE_IDENTITY, 0);
	return unlinkat(fd, "db", AT_REMOVEDIR) == 0;
}

/* Returns true if the state was initialised and no ledger was started on it. */
static bool is_fresh(int fd)
{
	int db = openat(fd, "db", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	DIR *dir = db < 0 ? NULL : fdopendir(db);
	unsigned int entries = 0;

	while (dir && readdir(dir))
		entries++;
	if (dir)
		closedir(dir);
	else if (db >= 0)
		close(db);
	/* . and .. */
	return entries == 2 && faccessat(fd, "created", F_OK, 0) < 0;
}

/* Creates the mark and an empty db/. The caller holds the lock. */
static bool begin_restore(int fd)
{
	int saved,
		mark = openat(fd, "restoring", O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (mark < 0)
		return false;
	close(mark);
	if (!directory_sync(fd)) {
		saved = errno;
		/* If the state was initialised and is unchanged, remove the mark. */
		if (faccessat(fd, "installation", F_OK, 0) == 0)
			unlinkat(fd, "restoring", 0);
		errno = saved;
		return false;
	}
	return (unlinkat(fd, "installation", 0) == 0 || errno == ENOENT) && wipe_restore(fd) &&
		mkdirat(fd, "db", 0700) == 0 && directory_sync(fd);
}

/* Reports why a restore to an existing state is refused. */
static enum status refuse_existing(const char *path, const struct why *why)
{
	int lock = state_dir_lock(path, 0, why->text, why->size);

	if (lock < 0)
		return STATUS_BUSY;
	close(lock);
	return refuse_directory(why,
		"%s already holds a ledger: only an empty state can be filled; move that "
		"one away",
		path);
}

/* Checks whether a restore may write to the directory. The lock is not held yet. */
static enum status check_restorable(int fd, const char *path, const struct why *why)
{
	if (faccessat(fd, "installation", F_OK, 0) == 0)
		return is_fresh(fd) ? STATUS_OK : refuse_existing(path, why);
	return faccessat(fd, "restoring", F_OK, 0) < 0 ? check_empty(fd, path, why) : STATUS_OK;
}

enum status state_dir_restore(const char *path, int *lock, char *why, size_t why_size)
{
	struct why to = {why, why_size};
	enum status status;
	int fd;

	*lock = -1;
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return directory_failed(&to, path, "created");
	status = check_directory(path, 0055, &to);
	if (status)
		return status;
	status = open_directory(path, &fd, &to);
	if (status)
		return status;
	status = check_restorable(fd, path, &to);
	if (!status) {
		*lock = state_dir_lock(path, 0, why, why_size);
		status = *lock < 0 ? STATUS_BUSY : STATUS_OK;
	}
	if (!status && faccessat(fd, "installation", F_OK, 0) == 0 && !is_fresh(fd))
		status = refuse_directory(&to,
			"a ledger was started on %s meanwhile: stop it, and "
			"repeat this",
			path);
	if (!status && (fchmod(fd, 0700) < 0 || !directory_sync_parent(fd) || !begin_restore(fd)))
		status = directory_failed(&to, path, "restored to");
	if (status && *lock >= 0) {
		close(*lock);
		*lock = -1;
	}
	close(fd);
	return status;
}

enum status state_dir_restored(const char *path, const char *installation, char *why,
	size_t why_size)
{
	struct why to = {why, why_size};
	enum status status;
	int fd;

	if (!is_installation(installation))
		return refuse_directory(&to,
			"the backup names no installation: it is damaged. Use "
			"another backup");
	status = open_directory(path, &fd, &to);
	if (status != STATUS_OK)
		return status;
	if (!write_installation(fd, path, installation) || unlinkat(fd, "restoring", 0) < 0 ||
		!directory_sync(fd))
		status = directory_failed(&to, path, "initialised");
	close(fd);
	return status;
}

enum status state_dir_abandon(const char *path, const char *installation, char *why,
	size_t why_size)
{
	struct why to = {why, why_size};
	enum status status;
	int fd;

	status = open_directory(path, &fd, &to);
	if (status != STATUS_OK)
		return status;
	if (!wipe_restore(fd) ||
		(installation &&
			(mkdirat(fd, "db", 0700) < 0 ||
				!write_installation(fd, path, installation))) ||
		unlinkat(fd, "restoring", 0) < 0 || !directory_sync(fd))
		status = directory_failed(&to, path, "emptied");
	close(fd);
	return status;
}
