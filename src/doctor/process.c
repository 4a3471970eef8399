#include "doctor/process.h"

#include "admin/operator.h"
#include "admin/place.h"
#include "base/text.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#define COMMAND_LINE_MAX 4096
#define STATUS_MAX       4096
/* The kernel truncates a program's name to this length. */
#define COMM_MAX 15

/* Reads the file @name of process @pid as text. Returns false if it cannot be read. */
static bool read_proc(pid_t pid, const char *name, char *text, size_t size, size_t *len)
{
	char path[64];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%ld/%s", (long)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	got = read(fd, text, size - 1);
	close(fd);
	text[got > 0 ? got : 0] = '\0';
	*len = got > 0 ? (size_t)got : 0;
	return got > 0;
}

/* Returns the value of option @name in a command line of @len bytes; NULL if it is absent. */
static const char *find_option(const char *line, size_t len, const char *name)
{
	size_t length = strlen(name);

	for (const char *word = line; word < line + len; word += strlen(word) + 1) {
		const char *next = word + strlen(word) + 1;

		if (strncmp(word, name, length) != 0)
			continue;
		if (word[length] == '=')
			return word + length + 1;
		if (!word[length] && next < line + len)
			return next;
	}
	return NULL;
}

/* Returns true if a program was started with --version, as by the check `programs`: it serves nothing. */
static bool asks_version(const char *line, size_t len)
{
	for (const char *word = line; word < line + len; word += strlen(word) + 1) {
		if (strcmp(word, "--version") == 0)
			return true;
	}
	return false;
}

/* Returns true if the process uses the same configuration file as this one, by any path. */
static bool same_config(const struct doctor *doctor, const char *line, size_t len)
{
	const char *theirs = find_option(line, len, "--config");
	char ours_real[PATH_MAX], theirs_real[PATH_MAX];

	if (!theirs)
		theirs = find_option(line, len, "-c");
	if (!theirs)
		theirs = SETTINGS_DEFAULT_FILE;
	if (strcmp(theirs, doctor_config(doctor)) == 0)
		return true;
	return realpath(doctor_config(doctor), ours_real) && realpath(theirs, theirs_real) &&
		strcmp(ours_real, theirs_real) == 0;
}

/* Reads effective ids and groups from /proc/PID/status. */
static bool read_identity(pid_t pid, struct process_identity *identity)
{
	char text[STATUS_MAX];
	const char *line;
	char *rest;
	size_t len;

	memset(identity, 0, sizeof(*identity));
	if (!read_proc(pid, "status", text, sizeof(text), &len))
		return false;
	line = strstr(text, "\nUid:");
	if (!line || sscanf(line + 5, "%*u %u", &identity->uid) != 1)
		return false;
	line = strstr(text, "\nGid:");
	if (!line || sscanf(line + 5, "%*u %u", &identity->gid) != 1)
		return false;
	line = strstr(text, "\nGroups:");
	for (line = line ? line + 8 : "\n"; identity->group_count < PROCESS_GROUPS_MAX;
		line = rest) {
		while (*line == ' ' || *line == '\t')
			line++;
		if (!isdigit((unsigned char)*line))
			break;
		identity->groups[identity->group_count++] = (gid_t)strtoul(line, &rest, 10);
	}
	operator_user_name(identity->uid, identity->name, sizeof(identity->name));
	return true;
}

static bool was_replaced(pid_t pid)
{
	static const char mark[] = " (deleted)";
	char path[64], target[PATH_MAX];
	ssize_t len;

	snprintf(path, sizeof(path), "/proc/%ld/exe", (long)pid);
	len = readlink(path, target, sizeof(target));
	return len >= (ssize_t)sizeof(mark) - 1 &&
		memcmp(target + len - (sizeof(mark) - 1), mark, sizeof(mark) - 1) == 0;
}

static bool runs_program(pid_t pid, const char *name)
{
	char comm[32];
	size_t len;

	if (!read_proc(pid, "comm", comm, sizeof(comm), &len))
		return false;
	comm[strcspn(comm, "\n")] = '\0';
	return strlen(comm) <= COMM_MAX && strncmp(comm, name, COMM_MAX) == 0;
}

/* If @pid runs @name with this configuration, fills *process and returns true. */
static bool read_process(const struct doctor *doctor, pid_t pid, const char *name,
	struct process *process)
{
	char line[COMMAND_LINE_MAX];
	const char *serve;
	size_t len;

