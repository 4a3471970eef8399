/*
 * doctor_state - checks the files on disk: their owners, and which other users may read or write
 * them.
 */
#include "doctor/doctor.h"

#include "admin/operator.h"
#include "state/directory.h"
#include "state/identity.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Maximum files of a directory that are examined. */
#define FILES_MAX 20000
/* Maximum size of a file that contains a key. */
#define KEY_FILE_MAX 256
#define KEY_LENGTH   64

void doctor_caller(struct doctor *doctor)
{
	const char *state = doctor->settings->state_directory;
	char name[64], owner[64];
	struct stat st;

	operator_user_name(geteuid(), name, sizeof(name));
	if (geteuid() == 0) {
		doctor_pass(doctor, "root may look at everything");
		return;
	}
	if (stat(state, &st) < 0 && errno == ENOENT) {
		doctor_skip(doctor, "there is no data (see state_directory)");
		return;
	}
	if (stat(state, &st) < 0) {
		doctor_warn(doctor, "user %s may not even see %s", name, state);
		doctor_remedy(doctor, "call doctor as root");
		return;
	}
	if (st.st_uid == geteuid()) {
		doctor_pass(doctor, "user %s owns the data", name);
		return;
	}
	operator_user_name(st.st_uid, owner, sizeof(owner));
	doctor_warn(doctor, "user %s may not look at everything", name);
	doctor_remedy(doctor, "call doctor as root%s%s", st.st_uid ? " or " : "",
		st.st_uid ? owner : "");
}

/* Checks the file that distinguishes an initialised state from an empty directory. */
static void judge_installation(struct doctor *doctor, const char *state)
{
	char path[DOCTOR_PATH_MAX], text[STATE_INSTALLATION_MAX + 2] = "";
	FILE *file;

	doctor_path(path, state, "installation");
	file = fopen(path, "re");
	if (!file) {
		if (errno != ENOENT) {
			doctor_unseen(doctor, path, errno, "check the disk");
			return;
		}
		doctor_path(path, state, "restoring");
		if (access(path, F_OK) == 0) {
			doctor_fail(doctor,
				"a restore to %s (or an import) is under way, or was "
				"interrupted",
				state);
			doctor_remedy(doctor, "wait for it if it runs; else repeat it");
			return;
		}
		doctor_fail(doctor, "%s is not initialised", state);
		doctor_remedy(doctor,
			"mount its file system if it has one; else `creditbridgectl "
			"init`");
		return;
	}
	if (fread(text, 1, sizeof(text) - 1, file) < STATE_INSTALLATION_MAX - 1 ||
		strspn(text, "0123456789abcdef") != STATE_INSTALLATION_MAX - 1) {
		doctor_fail(doctor, "%s is damaged: it must hold 32 hex characters", path);
		doctor_remedy(doctor, "restore it from a backup");
	}
	fclose(file);
}

void doctor_state_directory(struct doctor *doctor)
{
	const char *path = doctor->settings->state_directory;
	char owner[64];
	struct stat st;

	if (stat(path, &st) < 0) {
		doctor_unseen(doctor, path, errno,
			"mount its file system if it has one; else "
			"`creditbridgectl init`");
		return;
	}
	if (!S_ISDIR(st.st_mode)) {
		doctor_fail(doctor, "%s is no directory", path);
		doctor_remedy(doctor, "move it away, or set state_directory");
		return;
	}
	operator_user_name(st.st_uid, owner, sizeof(owner));
	if (st.st_mode & 0077) {
		doctor_fail(doctor,
			"%s has mode %04o: others than user %s may get at it, and the "
			"ledger does not start",
			path, (unsigned int)st.st_mode & 07777, owner);
		doctor_remedy(doctor, "chmod 0700 %s", path);
	} else if ((st.st_mode & 0700) != 0700) {
		doctor_fail(doctor, "%s has mode %04o: its owner cannot use it", path,
			(unsigned int)st.st_mode & 07777);
		doctor_remedy(doctor, "chmod 0700 %s", path);
	}
	if (st.st_uid == 0) {
		doctor_warn(doctor, "it belongs to root, so that the ledger runs as root");
		doctor_remedy(doctor,
			"stop the ledger, chown -R %s to a user without rights, and run "
			"the ledger as that user",
			path);
	}
	judge_installation(doctor, path);
	if (!doctor->sheet->count)
		doctor_pass(doctor, "%s belongs to user %s only", path, owner);
}

/* Faults of the state's files. */
struct state_survey {
	uid_t owner;
	unsigned int files;
	unsigned int foreign;               /* files of other owners */
	unsigned int open;                  /* files that other users may write to */
	char foreign_name[DOCTOR_PATH_MAX]; /* the first of the files of other owners */
	char open_name[DOCTOR_PATH_MAX];
};

