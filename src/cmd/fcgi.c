/*
 * creditbridge.fcgi - the HTTP front end. A web server starts it, or it listens on its own
 * socket.
 *
 * When installed, it is setgid to the group that may open the ledger's edge.sock. Its user must
 * not use that right for other purposes, so the program reads only the installed configuration.
 * It also clears its environment, because libraries take settings from it (libcurl takes the file
 * to which it writes TLS keys).
 *
 * Exit codes:
 *
 *    0  stopped by request
 *    1  failed
 *    2  usage error, or standard input is not a listening socket
 *   75  the ledger speaks another protocol version, or memory was short: restart
 *   78  configuration error
 */
#include "base/cells.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/no_dump.h"
#include "base/rlimit.h"
#include "base/settings.h"
#include "base/text.h"
#include "cmd/arguments.h"
#include "cmd/fcgi_console.h"
#include "cmd/listen.h"
#include "fcgi/admission.h"
#include "fcgi/server.h"
#include "fcgi/shared_listener.h"
#include "fcgi/signals.h"
#include "web/request/feed_waits.h"
#include "web/serve.h"
#include "wire/digest.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sysexits.h>
#include <unistd.h>

#define PROGRAM "creditbridge.fcgi"
/* The connections of desk.sock (ledger/daemon/desk_loop.h). */
#define CONSOLE_THREADS_MAX 8
/*
 * Descriptors that the process needs besides those for dealers, and the maximum of each thread.
 */
#define DESCRIPTORS_SPARE  (64 + ADMISSION_MAX)
#define DESCRIPTORS_THREAD 16
/* Descriptors of one wallet fiber: the caller's connection and the ledger's. */
#define DESCRIPTORS_SLOT 2

enum {
	OPTION_CONFIG = 'c',
	OPTION_SERVE = 's',
	OPTION_BASE_PATH = 'b',
	OPTION_THREADS = 't',
	OPTION_SOCKET = 'S',
	OPTION_EXCLUSIVE = 'x',
	OPTION_TOGETHER = 'T',
	OPTION_LOOPBACK_HTTP = 'l'
};

const char *argp_program_version = PROGRAM " " PACKAGE_VERSION;

static const struct argp_option options[] = {
	{"config", OPTION_CONFIG, "FILE", 0, "read FILE (default: " SETTINGS_DEFAULT_FILE ")", 0},
	{"serve", OPTION_SERVE, "GROUP", 0,
		"serve \"wallet\", the calls of dealers (the default), \"platform\", the calls of "
		"game servers, or \"console\", the pages of operators",
		0},
	{"base-path", OPTION_BASE_PATH, "PATH", 0,
		"the prefix at which the web server mounts this service, instead of base_path", 0},
	{"threads", OPTION_THREADS, "N", 0, "requests served at a time (default: 1)", 0},
	{"socket", OPTION_SOCKET, "PATH", 0,
		"listen on a Unix socket that is made at PATH, with mode 0660 and the group of the "
		"setting socket_group, instead of on standard input",
		0},
	{"exclusive", OPTION_EXCLUSIVE, NULL, 0,
		"no other process accepts from the socket on standard input: a stopping worker "
		"refuses new connections there (with lighttpd and Apache mod_fcgid; never with a "
		"socket that systemd or spawn-fcgi keeps)",
		0},
	{"together", OPTION_TOGETHER, NULL, 0,
		"one worker serves for all workers with this option, N requests at a time; another "
		"one takes its place when it ends (with Apache mod_fcgid and --serve=wallet)",
		0},
	{"loopback-http", OPTION_LOOPBACK_HTTP, NULL, 0,
		"with --serve=console: serve plain http to clients on this host, too", 0},
	{NULL, 0, NULL, 0, NULL, 0},
};

struct arguments {
	const char *config;
	const char *base_path; /* NULL: the value of the setting */
	const char *socket;    /* NULL: standard input */
	enum serve_group group;
	unsigned int threads;
	bool exclusive;
	bool together;
	bool console; /* in place of a group of operations */
	bool loopback_http;
};

