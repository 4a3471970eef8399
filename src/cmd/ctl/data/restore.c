/*
 * restore - implements `restore`: turns a backup into the state, while no ledger runs.
 *
 * A child process does the work, because the store ends its process when a disk fails
 * (store/exit.h). The parent reports that like any other failure.
 */
#include "ledger/offline/restore.h"

#include "archive/prove.h"
#include "base/text.h"
#include "cmd/ctl/common/ctl.h"
#include "cmd/ctl/common/output.h"
#include "cmd/ctl/common/progress.h"
#include "cmd/ctl/common/times.h"
#include "cmd/ctl/data/offline.h"
#include "cmd/ctl/data/revived.h"
#include "ledger/offline/changes.h"
#include "ledger/offline/old_audit.h"
#include "store/exit.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The child's report; instances of struct piece follow it. */
struct child_report {
	enum status status;
	struct restore_result result;
	char why[1024];
};

/* The kinds of pieces that the child sends after its report. */
enum piece_kind {
	PIECE_REVIVED,
	PIECE_CHANGED,
	PIECE_OLD, /* the last piece: the result of reading the old state's audit */
};
struct piece {
	enum piece_kind kind;
	union {
		struct revived revived;
		struct changed changed;
		struct {
			enum status status;
			char why[512];
		} old;
	} of;
};

/* The data of the child. */
struct work {
	const struct ctl *ctl;
	const char *old;      /* db/ of the old state; NULL: none */
	int to;               /* -1: the pieces are stored */
	struct buffer pieces; /* stored until the report is sent */
	struct changes changes;
	struct session session; /* of the proof: its failures go to the parent */
	struct progress *progress;
	bool failed;
};

/* The data that the parent received. */
struct received {
	struct child_report report;
	struct revived_lists lists;
	struct piece old; /* its why is "" if the old state was not read */
};

static bool write_to_parent(int to, const void *data, size_t len)
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

static void put_piece(struct work *work, const struct piece *piece)
{
	if (work->to >= 0)
		work->failed |= !write_to_parent(work->to, piece, sizeof(*piece));
	else
		buffer_append(&work->pieces, piece, sizeof(*piece));
}

static void put_revived(void *context, enum record record, const void *row)
{
	struct piece piece;

	memset(&piece, 0, sizeof(piece));
	piece.kind = PIECE_REVIVED;
	if (revived_fill(&piece.of.revived, record, row))
		put_piece(context, &piece);
}

static void put_changed(void *context, const struct changed *changed)
{
	struct piece piece;

	memset(&piece, 0, sizeof(piece));
	piece.kind = PIECE_CHANGED;
	piece.of.changed = *changed;
	put_piece(context, &piece);
}

static void read_old(struct work *work)
{
	struct piece piece;

	memset(&piece, 0, sizeof(piece));
	piece.kind = PIECE_OLD;
	piece.of.old.status = changes_find_lost(&work->changes, &work->ctl->session.settings,
		work->old, piece.of.old.why, sizeof(piece.of.old.why));
	put_piece(work, &piece);
}

static void show_restore_progress(void *progress, uint64_t bytes, uint64_t bytes_all)
{
	progress_show(progress, "%" PRIu64 " of %" PRIu64 " MiB", bytes >> 20, bytes_all >> 20);
}

static void show_proof_progress(void *progress, const char *what, uint64_t rows)
{
	progress_show(progress, "%s: %" PRIu64 " rows", what ? what : "proof", rows);
}

/* The files of a backup may agree with its manifest although no ledger wrote such rows. */
static enum status prove_restored(void *context, struct store *store, char *why, size_t why_size)
{
	struct work *work = context;
	struct check_found found;
	const enum outcome code =
		archive_prove(&work->session, store, &found, show_proof_progress, work->progress);

	if (code != OUTCOME_DONE) {
		snprintf(why, why_size, "the restored rows could not be proved: %s",
			work->session.failure.detail);
		return STATUS_IO;
	}
	if (!found.problems)
		return STATUS_OK;
	snprintf(why, why_size,
		"the rows of the backup do not agree (%" PRIu64 " problem%s): %.256s; nothing was "
		"restored: take another backup. If `creditbridgectl check` reported this before the "
		"failure, restore this backup with --no-proof: check then lists all",
		found.problems, found.problems == 1 ? "" : "s", found.first);
	return STATUS_CORRUPT;
}

