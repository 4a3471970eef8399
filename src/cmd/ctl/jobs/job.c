/*
 * job - implements `job`: one job of the web console (link/jobs.h), as the ledger's user.
 *
 * The request is data and never becomes part of a command that a shell reads: each job has a fixed
 * command line, in which only an id, a dealer, a user and a day are filled in.
 */
#include "cmd/ctl/jobs/job.h"

#include "admin/operator.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "cmd/ctl/cells/cells.h"
#include "cmd/ctl/jobs/job_run.h"
#include "sweep/duration.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* Time for the request, and for the ledger's answer. */
#define REQUEST_MS INT64_C(5000)
#define LEDGER_MS  INT64_C(5000)
#define SLOTS_FILE "jobs.lock"
#define WORDS_MAX  14

/* One job. */
struct job_work {
	const struct job_service *service;
	int fd;
	int slot; /* a lock on one of the job's places; -1: none */
	struct job_request request;
	struct frame_vouch vouch;
	struct link link; /* to desk.sock */
	struct session_who who;
	struct job_end end;
};

static bool end_work(struct job_work *work, enum job_outcome outcome, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
static bool end_work(struct job_work *work, enum job_outcome outcome, const char *format, ...)
{
	va_list arguments;

	work->end.outcome = outcome;
	va_start(arguments, format);
	vsnprintf(work->end.detail, sizeof(work->end.detail), format, arguments);
	va_end(arguments);
	return false;
}

/* Receives the request. Returns false with the end of the job. */
static bool read_request(struct job_work *work)
{
	const int64_t until_ms = clock_boot_ms() + REQUEST_MS;
	struct pollfd pfd = {.fd = work->fd, .events = POLLIN};
	enum frame_read read = FRAME_INCOMPLETE;
	uint8_t in[JOB_REQUEST_MAX];
	size_t len = 0;
	ssize_t got = 1;

	while (read == FRAME_INCOMPLETE && got != 0 && len < sizeof(in)) {
		const int64_t left_ms = until_ms - clock_boot_ms();

		if (left_ms <= 0 || poll(&pfd, 1, (int)left_ms) == 0)
			break;
		got = recv(work->fd, in + len, sizeof(in) - len, MSG_DONTWAIT);
		if (got < 0 && errno != EAGAIN && errno != EINTR)
			break;
		len += got > 0 ? (size_t)got : 0;
		read = job_request_get((struct bytes){in, (uint32_t)len}, &work->request);
	}
	explicit_bzero(in, sizeof(in));
	if (read == FRAME_COMPLETE)
		return true;
	memset(&work->request, 0, sizeof(work->request));
	return end_work(work, JOB_BAD_REQUEST, "%s",
		read == FRAME_GARBAGE ? "The request is no job of the console."
				      : "The request did not arrive in time.");
}

/* Asks the ledger for the operator of the session. Returns false with the end of the job. */
static bool confirm_session(struct job_work *work)
{
	const struct session_show_cmd cmd = {.unused = false};
	const struct settings *settings = &work->service->ctl->session.settings;
	const enum role least = job_infos[work->request.job].least;
	struct session_show_result result;
	char path[SETTINGS_PATH_MAX + 16];
	enum status status;

	snprintf(path, sizeof(path), "%s/desk.sock", settings->socket_directory);
	if (!link_init(&work->link, path))
		return end_work(work, JOB_NO_LEDGER,
			"The path of desk.sock is too long: shorten socket_directory.");
	text_copy(work->vouch.front, sizeof(work->vouch.front), work->request.front);
	text_copy(work->vouch.session, sizeof(work->vouch.session), work->request.session);
	work->link.vouch = &work->vouch;
	work->link.request_id = work->request.request_id;
	status = link_call(&work->link, COMMAND_SESSION_SHOW, &cmd, &result,
		clock_boot_ms() + LEDGER_MS);
	if (status == STATUS_FORBIDDEN)
		return end_work(work, JOB_NO_FRONT, "The front secret is missing or wrong.");
	if (status != STATUS_OK)
		return end_work(work, JOB_NO_LEDGER,
			"No ledger confirmed the session on desk.sock. On its host: systemctl status "
			"creditbridge-ledger; creditbridgectl doctor.");
	if (result.verdict.refusal != REFUSAL_NONE)
		return end_work(work, JOB_SIGNED_OUT, "The session has ended: sign in again.");
	work->who = result.who;
	if (work->who.role >= least)
		return true;
	return end_work(work, JOB_ROLE_NEEDED, "This needs the role %s, and %s has the role %s.",
		role_names[least], work->who.name, role_names[work->who.role]);
}

/* Takes one of the job's places until the process ends. Returns false with the end of the job. */
static bool take_slot(struct job_work *work)
{
	const struct settings *settings = &work->service->ctl->session.settings;
	const struct job_info *info = &job_infos[work->request.job];
	const off_t first = (off_t)work->request.job * JOB_PLACES_MAX;
	struct flock place = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
	char path[SETTINGS_PATH_MAX + 16];

	snprintf(path, sizeof(path), "%s/" SLOTS_FILE, settings->socket_directory);
	work->slot = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (work->slot < 0)
		return end_work(work, JOB_FAILED, "The job cannot be counted: %s: %s.", path,
			strerror(errno));
	for (place.l_start = first; place.l_start < first + info->places; place.l_start++) {
		if (fcntl(work->slot, F_OFD_SETLK, &place) == 0)
			return true;
	}
	return end_work(work, JOB_BUSY,
		"The console already runs %u job%s of the kind %s, which is the maximum. Repeat this in a moment.",
		info->places, info->places == 1 ? "" : "s", job_names[work->request.job]);
}

/* Records in the audit, in the operator's name, what leaves the ledger. */
static bool note_job(struct job_work *work)
{
	struct note_cmd cmd = {.action = NOTE_PING};
	struct note_result result;
	enum status status;

	if (!(job_infos[work->request.job].arguments & JOB_HAS_CASINO))
		return true;
	if (work->request.job == JOB_RECON)
		cmd.action = NOTE_RECON;
	if (!operator_identify(&cmd.operator))
		return end_work(work, JOB_FAILED, "The kernel gives no random numbers.");
	text_copy(cmd.object, sizeof(cmd.object), work->request.casino_id);
	text_copy(cmd.detail, sizeof(cmd.detail),
		work->request.job == JOB_BALANCE ? work->request.user_id : work->request.date);
	status = link_call(&work->link, COMMAND_NOTE, &cmd, &result, clock_boot_ms() + LEDGER_MS);
	if (status != STATUS_OK)
		return end_work(work, JOB_NO_LEDGER,
			"The ledger could not note this in its audit, so nothing was done.");
	if (result.verdict.refusal != REFUSAL_NONE)
		return end_work(work, JOB_ROLE_NEEDED, "%s", result.verdict.detail);
	return true;
}

/* The words of a command line that are made for it. */
struct job_texts {
	char command[32];
	char date[32];
	char user[EXTERNAL_ID_SIZE + 8];
	char cell[SETTINGS_CELL_NAME_SIZE + 8];
};

/* Writes the command line of the job to @words, some of which are in @texts. */
static void make_words(const struct job_work *work, const char *words[WORDS_MAX],
	struct job_texts *texts)
{
	const struct job_request *request = &work->request;
	const struct job_info *info = &job_infos[request->job];
	const struct settings *settings = &work->service->ctl->session.settings;
	const char *config = work->service->ctl->options[OPTION_CONFIG];
	size_t count = 0;

	words[count++] = "creditbridgectl";
	text_copy(texts->command, sizeof(texts->command), info->command);
	words[count++] = texts->command;
	for (char *blank = texts->command; (blank = strchr(blank, ' ')); words[count++] = blank)
		*blank++ = '\0';
	if (info->arguments & JOB_AS_JSON)
		words[count++] = "--json";
	if (config) {
		words[count++] = "--config";
		words[count++] = config;
	}
	/* The console shows the cell of this file. Its jobs ask no other cell. */
	snprintf(texts->cell, sizeof(texts->cell), "--cell=%s", settings->cell_name);
	if (settings->cell_count)
		words[count++] = texts->cell;
	snprintf(texts->date, sizeof(texts->date), "--date=%s", request->date);
	if (request->date[0])
		words[count++] = texts->date;
	snprintf(texts->user, sizeof(texts->user), "--user=%s", request->user_id);
	if (request->user_id[0])
		words[count++] = texts->user;
	words[count++] = "--";
	if (request->casino_id[0])
		words[count++] = request->casino_id;
	if (request->request[0])
		words[count++] = request->request;
	words[count] = NULL;
}

static void run_work(struct job_work *work)
{
	const struct job_info *info = &job_infos[work->request.job];
	int64_t limit_ms = INT64_C(1000) * info->seconds;
	const char *words[WORDS_MAX];
	struct job_run run = {.fd = work->fd,
		.program = work->service->program,
		.words = words,
		.bytes_max = info->bytes};
	struct job_texts texts;

	if (limit_ms > work->service->limit_ms)
		limit_ms = work->service->limit_ms;
	run.until_ms = clock_boot_ms() + limit_ms;
	make_words(work, words, &texts);
	job_run(&run, &work->end);
	if (work->end.outcome == JOB_TOO_LONG)
		end_work(work, JOB_TOO_LONG,
			"The job took longer than %lld s and was ended. The same command at a shell has "
			"no limit.",
			(long long)(limit_ms / 1000));
	else if (work->end.outcome == JOB_TOO_LARGE)
		end_work(work, JOB_TOO_LARGE,
			"The job wrote more than %llu KiB and was ended. The same command at a shell "
			"has no limit.",
			(unsigned long long)(info->bytes / 1024));
}

void job_serve(const struct job_service *service, int fd)
{
	const int64_t begun_ms = clock_boot_ms();
	struct job_work work = {.service = service, .fd = fd, .slot = -1, .link = {.fd = -1}};
	bool sent;

	if (read_request(&work) && confirm_session(&work) && take_slot(&work) && note_job(&work)) {
		/* A connection that is idle would keep one of the console's from desk.sock. */
		link_close(&work.link);
		run_work(&work);
	}
	explicit_bzero(&work.vouch, sizeof(work.vouch));
	explicit_bzero(work.request.front, sizeof(work.request.front));
	explicit_bzero(work.request.session, sizeof(work.request.session));
	/* The place is free before the console knows that the job has ended. */
	if (work.slot >= 0)
		close(work.slot);
	sent = job_send_end(fd, &work.end);
	log_line(work.end.outcome == JOB_ENDED ? LOG_LEVEL_INFO : LOG_LEVEL_WARNING, "job",
		"request_id=%s operator=%s job=%s outcome=%s code=%u sent=%d ms=%lld",
		work.request.request_id[0] ? work.request.request_id : "-",
		work.who.name[0] ? work.who.name : "-",
		work.request.request_id[0] ? job_names[work.request.job] : "-",
		job_outcome_names[work.end.outcome], work.end.exit_code, sent,
		(long long)(clock_boot_ms() - begun_ms));
}

/* Returns true if standard input is a connection. */
static bool is_connected(void)
{
	struct sockaddr_storage peer;
	socklen_t len = sizeof(peer);

	return getpeername(STDIN_FILENO, (struct sockaddr *)&peer, &len) == 0;
}

/* Writes the directory of the socket that accepted the connection on standard input. */
static bool accepted_in(char directory[SETTINGS_SOCKETS_SIZE])
{
	struct sockaddr_un own = {.sun_family = AF_UNSPEC};
	socklen_t len = sizeof(own) - 1; /* so that a NUL follows */
	char *slash;

	if (getsockname(STDIN_FILENO, (struct sockaddr *)&own, &len) < 0 ||
		own.sun_family != AF_UNIX)
		return false;
	slash = strrchr(own.sun_path, '/');
	if (slash)
		*slash = '\0';
	return slash && text_copy(directory, SETTINGS_SOCKETS_SIZE, own.sun_path);
}

/* Returns true if both are one directory, however it is written. */
static bool is_directory(const char *one, const char *other)
{
	struct stat a, b;

	if (strcmp(one, other) == 0)
		return true;
	return stat(one, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev &&
		a.st_ino == b.st_ino;
}

/*
 * Moves the session to the cell whose jobs.sock or ping.sock accepted the connection. systemd starts the same command
 * for all cells: a service that a template of sockets starts does not get the name of the cell.
 */
static enum outcome enter_cell(struct ctl *ctl)
{
	static struct ctl_cells cells; /* outlives the session */
	char directory[SETTINGS_SOCKETS_SIZE];
	unsigned int at = 0;
	bool several;
	enum outcome code = session_settings(&ctl->session);
	const struct settings *own = &ctl->session.settings;

	if (code != OUTCOME_DONE || !accepted_in(directory) ||
		is_directory(own->socket_directory, directory))
		return code;
	code = cells_open(ctl, &cells, &several);
	while (code == OUTCOME_DONE && at < cells.list.count &&
		!is_directory(cells.list.cells[at].socket_directory, directory))
		at++;
	if (code == OUTCOME_DONE && at < cells.list.count)
		cells_enter(ctl, &cells, at);
	else if (code == OUTCOME_DONE)
		code = ctl_fail(ctl, OUTCOME_CONFIG, "configuration",
			"no cell has the socket_directory %s: name the file of that cell in cells of %s, or "
			"disable its sockets",
			directory,
			ctl->session.config ? ctl->session.config : SETTINGS_DEFAULT_FILE);
	cells_close(&cells);
	return code;
}

enum outcome ctl_job(struct ctl *ctl)
{
	struct job_service service = {.ctl = ctl, .limit_ms = INT64_MAX, .inquiries = -1};
	const char *limit = ctl->options[OPTION_FOR];
	enum outcome code;
	ssize_t len;

	if (limit && !duration_parse(limit, &service.limit_ms))
		return ctl_usage(ctl, "--for takes a time such as 10s, at most a day, not '%s'",
			limit);
	if (ctl->options[OPTION_PING] && ctl->options[OPTION_LISTEN])
		return ctl_usage(ctl, "--listen serves inquiries, too: leave --ping out");
	if (!ctl->options[OPTION_LISTEN] && !is_connected())
		return ctl_usage(ctl,
			"standard input is no connection of jobs.sock: systemd starts this (creditbridge-"
			"job.socket), or give --listen");
	code = ctl->options[OPTION_LISTEN] ? session_settings(&ctl->session) : enter_cell(ctl);
	if (code == OUTCOME_DONE)
		settings_open_log(&ctl->session.settings, "creditbridgectl");
	if (code == OUTCOME_DONE && ctl->options[OPTION_LISTEN]) {
		job_catch_stop();
		code = job_listen_pings(&service);
	}
	if (code == OUTCOME_DONE)
		code = session_drop_root(&ctl->session);
	if (code != OUTCOME_DONE)
		return code;
	len = readlink("/proc/self/exe", service.program, sizeof(service.program) - 1);
	if (len < 0)
		return ctl_fail(ctl, OUTCOME_FAILED, "failed",
			"the path of this program is unknown: /proc/self/exe: %s", strerror(errno));
	service.program[len] = '\0';
	if (ctl->options[OPTION_LISTEN]) {
		code = job_listen(&service);
		job_stop_pings(&service);
		return code;
	}
	if (ctl->options[OPTION_PING]) {
		job_serve_ping(&service, STDIN_FILENO);
		return OUTCOME_DONE;
	}
	job_serve(&service, STDIN_FILENO);
	return OUTCOME_DONE;
}