static enum serve_group group_parse(const char *text, struct argp_state *state)
{
	for (unsigned int i = 0; i < SERVE_GROUP_COUNT; i++) {
		if (strcmp(serve_group_names[i], text) == 0)
			return (enum serve_group)i;
	}
	argp_error(state, "--serve takes \"wallet\", \"platform\" or \"console\", not \"%s\"",
		text);
	return SERVE_WALLET;
}

static error_t option_parse(int key, char *value, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case OPTION_CONFIG:
		arguments->config = value;
		return 0;
	case OPTION_SERVE:
		arguments->console = strcmp(value, FCGI_CONSOLE_GROUP) == 0;
		if (!arguments->console)
			arguments->group = group_parse(value, state);
		return 0;
	case OPTION_BASE_PATH:
		arguments->base_path = value;
		return 0;
	case OPTION_THREADS:
		arguments->threads = listen_threads(value, state);
		return 0;
	case OPTION_SOCKET:
		arguments->socket = value;
		return 0;
	case OPTION_EXCLUSIVE:
		arguments->exclusive = true;
		return 0;
	case OPTION_TOGETHER:
		arguments->together = true;
		return 0;
	case OPTION_LOOPBACK_HTTP:
		arguments->loopback_http = true;
		return 0;
	case ARGP_KEY_END:
		if (arguments->console && arguments->exclusive)
			argp_error(state, "--serve=console cannot be combined with --exclusive");
		/* Each thread has its own connection. */
		if (arguments->console && arguments->threads > CONSOLE_THREADS_MAX)
			argp_error(state, "--serve=console takes --threads of at most %d",
				CONSOLE_THREADS_MAX);
		if (arguments->loopback_http && !arguments->console)
			argp_error(state, "--loopback-http requires --serve=console");
		if (arguments->together &&
			(!arguments->exclusive || arguments->socket ||
				arguments->group != SERVE_WALLET || arguments->threads == 1))
			argp_error(state,
				"--together requires --serve=wallet, --exclusive "
				"and --threads of 2 or more");
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
	.doc = "Serves creditbridge's HTTP interface over FastCGI.\v"
	       "Without --socket, standard input is the listening socket. Web servers that start "
	       "FastCGI programs pass it so (Apache mod_fcgid, lighttpd).\n\n"
	       "Exit codes: 0 stopped on request; 1 failed; 2 usage; 75 the ledger has another "
	       "version, or no memory, start again; 78 configuration.",
};

/* Writes the path of a file in a socket directory to @path. Returns false if it is too long. */
static bool name_file(char *path, size_t size, const char *directory, const char *name)
{
	int len = snprintf(path, size, "%s/%s", directory, name);

	return len >= 0 && (size_t)len < size;
}

/* Fills @service from arguments and settings. Returns false after a message on standard error. */
static bool service_init(struct web_service *service, const struct arguments *arguments,
	const struct settings *settings)
{
	const char *base_path = arguments->base_path ? arguments->base_path : settings->base_path;

	*service = (struct web_service){
		.group = arguments->group,
		.request_window_s = settings->request_window_s,
		.ledger_deadline_ms = settings->ledger_deadline_ms,
		.sweep_overdue_s = settings->sweep_overdue_s,
		.callbacks = sender_options_of(settings),
	};
	text_copy(service->member, sizeof(service->member), settings->cell_member);
	if (!text_base_path(base_path, service->base_path, sizeof(service->base_path))) {
		fprintf(stderr,
			PROGRAM ": --base-path \"%s\": " TEXT_BASE_PATH_RULE " at most %zu bytes\n",
			base_path, sizeof(service->base_path) - 1);
		return false;
	}
	if (!name_file(service->ledger_path, sizeof(service->ledger_path),
		    settings->socket_directory, "edge.sock") ||
		!name_file(service->counters_path, sizeof(service->counters_path),
			settings->socket_directory, COUNTERS_FILE)) {
		fprintf(stderr, PROGRAM ": %s: socket_directory \"%s\" is too long\n",
			arguments->config, settings->socket_directory);
		return false;
	}
	return true;
}

