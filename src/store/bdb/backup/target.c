/* target - checks and opens the directory that a backup is written to. */
#include "store/bdb/backup/job.h"

#include "base/text.h"
#include "state/directory.h"
#include "store/bdb/env/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEPTH_MAX 128
/* The growth of the retained logs during a backup. */
#define LOGS_MEANWHILE (64 * 1024 * 1024)

static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

bool backup_is_for_export(const struct backup_job *job)
{
	const char *path = job->backup->directory, *state = job->options->state_directory;
	size_t len = state ? strlen(state) : 0;

	return state && strncmp(path, state, len) == 0 &&
		strcmp(path + len, "/" STATE_EXPORT_BACKUP) == 0;
}

/* Checks a directory above the target. */
static bool check_above(struct backup_job *job, const struct stat *above)
{
	const char *path = job->backup->directory;
	struct stat own;

	if (fstat(job->home, &own) == 0 && same_file(above, &own))
		return backup_fail(job,
			"%s lies in the ledger's data, and would be lost with "
			"them: give a directory elsewhere",
			path);
	if (job->options->state_directory && stat(job->options->state_directory, &own) == 0 &&
		same_file(above, &own) && !backup_is_for_export(job))
		return backup_fail(job,
			"%s lies in the state directory, and would be lost "
			"with it: give a directory elsewhere",
			path);
	if ((above->st_mode & S_IWOTH) && !(above->st_mode & S_ISVTX))
		return backup_fail(job,
			"any user may change a directory above %s: give "
			"another directory, or `chmod o-w` that one",
			path);
	return true;
}

/* Checks the target and every directory above it. */
static bool check_place(struct backup_job *job)
{
	int at = openat(job->target, ".", O_PATH | O_DIRECTORY | O_CLOEXEC), up;
	struct stat here, above;
	bool fine = true;

	for (int depth = 0; fine && at >= 0 && depth < DEPTH_MAX; depth++) {
		fine = fstat(at, &here) == 0 && check_above(job, &here);
		up = openat(at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
		close(at);
		at = up;
		if (up >= 0 && fstat(up, &above) == 0 && same_file(&here, &above))
			break;
	}
	if (at >= 0)
		close(at);
	return fine;
}

static bool check_owner(struct backup_job *job)
{
	const char *path = job->backup->directory;
	struct stat st;

	if (fstat(job->target, &st) < 0)
		return backup_fail(job, "%s: %s", path, strerror(errno));
	if (st.st_uid != geteuid())
		return backup_fail(job,
			"%s belongs to uid %ld, the ledger runs as uid %ld; give it "
			"to that user",
			path, (long)st.st_uid, (long)geteuid());
	if (st.st_mode & 0077)
		return backup_fail(job,
			"%s has mode %04o and is open to others; close it with "
			"`chmod 0700 %s`",
			path, (unsigned int)st.st_mode & 07777, path);
	return true;
}

/* Without a manifest, the directory may hold only the remains of an incomplete backup. */
static bool check_empty(struct backup_job *job)
{
	const char *const own[] = {".", "..", MANIFEST_NEW_NAME, manifest_folders[0],
		manifest_folders[1]};
	int fd = openat(job->target, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	bool fine = true;
	size_t i;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return backup_fail(job, "cannot read %s: %s", job->backup->directory,
			strerror(errno));
	}
	while (fine && (entry = readdir(dir))) {
		for (i = 0; i < 5 && strcmp(own[i], entry->d_name) != 0; i++)
			;
		fine = i < 5;
		if (!fine)
			backup_fail(job,
				"%s holds %s and no backup: give it a directory of its own",
				job->backup->directory, entry->d_name);
	}
	closedir(dir);
	return fine;
}

static bool read_old_manifest(struct backup_job *job)
{
	const char *path = job->backup->directory;
	char why[BACKUP_WHY_SIZE] = "";
	enum status status = manifest_read(&job->old, job->target, why, sizeof(why));

	if (status == STATUS_NOT_FOUND)
		return check_empty(job);
	if (status)
		return backup_fail(job, "%s: %s; move it away, or give another directory", path,
			why);
	job->has_old = true;
	if (strcmp(job->old.installation, job->backup->installation) != 0)
		return backup_fail(job,
			"%s holds the backup of another installation, %s: give "
			"a directory of its own",
			path, job->old.installation);
	return true;
}

/*
 * Sets the space that must stay free for the ledger. If less is free already, a backup to another
 * file system is still allowed.
 */
static void set_floor(struct backup_job *job)
{
	uint64_t room = files_free_bytes(job->home);
	struct stat home, target;

	job->floor = 2 * job->options->low_water_bytes;
	if (fstat(job->home, &home) == 0 && fstat(job->target, &target) == 0 &&
		home.st_dev != target.st_dev && room < job->floor + LOGS_MEANWHILE)
		job->floor = room > LOGS_MEANWHILE ? room - LOGS_MEANWHILE : 0;
}

/*
 * Returns advice for errno @error of a target, or "" if the error text suffices. Under systemd a
 * path may be read-only or missing only for the service.
 */
static const char *target_advice(int error)
{
	switch (error) {
	case EROFS:
		return "; if other programs can write there, it is ProtectSystem= of the ledger's unit: "
		       "allow it with ReadWritePaths= (systemctl edit creditbridge-ledger) and "
		       "restart the ledger, or back up to /var/backups/creditbridge";
	case ENOENT:
		return "; create the folder above it, outside of /home and /tmp, which the ledger's unit "
		       "hides";
	case EACCES:
	case EPERM:
		return "; create it for the ledger's user, and let that user pass the folders above, or "
		       "back up to /var/backups/creditbridge";
	default:
		return "";
	}
}

bool backup_open_target(struct backup_job *job)
{
	const char *path = job->backup->directory;

	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return backup_fail(job, "the ledger, as uid %ld, cannot create %s: %s%s",
			(long)geteuid(), path, strerror(errno), target_advice(errno));
	job->target = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (job->target < 0)
		return backup_fail(job, "the ledger, as uid %ld, cannot open %s: %s%s",
			(long)geteuid(), path, strerror(errno), target_advice(errno));
	if (!check_owner(job) || !check_place(job))
		return false;
	if (flock(job->target, LOCK_EX | LOCK_NB) < 0)
		return backup_fail(job, "%s %s", path,
			errno == EWOULDBLOCK
				? "is in use by a restore or by another ledger's backup: wait, or give "
				  "another directory"
				: "cannot be locked");
	set_floor(job);
	return read_old_manifest(job);
}

bool backup_new_folder(struct backup_job *job)
{
	const char *name = manifest_folders[0];

	if (job->has_old && strcmp(job->old.folder, name) == 0)
		name = manifest_folders[1];
	if (!files_remove_folder(job->target, name) || mkdirat(job->target, name, 0700) < 0)
		return backup_fail(job, "cannot make %s/%s anew: %s%s", job->backup->directory,
			name, strerror(errno), target_advice(errno));
	text_copy(job->new.folder, sizeof(job->new.folder), name);
	job->folder = openat(job->target, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (job->folder < 0)
		return backup_fail(job, "cannot open %s/%s: %s", job->backup->directory, name,
			strerror(errno));
	return true;
}
