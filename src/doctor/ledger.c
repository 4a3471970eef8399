/*
 * doctor_ledger - checks the running ledger and the information that only it has.
 */
#include "doctor/doctor.h"

#include "base/clock.h"
#include "link/frame.h"
#include "metrics/collect.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* If a restarted engine is younger than this, the cause may still exist. */
#define STEADY_MS         (10 * 60 * 1000)
#define OVERDUE_MS        (5 * 60 * 1000)
#define DESCRIPTORS_SPARE 64
/* Timeout of one answer. Two of them must fit into the check's deadline. */
#define ANSWER_MS 4000

/* The result of connecting to one of the ledger's sockets. */
enum reach {
	REACH_GREETED,
	REACH_ABSENT,  /* the socket does not exist */
	REACH_REFUSED, /* no process listens */
	REACH_DENIED,  /* this user has no permission */
	REACH_CROWDED, /* its backlog is full */
	REACH_SILENT,  /* no greeting was received */
	REACH_FOREIGN, /* another program answers */
	REACH_VERSION, /* a ledger with another protocol version */
	REACH_COUNT
};

static int64_t deadline_of(const struct doctor *doctor)
{
	uint32_t ms = doctor->settings->ledger_deadline_ms;

	return clock_boot_ms() + (ms < ANSWER_MS ? ms : ANSWER_MS);
}

/* Reads the greeting. */
static enum reach read_greeting(int fd, int64_t deadline_ms)
{
	struct pollfd pfd = {.fd = fd, .events = POLLIN};
	uint8_t data[GREETING_SIZE];
	struct bytes in = {.data = data};
	uint64_t protocol = 0, generation;
	enum frame_read read = FRAME_INCOMPLETE;

	while (read == FRAME_INCOMPLETE) {
		int64_t left_ms = deadline_ms - clock_boot_ms();
		ssize_t got;

		if (left_ms <= 0 || poll(&pfd, 1, (int)left_ms) <= 0)
			return REACH_SILENT;
		got = recv(fd, data + in.len, sizeof(data) - in.len, MSG_DONTWAIT);
		if (got <= 0)
			return REACH_SILENT;
		in.len += (uint32_t)got;
		read = greeting_get(in, &protocol, &generation);
	}
	if (read != FRAME_COMPLETE)
		return REACH_FOREIGN;
	return protocol == command_protocol() ? REACH_GREETED : REACH_VERSION;
}

static enum reach reach_ledger(const struct doctor *doctor, const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	enum reach reached = REACH_GREETED;

	snprintf(address.sun_path, sizeof(address.sun_path), "%.*s",
		(int)sizeof(address.sun_path) - 1, path);
	if (fd < 0)
		return REACH_CROWDED;
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		reached = read_greeting(fd, deadline_of(doctor));
	else if (errno == ENOENT || errno == ENOTDIR)
		reached = REACH_ABSENT;
	else if (errno == EACCES || errno == EPERM)
		reached = REACH_DENIED;
	else if (errno == EAGAIN)
		reached = REACH_CROWDED;
	else
		reached = REACH_REFUSED;
	close(fd);
	return reached;
}

static const struct {
	const char *found;
	const char *remedy;
} reach_words[REACH_COUNT] = {
	[REACH_ABSENT] =
		{"it is not there, though a ledger has the data: it was removed, or the ledger "
		 "was started with another socket_directory",
			"restart creditbridge-ledger with this configuration"},
	[REACH_REFUSED] = {"no program listens there, though a ledger has the data",
		"restart creditbridge-ledger with this configuration"},
	[REACH_CROWDED] = {"more connections wait than the ledger takes",
		"see what calls it so often; restart creditbridge-ledger if it hangs"},
	[REACH_SILENT] = {"the ledger does not greet: it was stopped, or hangs",
		"see its log and `ps -o stat` (T: stopped, D: waits for the disk)"},
	[REACH_FOREIGN] = {"what listens there is no ledger",
		"end that program and restart creditbridge-ledger"},
	[REACH_VERSION] = {"another version of the ledger runs than this creditbridgectl: their "
			   "protocols differ",
		"restart creditbridge-ledger, then reload the web server"},
};

