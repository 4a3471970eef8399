/*
 * doctor_cron - checks that the sweeper is started regularly.
 */
#include "doctor/doctor.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SWEEPER        "creditbridge-sweep"
#define LINE_MAX_BYTES 2048
#define FILES_MAX      1024

/*
 * The places where cron looks. Only root can read users' tables. A systemd timer names the
 * program in its service.
 */
static const struct {
	const char *path;
	bool is_directory;
	bool is_system; /* in /etc: cron requires a certain mode, owner and name */
} places[] = {
	{"/etc/crontab", false, true},
	{"/etc/cron.d", true, true},
	{"/var/spool/cron/crontabs", true, false},
	{"/var/spool/cron", true, false},
	{"/etc/systemd/system", true, false},
	{"/lib/systemd/system", true, false},
};

/* A line that starts the sweeper. */
struct cron_line {
	bool every_minute; /* also true if unknown: in a systemd unit */
	char user[64];     /* the user in a table of /etc; "": none is given */
};

/* The result of the search. */
struct cron_search {
	char path[DOCTOR_PATH_MAX]; /* the first file that contains the line; "": none */
	struct cron_line line;
	char ignored[DOCTOR_PATH_MAX]; /* a file that cron ignores */
	const char *why;               /* why cron ignores it */
	bool hidden;                   /* a file or directory could not be read */
};

/* Parses "* * * * * USER COMMAND". */
static bool read_cron_line(const char *text, struct cron_line *line)
{
	char words[6][64];

	memset(line, 0, sizeof(*line));
	while (isspace((unsigned char)*text))
		text++;
	if (*text == '#' || !strstr(text, SWEEPER))
		return false;
	/* In a systemd unit: ExecStart= ... */
	line->every_minute = isalpha((unsigned char)*text);
	if (sscanf(text, "%63s %63s %63s %63s %63s %63s", words[0], words[1], words[2], words[3],
		    words[4], words[5]) != 6 ||
		line->every_minute)
		return true;
	line->every_minute = true;
	for (unsigned int i = 0; i < 5; i++) {
		if (strcmp(words[i], "*") != 0 && strcmp(words[i], "*/1") != 0)
			line->every_minute = false;
	}
	snprintf(line->user, sizeof(line->user), "%s", words[5]);
	return true;
}

/* Returns why cron ignores a file of /etc; NULL if it does not. */
static const char *cron_refuses(const char *name, const struct stat *st)
{
	if (strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") !=
		strlen(name))
		return "its name has other characters than letters, digits, _ and -";
	if (st->st_uid != 0)
		return "it does not belong to root";
	if (st->st_mode & 0022)
		return "others than root may write it";
	return NULL;
}

static void search_file(struct cron_search *search, const char *path, bool is_system)
{
	const char *name = strrchr(path, '/') + 1, *refused;
	char text[LINE_MAX_BYTES];
	struct cron_line line;
	bool found = false;
	struct stat st;
	FILE *file;

	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return;
	file = fopen(path, "re");
	if (!file) {
		search->hidden |= errno == EACCES;
		return;
	}
	while (!found && fgets(text, sizeof(text), file))
		found = read_cron_line(text, &line);
	fclose(file);
	if (!found)
		return;
	refused = is_system ? cron_refuses(name, &st) : NULL;
	if (refused) {
		snprintf(search->ignored, sizeof(search->ignored), "%s", path);
		search->why = refused;
	} else if (!search->path[0]) {
		snprintf(search->path, sizeof(search->path), "%s", path);
		search->line = line;
		if (!is_system)
			search->line.user[0] = '\0';
	}
}

static void search_place(struct cron_search *search, const char *path, bool is_directory,
	bool is_system)
{
	char file[DOCTOR_PATH_MAX];
	unsigned int looked = 0;
	struct dirent *entry;
	DIR *dir;

	if (!is_directory) {
		search_file(search, path, is_system);
		return;
	}
	dir = opendir(path);
	if (!dir)
		search->hidden |= errno == EACCES;
	while (dir && looked++ < FILES_MAX && (entry = readdir(dir))) {
		doctor_path(file, path, entry->d_name);
		search_file(search, file, is_system);
	}
	if (dir)
		closedir(dir);
}

/* Returns true if a process is called cron. */
static bool cron_runs(void)
{
	static const char *const names[] = {"cron", "crond", "systemd"};
	char path[320], comm[32];
	struct dirent *entry;
	bool runs = false;
	DIR *proc = opendir("/proc");
	FILE *file;

	while (!runs && proc && (entry = readdir(proc))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		snprintf(path, sizeof(path), "/proc/%s/comm", entry->d_name);
		file = fopen(path, "re");
		if (!file)
			continue;
		if (fgets(comm, sizeof(comm), file)) {
			comm[strcspn(comm, "\n")] = '\0';
			for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
				runs |= strcmp(comm, names[i]) == 0;
		}
		fclose(file);
	}
	if (proc)
		closedir(proc);
	return runs;
}

#define SAMPLE "the sample creditbridge.cron as /etc/cron.d/creditbridge, of root, mode 0644"

void doctor_cron(struct doctor *doctor)
{
	struct cron_search search;

	memset(&search, 0, sizeof(search));
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		search_place(&search, places[i].path, places[i].is_directory, places[i].is_system);
	if (search.path[0] && !search.line.every_minute) {
		doctor_warn(doctor, "%s does not start " SWEEPER " each minute", search.path);
		doctor_remedy(doctor,
			"begin the line with * * * * *, as in the sample creditbridge.cron");
	} else if (search.path[0] && search.line.user[0] && !getpwnam(search.line.user)) {
		doctor_fail(doctor,
			"%s starts " SWEEPER " as user %s, which this machine does not have",
			search.path, search.line.user);
		doctor_remedy(doctor,
			"write a user there that may use edge.sock, such as _creditbridge-sweep");
	} else if (search.path[0] && !cron_runs()) {
		doctor_warn(doctor, "%s starts " SWEEPER ", and neither cron nor systemd runs",
			search.path);
		doctor_remedy(doctor, "start cron");
	} else if (search.path[0]) {
		doctor_pass(doctor, "%s starts " SWEEPER, search.path);
	} else if (search.ignored[0]) {
		doctor_fail(doctor, "cron ignores %s: %s", search.ignored, search.why);
		doctor_remedy(doctor, "install " SAMPLE);
	} else if (search.hidden) {
		doctor_skip(doctor, "no line that starts " SWEEPER " is to be seen by this user");
		doctor_remedy(doctor, "call doctor as root");
	} else {
		doctor_warn(doctor, "neither cron nor systemd has a line that starts " SWEEPER);
		doctor_remedy(doctor, "install " SAMPLE);
	}
}
