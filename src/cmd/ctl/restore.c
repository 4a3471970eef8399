/*
 * restore - restore: a backup becomes the state, while no ledger runs.
 *
 * The work is done by a child: libdb ends its process when a disk fails (store/bdb/bdb.h), and that
 * is to be told like any other failure.
 */
#include "ledger/offline/restore.h"

#include "base/text.h"
#include "cmd/ctl/ctl.h"
#include "cmd/ctl/offline.h"
#include "cmd/ctl/output.h"
#include "store/bdb/bdb.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROGRESS_BYTES   (16 * 1024 * 1024)

/* A dealer or a game server whose keys are valid now. */
struct revived {
	char kind[8]; /* "dealer" or "client" */
	char id[CASINO_ID_SIZE];
	bool suspended;
	char keys[DEALER_KEYS_MAX * (KEY_ID_SIZE + 32)]; /* ids and since when */
};

static const struct field revived_fields[] = {
	FIELD(FIELD_STR, revived, kind),
	FIELD(FIELD_STR, revived, id),
	FIELD(FIELD_BOOL, revived, suspended),
	FIELD(FIELD_STR, revived, keys),
	FIELD_END,
};

static const struct output_column revived_columns[] = {
	{"KIND", "kind", OUTPUT_PLAIN},
	{"ID", "id", OUTPUT_PLAIN},
	{"SUSPENDED", "suspended", OUTPUT_PLAIN},
	{"VALID KEYS", "keys", OUTPUT_PLAIN},
	{NULL, NULL, OUTPUT_PLAIN},
};

/* The report of the child; the rows that the restore revived follow. */
struct report {
	enum status status;
	struct restore_result result;
	char why[512];
};

/* Rows of struct revived; more than fit in memory are left out. */
static struct buffer revived;

static void note_revived(void *context, enum record record, const void *row)
{
	const struct dealer *dealer = row;
	const struct client *client = row;
	const bool is_dealer = record == RECORD_DEALER;
	const struct dealer_key *keys = is_dealer ? dealer->keys : client->keys;
	struct revived one;
	char time[32];
	size_t len = 0;

	(void)context;
	memset(&one, 0, sizeof(one));
	snprintf(one.kind, sizeof(one.kind), "%s", is_dealer ? "dealer" : "client");
	snprintf(one.id, sizeof(one.id), "%s", is_dealer ? dealer->casino_id : client->client_id);
	one.suspended = is_dealer && dealer->suspended;
	for (unsigned int i = 0; i < DEALER_KEYS_MAX && len < sizeof(one.keys); i++) {
		if (!keys[i].key_id[0])
			continue;
		output_time(keys[i].created_ms, time);
		len += (size_t)snprintf(one.keys + len, sizeof(one.keys) - len, "%s%s of %.10s",
			len ? ", " : "", keys[i].key_id, time);
	}
	buffer_append(&revived, &one, sizeof(one));
}

static void show_progress(void *context, uint64_t bytes, uint64_t bytes_all)
{
	uint64_t *shown = context;

	if (bytes - *shown < PROGRESS_BYTES && bytes < bytes_all)
		return;
	*shown = bytes;
	fprintf(stderr, "\r\033[K%" PRIu64 " of %" PRIu64 " MiB", bytes >> 20, bytes_all >> 20);
	fflush(stderr);
}

static bool write_all(int to, const void *data, size_t len)
{
	ssize_t done;

	for (size_t at = 0; at < len; at += (size_t)done) {
		do
			done = write(to, (const uint8_t *)data + at, len - at);
		while (done < 0 && errno == EINTR);
		if (done <= 0)
			return false;
	}
	return true;
}

/* Reads until the other end is closed. */
static void read_revived(int from)
{
	uint8_t *room;
	ssize_t got;

	do {
		room = buffer_reserve(&revived, sizeof(struct revived));
		got = room ? read(from, room, sizeof(struct revived)) : 0;
		if (got > 0)
			revived.len += (size_t)got;
	} while (got > 0 || (got < 0 && errno == EINTR));
}

/* In the child. */
static void work(const struct ctl *ctl, const char *backup, const char *logs, int to)
{
	const bool progress = isatty(STDERR_FILENO) && !ctl->json;
	uint64_t shown = 0;
	const struct restore_options options = {
		.settings = &ctl->settings,
		.backup = backup,
		.logs = logs,
		.look_only = ctl->options[OPTION_DRY_RUN] != NULL,
		.accept_clock = ctl->options[OPTION_ACCEPT_CLOCK] != NULL,
		.operator = &ctl->operator,
		.now = clock_now(),
		.revived = note_revived,
		.progress = progress ? show_progress : NULL,
		.context = &shown,
	};
	static struct report report;

	report.status = restore_run(&options, &report.result, report.why, sizeof(report.why));
	if (shown)
		fprintf(stderr, "\r\033[K");
	_exit(write_all(to, &report, sizeof(report)) && write_all(to, revived.data, revived.len) ? 0 : 1);
}

/* Why the child told nothing. */
static enum ctl_exit child_failed(struct ctl *ctl, int status)
{
	int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;

	return ctl_fail(ctl, CTL_FAILED, "restore_failed", "%s: nothing was restored; repeat it "
		"when that is mended",
		code == BDB_EXIT_IO           ? "the disk failed"
			: code == BDB_EXIT_FULL ? "the disk is full"
						: "the restore was ended");
}

static enum ctl_exit run_child(struct ctl *ctl, const char *backup, const char *logs,
	struct report *report)
{
	ssize_t got = 0;
	int ends[2], status = -1; /* -1: neither an exit nor a signal */
	pid_t pid;

