/*
 * desk - the one way from the pages to the ledger: it finds the operator of a request, and sends
 * commands.
 *
 * The ledger decides. It checks the front secret, the session and the role with each command, so a
 * console that was taken over can do no more than the sessions that pass through it. A way is how the
 * ledger is reached: desk_link over desk.sock; the tests have one over admin.sock, too.
 */
#ifndef CONSOLE_COMMON_DESK_H
#define CONSOLE_COMMON_DESK_H

#include "admin/session.h"
#include "link/desk_commands.h"

/* What one request says of its sender. Strings are "" if they are absent. */
struct desk_caller {
	const char *front; /* the front secret, as the web server passed it */
	const char *login; /* REMOTE_USER */
	const char *address;
	const char *request_id;
	char token[DESK_SESSION_SIZE];
};

/* The operator of a session. */
struct desk_identity {
	char name[DESK_NAME_SIZE];
	enum role role;
	uint32_t code_left_s; /* until an action that needs a fresh code asks for one; 0: it does */
};

enum desk_answer {
	DESK_DONE,
	DESK_SIGNED_OUT,     /* there is no such session, or it has ended */
	DESK_WRONG_CODE,     /* of enter(): also a locked, suspended or unknown operator */
	DESK_NO_FRONT,       /* the front secret is missing or wrong */
	DESK_UNREACHABLE,    /* no ledger answers */
	DESK_NOT_CONFIGURED, /* the ledger has no desk.sock */
};

/* A way to the ledger. Each function gets the context of struct console_desk. */
struct desk_way {
	/* Finds the session of @caller. */
	enum desk_answer (
		*look)(void *context, const struct desk_caller *caller, struct desk_identity *who);
	/* Opens a session by a one-time code, and sets caller->token. */
	enum desk_answer (*enter)(void *context, struct desk_caller *caller, const char *code);
	/* Ends the session. */
	enum desk_answer (*leave)(void *context, const struct desk_caller *caller);
	/* Executes a command for the session. The ledger notes its operator in the audit. */
	enum status (*ask)(void *context, const struct desk_caller *caller, enum command command,
		const void *cmd, void *result);
	/* Fills what proves the caller to the ledger, for a job. Returns false if it cannot. NULL: no jobs. */
	bool (*vouch)(const struct desk_caller *caller, struct frame_vouch *vouch);
};

/* One connection, of one thread. */
struct console_desk {
	const struct desk_way *way;
	void *context;
	struct desk_caller caller; /* of the current request */
	struct session session;    /* with which src/admin sends its commands */
};

void desk_init(struct console_desk *desk, const struct desk_way *way, void *context);

#endif
