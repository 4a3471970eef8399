#include "ledger/daemon/engine.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/rlimit.h"
#include "base/text.h"
#include "ledger/daemon/server.h"
#include "ledger/rows/life.h"
#include "state/disk.h"
#include "state/halt.h"
#include "store/exit.h"
#include "store/store.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define MIB (1024u * 1024u)
/* With this limit, recovery took 0.5 to 0.9 s (`make bench-growth`). */
#define CHECKPOINT_PAGES 10000
/* Descriptors besides the connections: tables, log, sockets. */
#define DESCRIPTORS_SPARE 128
/* The state directory, seen from db/ in it, which the engine has entered. */
#define ENTERED_STATE ".."

_Static_assert(ENGINE_LOST == (int)STORE_EXIT_LOST && ENGINE_FULL == (int)STORE_EXIT_FULL &&
		ENGINE_HALT == (int)STORE_EXIT_IO && ENGINE_DAMAGED == (int)STORE_EXIT_DAMAGED,
	"the store ends the engine with the engine's codes");

static enum engine_exit exit_for(enum status status)
{
	switch (status) {
	case STATUS_FULL:
		return ENGINE_NO_SPACE;
	case STATUS_CONFIG:
		return ENGINE_CONFIG;
	case STATUS_CORRUPT:
		return ENGINE_DAMAGED;
	default:
		return ENGINE_LOST;
	}
}

/* The function that the store calls before it ends the process has no context. */
static const struct settings *settings_of_halt;

static void mark_halt(void)
{
	halt_mark(settings_of_halt);
}

/* Checks that the state is the one the supervisor locked, and enters it. */
static enum status enter_state(const struct state_hold *hold, char *why, size_t why_size)
{
	enum status status = state_hold_check(hold, why, why_size);

	if (!status && fchdir(hold->db) < 0) {
		snprintf(why, why_size, "%s/db: %s", hold->path, strerror(errno));
		status = STATUS_IO;
	}
	return status;
}

static enum status open_data(const struct settings *settings, const struct state_hold *hold,
	enum engine_start start, struct store **store, char *why, size_t why_size)
{
	static char name[PATH_MAX];
	struct store_options options = {
		.directory = ".",
		.name = name,
		.state_directory = settings->state_directory,
		.installation = hold->installation,
		.cache_mib = settings->ledger_cache_mib,
		.checkpoint_kib = settings->checkpoint_kib,
		.checkpoint_interval_ms = settings->checkpoint_interval_ms,
		.checkpoint_pages = CHECKPOINT_PAGES,
		.log_keep_mib = settings->log_keep_mib,
		.low_water_bytes = (uint64_t)settings->disk_low_water_mib * MIB,
		.before_halt = mark_halt,
		.ends = true,
		.prepare_log = true,
		.create = !disk_mark_is_set(ENTERED_STATE, DISK_CREATED),
	};
	enum status status;

	if ((unsigned int)snprintf(name, sizeof(name), "%s/db", settings->state_directory) >=
		sizeof(name))
		return STATUS_CONFIG;
	if (start == ENGINE_AFTER_HALT)
		disk_forget_cached(options.directory);
	status = store_open(&options, store, why, why_size);
	if (status)
		return status;
	if (options.create && !disk_mark_set(ENTERED_STATE, DISK_CREATED)) {
		snprintf(why, why_size,
			"cannot write the mark of created data in the state "
			"directory: see that its disk has room and is writable");
		status = STATUS_IO;
	}
	if (!status)
		status = life_begin_first(*store, clock_now().wall_ms, why, why_size);
	if (status)
		(*store)->close(*store);
	return status;
}

static enum status open_store(const struct settings *settings, const struct state_hold *hold,
	enum engine_start start, struct store **store)
{
	char why[512] = "";
	int64_t started_ms = clock_boot_ms();
	enum status status = enter_state(hold, why, sizeof(why));

	if (!status)
		status = open_data(settings, hold, start, store, why, sizeof(why));
	if (status) {
		log_line(LOG_LEVEL_ERROR, "store_failed", "reason=\"%s\"", why);
		fprintf(stderr, "creditbridge-ledger: %s\n", why);
	} else {
		log_line(LOG_LEVEL_INFO, "store_open", "directory=%s/db ms=%lld", hold->path,
			(long long)(clock_boot_ms() - started_ms));
	}
	return status;
}

