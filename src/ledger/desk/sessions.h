/*
 * sessions - the sessions of the web console.
 *
 * The supervisor creates the memory and shares it with each engine, so that sessions survive the death of an
 * engine. Only the SHA-256 of a session's secret is kept. All times are boot times in milliseconds.
 */
#ifndef LEDGER_DESK_SESSIONS_H
#define LEDGER_DESK_SESSIONS_H

#include "domain/desk_operator.h"
#include "link/frame.h"

#include <stdbool.h>

#define SESSIONS_MAX 256
/* Of one operator. One more ends the one that was idle longest. */
#define SESSIONS_EACH 8

struct desk_session {
	uint32_t used; /* set after the rest */
	char digest[FRAME_VOUCH_SIZE];
	char name[DESK_NAME_SIZE];
	char address[DESK_ADDRESS_SIZE]; /* of the browser at the sign-in; "": unknown */
	enum role role; /* while the ledger is halted; else the operator's row decides */
	uint32_t epoch; /* of the operator at the sign-in */
	int64_t opened_ms;
	int64_t seen_ms; /* of the last command */
	int64_t code_ms; /* of the last one-time code */
};
struct sessions {
	struct desk_session list[SESSIONS_MAX];
};

struct session_limits {
	int64_t idle_ms;
	int64_t whole_ms;
	int64_t fresh_ms; /* age of a code that counts as fresh */
};

/* Returns memory without sessions that is shared with processes forked later, or NULL. */
struct sessions *sessions_new(void);

/* Writes the digest by which the session with @secret is kept. Returns false if the library failed. */
bool session_digest(const char *secret, char digest[FRAME_VOUCH_SIZE]);

/* Opens a session of @row from @address. It replaces the longest idle one if there is no room. */
void sessions_open(struct sessions *sessions, const char *digest, const struct desk_operator *row,
	const char *address, int64_t now_ms);

/* Returns the session if it has not ended by time, or NULL. Ends the others. */
struct desk_session *sessions_find(struct sessions *sessions, const char *digest,
	const struct session_limits *limits, int64_t now_ms);

/* The sessions of one operator that have not ended. */
struct session_tally {
	uint32_t count;
	int64_t opened_ms;               /* of the oldest */
	int64_t seen_ms;                 /* of the last command of any */
	char address[DESK_ADDRESS_SIZE]; /* of that session */
};
/* Counts the sessions of @row that have not ended. */
struct session_tally sessions_tally(const struct sessions *sessions,
	const struct desk_operator *row, const struct session_limits *limits, int64_t now_ms);

void sessions_close(struct desk_session *session);

#endif