static void survey_file(struct state_survey *survey, const char *directory, const char *name,
	int dir)
{
	struct stat st;

	/* If it no longer exists, the ledger removed it. */
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	survey->files++;
	if (st.st_uid != survey->owner && !survey->foreign++)
		doctor_path(survey->foreign_name, directory, name);
	if (!S_ISLNK(st.st_mode) && st.st_mode & 0022 && !survey->open++)
		doctor_path(survey->open_name, directory, name);
}

/* Returns false after a finding. */
static bool survey_directory(struct doctor *doctor, struct state_survey *survey, const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;

	if (!dir) {
		doctor_unseen(doctor, path, errno, "check the disk; else restore a backup");
		return false;
	}
	while (survey->files < FILES_MAX && (entry = readdir(dir))) {
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			survey_file(survey, path, entry->d_name, dirfd(dir));
	}
	closedir(dir);
	return true;
}

void doctor_state_files(struct doctor *doctor)
{
	const char *state = doctor->settings->state_directory;
	char db[DOCTOR_PATH_MAX], owner[64];
	struct state_survey survey;
	struct stat st;

	memset(&survey, 0, sizeof(survey));
	doctor_path(db, state, "db");
	if (stat(state, &st) < 0 || access(db, F_OK) < 0) {
		doctor_skip(doctor, "there are none (see state_directory)");
		return;
	}
	survey.owner = st.st_uid;
	if (!survey_directory(doctor, &survey, state) || !survey_directory(doctor, &survey, db))
		return;
	operator_user_name(st.st_uid, owner, sizeof(owner));
	if (survey.foreign) {
		doctor_fail(doctor,
			"%u of %u files do not belong to user %s, such as %s: the ledger "
			"cannot open them",
			survey.foreign, survey.files, owner, survey.foreign_name);
		doctor_remedy(doctor, "chown -R %s: %s", owner, state);
	}
	if (survey.open) {
		doctor_fail(doctor, "%u of %u files may be written by others, such as %s",
			survey.open, survey.files, survey.open_name);
		doctor_remedy(doctor, "chmod -R go= %s", state);
	}
	if (!doctor->sheet->count)
		doctor_pass(doctor, "%u files belong to user %s", survey.files, owner);
}

/* Returns true if the file @fd contains only a key, as `dealer add` prints it. */
static bool holds_key(int fd)
{
	char text[KEY_FILE_MAX + 1];
	ssize_t len = read(fd, text, sizeof(text) - 1);
	bool is_key;

	if (len < KEY_LENGTH)
		return false;
	text[len] = '\0';
	is_key = strspn(text, "0123456789abcdefABCDEF") == KEY_LENGTH &&
		strspn(text + KEY_LENGTH, " \t\r\n") == (size_t)len - KEY_LENGTH;
	explicit_bzero(text, sizeof(text));
	return is_key;
}

/*
 * Checks a file. @named: the operator named it as a secret; otherwise it is checked only if it
 * contains a key.
 */
static bool judge_key_file(struct doctor *doctor, int dir, const char *name, const char *path,
	bool named)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	bool counts = named;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0) {
		if (named)
			doctor_unseen(doctor, path, errno, "name files that are there");
		goto out;
	}
	if (!named)
		counts = S_ISREG(st.st_mode) && st.st_size <= KEY_FILE_MAX && holds_key(fd);
	doctor_about(doctor, "%s", path);
	if (counts && st.st_mode & 0077) {
		doctor_fail(doctor, "it holds secrets and has mode %04o",
			(unsigned int)st.st_mode & 07777);
		doctor_remedy(doctor,
			"chmod %s %s; give the dealer or client a new key if others "
			"use this machine",
			S_ISDIR(st.st_mode) ? "0700" : "0600", path);
	}
	doctor_about(doctor, "%s", "");
out:
	if (fd >= 0)
		close(fd);
	return counts;
}

void doctor_key_files(struct doctor *doctor)
{
	const struct doctor_options *options = doctor->options;
	char config[SETTINGS_PATH_MAX], path[DOCTOR_PATH_MAX];
	unsigned int looked = 0, files = 0;
	const char *directory;
	struct dirent *entry;
	DIR *dir;

	for (unsigned int i = 0; i < options->key_file_count; i++)
		files += judge_key_file(doctor, AT_FDCWD, options->key_files[i],
			options->key_files[i], true);
	snprintf(config, sizeof(config), "%s", doctor_config(doctor));
	directory = dirname(config);
	dir = opendir(directory);
	while (dir && looked++ < FILES_MAX && (entry = readdir(dir))) {
		doctor_path(path, directory, entry->d_name);
		files += judge_key_file(doctor, dirfd(dir), entry->d_name, path, false);
	}
	if (dir)
		closedir(dir);
	if (!doctor->sheet->count && files)
		doctor_pass(doctor, "%u files with secrets are closed to others", files);
	else if (!doctor->sheet->count)
		doctor_pass(doctor, "no key lies beside the configuration");
}
