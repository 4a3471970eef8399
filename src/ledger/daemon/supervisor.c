#include "ledger/daemon/supervisor.h"

#include "base/clock.h"
#include "base/lock.h"
#include "base/log.h"
#include "ledger/daemon/engine.h"
#include "ledger/daemon/relay_keeper.h"
#include "ledger/outbox/metrics.h"
#include "metrics/counters.h"
#include "state/disk.h"
#include "state/halt.h"
#include "state/identity.h"
#include "state/lock.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#define MIB              (1024u * 1024u)
#define LOCK_WAIT_MS     3000
#define BACKOFF_FIRST_MS 100
#define BACKOFF_MAX_MS   5000
/*
 * The longest pause after an engine that served: its callers wait, and the next one probably
 * serves, too.
 */
#define BACKOFF_SERVED_MAX_MS 200
/* While the disk is full: the interval of checks for free space. */
#define PROBE_MS 1000
/* After an engine that served and ran for this long, the pauses start at 0 again. */
#define STEADY_MS 250

struct supervisor {
	const struct settings *settings;
	struct sockets sockets;
	struct state_hold hold;
	enum engine_start start;
	int64_t backoff_ms;
	int64_t run;               /* a random number: of this process and its engines */
	uint64_t engine_starts;    /* of metrics, before the last start */
	struct metrics *metrics;   /* shared with the engines */
	struct sessions *sessions; /* of the web console, shared likewise */
	const struct relay_process *peer;
	struct relay_keeper keeper; /* of the process for the other hosts */
};

static volatile sig_atomic_t stop_asked;
static volatile sig_atomic_t engine_pid;

static void on_stop(int number)
{
	stop_asked = 1;
	if (engine_pid > 0)
		kill((pid_t)engine_pid, number);
}

static int supervisor_fail(const char *why, int code)
{
	fprintf(stderr, "creditbridge-ledger: %s\n", why);
	log_line(LOG_LEVEL_ERROR, "start_failed", "reason=\"%s\"", why);
	return code;
}

/* Blocks or unblocks the stop signals, so that none falls between a check and a wait. */
static void block_stop(bool block, sigset_t *before)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(block ? SIG_BLOCK : SIG_UNBLOCK, &set, before);
}

/* Runs in the new process: serves and exits. */
static void become_engine(const struct supervisor *supervisor, pid_t parent_pid)
{
	struct sigaction standard = {.sa_handler = SIG_DFL};

	sigaction(SIGTERM, &standard, NULL);
	sigaction(SIGINT, &standard, NULL);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent_pid)
		_exit(ENGINE_STOPPED);
	_exit((int)engine_run(supervisor->settings, &supervisor->sockets, &supervisor->hold,
		supervisor->start, supervisor->run, supervisor->metrics, supervisor->sessions));
}

/*
 * Checks that the state is still the locked one. Returns an exit code, or 0 to continue. The
 * engine checks again before it opens the data.
 */
static int check_state(const struct supervisor *supervisor)
{
	char why[512] = "";

	if (state_hold_check(&supervisor->hold, why, sizeof(why)) != STATUS_CONFIG)
		return 0;
	return supervisor_fail(why, ENGINE_CONFIG);
}

/* Starts an engine and waits for its end. Returns the wait status, -1 when fork failed. */
static int run_engine(struct supervisor *supervisor)
{
	pid_t self = getpid(), pid, ended;
	int status = -1;

	/*
	 * Before each start: the ballast may have been dropped, and there was no room for it
	 * since.
	 */
	disk_ballast_make(supervisor->settings->state_directory,
		(uint64_t)supervisor->settings->disk_ballast_mib * MIB,
		(uint64_t)supervisor->settings->disk_low_water_mib * MIB);
	/* Until engine_pid is known a stop signal waits. */
	block_stop(true, NULL);
	pid = stop_asked ? 0 : fork();
	if (pid == 0 && getpid() != self)
		become_engine(supervisor, self);
	engine_pid = pid > 0 ? pid : 0;
	block_stop(false, NULL);
	if (pid <= 0)
		return pid;
	do {
		ended = waitpid(-1, &status, 0);
		if (ended > 0)
			relay_keeper_ended(&supervisor->keeper, ended, status);
	} while (ended != pid && (ended > 0 || errno == EINTR));
	engine_pid = 0;
	return status;
}

/*
 * Waits before the next start: 0, 0.1, 0.2 s and so on, at most @max_ms. @steady restarts the
 * sequence.
 */
