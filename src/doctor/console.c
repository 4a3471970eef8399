/*
 * doctor_console - checks the web console: the front secret, its sockets, its process, its operators, and
 * the Apache before it. None has a finding while no console is set up (doctor_console_used()), but for an
 * enabled one without a front secret.
 */
#include "doctor/doctor.h"

#include "admin/cell_text.h"
#include "admin/list.h"
#include "admin/operator.h"
#include "base/acl.h"
#include "base/text.h"
#include "doctor/process.h"
#include "ledger/desk/front.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FORM_MAX 4096
/* What makes the files of the front secret (fcgi-conf/console-front). */
#define FRONT_NEW "/usr/share/creditbridge/console-front new SERVER (apache, lighttpd or nginx)"

bool doctor_console_used(const struct settings *settings)
{
	const char *path = settings->console_front_file;

	return path[0] &&
		(strcmp(path, SETTINGS_DEFAULT_FRONT) != 0 || access(path, F_OK) == 0 ||
			errno != ENOENT);
}

/*
 * Writes the paths of the console's socket and of its directory, which is beside that of the ledger's sockets. The consoles of
 * all other cells have one directory (creditbridge-console@.socket).
 */
static void web_socket_path(const char *config, const struct settings *settings,
	char directory[DOCTOR_PATH_MAX], char path[DOCTOR_PATH_MAX + 32])
{
	if (cell_text_other(config, settings->cell_name)[0]) {
		snprintf(directory, DOCTOR_PATH_MAX, "/run/creditbridge-console");
		snprintf(path, DOCTOR_PATH_MAX + 32, "%s/%s.sock", directory, settings->cell_name);
		return;
	}
	snprintf(directory, DOCTOR_PATH_MAX, "%s-console", settings->socket_directory);
	snprintf(path, DOCTOR_PATH_MAX + 32, "%s/console.sock", directory);
}

bool doctor_console_enabled(const char *config, const struct settings *settings)
{
	char directory[DOCTOR_PATH_MAX], path[DOCTOR_PATH_MAX + 32];

	if (doctor_console_used(settings))
		return true;
	/* The socket may outlive a console that was removed, with its front secret. */
	web_socket_path(config, settings, directory, path);
	return !settings->console_front_file[0] && access(path, F_OK) == 0;
}

/* Reports a file with a front secret that others may read, or that has another owner. */
static bool judge_secret_file(struct doctor *doctor, const char *path, uid_t owner)
{
	char has[64], wanted[64];
	struct stat st;

	if (stat(path, &st) < 0) {
		doctor_unseen(doctor, path, errno, FRONT_NEW);
		return false;
	}
	operator_user_name(st.st_uid, has, sizeof(has));
	operator_user_name(owner, wanted, sizeof(wanted));
	if (!S_ISREG(st.st_mode) || st.st_mode & 0077) {
		doctor_fail(doctor, "%s has mode %04o: others may read the front secret", path,
			(unsigned int)st.st_mode & 07777);
		doctor_remedy(doctor,
			"chmod 0600 %s, then change the secret: " FRONT_NEW
			"; restart the web server; /usr/share/creditbridge/console-front drop",
			path);
		return false;
	}
	if (st.st_uid != owner) {
		doctor_fail(doctor, "%s belongs to user %s, not to %s", path, has, wanted);
		doctor_remedy(doctor, "chown %s %s", wanted, path);
		return false;
	}
	return true;
}

/* Reads what the web server passes. Returns false if the file does not exist or may not be read. */
static bool read_form(const struct doctor *doctor, char path[DOCTOR_PATH_MAX], char text[FORM_MAX])
{
	ssize_t got = -1;
	int fd;

	snprintf(path, DOCTOR_PATH_MAX, "%s.conf", doctor->settings->console_front_file);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd >= 0) {
		got = read(fd, text, FORM_MAX - 1);
		close(fd);
	}
	text[got > 0 ? got : 0] = '\0';
	return got > 0;
}

