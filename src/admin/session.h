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
#include "base/settings.h"
#include "link/client.h"

#include <stdbool.h>

/* Bytes of a sentence about the configuration: FILE:LINE: REASON. */
#define SESSION_WHY 1024

struct failure {
	const char *id; /* "": there is none */
	char detail[1024];
};

struct session {
	const char *config; /* the configuration's file; NULL: the installed one, if it is there */
	bool settings_loaded;
	struct settings settings;
	struct operator operator;
	bool connected;
	struct link link;
	char noun[32];    /* the kind of object that refusals are about: "dealer" */
	char object[384]; /* that object, as a refusal begins: "dealer demo: "; "": none */
	/* Called before the session connects: it may change the process's user. NULL: nothing to do. */
	enum outcome (*prepare)(struct session *session);
	/* Answers commands in place of the ledger (cmd/ctl/local.h). NULL: the ledger answers. */
	enum status (*ask)(void *closure, enum command command, const void *cmd, void *result);
	void *ask_closure;
	/* Is given each row that a list reads. NULL: nothing is. */
	void (*row_read)(void *closure, enum record record, const void *row);
	void *row_closure;
	struct failure failure; /* of the last call that failed */
	/* Is given each failure as it happens. NULL: nothing is. */
	void (*report)(void *closure, enum outcome outcome, const struct failure *failure);
	void *report_closure;
};

/* Loads the configuration, once. OUTCOME_CONFIG or OUTCOME_FAILED: session->failure. */
enum outcome session_settings(struct session *session);

/* settings_load(), which writes FILE:LINE: REASON to @why when it fails. */
enum status session_settings_load(struct settings *settings, const char *path,
	char why[SESSION_WHY]);

/*
 * With the configuration loaded, root becomes the owner of the state directory, which is the user that
 * the ledger runs as. OUTCOME_NOT_PERMITTED: session->failure.
 */
enum outcome session_drop_root(struct session *session);

/*
 * Asks the ledger; connects at the first call. A failure of the machine and a refusal are in
 * session->failure. @unknown, unless it is NULL, is set to true in place of a failure when the outcome
 * is not known (STATUS_UNKNOWN).
 */
enum outcome session_do(struct session *session, enum command command, const void *cmd, void *result,
	bool *unknown);

/*
 * As session_do(), but the ledger's failure or refusal is only in @failure and is not reported: for
 * callers that do several things. An empty id in @failure with another outcome than OUTCOME_DONE: the
 * ledger could not be asked, and that was reported.
 */
enum outcome session_try(struct session *session, enum command command, const void *cmd, void *result,
	struct failure *failure);

/* Sets session->failure and reports it. Returns @outcome. */
enum outcome session_fail(struct session *session, enum outcome outcome, const char *id,
	const char *format, ...) __attribute__((format(printf, 4, 5)));

/* As session_fail(): memory is exhausted. */
enum outcome session_no_memory(struct session *session);

/* As session_fail(), for an argument that cannot be taken. Returns OUTCOME_USAGE. */
enum outcome session_usage(struct session *session, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Closes the connection, if there is one. */
void session_close(struct session *session);

#endif