/* Fills @cells with the cells of @list, and names them to @service if there are several. Returns false after a message. */
static bool service_cells(struct web_service *service, const struct cell_list *list,
	unsigned int threads, struct web_cells *cells)
{
	struct web_cell *cell;

	if (list->count == 1)
		return true;
	cells->count = list->count;
	cells->ledger_deadline_ms = service->ledger_deadline_ms;
	cells->calls_max = threads > 1 ? threads / 2 : 1;
	for (unsigned int at = 0; at < list->count; at++) {
		cell = &cells->list[at];
		text_copy(cell->name, sizeof(cell->name), list->cells[at].name);
		cell->number = list->cells[at].ledger_number;
		if (!name_file(cell->ledger_path, sizeof(cell->ledger_path),
			    list->cells[at].socket_directory, "edge.sock")) {
			fprintf(stderr, PROGRAM ": %s: socket_directory \"%s\" is too long\n",
				list->cells[at].path, list->cells[at].socket_directory);
			return false;
		}
	}
	service->cells = cells;
	return true;
}

/*
 * Makes a queue of refused calls for each cell, unless the configuration of the default cell keeps none.
 * @queues: of CELLS_MAX, the first for the default cell.
 */
static void service_refusals(struct web_service *service, const struct settings *settings,
	struct refusal_queue *queues)
{
	struct web_cells *cells = service->cells;

	if (!settings->refused_keep_mib)
		return;
	for (unsigned int at = 0; at < (cells ? cells->count : 1); at++) {
		if (!refusal_queue_init(&queues[at]))
			continue;
		if (!at)
			service->refusals = &queues[0];
		if (cells)
			cells->list[at].refusals = &queues[at];
	}
}

/* Sends what is left when the process stops, and closes the connections of fibers. */
static void service_end(const struct web_service *service)
{
	const int64_t deadline_ms = clock_boot_ms() + REFUSAL_END_MS;
	struct web_cells *cells = service->cells;

	if (service->refusals)
		refusal_queue_end(service->refusals, service->ledger_path, deadline_ms);
	if (service->muxes)
		muxes_free(service->muxes);
	for (unsigned int at = 1; cells && at < cells->count; at++) {
		if (cells->list[at].refusals)
			refusal_queue_end(cells->list[at].refusals, cells->list[at].ledger_path,
				deadline_ms);
		if (cells->list[at].muxes)
			muxes_free(cells->list[at].muxes);
	}
}

/*
 * Decides whether a thread runs several requests as fibers. Requests that wait for dealers need
 * threads of their own, because libcurl does not support fibers.
 */
static bool service_fibers(struct web_service *service, unsigned int threads)
{
	static struct muxes muxes[CELLS_MAX];
	static struct feed_waits feed_waits;
	struct web_cells *cells = service->cells;

	if (service->group != SERVE_WALLET || threads == 1)
		return true;
	service->muxes = &muxes[0];
	feed_waits_init(&feed_waits, threads);
	service->feed_waits = &feed_waits;
	for (unsigned int at = 1; cells && at < cells->count; at++) {
		cells->list[at].muxes = &muxes[at];
		if (!muxes_init(&muxes[at], cells->list[at].ledger_path, threads))
			return false;
	}
	return muxes_init(&muxes[0], service->ledger_path, threads);
}

/*
 * Writes to @file the name of the socket for @mount among the workers of this version that the
 * same parent started. Writes "" if memory is exhausted.
 */
static void handoff_file(const char *mount, char file[HANDOFF_FILE_CHARS + 1])
{
	struct digest digest;
	char text[DIGEST_TEXT_SIZE] = "";
	pid_t parent = getppid();

	digest_begin(&digest);
	digest_add(&digest, PACKAGE_VERSION, sizeof(PACKAGE_VERSION));
	digest_add(&digest, &parent, sizeof(parent));
	digest_add(&digest, mount, strlen(mount));
	if (!digest_text(&digest, text))
		text[0] = '\0';
	digest_end(&digest);
	snprintf(file, HANDOFF_FILE_CHARS + 1, "%.*s", HANDOFF_FILE_CHARS, text);
}