/* Returns true if @text has one of the valid secrets. */
static bool passes_valid(const struct front_values *front, const char *text)
{
	for (unsigned int i = 0; i < FRONT_LIVE_MAX; i++) {
		if (front->live[i][0] && strstr(text, front->live[i]))
			return true;
	}
	return false;
}

static void judge_form(struct doctor *doctor, const struct front_values *front)
{
	char path[DOCTOR_PATH_MAX], text[FORM_MAX];

	if (!read_form(doctor, path, text)) {
		if (access(path, F_OK) == 0)
			doctor_unseen(doctor, path, EACCES, "");
		return;
	}
	if (judge_secret_file(doctor, path, 0) && !passes_valid(front, text)) {
		doctor_fail(doctor, "the web server passes a secret of %s that is not valid", path);
		doctor_remedy(doctor, FRONT_NEW ", then restart the web server");
	}
	explicit_bzero(text, sizeof(text));
}

void doctor_console_front(struct doctor *doctor)
{
	const char *path = doctor->settings->console_front_file;
	struct front_values front;

	if (!path[0]) {
		doctor_warn(doctor,
			"the console is enabled, but console_front_file is empty, so the ledger "
			"makes no desk.sock and every page is answered 503");
		doctor_remedy(doctor,
			"delete the line console_front_file of %s, then " FRONT_NEW
			", and restart creditbridge-ledger",
			doctor_config(doctor));
		return;
	}
	if (!judge_secret_file(doctor, path, doctor_ledger_uid(doctor)))
		return;
	if (access(path, R_OK) < 0) {
		doctor_unseen(doctor, path, errno, FRONT_NEW);
		return;
	}
	memset(&front, 0, sizeof(front));
	front_read(&front, path);
	if (!front.live[0][0]) {
		doctor_fail(doctor,
			"%s is not usable: it needs one or two lines of 64 hex characters in lower "
			"case",
			path);
		doctor_remedy(doctor, FRONT_NEW ", then restart the web server");
		return;
	}
	judge_form(doctor, &front);
	if (!doctor->sheet->count)
		doctor_pass(doctor, "%s secret is valid, and closed to others",
			front.live[1][0] ? "an earlier and a new" : "one");
	explicit_bzero(&front, sizeof(front));
}

/* Checks the list of desk.sock. */
static void judge_desk(struct doctor *doctor, const char *path, const struct stat *st)
{
	const char *name = doctor->settings->console_group;
	const struct group *group = name[0] ? getgrnam(name) : NULL;
	const struct acl_groups listed = acl_get_groups(path);

	if (st->st_uid != doctor_ledger_uid(doctor) || !listed.known || listed.count > 1 ||
		(!listed.count && st->st_mode & S_IRWXG) ||
		(listed.count && (!group || listed.gids[0] != group->gr_gid))) {
		doctor_fail(doctor,
			"%s has mode %04o, or a list that admits others than group %s: it is for "
			"the console only",
			path, (unsigned int)st->st_mode & 07777, name[0] ? name : "(none)");
		doctor_remedy(doctor, "restart creditbridge-ledger, which makes the socket anew");
	} else if (!listed.count) {
		doctor_warn(doctor, "only the ledger's user can open %s", path);
		doctor_remedy(doctor,
			group ? "restart creditbridge-ledger; if its log then says no_console, "
				"socket_directory must be on a file system with access control "
				"lists"
			      : "set console_group to the group of the console's process, then "
				"restart creditbridge-ledger");
	}
}

static void judge_desk_socket(struct doctor *doctor)
{
	char path[DOCTOR_PATH_MAX];
	struct stat st;

	doctor_about(doctor, "desk.sock");
	doctor_path(path, doctor->settings->socket_directory, "desk.sock");
	if (lstat(path, &st) == 0) {
		judge_desk(doctor, path, &st);
	} else if (errno != ENOENT) {
		doctor_unseen(doctor, path, errno, "restart creditbridge-ledger");
	} else if (!doctor_ledger_serves(doctor)) {
		doctor_skip(doctor, "it is not there (see ledger)");
	} else {
		doctor_fail(doctor,
			"it is not there: the ledger was started before the file of "
			"the front secret was made");
		doctor_remedy(doctor, "restart creditbridge-ledger");
	}
}

