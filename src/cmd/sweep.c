/*
 * creditbridge-sweep - sends callbacks that are due. cron starts it every minute.
 *
 * Exit codes:
 *
 *    0  done, whatever the dealers answered, or another sweeper is running
 *    1  failed
 *    2  usage error
 *   75  memory is exhausted
 *   78  configuration error
 */
#include "base/clock.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/no_dump.h"
#include "base/settings.h"
#include "cmd/arguments.h"
#include "sweep/duration.h"
#include "sweep/sweep.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sysexits.h>
#include <unistd.h>

#define PROGRAM  "creditbridge-sweep"
#define JSON_MAX (4 * 1024 * 1024)

enum { OPTION_CONFIG = 'c', OPTION_FOR = 'f', OPTION_DRY_RUN = 'n', OPTION_JSON = 'j' };

const char *argp_program_version = PROGRAM " " PACKAGE_VERSION;

static const struct argp_option options[] = {
	{"config", OPTION_CONFIG, "FILE", 0, "read FILE (default: " SETTINGS_DEFAULT_FILE ")", 0},
	{"for", OPTION_FOR, "TIME", 0,
		"continue for TIME, such as 55s, and look for due callbacks each second (default: stop "
		"when none is due)",
		0},
	{"dry-run", OPTION_DRY_RUN, NULL, 0,
		"print the callbacks that would be sent first; send nothing", 0},
	{"json", OPTION_JSON, NULL, 0, "print the summary as one JSON object", 0},
	{NULL, 0, NULL, 0, NULL, 0},
};

struct arguments {
	const char *config;
	int64_t for_ms; /* 0: one pass */
	bool dry_run;
	bool json;
};

static error_t option_parse(int key, char *value, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case OPTION_CONFIG:
		arguments->config = value;
		return 0;
	case OPTION_FOR:
		if (!duration_parse(value, &arguments->for_ms))
			argp_error(state,
				"--for takes a time such as 55s, at most a day, not "
				"\"%s\"",
				value);
		return 0;
	case OPTION_DRY_RUN:
		arguments->dry_run = true;
		return 0;
	case OPTION_JSON:
		arguments->json = true;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "unexpected argument \"%s\"", value);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.options = options,
	.parser = option_parse,
	.doc = "Sends the callbacks that are due to the dealers' servers, and takes over "
	       "the callbacks of a sender that disconnected. One sweeper works at a time; a second "
	       "one reports that and ends.\v"
	       "For each dealer with newly parked callbacks it prints one line on standard "
	       "error.\n\n"
	       "Exit codes: 0 done, whatever the dealers answered, or another sweeper runs; "
	       "1 failed, for example because the ledger does not answer; 2 usage; "
	       "75 no memory; 78 configuration.",
};

static int complain(const char *what, const char *why)
{
	fprintf(stderr, PROGRAM ": %s: %s\n", what, why);
	return EXIT_FAILURE;
}

/*
 * Takes the lock. Leases already prevent two sweepers from sending the same callback; the lock
 * saves the dealers and the ledger the work of a second sweeper. Returns the descriptor; -1 if
 * another sweeper holds the lock; -2 after an error that was reported.
 */
static int lock_take(const struct settings *settings)
{
	char path[SETTINGS_PATH_MAX + 16];
	int fd;

	snprintf(path, sizeof(path), "%s/" LOCK_SWEEP, settings->socket_directory);
	fd = lock_file_open(settings->socket_directory, LOCK_SWEEP, "edge.sock");
	if (fd < 0) {
		complain(path,
			errno == EACCES ? "Permission denied: the ledger makes it for the group of "
					  "edge.sock; start creditbridge-ledger, and the sweeper "
					  "as a user of that group"
					: strerror(errno));
		return -2;
	}
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		return fd;
	if (errno != EWOULDBLOCK) {
		complain(path, strerror(errno));
		close(fd);
		return -2;
	}
	close(fd);
	return -1;
}

/* Blocks the stop signals, for which sweep_run() polls. */
static sigset_t block_signals(void)
{
	sigset_t stop;

	sigemptyset(&stop);
	sigaddset(&stop, SIGTERM);
	sigaddset(&stop, SIGINT);
	sigaddset(&stop, SIGHUP);
	sigprocmask(SIG_BLOCK, &stop, NULL);
	signal(SIGPIPE, SIG_IGN);
	return stop;
}

/* Returns false if memory is exhausted. */
static bool print_summary(const struct report *report, bool json)
{
	struct buffer text;
	bool done;

	if (!json) {
		report_text(report, stdout);
		return true;
	}
	buffer_init(&text, JSON_MAX);
	done = report_json(report, &text) && buffer_append_str(&text, "\n");
	if (done)
		fwrite(text.data, 1, text.len, stdout);
	buffer_free(&text);
	return done;
}

static int sweep_all(const struct sweep_options *sweep, bool json)
{
	struct report report;
	char why[SWEEP_WHY_MAX];
	int code = EXIT_SUCCESS;

	report_init(&report);
	if (sweep_run(sweep, &report, why) != STATUS_OK) {
		log_line(LOG_LEVEL_ERROR, "sweep_failed", "reason=\"%s\"", why);
		code = complain("stopped", why);
	}
	if (!print_summary(&report, json) || report.failed)
		code = complain("summary", status_text(STATUS_NOMEM));
	report_parked(&report, stderr);
	report_free(&report);
	return code;
}

int main(int argc, char **argv)
{
	static struct settings settings;
	struct arguments arguments = {.config = SETTINGS_DEFAULT_FILE};
	struct sweep_options sweep = {.settings = &settings, .stop = block_signals()};
	int64_t start_ms = clock_boot_ms();
	char why[SWEEP_WHY_MAX];
	int lock, code = EXIT_SUCCESS;
	enum status status;

	no_dump_begin();
	arguments_parse(&argp, argc, argv, &arguments);
	status = settings_load(&settings, arguments.config, stderr);
	if (status != STATUS_OK)
		return status_exit_code(status);
	settings_open_log(&settings, PROGRAM);
	if (arguments.for_ms)
		sweep.until_ms = start_ms + arguments.for_ms;
	if (arguments.dry_run) {
		if (sweep_look(&settings, arguments.json, stdout, why) != STATUS_OK)
			code = complain("stopped", why);
	} else {
		lock = lock_take(&settings);
		if (lock >= 0)
			code = sweep_all(&sweep, arguments.json);
		else if (lock == -1)
			puts(arguments.json ? "{\"already_running\":true}"
					    : "another " PROGRAM " is at work");
		else
			code = EXIT_FAILURE;
	}
	if (fflush(stdout) != 0)
		code = complain("standard output", strerror(errno));
	return code;
}
