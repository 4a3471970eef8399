/*
 * doctor_host - checks the machine: programs, log and clock.
 */
#include "doctor/doctor.h"

#include "admin/place.h"
#include "base/clock.h"
#include "base/text.h"
#include "doctor/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timex.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* Maximum seconds by which files of the state may be ahead of the clock. */
#define AHEAD_S 60

/* The other programs of this version, and the directories where the package installs them. */
static const struct {
	const char *name;
	const char *directory;
} programs[] = {
	{"creditbridge-ledger", CREDITBRIDGE_SBINDIR},
	{"creditbridge-sweep", CREDITBRIDGE_SBINDIR},
	{"creditbridge.fcgi", CREDITBRIDGE_PKGLIBEXECDIR},
};

/* Runs in the child: executes "PATH --version". */
static void execute_version(const char *path, int out)
{
	char *words[] = {(char *)(uintptr_t)path, (char *)(uintptr_t) "--version", NULL};
	char *environment[] = {(char *)(uintptr_t) "LC_ALL=C", NULL};

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dup2(out, STDOUT_FILENO);
	execve(path, words, environment);
	_exit(127);
}

/*
 * Copies the last word of the first line that "PATH --version" prints. Returns false with the
 * reason in @why.
 */
static bool ask_version(const char *path, char *version, size_t size, char *why, size_t why_size)
{
	char text[256];
	size_t len = 0;
	int ends[2], status = 0;
	ssize_t got;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0) {
		snprintf(why, why_size, "%s", strerror(errno));
		return false;
	}
	pid = fork();
	if (pid == 0)
		execute_version(path, ends[1]);
	close(ends[1]);
	while (pid > 0 && len < sizeof(text) - 1 &&
		(got = read(ends[0], text + len, sizeof(text) - 1 - len)) > 0)
		len += (size_t)got;
	close(ends[0]);
	text[len] = '\0';
	text[strcspn(text, "\n")] = '\0';
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status) ||
		WEXITSTATUS(status) != 0 || !text[0]) {
		snprintf(why, why_size, "no version in its output (exit %d)",
			WIFEXITED(status) ? WEXITSTATUS(status) : -1);
		return false;
	}
	if (text_copy(version, size, strrchr(text, ' ') ? strrchr(text, ' ') + 1 : text))
		return true;
	snprintf(why, why_size, "it prints no version");
	return false;
}

void doctor_programs(struct doctor *doctor)
{
	char path[DOCTOR_PATH_MAX], version[64], why[128];
	struct stat st;

	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		doctor_about(doctor, "%s", programs[i].name);
		if (!place_program(programs[i].name, programs[i].directory, path, sizeof(path))) {
			/*
			 * In Debian's package only the web server's user may execute the worker.
			 */
			if (stat(path, &st) < 0 && errno == EACCES) {
				doctor_unseen(doctor, path, EACCES, "");
				continue;
			}
			doctor_fail(doctor, "%s is not installed", path);
			doctor_remedy(doctor, "install all of creditbridge again");
		} else if (!ask_version(path, version, sizeof(version), why, sizeof(why))) {
			doctor_fail(doctor, "%s: %s", path, why);
			doctor_remedy(doctor, "install all of creditbridge again");
		} else if (strcmp(version, PACKAGE_VERSION) != 0) {
			doctor_fail(doctor, "%s is %s, this creditbridgectl " PACKAGE_VERSION, path,
				version);
			doctor_remedy(doctor,
				"install all of creditbridge in one version, then restart "
				"creditbridge-ledger and reload the web server");
		}
	}
	doctor_about(doctor, "%s", "");
	if (!doctor->sheet->count)
		doctor_pass(doctor, "all are " PACKAGE_VERSION);
}

/* The running workers. */
struct crew {
	unsigned int count;
	unsigned int wallet;
	unsigned int replaced;
	pid_t replaced_pid;
	char user[64];
};

