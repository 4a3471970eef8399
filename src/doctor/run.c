/*
 * run - runs each check in its own process with a deadline.
 */
#include "doctor/doctor.h"

#include "base/clock.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define POLL_MS 2
/* How long to wait for a killed process. A process blocked in the kernel may never exit. */
#define KILL_MS 200

/* A running check. */
struct check_run {
	struct doctor doctor;
	pid_t pid; /* 0: it has not started or has ended */
	int64_t begun_ms;
};

/* Runs in the child. Messages of functions that other commands share are not printed. */
static void run_check(struct doctor *doctor, pid_t parent)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (null < 0 || getppid() != parent)
		_exit(1);
	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	signal(SIGPIPE, SIG_IGN);
	doctor->session->report = NULL;
	doctor->check->look(doctor);
	_exit(0);
}

/* Returns false, after a finding, if a requirement of the check is not met. */
static bool needs_met(struct doctor *doctor)
{
	const unsigned int needs = doctor->check->needs;

	if (needs & NEEDS_SERVERS &&
		(!*doctor->settings_loaded || strcmp(doctor->settings->store, "postgresql") != 0))
		return false;
	if (needs & NEEDS_CONSOLE &&
		(!*doctor->settings_loaded || !doctor_console_used(doctor->settings)))
		return false;
	if (needs & NEEDS_CONSOLE_ENABLED &&
		(!*doctor->settings_loaded ||
			!doctor_console_enabled(doctor->options->config, doctor->settings)))
		return false;
	if (needs & NEEDS_CELLS && (!*doctor->settings_loaded || !doctor->settings->cell_count))
		return false;
	if (needs & NEEDS_SETTINGS && !*doctor->settings_loaded) {
		doctor_skip(doctor, "the configuration cannot be read");
		return false;
	}
	if (needs & NEEDS_URL && !doctor->options->url) {
		doctor_skip(doctor, "the URL of the wallet's mount was not given");
		doctor_remedy(doctor, "call doctor with --url=URL, as dealers call it");
		return false;
	}
	if (needs & NEEDS_PLATFORM && !doctor->options->platform_url) {
		doctor_skip(doctor, "it was not said where the platform's mount is");
		doctor_remedy(doctor,
			"call doctor with --platform-url=URL, as game servers call it");
		return false;
	}
	if (needs & NEEDS_CONSOLE_URL && !doctor->options->console_url) {
		doctor_skip(doctor, "it was not said where the web console is");
		doctor_remedy(doctor, "call doctor with --console-url=URL, as operators open it");
		return false;
	}
	return true;
}

static void start_check(struct check_run *run)
{
	pid_t self = getpid();

	run->begun_ms = clock_boot_ms();
	if (!needs_met(&run->doctor))
		return;
	run->pid = fork();
	if (run->pid == 0)
		run_check(&run->doctor, self);
	if (run->pid < 0) {
		run->pid = 0;
		doctor_fail(&run->doctor, "no process for this check: %s", strerror(errno));
		doctor_remedy(&run->doctor, "see what uses up the machine's processes and memory");
	}
}

static void end_check(struct check_run *run, int status)
{
	struct doctor *doctor = &run->doctor;

	run->pid = 0;
	doctor->about[0] = '\0';
	if (WIFSIGNALED(status))
		doctor_fail(doctor, "the check itself was ended by signal %d", WTERMSIG(status));
	else if (WEXITSTATUS(status) != 0 || !doctor->sheet->count)
		doctor_fail(doctor, "the check itself ended early (exit %d)", WEXITSTATUS(status));
	else
		return;
	doctor_remedy(doctor, "this is a fault of creditbridgectl: report it");
}

/* Abandons a check after its deadline; its findings so far are kept. */
static void give_up(struct check_run *run)
{
	struct doctor *doctor = &run->doctor;
	int64_t until_ms = clock_boot_ms() + KILL_MS;
	int status;

	kill(run->pid, SIGKILL);
	while (waitpid(run->pid, &status, WNOHANG) == 0 && clock_boot_ms() < until_ms)
		clock_sleep_ms(POLL_MS);
	run->pid = 0;
	doctor->about[0] = '\0';
	doctor_fail(doctor, "no answer within %u s", doctor->check->deadline_ms / 1000);
	doctor_remedy(doctor,
		"see what this depends on: a file system, a name server, a process "
		"that was stopped");
}

/* Waits until all checks have ended. */
static void await_checks(struct check_run *runs, unsigned int count)
{
	bool waiting = true;
	int status;

	while (waiting) {
		waiting = false;
		for (unsigned int i = 0; i < count; i++) {
			struct check_run *run = &runs[i];

			if (!run->pid)
				continue;
			if (waitpid(run->pid, &status, WNOHANG) == run->pid)
				end_check(run, status);
			else if (clock_boot_ms() - run->begun_ms > run->doctor.check->deadline_ms)
				give_up(run);
			else
				waiting = true;
		}
		if (waiting)
			clock_sleep_ms(POLL_MS);
	}
}

void doctor_run(const struct doctor_options *options, struct session *session,
	struct doctor_sheet *sheets, struct settings *settings, bool *settings_loaded)
{
	struct check_run *runs = calloc(doctor_check_count, sizeof(*runs));

	if (!runs)
		return;
	fflush(NULL);
	for (unsigned int i = 0; i < doctor_check_count; i++)
		runs[i].doctor = (struct doctor){
			.options = options,
			.session = session,
			.check = &doctor_checks[i],
			.sheet = &sheets[i],
			.settings = settings,
			.settings_loaded = settings_loaded,
		};
	start_check(&runs[0]);
	await_checks(runs, 1);
	for (unsigned int i = 1; i < doctor_check_count; i++)
		start_check(&runs[i]);
	await_checks(runs, doctor_check_count);
	free(runs);
}
