#include "ledger/daemon/engine.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/rlimit.h"
#include "base/text.h"
#include "ledger/daemon/relay_board.h"
#include "ledger/daemon/server.h"
#include "ledger/daemon/standby.h"
#include "ledger/rows/life.h"
#include "metrics/counters.h"
#include "state/disk.h"
#include "state/halt.h"
#include "store/exit.h"
#include "store/servers.h"
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
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
	case STATUS_BUSY:
		return ENGINE_FENCED;
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

/* Lets the peer relay the clients of this host to the active ledger. */
static void follow_active(void *context, const struct store_cell *cell)
{
	struct relay_board *board = context;
	struct relay_view view = {.role = RELAY_UNKNOWN};

	if (!board)
		return;
	if (cell && cell->holder[0] && cell->address[0]) {
		view.role = RELAY_STANDBY;
		text_copy(view.address, sizeof(view.address), cell->address);
		text_copy(view.member, sizeof(view.member), cell->holder);
	}
	relay_board_set(board, &view);
}

/* What an engine needs to claim the data of several hosts. */
struct claimant {
	int64_t run; /* of the supervisor */
	int stop_fd; /* readable once the engine is to end */
	struct relay_board *board;
};

/* Before the data of several hosts are opened: stands by until this ledger may claim them. */
static enum status stand_by(const struct settings *settings, struct store_options *options,
	const struct claimant *claimant, char *why, size_t why_size)
{
	static char member[STORE_MEMBER_SIZE];
	static struct store_claim claim;
	const struct standby_options standby = {
		.store = options,
		.takeover_ms = settings->cell_takeover_ms,
		.first = options->create,
		.news = follow_active,
		.context = claimant->board,
	};
	enum status status;

	if (!options->servers)
		return STATUS_OK;
	claim = (struct store_claim){.member = standby_member(settings, member),
		.address = settings->cell_listen,
		.run = claimant->run,
		.stop_fd = claimant->stop_fd};
	options->claim = &claim;
	status = standby_wait(&standby, &claim, why, why_size);
	/* Clients wait until this ledger serves, or the next active one is known. */
	follow_active(claimant->board, NULL);
	return status;
}

static enum status open_data(const struct settings *settings, const struct state_hold *hold,
	enum engine_start start, const struct claimant *claimant, struct store **store, char *why,
	size_t why_size)
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
	static struct store_servers servers;
	enum status status;

	options.servers = store_servers_of(settings, &servers);
	if ((unsigned int)snprintf(name, sizeof(name), "%s/db", settings->state_directory) >=
		sizeof(name))
		return STATUS_CONFIG;
	if (start == ENGINE_AFTER_HALT)
		disk_forget_cached(options.directory);
	status = stand_by(settings, &options, claimant, why, why_size);
	if (!status)
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
		status = life_begin_first(*store, clock_now().wall_ms, settings->ledger_number, why,
			why_size);
	if (status)
		(*store)->close(*store);
	return status;
}

static enum status open_store(const struct settings *settings, const struct state_hold *hold,
	enum engine_start start, const struct claimant *claimant, struct store **store)
{
	char why[512] = "";
	int64_t started_ms = clock_boot_ms();
	enum status status = enter_state(hold, why, sizeof(why));

	if (!status)
		status = open_data(settings, hold, start, claimant, store, why, sizeof(why));
	if (status == STATUS_BUSY) {
		log_line(LOG_LEVEL_INFO, "claim_lost", "reason=\"%s\"", why);
	} else if (status) {
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
	const rlim_t others = SERVER_SURPLUS_MAX + SERVER_ADMIN_MAX + SERVER_UNNAMED_MAX +
		DESK_CONNECTIONS_MAX + DESCRIPTORS_SPARE;
	rlim_t limit = rlimit_raise_files(wanted + others);
	uint32_t possible = limit > others ? (uint32_t)(limit - others) : 1;

	if (possible >= wanted)
		return wanted;
	log_line(LOG_LEVEL_WARNING, "connections_capped",
		"wanted=%u possible=%u reason=\"limit of open files\"", wanted, possible);
	return possible;
}

/* The web console's part of the loop. */
static struct desk_loop desk_loop_of(const struct settings *settings, struct sessions *sessions)
{
	return (struct desk_loop){
		.desk = {.limits = {.idle_ms = (int64_t)settings->console_idle_s * 1000,
				 .whole_ms = (int64_t)settings->console_session_s * 1000,
				 .fresh_ms = (int64_t)settings->console_code_fresh_s * 1000},
			.sessions = sessions},
		.share = {.percent = settings->desk_share},
		.front_file = settings->console_front_file,
	};
}

static enum engine_exit serve_engine(const struct settings *settings, const struct sockets *sockets,
	struct ledger *ledger, struct sessions *sessions, int stop_fd)
{
	char counters_path[sizeof(settings->socket_directory) + sizeof(COUNTERS_FILE)];
	struct server_options options = {
		.counters_path = counters_path,
		.connections_max = connections_possible(settings->ledger_connections_max),
		.queue_max = settings->ledger_queue_max,
		.gather_us = settings->ledger_gather_us,
		/* An engine with data works in db/, and the path may lead elsewhere by now. */
		.state_directory = ledger->store ? ".." : settings->state_directory,
		.low_water_bytes = (uint64_t)settings->disk_low_water_mib * MIB,
		.ballast_bytes = (uint64_t)settings->disk_ballast_mib * MIB,
		.desk = desk_loop_of(settings, sessions),
		.stop_fd = stop_fd,
	};
	enum engine_exit code = ENGINE_LOST;