/* The socket to which the web server connects. */
static void judge_web_socket(struct doctor *doctor)
{
	char directory[DOCTOR_PATH_MAX], path[DOCTOR_PATH_MAX + 32];
	struct stat st;

	doctor_about(doctor, "console.sock");
	web_socket_path(doctor->options->config, doctor->settings, directory, path);
	if (lstat(path, &st) < 0) {
		if (errno == EACCES) {
			doctor_unseen(doctor, path, errno, "");
			return;
		}
		doctor_warn(doctor,
			"%s is not there: the console is not started, or has another "
			"socket",
			path);
		doctor_remedy(doctor,
			"systemctl enable --now creditbridge-console.socket; without "
			"systemd see creditbridge.fcgi(8), Console");
		return;
	}
	if (st.st_mode & 0007) {
		doctor_fail(doctor, "%s has mode %04o: others than the web server may connect",
			path, (unsigned int)st.st_mode & 07777);
		doctor_remedy(doctor, "chmod o= %s", path);
	}
	if (lstat(directory, &st) == 0 && st.st_mode & 0022) {
		doctor_fail(doctor,
			"%s has mode %04o: others may put a socket of theirs in its place",
			directory, (unsigned int)st.st_mode & 07777);
		doctor_remedy(doctor, "chmod go-w %s", directory);
	}
}

/* The console's jobs have no network: they ask dealers for balances by ping.sock. */
static void judge_ping_socket(struct doctor *doctor)
{
	char path[DOCTOR_PATH_MAX];
	struct stat st;

	doctor_path(path, doctor->settings->socket_directory, "jobs.sock");
	if (lstat(path, &st) < 0)
		return;
	doctor_about(doctor, "ping.sock");
	doctor_path(path, doctor->settings->socket_directory, "ping.sock");
	if (lstat(path, &st) < 0) {
		if (errno == EACCES) {
			doctor_unseen(doctor, path, errno, "");
			return;
		}
		doctor_warn(doctor,
			"%s is not there: balance inquiries of the console are not sent, or are "
			"sent with the rights of the ledger's user",
			path);
		doctor_remedy(doctor,
			"systemctl enable --now creditbridge-ping.socket; without systemd start "
			"`creditbridgectl job --listen` as root");
	} else if (st.st_mode & 0077) {
		doctor_fail(doctor, "%s has mode %04o: others may have it sign requests to dealers",
			path, (unsigned int)st.st_mode & 07777);
		doctor_remedy(doctor, "chmod go= %s", path);
	}
}

void doctor_console_sockets(struct doctor *doctor)
{
	judge_desk_socket(doctor);
	judge_ping_socket(doctor);
	judge_web_socket(doctor);
	doctor_about(doctor, "%s", "");
	if (!doctor->sheet->count)
		doctor_pass(doctor,
			"the console may open desk.sock, and the web server "
			"console.sock");
}

/* The processes of the console. */
struct consoles {
	const struct doctor *doctor;
	unsigned int count;
	bool replaced;
	bool rights; /* one may use edge.sock, or is root's */
	char user[64];
};

static bool see_console(void *context, const struct process *process)
{
	struct consoles *consoles = context;
	const struct process_identity *identity = &process->identity;
	char path[DOCTOR_PATH_MAX];
	struct stat edge;

	if (strcmp(process->serve, "console") != 0)
		return true;
	consoles->count++;
	consoles->replaced |= process->replaced;
	text_copy(consoles->user, sizeof(consoles->user), identity->name);
	consoles->rights |= identity->uid == 0;
	doctor_path(path, consoles->doctor->settings->socket_directory, "edge.sock");
	if (lstat(path, &edge) < 0)
		return true;
	consoles->rights |= identity->uid == edge.st_uid || identity->gid == edge.st_gid;
	for (unsigned int i = 0; i < identity->group_count; i++)
		consoles->rights |= identity->groups[i] == edge.st_gid;
	return true;
}

