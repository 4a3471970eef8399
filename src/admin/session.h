/*
 * session - one operator's conversation with the ledger over admin.sock: configuration, identity,
 * connection, and the failure of the last call.
 *
 * Failures are values. A function that fails returns an outcome other than OUTCOME_DONE and leaves the
 * reason in session->failure. It prints nothing. A command line sets session->report to print each
 * failure at once; another program reads session->failure.
 */
#ifndef ADMIN_SESSION_H
#define ADMIN_SESSION_H

#include "admin/outcome.h"
#include "base/cells.h"
#include "base/settings.h"
#include "link/client.h"

#include <stdarg.h>
#include <stdbool.h>

/* Bytes of a sentence about the configuration: FILE:LINE: REASON. */
#define SESSION_WHY 1024

struct failure {
	const char *id; /* "": there is none */
	char detail[1024];
};

typedef void session_report(void *closure, enum outcome outcome, const struct failure *failure);

struct session {
	const char *config; /* the configuration file; NULL: the installed one, if it exists */
	bool settings_loaded;
	struct settings settings;
	struct operator operator;
	bool connected;
	struct link link;
	char noun[32];    /* the kind of object that refusals concern: "dealer" */
	char object[384]; /* that object as the prefix of a refusal: "dealer demo: "; "": none */
	/* Called before the session connects; may change the process's user. NULL: not called. */
	enum outcome (*prepare)(struct session *session);
	/*
	 * Executes commands in place of the ledger (archive/local.h). NULL: the ledger executes
	 * them.
	 */
	enum status (*ask)(void *closure, enum command command, const void *cmd, void *result);
	void *ask_closure;
	/* Called with each row that a list reads. NULL: not called. */
	void (*row_read)(void *closure, enum record record, const void *row);
	void *row_closure;
	struct ahead *ahead;    /* rows that were read already (admin/ahead.h); NULL: none */
	bool lacked_role;       /* a call was refused because it needs a higher role */
	struct failure failure; /* of the last call that failed */
	/* Called for each failure when it occurs. NULL: not called. */
	session_report *report;
	void *report_closure;
};

/*
 * Loads the configuration once. OUTCOME_CONFIG or OUTCOME_FAILED: the reason is in
 * session->failure.
 */
enum outcome session_settings(struct session *session);

/*
 * Reports nothing from now on. Returns what to put back into session->report. A failure is in session->failure
 * meanwhile.
 */
session_report *session_quiet(struct session *session);

/* Calls cells_load(). Writes FILE: REASON to @why if it fails. */
enum status session_cells_load(const struct settings *own, const char *path, struct cell_list *list,
	struct settings *settings, char why[SESSION_WHY]);

/* Calls settings_load(). Writes FILE:LINE: REASON to @why if it fails. */
enum status session_settings_load(struct settings *settings, const char *path,
	char why[SESSION_WHY]);

/*
 * Call this with the configuration loaded. Changes root to the owner of the state directory,
 * which is the user that runs the ledger. OUTCOME_NOT_PERMITTED: the reason is in
 * session->failure.
 */
enum outcome session_drop_root(struct session *session);

/*
 * Sends a command to the ledger; connects at the first call. A failure or refusal is in
 * session->failure. If the result is unknown (STATUS_UNKNOWN) and @unknown is not NULL, *unknown
 * is set to true in place of a failure.
 */
enum outcome session_do(struct session *session, enum command command, const void *cmd,
	void *result, bool *unknown);

/*
 * As session_do(), but a failure or refusal by the ledger is only in @failure and is not
 * reported. Use it in callers that do several things. If the outcome is not OUTCOME_DONE and the
 * id in @failure is empty, the ledger could not be asked; that was reported.
 */
enum outcome session_try(struct session *session, enum command command, const void *cmd,
	void *result, struct failure *failure);

/* Sets session->failure and reports it. Returns @outcome. */
enum outcome session_fail(struct session *session, enum outcome outcome, const char *id,
	const char *format, ...) __attribute__((format(printf, 4, 5)));

/* As session_fail(), with the arguments as a list. */
enum outcome session_fail_list(struct session *session, enum outcome outcome, const char *id,
	const char *format, va_list arguments) __attribute__((format(printf, 4, 0)));

/*
 * As session_fail(), for a status (outcome.h). The detail is @why, or the text of the status if it
 * is NULL or "".
 */
enum outcome session_fail_status(struct session *session, enum failure_source source,
	enum status status, const char *why);

/* As session_fail(), for exhausted memory. */
enum outcome session_no_memory(struct session *session);

/* As session_fail(): the kernel gives no random numbers. */
enum outcome session_no_random(struct session *session);

/* As session_fail(), for an invalid argument. Returns OUTCOME_USAGE. */
enum outcome session_usage(struct session *session, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Closes the connection, if there is one. */
void session_close(struct session *session);

#endif