static void back_off(struct supervisor *supervisor, bool steady, int64_t max_ms)
{
	if (steady)
		supervisor->backoff_ms = 0;
	if (supervisor->backoff_ms > max_ms)
		supervisor->backoff_ms = max_ms;
	for (int64_t slept = 0; slept < supervisor->backoff_ms && !stop_asked; slept += 50)
		clock_sleep_ms(50);
	if (!supervisor->backoff_ms)
		supervisor->backoff_ms = BACKOFF_FIRST_MS;
	else
		supervisor->backoff_ms *= 2;
	if (supervisor->backoff_ms > BACKOFF_MAX_MS)
		supervisor->backoff_ms = BACKOFF_MAX_MS;
}

static void halt_engine(struct supervisor *supervisor, int exited)
{
	const char *why = exited == ENGINE_DAMAGED
		? "reason=\"the data is damaged\" remedy=\"restore it from a backup\""
		: exited == ENGINE_HALT
		? "reason=\"the disk failed\" remedy=\"check the disk, then creditbridgectl resume\""
		: "reason=\"the disk failed or the data is damaged; see the lines before this one\" "
		  "remedy=\"check the disk, then creditbridgectl resume, or restore a backup\"";

	supervisor->start = ENGINE_HALTED;
	/* The engine has set the mark, unless it could not or was killed before it finished. */
	halt_mark(supervisor->settings);
	log_line(LOG_LEVEL_ERROR, "ledger_halted", "%s", why);
}

/*
 * Returns true if the engine met a failure that halts the ledger. The exit code shows this, or the
 * mark if the engine was killed. When an engine opens the store after a halt, it clears the old
 * mark once it is ready.
 */
static bool has_halted(const struct supervisor *supervisor, int exited, bool was_ready)
{
	char path[PATH_MAX];

	if (exited == ENGINE_HALT || exited == ENGINE_DAMAGED)
		return true;
	return (supervisor->start == ENGINE_NORMAL ||
		       (supervisor->start == ENGINE_AFTER_HALT && was_ready)) &&
		halt_is_marked(supervisor->settings, path);
}

/*
 * Decides the next step after the end of an engine. Returns false if the supervisor must end with
 * *code.
 */
static bool after_engine(struct supervisor *supervisor, int status, int64_t lived_ms, int *code)
{
	const char *state = supervisor->settings->state_directory;
	int exited = status >= 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	bool was_ready = supervisor->metrics->engine_starts != supervisor->engine_starts;
	bool halts = has_halted(supervisor, exited, was_ready), full;

	/* Also during a stop: the next start must not ignore the failure. */
	if (halts)
		halt_engine(supervisor, exited);
	else if (supervisor->start == ENGINE_AFTER_HALT && was_ready)
		supervisor->start = ENGINE_NORMAL;
	if (stop_asked) {
		*code = !halts ? 0 : exited == ENGINE_DAMAGED ? ENGINE_DAMAGED : ENGINE_HALT;
		return false;
	}
	log_line(LOG_LEVEL_WARNING, "engine_ended", "exit=%d signal=%d lived_ms=%lld", exited,
		status >= 0 && WIFSIGNALED(status) ? WTERMSIG(status) : 0, (long long)lived_ms);
	switch (exited) {
	case ENGINE_CONFIG:
		*code = ENGINE_CONFIG;
		return false;
	case ENGINE_HALT:
	case ENGINE_DAMAGED:
		return true;
	case ENGINE_FENCED:
		/* The next engine stands by. */
		supervisor->backoff_ms = 0;
		return true;
	case ENGINE_RESUMED:
		supervisor->start = ENGINE_AFTER_HALT;
		supervisor->backoff_ms = 0;
		return true;
	case ENGINE_FULL:
	case ENGINE_NO_SPACE:
		if (disk_ballast_drop(state)) {
			log_line(LOG_LEVEL_WARNING, "ballast_dropped", "state=%s", state);
			return true;
		}
		break;
	default:
		break;
	}
	full = exited == ENGINE_FULL || exited == ENGINE_NO_SPACE;
	/* A recovery that fails may take longer than that. */
	back_off(supervisor, was_ready && lived_ms >= STEADY_MS,
		full                ? PROBE_MS
			: was_ready ? BACKOFF_SERVED_MAX_MS
				    : BACKOFF_MAX_MS);
	return true;
}

/*
 * Creates the counters of the workers. On failure workers serve without them, so the ledger
 * continues.
 */
static void make_counters(const struct settings *settings)
{
	char why[512];

	if (!counters_make(settings->socket_directory, SOCKETS_EDGE, why, sizeof(why)))
		log_line(LOG_LEVEL_ERROR, "no_counters", "reason=\"%s\"", why);
}