/* Runs in the child. */
static void restore_in_child(const struct ctl *ctl, const char *backup, const char *old, int to)
{
	struct progress progress = progress_begin(ctl);
	static struct child_report report;
	static struct work work;
	const struct restore_options options = {
		.settings = &ctl->session.settings,
		.backup = backup,
		.logs = ctl->options[OPTION_LOGS],
		.look_only = ctl->options[OPTION_DRY_RUN] != NULL,
		.accept_clock = ctl->options[OPTION_ACCEPT_CLOCK] != NULL,
		.operator= & ctl->session.operator,
		.now = clock_now(),
		.revived = put_revived,
		.audit = changes_add_restored,
		.audit_context = &work.changes,
		.rows_context = &work,
		.prove = ctl->options[OPTION_NO_PROOF] ? NULL : prove_restored,
		.prove_context = &work,
		.progress = show_restore_progress,
		.context = &progress,
	};

	work = (struct work){.ctl = ctl, .old = old, .to = -1, .progress = &progress};
	work.session = ctl->session;
	work.session.report = NULL;
	buffer_init(&work.pieces, SIZE_MAX / 4);
	changes_init(&work.changes,
		ctl->options[OPTION_LOGS] ? &report.result.complete_to_ms : NULL, put_changed,
		&work);
	report.status = restore_run(&options, &report.result, report.why, sizeof(report.why));
	progress_end(&progress);
	work.failed = !write_to_parent(to, &report, sizeof(report)) ||
		!write_to_parent(to, work.pieces.data, work.pieces.len);
	/* From here on, the death of this process is not a failure of the restore. */
	work.to = to;
	if (!report.status && old && !report.result.rolled_forward && !options.look_only)
		read_old(&work);
	_exit(work.failed ? 1 : 0);
}

static bool read_piece(int from, struct piece *piece)
{
	size_t len = 0;
	ssize_t got;

	do {
		got = read(from, (uint8_t *)piece + len, sizeof(*piece) - len);
		len += got > 0 ? (size_t)got : 0;
	} while (len < sizeof(*piece) && (got > 0 || (got < 0 && errno == EINTR)));
	return len == sizeof(*piece);
}

/* Reads pieces until the child closes its end. */
static void read_pieces(int from, struct received *received)
{
	struct piece piece;

	while (read_piece(from, &piece)) {
		if (piece.kind == PIECE_REVIVED)
			buffer_append(&received->lists.revived, &piece.of.revived,
				sizeof(piece.of.revived));
		else if (piece.kind == PIECE_CHANGED)
			buffer_append(&received->lists.changed, &piece.of.changed,
				sizeof(piece.of.changed));
		else
			received->old = piece;
	}
}

/* Reports why the child sent no report. */
static enum outcome child_failed(struct ctl *ctl, int status)
{
	const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	const bool full = code == STORE_EXIT_FULL, known = full || code == STORE_EXIT_IO;

	return ctl_fail(ctl, OUTCOME_FAILED, "restore_failed",
		"%s%s: nothing was restored. Repeat "
		"it when the cause is mended",
		known ? store_exit_text(code) : "the restore's process was killed",
		full ? ": free space there, then repeat this" : "");
}

static enum outcome run_child(struct ctl *ctl, const char *old, struct received *received)
{
	struct child_report *report = &received->report;
	ssize_t got = 0;
	int ends[2], status = -1; /* -1: ended neither by exit nor by a signal */
	pid_t pid;

	fflush(NULL);
	if (pipe(ends) < 0)
		return ctl_fail(ctl, OUTCOME_FAILED, "failed",
			"cannot start the process that restores: %s", strerror(errno));
	pid = fork();
	if (pid == 0)
		restore_in_child(ctl, ctl->args[0], old, ends[1]);
	close(ends[1]);
	while (pid > 0 && (got = read(ends[0], report, sizeof(*report))) < 0 && errno == EINTR)
		;
	if (pid > 0 && got == (ssize_t)sizeof(*report))
		read_pieces(ends[0], received);
	close(ends[0]);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (pid < 0)
		return ctl_fail(ctl, OUTCOME_FAILED, "failed",
			"cannot start the process that restores: %s", strerror(errno));
	return got == (ssize_t)sizeof(*report) ? OUTCOME_DONE : child_failed(ctl, status);
}

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

	times_text(result->complete_to_ms, time);
	printf("%s is whole: %" PRIu64 " tables and the log (%" PRIu64
	       " file%s) of installation %s.\n"
	       "It holds every movement that was acknowledged before %s. Nothing was restored.\n",
		backup, result->tables, result->logs, result->logs == 1 ? "" : "s",
		result->installation, time);
}