/* Sends one command and stores the answer in @result. @about is the socket. */
static bool ask_there(struct doctor *doctor, const char *path, enum command command, void *result)
{
	const struct metrics_cmd metrics = {.without_dealers = true};
	const struct status_cmd status_cmd = {.unused = false};
	int64_t begun_ns = clock_boot_ns();
	struct link link;
	enum status status = STATUS_CONFIG;

	if (link_init(&link, path))
		status = link_call(&link, command,
			command == COMMAND_METRICS ? (const void *)&metrics : &status_cmd, result,
			deadline_of(doctor));
	link_close(&link);
	if (status != STATUS_OK) {
		doctor_fail(doctor, "the ledger greets and does not answer: %s",
			status_text(status));
		doctor_remedy(doctor,
			"see the ledger's log; restart creditbridge-ledger if it hangs");
		return false;
	}
	doctor_pass(doctor, "the ledger answers after %.1f ms",
		(double)(clock_boot_ns() - begun_ns) / 1e6);
	return true;
}

static void judge_version(struct doctor *doctor, const struct status_result *status)
{
	doctor_about(doctor, "version");
	if (strcmp(status->version, PACKAGE_VERSION) == 0) {
		doctor_pass(doctor, "it is %s, as this creditbridgectl", status->version);
		return;
	}
	doctor_warn(doctor, "the ledger is %s, this creditbridgectl " PACKAGE_VERSION,
		status->version);
	doctor_remedy(doctor, "restart creditbridge-ledger, then reload the web server");
}

static void judge_reach(struct doctor *doctor, const char *name, enum reach reached, pid_t pid)
{
	doctor_about(doctor, "%s", name);
	if (reached == REACH_DENIED) {
		doctor_skip(doctor, "this user may not connect");
		doctor_remedy(doctor, "call doctor as root");
		return;
	}
	if (pid)
		doctor_fail(doctor, "%s (process %ld)", reach_words[reached].found, (long)pid);
	else
		doctor_fail(doctor, "%s", reach_words[reached].found);
	doctor_remedy(doctor, "%s", reach_words[reached].remedy);
}

void doctor_ledger(struct doctor *doctor)
{
	static struct metrics_result metrics;
	char edge[DOCTOR_PATH_MAX], admin[DOCTOR_PATH_MAX];
	struct status_result status;
	enum reach at_edge, at_admin;
	pid_t pid = doctor_ledger_pid(doctor);

	doctor_path(edge, doctor->settings->socket_directory, "edge.sock");
	doctor_path(admin, doctor->settings->socket_directory, "admin.sock");
	at_edge = reach_ledger(doctor, edge);
	at_admin = reach_ledger(doctor, admin);
	if (!pid && (at_edge == REACH_ABSENT || at_edge == REACH_REFUSED) &&
		(at_admin == REACH_ABSENT || at_admin == REACH_REFUSED)) {
		doctor_fail(doctor, "no ledger runs: no program listens at %s and %s", edge, admin);
		doctor_remedy(doctor, "start creditbridge-ledger; why it ended is in its log");
		return;
	}
	if (at_edge == at_admin && at_edge != REACH_GREETED) {
		judge_reach(doctor, "edge.sock and admin.sock", at_edge, pid);
		return;
	}
	doctor_about(doctor, "edge.sock");
	if (at_edge == REACH_GREETED)
		ask_there(doctor, edge, COMMAND_METRICS, &metrics);
	else
		judge_reach(doctor, "edge.sock", at_edge, pid);
	doctor_about(doctor, "admin.sock");
	if (at_admin != REACH_GREETED)
		judge_reach(doctor, "admin.sock", at_admin, pid);
	else if (ask_there(doctor, admin, COMMAND_STATUS, &status))
		judge_version(doctor, &status);
}

bool doctor_ledger_serves(const struct doctor *doctor)
{
	static struct metrics_result metrics;
	const struct metrics_cmd cmd = {.without_dealers = true};
	char path[DOCTOR_PATH_MAX];
	struct link link;
	enum status status;

	if (!*doctor->settings_loaded)
		return true;
	doctor_path(path, doctor->settings->socket_directory, "edge.sock");
	if (reach_ledger(doctor, path) != REACH_GREETED || !link_init(&link, path))
		return false;
	status = link_call(&link, COMMAND_METRICS, &cmd, &metrics, deadline_of(doctor));
	link_close(&link);
	return status == STATUS_OK && !metrics.status.halted;
}