/*
 * Creates the directory for workers that serve together. On failure each serves by itself, so the
 * ledger continues.
 */
static void make_together(const struct settings *settings)
{
	char why[512];

	if (!sockets_make_together(settings->socket_directory, why, sizeof(why)))
		log_line(LOG_LEVEL_ERROR, "no_together", "reason=\"%s\"", why);
}

/*
 * Creates the lock file of the sweeper, whose user may create no file beside the sockets. On
 * failure the ledger continues.
 */
static void make_sweep_lock(const struct settings *settings)
{
	int fd = lock_file_open(settings->socket_directory, LOCK_SWEEP, SOCKETS_EDGE);

	if (fd < 0)
		log_line(LOG_LEVEL_ERROR, "no_sweep_lock", "reason=\"%s/" LOCK_SWEEP ": %s\"",
			settings->socket_directory, strerror(errno));
	else
		close(fd);
}

/*
 * Checks that the state was not moved or copied. A state of an older version without a record
 * counts as unmoved.
 */
static enum status check_identity(const struct state_hold *hold, char *why, size_t why_size)
{
	enum status status = state_identity_check(hold->directory, hold->path, hold->installation,
		why, why_size);

	if (status != STATUS_NOT_FOUND)
		return status;
	if (!state_identity_write(hold->directory, hold->path, hold->installation))
		log_line(LOG_LEVEL_WARNING, "identity_not_noted",
			"file=%s/" STATE_IDENTITY " error=\"%s\"", hold->path, strerror(errno));
	return STATUS_OK;
}

/* Makes all checks that can refuse the start. Returns an exit code, or 0 to continue. */
static int prepare_supervisor(struct supervisor *supervisor)
{
	const struct settings *settings = supervisor->settings;
	char why[512] = "", path[PATH_MAX];
	enum status status;

	status = state_hold_take(&supervisor->hold, settings->state_directory,
		settings->socket_directory, LOCK_WAIT_MS, why, sizeof(why));
	if (!status)
		status = check_identity(&supervisor->hold, why, sizeof(why));
	if (status)
		return supervisor_fail(why, status == STATUS_BUSY ? 1 : status_exit_code(status));
	status = sockets_open(settings, &supervisor->sockets, why, sizeof(why));
	if (status)
		return supervisor_fail(why, status_exit_code(status));
	sockets_admit_groups(settings, &supervisor->sockets);
	if (getrandom(&supervisor->run, sizeof(supervisor->run), 0) !=
		(ssize_t)sizeof(supervisor->run))
		return supervisor_fail("no random bytes", 1);
	status = relay_keeper_open(&supervisor->keeper, supervisor->peer, settings,
		&supervisor->sockets, supervisor->hold.installation, why, sizeof(why));
	if (status)
		return supervisor_fail(why, status_exit_code(status));
	make_counters(settings);
	make_together(settings);
	make_sweep_lock(settings);
	supervisor->metrics = metrics_new();
	supervisor->sessions = sessions_new();
	if (!supervisor->metrics || !supervisor->sessions)
		return supervisor_fail("out of memory", status_exit_code(STATUS_NOMEM));
	if (halt_is_marked(settings, path))
		supervisor->start = ENGINE_HALTED;
	return 0;
}

int supervisor_run(const struct settings *settings, const struct relay_process *peer)
{
	struct supervisor supervisor = {.settings = settings, .peer = peer};
	struct sigaction stop = {.sa_handler = on_stop};
	int64_t started_ms;
	int code, status;

	/*
	 * The starting process may have ignored SIGCHLD; the supervisor would then miss the end of
	 * an engine.
	 */
	signal(SIGCHLD, SIG_DFL);
	code = prepare_supervisor(&supervisor);
	if (code)
		return code;
	sigaction(SIGTERM, &stop, NULL);
	sigaction(SIGINT, &stop, NULL);
	signal(SIGPIPE, SIG_IGN);
	relay_keeper_start(&supervisor.keeper);
	sd_notify(0, "READY=1");
	do {
		code = check_state(&supervisor);
		if (code)
			break;
		started_ms = clock_boot_ms();
		supervisor.engine_starts = supervisor.metrics->engine_starts;
		status = run_engine(&supervisor);
	} while (after_engine(&supervisor, status, clock_boot_ms() - started_ms, &code));
	relay_keeper_stop(&supervisor.keeper);
	log_line(LOG_LEVEL_INFO, "ledger_ended", "exit=%d", code);
	return code;
}