/* Joins the workers of this mount (--together). NULL: this process serves by itself. */
static struct shared_listener *join_shared_listener(const struct arguments *arguments,
	const struct settings *settings, const struct web_service *service, bool again)
{
	static struct shared_listener shared;
	char mount[2 * PATH_MAX], directory[sizeof(service->counters_path)];
	char file[HANDOFF_FILE_CHARS + 1];
	const struct shared_listener_group group = {.directory = directory,
		.file = file,
		.mount = mount};
	rlim_t own, limit;

	snprintf(mount, sizeof(mount), "%s %s %s", serve_group_names[service->group],
		service->base_path, arguments->config);
	handoff_file(mount, file);
	/* This fits: the path of the counters, built before, has the same length. */
	if (!name_file(directory, sizeof(directory), settings->socket_directory,
		    SETTINGS_TOGETHER) ||
		!shared_listener_join(&shared, &group, LISTEN_INHERITED_FD, again))
		return NULL;
	own = DESCRIPTORS_SPARE + arguments->threads * DESCRIPTORS_SLOT;
	if (service->cells)
		own += (service->cells->count - 1) * MUXES_MAX; /* to the other ledgers */
	limit = rlimit_raise_files(
		own + SHARED_LISTENER_FOLLOWERS_MAX * SHARED_LISTENER_DESCRIPTORS_EACH);
	limit = limit > own ? (limit - own) / SHARED_LISTENER_DESCRIPTORS_EACH : 0;
	shared.room = limit < SHARED_LISTENER_FOLLOWERS_MAX ? (unsigned int)limit
							    : SHARED_LISTENER_FOLLOWERS_MAX;
	return &shared;
}

/*
 * Serves from standard input. With --together, a worker that can neither lead nor follow runs one
 * thread and tries to join again later.
 */
static int serve_inherited(const struct arguments *arguments, const struct settings *settings,
	struct web_service *service)
{
	int64_t again_ms = SHARED_LISTENER_AGAIN_MS;
	struct fcgi_program program;
	struct shared_listener *shared = NULL;
	unsigned int threads;
	int code = FCGI_AGAIN;

	for (bool again = false; code == FCGI_AGAIN; again = true) {
		if (arguments->together)
			shared = join_shared_listener(arguments, settings, service, again);
		threads = arguments->together && !shared ? 1 : arguments->threads;
		if (!service_fibers(service, threads))
			return EXIT_FAILURE;
		program = web_service_program(service);
		program.exclusive = arguments->exclusive;
		program.shared_listener = shared;
		program.again_ms = arguments->together && !shared ? again_ms : 0;
		code = fcgi_run(&program, LISTEN_INHERITED_FD, threads, NULL);
		again_ms = again_ms < SHARED_LISTENER_AGAIN_MAX_MS / 2
			? 2 * again_ms
			: SHARED_LISTENER_AGAIN_MAX_MS;
	}
	return code;
}

/* Serves from the socket of --socket. */
static int serve_own(const struct arguments *arguments, struct web_service *service,
	const struct fcgi_socket *own)
{
	struct fcgi_program program;

	if (!service_fibers(service, arguments->threads))
		return EXIT_FAILURE;
	program = web_service_program(service);
	program.exclusive = arguments->exclusive;
	return fcgi_run(&program, own->fd, arguments->threads, own);
}

/*
 * Returns how many connections to dealers each thread may keep. A worker that was started by hand
 * or by an old web server may have only 1024 descriptors. Several hundred threads would use more,
 * and dealers could not be reached.
 */
static unsigned int connections_kept(unsigned int threads, unsigned int cells)
{
	/* A thread has a connection to each ledger. */
	const unsigned int own = DESCRIPTORS_THREAD + cells - 1;
	rlim_t limit =
		rlimit_raise_files(DESCRIPTORS_SPARE + threads * (own + SENDER_INFLIGHT_MAX));
	rlim_t each = limit > DESCRIPTORS_SPARE ? (limit - DESCRIPTORS_SPARE) / threads : 0;

	if (each <= own) {
		log_line(LOG_LEVEL_WARNING, "descriptors_few",
			"limit=%llu threads=%u remedy=\"raise the limit of open files\"",
			(unsigned long long)limit, threads);
		return 1;
	}
	each -= own;
	return each < SENDER_INFLIGHT_MAX ? (unsigned int)each : SENDER_INFLIGHT_MAX;
}

/*
 * Reads the configuration; an unprivileged caller may choose the file. Prints errors on standard
 * error.
 */