bool doctor_ask(struct doctor *doctor, struct link *link, enum command command, const void *cmd,
	void *result)
{
	const struct verdict *verdict = result;
	char path[DOCTOR_PATH_MAX];
	enum status status;

	if (link->fd < 0 && !link->path[0]) {
		doctor_path(path, doctor->settings->socket_directory, "admin.sock");
		if (reach_ledger(doctor, path) != REACH_GREETED || !link_init(link, path)) {
			doctor_skip(doctor, "the ledger does not answer (see ledger)");
			return false;
		}
	}
	status = link_call(link, command, cmd, result, deadline_of(doctor));
	if (status == STATUS_OK && verdict->refusal == REFUSAL_NONE)
		return true;
	doctor_skip(doctor, "the ledger does not answer: %s (see halted)",
		status == STATUS_OK ? refusal_info(verdict->refusal)->id : status_text(status));
	return false;
}

static bool ask_doctor_metrics(struct doctor *doctor, struct metrics_result *metrics)
{
	const struct metrics_cmd cmd = {.without_dealers = true};
	struct link link = {.fd = -1};
	bool asked = doctor_ask(doctor, &link, COMMAND_METRICS, &cmd, metrics);

	link_close(&link);
	return asked;
}

void doctor_engine(struct doctor *doctor)
{
	static struct metrics_result metrics;
	const struct status_result *status = &metrics.status;
	const uint32_t most = doctor->settings->ledger_connections_max;

	if (!ask_doctor_metrics(doctor, &metrics))
		return;
	if (status->halted) {
		doctor_skip(doctor, "the ledger is halted (see halted)");
		return;
	}
	if (status->engine_starts > 1 && status->uptime_ms < STEADY_MS) {
		doctor_warn(doctor,
			"the engine ended and was started again, %" PRIu64 " times in all, %" PRIu64
			" s ago the last time",
			status->engine_starts - 1, status->uptime_ms / 1000);
		doctor_remedy(doctor, "see event=engine_ended in the ledger's log");
	}
	if (status->connections > most / 10 * 8) {
		doctor_warn(doctor, "%u of at most %u connections are taken", status->connections,
			most);
		doctor_remedy(doctor, "raise ledger_connections_max, or run fewer workers");
	}
	if (!doctor->sheet->count)
		doctor_pass(doctor, "it has run for %" PRIu64 " s and has %u connections",
			status->uptime_ms / 1000, status->connections);
}

void doctor_ledger_number(struct doctor *doctor)
{
	static struct metrics_result metrics;
	const uint32_t set = doctor->settings->ledger_number;
	uint32_t in_force;

	if (!ask_doctor_metrics(doctor, &metrics))
		return;
	if (metrics.status.halted) {
		doctor_skip(doctor, "the ledger is halted (see halted)");
		return;
	}
	in_force = metrics.status.ledger_number;
	if (in_force == set) {
		doctor_pass(doctor, "new ids leave %u when divided by 16, as ledger_number says",
			set);
		return;
	}
	doctor_warn(doctor,
		"ledger_number is %u, but new ids leave %u when divided by 16: the number is taken when a life "
		"begins, and was %u then",
		set, in_force, in_force);
	doctor_remedy(doctor,
		"begin a life with %u: stop creditbridge-ledger, run `creditbridgectl adopt --moved`, and start "
		"it; or set ledger_number to %u",
		set, in_force);
}

/* Returns the soft limit of open files of @pid; 0 if unknown. */
static unsigned long descriptor_limit(pid_t pid)
{
	char path[64], line[256];
	unsigned long limit = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%ld/limits", (long)pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "Max open files %lu", &limit) == 1)
			break;
	}
	if (file)
		fclose(file);
	return limit;
}