	buffer_init(&revived, SIZE_MAX / 4);
	fflush(NULL);
	if (pipe(ends) < 0)
		return ctl_fail(ctl, CTL_FAILED, "failed", "%s", strerror(errno));
	pid = fork();
	if (pid == 0)
		work(ctl, backup, logs, ends[1]);
	close(ends[1]);
	while (pid > 0 && (got = read(ends[0], report, sizeof(*report))) < 0 && errno == EINTR)
		;
	if (pid > 0 && got == (ssize_t)sizeof(*report))
		read_revived(ends[0]);
	close(ends[0]);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (pid < 0)
		return ctl_fail(ctl, CTL_FAILED, "failed", "%s", strerror(errno));
	return got == (ssize_t)sizeof(*report) ? CTL_DONE : child_failed(ctl, status);
}

static const struct refused {
	enum status status;
	enum ctl_exit code;
	const char *id;
} refusals[] = {
	{STATUS_NOT_FOUND, CTL_FAILED, "backup_not_found"},
	{STATUS_CORRUPT, CTL_FAILED, "backup_damaged"},
	{STATUS_BUSY, CTL_BUSY, "busy"},
	{STATUS_CONFIG, CTL_CONFIG, "configuration"},
	{STATUS_FULL, CTL_FAILED, "storage_full"},
	{STATUS_OK, CTL_FAILED, "failed"}, /* every other */
};

static const struct field restore_fields[] = {
	FIELD(FIELD_STR, restore_result, installation),
	FIELD(FIELD_STR, restore_result, version),
	FIELD(FIELD_TIME_MS, restore_result, complete_to_ms),
	FIELD(FIELD_U64, restore_result, tables),
	FIELD(FIELD_U64, restore_result, logs),
	FIELD(FIELD_BOOL, restore_result, rolled_forward),
	FIELD(FIELD_U64, restore_result, unreadable),
	FIELD(FIELD_U64, restore_result, last_transaction_id),
	FIELD(FIELD_TIME_MS, restore_result, last_ms),
	FIELD(FIELD_U64, restore_result, raised_by),
	FIELD(FIELD_U64, restore_result, first_id),
	FIELD_END,
};

static void print_look(const char *backup, const struct restore_result *result)
{
	char time[32];

	output_time(result->complete_to_ms, time);
	printf("%s is whole: %" PRIu64 " tables and the log (%" PRIu64 " file%s) of installation %s.\n"
	       "It holds every movement that was acknowledged before %s. Nothing was restored.\n",
		backup, result->tables, result->logs, result->logs == 1 ? "" : "s",
		result->installation, time);
}

static void print_text(const struct ctl *ctl, const struct restore_result *result)
{
	printf("%s is restored, installation %s.\n", ctl->settings.state_directory,
		result->installation);
	if (result->rolled_forward)
		printf("It was rolled forward to the end of the last log.\n");
	else if (result->unreadable)
		printf("It was not rolled forward to the end of the last log: %" PRIu64
		       " bytes there are no whole record.\n", result->unreadable);
	else
		printf("It was not rolled forward to the last log.\n");
	offline_print_last(result->last_transaction_id, result->last_ms, result->first_id);
	offline_print_steps();
}

/* What the restore brought back: a key that was retired after the backup is valid again. */
static enum ctl_exit show_revived(struct ctl *ctl, struct output_json *json)
{
	struct output_list list;
	struct revived one;

	if (!ctl->json)
		printf("\nIn force again, as the backup has it:\n");
	output_list_open(&list, ctl, NULL, NULL, revived_fields, revived_columns);
	output_json_list_open(json, "revived");
	for (size_t at = 0; at + sizeof(one) <= revived.len; at += sizeof(one)) {
		memcpy(&one, revived.data + at, sizeof(one));
		output_list_add(&list, &one);
		output_json_item(json, revived_fields, &one);
	}
	output_json_list_close(json);
	buffer_free(&revived);
	return output_list_close(&list, CTL_DONE);
}

static enum ctl_exit tell(struct ctl *ctl, const char *backup, const struct report *report)
{
	const struct refused *refused = refusals;
	struct output_json json;
	bool look = ctl->options[OPTION_DRY_RUN] != NULL;
	enum ctl_exit code = CTL_DONE;

	if (report->status) {
		while (refused->status != report->status && refused->status != STATUS_OK)
			refused++;
		return ctl_fail(ctl, refused->code, refused->id, "%s",
			report->why[0] ? report->why : status_text(report->status));
	}
	if (!ctl->json && look)
		print_look(backup, &report->result);
	else if (!ctl->json)
		print_text(ctl, &report->result);
	output_json_open(&json, ctl);
	output_json_string(&json, "state_directory", ctl->settings.state_directory);
	output_json_bool(&json, "dry_run", look);
	output_json_fields(&json, restore_fields, &report->result);
	if (!look)
		code = show_revived(ctl, &json);
	return output_json_close(&json) == CTL_DONE ? code : CTL_FAILED;
}

enum ctl_exit ctl_restore(struct ctl *ctl)
{
	const char *logs = ctl->options[OPTION_LOGS];
	static struct report report;
	enum ctl_exit code = ctl_settings(ctl);

	if (code == CTL_DONE && !ctl->options[OPTION_DRY_RUN])
		code = offline_check_stopped(ctl);
	if (code == CTL_DONE)
		code = offline_become_owner(ctl, !ctl->options[OPTION_DRY_RUN], ctl->args[0]);
	if (code == CTL_DONE)
		code = run_child(ctl, ctl->args[0], logs, &report);
	return code == CTL_DONE ? tell(ctl, ctl->args[0], &report) : code;
}