static void print_restored(const struct ctl *ctl, const struct restore_result *result)
{
	char time[32];

	times_text(result->complete_to_ms, time);
	printf("%s is restored, installation %s.\n"
	       "The backup holds every movement that was acknowledged before %s.\n",
		ctl->session.settings.state_directory, result->installation, time);
	if (result->rolled_forward)
		printf("It was rolled forward to the end of the last log.\n");
	else if (result->unreadable)
		printf("It was not rolled forward to the end of the last log: %" PRIu64
		       " bytes there are no whole record.\n",
			result->unreadable);
	else
		printf("It was not rolled forward to the last log.\n");
	offline_print_last(result->last_transaction_id, result->last_ms, result->first_id);
	offline_print_steps();
}

/* The data is restored, but the changes since the backup are not known. */
static enum outcome judge_old(const char *old, const struct received *received)
{
	if (received->old.kind == PIECE_OLD && !received->old.of.old.status)
		return OUTCOME_DONE;
	ctl_tell(NULL,
		"the audit in %s cannot be read (%s), so the list of what was changed after the "
		"backup is not complete: ask the operators for keys that were retired, and for dealers, "
		"players and game servers that were suspended or removed",
		old,
		received->old.kind != PIECE_OLD       ? "reading it was ended"
			: received->old.of.old.why[0] ? received->old.of.old.why
						      : status_text(received->old.of.old.status));
	return OUTCOME_PARTLY;
}

static enum outcome print_result(struct ctl *ctl, const char *old, struct received *received)
{
	const struct child_report *report = &received->report;
	struct output_json json;
	bool look = ctl->options[OPTION_DRY_RUN] != NULL;
	enum outcome code = OUTCOME_DONE;

	if (report->status)
		return session_fail_status(&ctl->session, FAILURE_OF_BACKUP, report->status,
			report->why);
	if (!ctl->json && look)
		print_look(ctl->args[0], &report->result);
	else if (!ctl->json)
		print_restored(ctl, &report->result);
	output_json_open(&json, ctl);
	output_json_string(&json, "state_directory", ctl->session.settings.state_directory);
	output_json_bool(&json, "dry_run", look);
	output_json_bool(&json, "proved", !look && !ctl->options[OPTION_NO_PROOF]);
	output_json_fields(&json, restore_fields, &report->result);
	offline_json_number(&json, report->result.first_id);
	if (!look) {
		received->lists.looked = old || ctl->options[OPTION_LOGS];
		code = revived_show(ctl, &json, &received->lists, REVIVED_TITLE);
	}
	if (code == OUTCOME_DONE && !look && old && !report->result.rolled_forward)
		code = judge_old(old, received);
	return output_json_close(&json) == OUTCOME_DONE ? code : OUTCOME_FAILED;
}

/*
 * Finds db/ of the old state: below --old, or the directory of --logs if it contains an audit.
 * "": there is none.
 */
static enum outcome find_old(struct ctl *ctl, char old[PATH_MAX])
{
	const char *state = ctl->options[OPTION_OLD], *logs = ctl->options[OPTION_LOGS];

	old[0] = '\0';
	if (state && (unsigned int)snprintf(old, PATH_MAX, "%s/db", state) >= PATH_MAX)
		return ctl_usage(ctl, "the name that --old gives is too long");
	if (state && !old_audit_is_there(old))
		return ctl_fail(ctl, OUTCOME_FAILED, "old_state_not_found",
			"%s holds no audit that can be "
			"read: nothing was restored; give the old state, or no --old",
			old);
	if (!state && logs && old_audit_is_there(logs))
		snprintf(old, PATH_MAX, "%s", logs);
	return OUTCOME_DONE;
}

enum outcome ctl_restore(struct ctl *ctl)
{
	static struct received received;
	char old[PATH_MAX];
	enum outcome code = session_settings(&ctl->session);

	if (code == OUTCOME_DONE && strcmp(ctl->session.settings.store, "postgresql") == 0)
		return ctl_fail(ctl, OUTCOME_FAILED, "not_allowed_now",
			"the store is PostgreSQL: restore its data with its own tools, then run "
			"`creditbridgectl adopt --copied`");
	if (code == OUTCOME_DONE && !ctl->options[OPTION_DRY_RUN])
		code = offline_check_stopped(ctl);
	if (code == OUTCOME_DONE)
		code = offline_become_owner(ctl, !ctl->options[OPTION_DRY_RUN], ctl->args[0]);
	if (code == OUTCOME_DONE)
		code = find_old(ctl, old);
	if (code != OUTCOME_DONE)
		return code;
	revived_init(&received.lists);
	received.old.kind = PIECE_REVIVED; /* no piece was received */
	code = run_child(ctl, old[0] ? old : NULL, &received);
	if (code == OUTCOME_DONE)
		code = print_result(ctl, old[0] ? old : NULL, &received);
	revived_free(&received.lists);
	return code;
}