/* SIGTERM and SIGINT arrive by a descriptor of the loop. */
static int stop_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_SETMASK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Returns how many connections the descriptor limit allows. */
static uint32_t connections_possible(uint32_t wanted)
{
	const rlim_t others = SERVER_SURPLUS_MAX + SERVER_ADMIN_MAX + DESCRIPTORS_SPARE;
	rlim_t limit = rlimit_raise_files(wanted + others);
	uint32_t possible = limit > others ? (uint32_t)(limit - others) : 1;

	if (possible >= wanted)
		return wanted;
	log_line(LOG_LEVEL_WARNING, "connections_capped",
		"wanted=%u possible=%u reason=\"limit of open files\"", wanted, possible);
	return possible;
}

static enum engine_exit serve_engine(const struct settings *settings, const struct sockets *sockets,
	struct ledger *ledger)
{
	struct server_options options = {
		.connections_max = connections_possible(settings->ledger_connections_max),
		.queue_max = settings->ledger_queue_max,
		.gather_us = settings->ledger_gather_us,
		.state_directory = settings->state_directory,
		.low_water_bytes = (uint64_t)settings->disk_low_water_mib * MIB,
		.ballast_bytes = (uint64_t)settings->disk_ballast_mib * MIB,
		.stop_fd = stop_signals(),
	};
	enum engine_exit code = ENGINE_LOST;

	if (options.stop_fd < 0)
		return ENGINE_LOST;
	switch (server_run(ledger, sockets, &options)) {
	case SERVER_STOPPED:
		code = ENGINE_STOPPED;
		break;
	case SERVER_RESUMED:
		code = ENGINE_RESUMED;
		break;
	case SERVER_LOST:
		code = (enum engine_exit)store_exit_code();
		break;
	case SERVER_FAILED:
		break;
	}
	close(options.stop_fd);
	return code;
}

static struct outbox_options outbox_options_of(const struct settings *settings)
{
	return (struct outbox_options){
		.retry =
			{
				.result_delay_ms = {settings->result_second_attempt_ms,
					settings->result_third_attempt_ms},
				.refund_backoff_ms = settings->refund_backoff_ms,
				.refund_backoff_max_ms = settings->refund_backoff_max_ms,
				.refund_give_up_ms = (int64_t)settings->refund_give_up_s * 1000,
			},
		.lease_ms = settings->callback_lease_ms,
		.owner_patience_ms = settings->callback_owner_patience_ms,
		.breaker_open_ms = settings->breaker_open_ms,
	};
}

static enum status make_ledger(struct ledger *ledger, struct store *store,
	const struct settings *settings)
{
	const struct outbox_options outbox = outbox_options_of(settings);
	const struct moment now = clock_now();
	enum status status = ledger_init(ledger, store, (uint64_t)now.wall_ms << 16, &outbox, &now);

	if (status)
		log_start_failed("reason=\"cannot read the rows of the start: %s\"",
			status_text(status));
	return status;
}

enum engine_exit engine_run(const struct settings *settings, const struct sockets *sockets,
	const struct state_hold *hold, enum engine_start start, struct metrics *metrics)
{
	struct ledger *ledger = malloc(sizeof(*ledger));
	struct store *store = NULL;
	enum engine_exit code;
	enum status status = STATUS_OK;
	pid_t parent = getppid();

	if (!ledger)
		return ENGINE_LOST;
	settings_of_halt = settings;
	if (start != ENGINE_HALTED)
		status = open_store(settings, hold, start, &store);
	if (!status)
		status = make_ledger(ledger, store, settings);
	if (status)
		store_end_process((int)exit_for(status));
	/* The data was read from the disk and is now served. */
	if (start == ENGINE_AFTER_HALT) {
		store_wait_if_halting();
		halt_clear(settings);
	}
	ledger->started_ms = clock_boot_ms();
	ledger->retention.days = settings->retention_days;
	ledger->retention.pause_ms = (int64_t)settings->retention_pause_s * 1000;
	ledger->metrics = metrics;
	metrics->engine_starts++;
	ledger->figures.pid = (uint32_t)getpid();
	ledger->figures.parent_pid = (uint32_t)parent;
	text_copy(ledger->figures.version, sizeof(ledger->figures.version), PACKAGE_VERSION);
	text_copy(ledger->figures.installation, sizeof(ledger->figures.installation),
		hold->installation);
	log_line(LOG_LEVEL_INFO, "ledger_ready", "pid=%d halted=%d last_transaction_id=%llu",
		(int)getpid(), !store, (unsigned long long)ledger->derived.transaction_id);
	code = serve_engine(settings, sockets, ledger);
	/* After a lost batch, or when the parent was killed, recovery does what a close would. */
	if ((code != ENGINE_STOPPED && code != ENGINE_RESUMED) || getppid() != parent)
		store_end_process((int)code);
	if (store)
		store->close(store);
	ledger_free(ledger);
	free(ledger);
	return code;
}