static enum status config_load(struct settings *settings, const char *path, bool privileged)
{
	if (privileged && strcmp(path, SETTINGS_DEFAULT_FILE) != 0) {
		fprintf(stderr,
			PROGRAM
			": --config %s: being setgid, this program reads " SETTINGS_DEFAULT_FILE
			" only\n",
			path);
		return STATUS_CONFIG;
	}
	return settings_load(settings, path, stderr);
}

/* Serves the console. */
static int serve_console(const struct arguments *arguments, const struct settings *settings,
	const struct web_service *service)
{
	struct fcgi_socket own = {.fd = -1};
	const struct fcgi_console console = {
		.settings = settings,
		.config = arguments->config,
		.base_path = service->base_path,
		.threads = arguments->threads,
		.loopback_http = arguments->loopback_http,
		.fd = LISTEN_INHERITED_FD,
		.own = arguments->socket ? &own : NULL,
	};
	enum status status = STATUS_OK;
	char why[256];

	if (!arguments->socket && !listen_inherited(PROGRAM))
		return EXIT_USAGE;
	if (arguments->socket)
		status = socket_open(&own, arguments->socket, settings->socket_group, why,
			sizeof(why));
	if (status) {
		fprintf(stderr, PROGRAM ": %s\n", why);
		return status_exit_code(status);
	}
	settings_open_log(settings, PROGRAM);
	log_line(LOG_LEVEL_INFO, "start",
		"serve=" FCGI_CONSOLE_GROUP " base_path=\"%s\" threads=%u", service->base_path,
		arguments->threads);
	return fcgi_console_run(&console);
}

int main(int argc, char **argv)
{
	static struct settings settings;
	static struct cell_list list;
	static struct web_cells cells;
	static struct flood flood;
	static struct refusal_queue refusals[CELLS_MAX];
	struct arguments arguments = {.config = SETTINGS_DEFAULT_FILE,
		.group = SERVE_WALLET,
		.threads = 1};
	/* The process has more rights than its user (ld.so(8), secure-execution mode). */
	bool privileged = getauxval(AT_SECURE) != 0;
	struct web_service service;
	struct fcgi_socket own;
	enum status status;
	char why[256];
	int code;

	no_dump_begin();
	signals_block();
	if (privileged && clearenv() != 0)
		return EX_OSERR;
	arguments_parse(&argp, argc, argv, &arguments);
	/* The console must have no right that its user has not. */
	if (privileged && arguments.console) {
		fprintf(stderr,
			PROGRAM
			": --serve console runs with no more rights than its user has: start "
			"it by setpriv --no-new-privs, or by systemd with NoNewPrivileges\n");
		return EX_CONFIG;
	}
	status = config_load(&settings, arguments.config, privileged);
	if (status)
		return status_exit_code(status);
	if (!service_init(&service, &arguments, &settings))
		return EX_CONFIG;
	if (arguments.console)
		return serve_console(&arguments, &settings, &service);
	status = cells_load(&settings, arguments.config, &list, NULL, stderr);
	if (status)
		return status_exit_code(status);
	if (!service_cells(&service, &list, arguments.threads, &cells))
		return EX_CONFIG;
	if (!flood_init(&flood)) {
		fprintf(stderr,
			PROGRAM ": the kernel gives no random numbers: allow the system call "
				"getrandom, and repeat this\n");
		return EX_TEMPFAIL;
	}
	service.flood = &flood;
	service_refusals(&service, &settings, refusals);
	if (!arguments.socket && !listen_inherited(PROGRAM))
		return EXIT_USAGE;
	if (arguments.socket)
		status = socket_open(&own, arguments.socket, settings.socket_group, why,
			sizeof(why));
	if (status) {
		fprintf(stderr, PROGRAM ": %s\n", why);
		return status_exit_code(status);
	}
	settings_open_log(&settings, PROGRAM);
	log_line(LOG_LEVEL_INFO, "start", "serve=%s base_path=\"%s\" threads=%u",
		serve_group_names[service.group], service.base_path, arguments.threads);
	if (arguments.group == SERVE_PLATFORM)
		service.callbacks.keep = connections_kept(arguments.threads, list.count);
	code = arguments.socket ? serve_own(&arguments, &service, &own)
				: serve_inherited(&arguments, &settings, &service);
	service_end(&service);
	return code;
}