static bool count_worker(void *context, const struct process *process)
{
	struct crew *crew = context;

	if (strcmp(process->serve, "console") == 0)
		return true; /* see console_process */
	crew->count++;
	crew->wallet += strcmp(process->serve, "platform") != 0;
	if (process->replaced && !crew->replaced++)
		crew->replaced_pid = process->pid;
	snprintf(crew->user, sizeof(crew->user), "%s", process->identity.name);
	return true;
}

void doctor_workers(struct doctor *doctor)
{
	struct crew crew;

	memset(&crew, 0, sizeof(crew));
	process_walk(doctor, "creditbridge.fcgi", count_worker, &crew);
	if (crew.replaced) {
		doctor_warn(doctor,
			"%u of %u workers run a program that was replaced or removed since "
			"(process %ld)",
			crew.replaced, crew.count, (long)crew.replaced_pid);
		doctor_remedy(doctor, "reload the web server");
	}
	if (crew.count && strcmp(crew.user, "root") == 0) {
		doctor_fail(doctor, "workers run as root");
		doctor_remedy(doctor, "run the web server's workers as a user without rights");
	}
	if (doctor->sheet->count)
		return;
	if (!crew.count)
		doctor_skip(doctor,
			"none runs now; some web servers start them with the first call");
	else
		doctor_pass(doctor, "%u run as user %s: wallet %u, platform %u", crew.count,
			crew.user, crew.wallet, crew.count - crew.wallet);
}

void doctor_log(struct doctor *doctor)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "/dev/log"};
	int fd;

	if (strcmp(doctor->settings->log_target, "syslog") != 0) {
		doctor_pass(doctor, "lines go to standard error of each program");
		return;
	}
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0) {
		doctor_pass(doctor, "the system's log takes lines");
	} else {
		doctor_fail(doctor,
			"log_target is syslog, and no program takes lines at /dev/log: %s; they "
			"are lost",
			strerror(errno));
		doctor_remedy(doctor,
			"start systemd-journald or a syslog daemon, or set log_target = "
			"stderr");
	}
	if (fd >= 0)
		close(fd);
}

/* Returns the time of the newest file of the state; 0 if there is none. */
static time_t newest_file(const char *state)
{
	char path[DOCTOR_PATH_MAX];
	struct dirent *entry;
	time_t newest = 0;
	struct stat st;
	DIR *dir;

	doctor_path(path, state, "db");
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		if (fstatat(dirfd(dir), entry->d_name, &st, 0) == 0 && st.st_mtim.tv_sec > newest)
			newest = st.st_mtim.tv_sec;
	}
	if (dir)
		closedir(dir);
	return newest;
}

void doctor_clock(struct doctor *doctor)
{
	struct timex kernel;
	time_t ahead =
		newest_file(doctor->settings->state_directory) - (time_t)(clock_wall_ms() / 1000);
	int state;

	memset(&kernel, 0, sizeof(kernel));
	if (ahead > AHEAD_S) {
		doctor_fail(doctor, "it was set back: the data was written %lld s from now",
			(long long)ahead);
		doctor_remedy(doctor,
			"set the clock right (chronyc makestep) before anything else is "
			"written");
	}
	state = adjtimex(&kernel);
	if (state < 0) {
		doctor_skip(doctor, "cannot find whether the clock is synchronised: %s",
			strerror(errno));
	} else if (state == TIME_ERROR || kernel.status & STA_UNSYNC) {
		doctor_warn(doctor,
			"nothing keeps the clock synchronised: if it is wrong by "
			"more than request_window_s (%u), calls of both sides are refused%s",
			doctor->settings->request_window_s,
			doctor_console_used(doctor->settings)
				? "; the console refuses codes if it is off by 30 s"
				: "");
		doctor_remedy(doctor, "run chrony or systemd-timesyncd");
	}
	if (!doctor->sheet->count)
		doctor_pass(doctor, "it is synchronised, to about %ld ms", kernel.maxerror / 1000);
}