void doctor_console_process(struct doctor *doctor)
{
	struct consoles consoles = {.doctor = doctor};

	process_walk(doctor, "creditbridge.fcgi", see_console, &consoles);
	if (!consoles.count) {
		doctor_skip(doctor, "none runs now; its socket starts it with the first request");
		return;
	}
	if (consoles.rights) {
		doctor_fail(doctor, "the console runs as user %s, which may open edge.sock or more",
			consoles.user);
		doctor_remedy(doctor,
			"run it as a user of its own, such as _creditbridge-console, which belongs "
			"to no other group");
	}
	if (consoles.replaced) {
		doctor_warn(doctor,
			"the console runs a program that was replaced or removed since");
		doctor_remedy(doctor, "systemctl restart creditbridge-console");
	}
	if (!doctor->sheet->count)
		doctor_pass(doctor, "it runs as user %s, which may not open edge.sock",
			consoles.user);
}

void doctor_console_operators(struct doctor *doctor)
{
	unsigned int active = 0, without_code = 0;
	struct desk_operator row;
	struct list list;

	if (!doctor_open_lists(doctor))
		return;
	list_open(&list, doctor->session, RECORD_DESK_OPERATOR, false, 0, NULL);
	while (list_next(&list, &row)) {
		if (row.suspended)
			continue;
		active++;
		without_code += !row.secret[0];
	}
	if (!doctor_close_list(doctor, &list))
		return;
	if (without_code) {
		/* Without names: the console shows this to operators that may not see the list. */
		doctor_warn(doctor, "operators without a code secret, which cannot sign in: %u",
			without_code);
		doctor_remedy(doctor,
			"creditbridgectl operator list; creditbridgectl operator new-code NAME");
		return;
	}
	if (active) {
		doctor_pass(doctor, "%u may sign in", active);
		return;
	}
	doctor_warn(doctor, "no operator may sign in");
	doctor_remedy(doctor, "creditbridgectl operator add NAME --login LOGIN --role ROLE");
}

/* Returns true if process @pid has a file of PHP for Apache mapped; *hidden is set if it cannot be seen. */
static bool has_php(const char *pid, bool *hidden)
{
	char path[64], line[PATH_MAX + 128];
	bool found = false;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%.20s/maps", pid);
	maps = fopen(path, "re");
	if (!maps) {
		*hidden |= errno == EACCES;
		return false;
	}
	while (!found && fgets(line, sizeof(line), maps))
		found = strstr(line, "/libphp") || strstr(line, "/mod_php");
	if (ferror(maps))
		*hidden = true;
	fclose(maps);
	return found;
}

static bool is_apache(const char *pid)
{
	char path[64], name[32] = "";
	FILE *comm;

	snprintf(path, sizeof(path), "/proc/%.20s/comm", pid);
	comm = fopen(path, "re");
	if (!comm)
		return false;
	if (!fgets(name, sizeof(name), comm))
		name[0] = '\0';
	fclose(comm);
	return strcmp(name, "apache2\n") == 0 || strcmp(name, "httpd\n") == 0;
}

void doctor_console_apache(struct doctor *doctor)
{
	char path[DOCTOR_PATH_MAX], text[FORM_MAX];
	bool php = false, hidden = false;
	struct dirent *entry;
	DIR *proc;

	if (read_form(doctor, path, text) && !strstr(text, "SetEnv ")) {
		doctor_pass(doctor, "the console is not under Apache");
		return;
	}
	explicit_bzero(text, sizeof(text));
	proc = opendir("/proc");
	while (!php && proc && (entry = readdir(proc))) {
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && is_apache(entry->d_name))
			php = has_php(entry->d_name, &hidden);
	}
	if (proc)
		closedir(proc);
	if (php) {
		doctor_warn(doctor,
			"mod_php runs in Apache: its sites can see the passwords and "
			"codes of the console's operators");
		doctor_remedy(doctor,
			"run PHP by php-fpm (a2dismod php*), or serve the console by "
			"a lighttpd or nginx of its own");
	} else if (hidden) {
		doctor_skip(doctor, "only root can see which modules Apache has loaded");
		doctor_remedy(doctor, "call doctor as root");
	} else {
		doctor_pass(doctor, "no PHP runs inside of Apache");
	}
}