	snprintf(counters_path, sizeof(counters_path), "%s/" COUNTERS_FILE,
		settings->socket_directory);
	switch (server_run(ledger, sockets, &options)) {
	case SERVER_STOPPED:
		code = ENGINE_STOPPED;
		break;
	case SERVER_RESUMED:
		code = ENGINE_RESUMED;
		break;
	case SERVER_LOST:
		code = ledger->store && ledger->store->fenced ? ENGINE_FENCED
							      : (enum engine_exit)store_exit_code();
		break;
	case SERVER_FAILED:
		break;
	}
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
		.keep_answers = strcmp(settings->callback_keep_answers, "failed") == 0,
	};
}

static enum status make_ledger(struct ledger *ledger, struct store *store,
	const struct settings *settings)
{
	const struct outbox_options outbox = outbox_options_of(settings);
	const struct moment now = clock_now();
	/* The workers of a host see the ledgers of all hosts: no two may give out one generation. */
	const uint64_t seed =
		store && store->epoch ? store->epoch << 40 : (uint64_t)now.wall_ms << 16;
	enum status status = ledger_init(ledger, store, seed, &outbox, &now);

	if (status)
		log_start_failed("reason=\"cannot read the rows of the start: %s\"",
			status_text(status));
	return status;
}

/* Without the files of refused calls, the ledger serves; `refused list` is then empty. */
static void open_refused_log(struct ledger *ledger, const struct settings *settings)
{
	const struct moment now = clock_now();
	int state = open(ENTERED_STATE, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (state < 0 ||
		!refused_log_open(&ledger->refused_log, state, settings->refused_keep_mib,
			settings->refused_keep_days, &now))
		log_line(LOG_LEVEL_WARNING, "refused_calls_not_kept", "error=\"%s\"",
			strerror(errno));
	if (state >= 0)
		close(state);
}

enum engine_exit engine_run(const struct settings *settings, const struct sockets *sockets,
	const struct state_hold *hold, enum engine_start start, int64_t run,
	struct metrics *metrics, struct sessions *sessions)
{
	struct ledger *ledger = malloc(sizeof(*ledger));
	const struct claimant claimant = {.run = run,
		.stop_fd = stop_signals(),
		.board = sockets->relay};
	struct store *store = NULL;
	enum engine_exit code;
	enum status status = STATUS_OK;
	pid_t parent = getppid();

	if (!ledger || claimant.stop_fd < 0) {
		free(ledger);
		return ENGINE_LOST;
	}
	settings_of_halt = settings;
	if (start != ENGINE_HALTED)
		status = open_store(settings, hold, start, &claimant, &store);
	if (!status)
		status = make_ledger(ledger, store, settings);
	if (status)
		store_end_process((int)exit_for(status));
	/* The data was read from the disk and is now served. */
	if (start == ENGINE_AFTER_HALT) {
		store_wait_if_halting();
		halt_clear(settings);
	}
	if (store)
		open_refused_log(ledger, settings);
	ledger->started_ms = clock_boot_ms();
	ledger->replay_rate = settings->replay_rate;
	ledger->retention.days = settings->retention_days;
	ledger->retention.pause_ms = (int64_t)settings->retention_pause_s * 1000;
	ledger->metrics = metrics;
	metrics->engine_starts++;
	ledger->figures.pid = (uint32_t)getpid();
	ledger->figures.parent_pid = (uint32_t)parent;
	text_copy(ledger->figures.version, sizeof(ledger->figures.version), PACKAGE_VERSION);
	text_copy(ledger->figures.installation, sizeof(ledger->figures.installation),
		hold->installation);
	if (store && store->epoch) {
		standby_member(settings, ledger->figures.member);
		ledger->figures.epoch = store->epoch;
	}
	log_line(LOG_LEVEL_INFO, "ledger_ready", "pid=%d halted=%d last_transaction_id=%llu",
		(int)getpid(), !store, (unsigned long long)ledger->derived.transaction_id);
	/* Also while this host is halted: its clients get that answer. */
	if (sockets->relay)
		relay_board_set(sockets->relay, &(struct relay_view){.role = RELAY_ACTIVE});
	code = serve_engine(settings, sockets, ledger, sessions, claimant.stop_fd);
	/*
	 * After a lost batch, or when the parent was killed, recovery does what a close would. But data
	 * of several hosts is released, so that another one can serve at once.
	 */
	if ((code != ENGINE_STOPPED && code != ENGINE_RESUMED) ||
		(getppid() != parent && !(store && store->vouch)))
		store_end_process((int)code);
	if (store)
		store->close(store);
	ledger_free(ledger);
	free(ledger);
	return code;
}