void doctor_descriptors(struct doctor *doctor)
{
	static struct metrics_result metrics;
	const unsigned long most = doctor->settings->ledger_connections_max;
	unsigned long limit;

	if (!ask_doctor_metrics(doctor, &metrics))
		return;
	limit = descriptor_limit((pid_t)metrics.status.pid);
	if (!limit) {
		doctor_skip(doctor, "the limit of process %u cannot be read", metrics.status.pid);
		return;
	}
	if (limit >= most + DESCRIPTORS_SPARE) {
		doctor_pass(doctor, "the ledger may open %lu files, for %lu connections", limit,
			most);
		return;
	}
	doctor_warn(doctor, "the ledger may open %lu files only, ledger_connections_max is %lu",
		limit, most);
	doctor_remedy(doctor, "start it with LimitNOFILE=%lu (systemd) or `ulimit -n %lu`",
		most + DESCRIPTORS_SPARE, most + DESCRIPTORS_SPARE);
}

void doctor_sweeper(struct doctor *doctor)
{
	static struct metrics_result metrics;
	const uint64_t overdue_s = doctor->settings->sweep_overdue_s;

	if (!ask_doctor_metrics(doctor, &metrics))
		return;
	if (metrics.swept && metrics.swept_ms_ago <= overdue_s * 1000) {
		doctor_pass(doctor, "it last asked for due callbacks %" PRIu64 " s ago",
			metrics.swept_ms_ago / 1000);
		return;
	}
	if (metrics.swept) {
		doctor_fail(doctor,
			"the sweeper last ran %" PRIu64
			" s ago; results and refunds are not being retried",
			metrics.swept_ms_ago / 1000);
	} else if (metrics.status.uptime_ms <= overdue_s * 1000) {
		doctor_warn(doctor, "it has not run yet; the ledger was started %" PRIu64 " s ago",
			metrics.status.uptime_ms / 1000);
		doctor_remedy(doctor, "call doctor again in a minute");
		return;
	} else {
		doctor_fail(doctor,
			"the sweeper has not run since the ledger was started; results and "
			"refunds are not being retried");
	}
	doctor_remedy(doctor,
		"let cron start creditbridge-sweep %s%s%s--for 55s each minute (see cron)",
		doctor->options->config ? "--config " : "",
		doctor->options->config ? doctor->options->config : "",
		doctor->options->config ? " " : "");
}

/* Requests a page of dealers. */
struct asker {
	struct doctor *doctor;
	struct link link;
};

static bool ask_page(void *context, const struct metrics_cmd *cmd, struct metrics_result *result)
{
	struct asker *asker = context;

	return doctor_ask(asker->doctor, &asker->link, COMMAND_METRICS, cmd, result);
}

static void judge_callbacks(struct doctor *doctor, const struct dealer_metrics *dealer)
{
	if (!dealer->called)
		return;
	doctor_about(doctor, "%s", dealer->casino_id);
	if (dealer->breaker != BREAKER_CLOSED) {
		doctor_warn(doctor,
			"calls to the dealer's server fail: new bets are refused at once");
		doctor_remedy(doctor, "creditbridgectl dealer ping %s", dealer->casino_id);
	}
	if (dealer->parked) {
		doctor_warn(doctor, "%" PRIu64 " callbacks were given up (parked)", dealer->parked);
		doctor_remedy(doctor,
			"creditbridgectl callback list --casino %s --state parked; then "
			"callback retry or cancel",
			dealer->casino_id);
	}
	if (dealer->overdue_ms > OVERDUE_MS) {
		doctor_warn(doctor, "a callback has been due for %" PRIu64 " s",
			dealer->overdue_ms / 1000);
		doctor_remedy(doctor,
			"see that the sweeper runs (sweeper); creditbridgectl callback "
			"list --casino %s --state due",
			dealer->casino_id);
	}
}

void doctor_callbacks(struct doctor *doctor)
{
	static struct collection collection;
	struct asker asker = {.doctor = doctor, .link = {.fd = -1}};
	struct dealer_metrics sum;

	collection_make(&collection, "", ask_page, &asker);
	link_close(&asker.link);
	if (collection.answered) {
		for (uint32_t i = 0; i < collection.dealer_count; i++)
			judge_callbacks(doctor, &collection.dealers[i]);
		collection_sum(&collection, &sum);
		doctor_about(doctor, "%s", "");
		if (!doctor->sheet->count)
			doctor_pass(doctor, "%" PRIu64 " wait or are being sent, none was given up",
				sum.due + sum.sending);
	} else if (!doctor->sheet->count) {
		doctor_skip(doctor, "the ledger's figures cannot be read");
	}
	collection_free(&collection);
}