	if (!runs_program(pid, name) || !read_proc(pid, "cmdline", line, sizeof(line), &len) ||
		asks_version(line, len) || !same_config(doctor, line, len))
		return false;
	memset(process, 0, sizeof(*process));
	process->pid = pid;
	process->replaced = was_replaced(pid);
	serve = find_option(line, len, "--serve");
	text_copy(process->serve, sizeof(process->serve), serve ? serve : "");
	return read_identity(pid, &process->identity);
}

void process_walk(const struct doctor *doctor, const char *name, process_see *see, void *context)
{
	DIR *proc = opendir("/proc");
	struct process process;
	struct dirent *entry;
	bool more = true;

	while (more && proc && (entry = readdir(proc))) {
		long pid = strtol(entry->d_name, NULL, 10);

		if (pid > 0 && read_process(doctor, (pid_t)pid, name, &process))
			more = see(context, &process);
	}
	if (proc)
		closedir(proc);
}

pid_t doctor_ledger_pid(const struct doctor *doctor)
{
	char path[DOCTOR_PATH_MAX];
	FILE *lock;
	int pid = 0;

	doctor_path(path, doctor->settings->state_directory, "lock");
	lock = fopen(path, "re");
	if (!lock)
		return 0;
	if (fscanf(lock, "%9d", &pid) != 1)
		pid = 0;
	fclose(lock);
	return pid > 0 && runs_program((pid_t)pid, "creditbridge-ledger") ? (pid_t)pid : 0;
}

bool identity_of(uid_t uid, struct process_identity *identity)
{
	const struct passwd *account = getpwuid(uid);
	int count = PROCESS_GROUPS_MAX;

	if (!account)
		return false;
	memset(identity, 0, sizeof(*identity));
	text_copy(identity->name, sizeof(identity->name), account->pw_name);
	identity->uid = uid;
	identity->gid = account->pw_gid;
	if (getgrouplist(account->pw_name, account->pw_gid, identity->groups, &count) < 0)
		count = PROCESS_GROUPS_MAX;
	identity->group_count = (unsigned int)count;
	return true;
}

static bool take_first(void *context, const struct process *process)
{
	/* The console is no worker: it may not open edge.sock. */
	if (strcmp(process->serve, "console") == 0)
		return true;
	*(struct process_identity *)context = process->identity;
	return false;
}

/*
 * Sets the effective group of @identity to the one that the installed worker gets from being
 * setgid, if it is.
 */
static void execute_worker(struct process_identity *identity)
{
	char path[DOCTOR_PATH_MAX];
	struct statvfs mount;
	struct stat st;

	if (place_program("creditbridge.fcgi", CREDITBRIDGE_PKGLIBEXECDIR, path, sizeof(path)) &&
		stat(path, &st) == 0 && st.st_mode & S_ISGID && st.st_mode & S_IXGRP &&
		statvfs(path, &mount) == 0 && !(mount.f_flag & ST_NOSUID))
		identity->gid = st.st_gid;
}

bool identity_worker(struct doctor *doctor, struct process_identity *identity)
{
	const char *name = doctor->options->user;
	const struct passwd *account;
	uid_t uid;
	gid_t gid;

	memset(identity, 0, sizeof(*identity));
	if (name && operator_find_user(name, &uid, &gid) && identity_of(uid, identity)) {
		execute_worker(identity);
		return true;
	}
	if (name) {
		doctor_fail(doctor, "there is no user %s", name);
		doctor_remedy(doctor, "give --worker-user=NAME as the web server's workers run");
		return false;
	}
	process_walk(doctor, "creditbridge.fcgi", take_first, identity);
	if (identity->name[0])
		return true;
	account = getpwnam("www-data");
	if (account && identity_of(account->pw_uid, identity)) {
		execute_worker(identity);
		return true;
	}
	doctor_skip(doctor, "no worker runs now, and there is no user www-data");
	doctor_remedy(doctor, "call doctor with --worker-user=NAME");
	return false;
}

/* Runs in the child. */
static void try_and_exit(const struct process_identity *identity, identity_try *try,
	const char *path)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (setgroups(identity->group_count, identity->groups) < 0 || setgid(identity->gid) < 0 ||
		setuid(identity->uid) < 0)
		_exit(255);
	_exit(try(path));
}

int identity_try_as(const struct process_identity *identity, identity_try *try, const char *path)
{
	int status;
	pid_t pid;

	if (geteuid() != 0)
		return identity->uid == geteuid() ? try(path) : -1;
	pid = fork();
	if (pid == 0)
		try_and_exit(identity, try, path);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status) ||
		WEXITSTATUS(status) == 255)
		return -1;
	return WEXITSTATUS(status);
}
