/*
 * explain - why a request was answered 400, 401 or user_not_found (creditbridgectl explain).
 * These functions only compute: they ask no ledger and print nothing.
 *
 * Their input is the ledger's copy of the rejected request (link/refused_commands.h) and all
 * keys. They find the errors that a dealer's integrator must correct. Each finding is a cause of
 * causes.def and one line of detail. The first finding is the cause of the answer; the others add
 * to it. A finding never contains a key, a signature or a body, except names and short values of
 * fields.
 */
#ifndef EXPLAIN_EXPLAIN_H
#define EXPLAIN_EXPLAIN_H

#include "link/refused_commands.h"

enum explain_cause {
#define CAUSE(name, id, rule, remedy) CAUSE_##name,
#include "explain/causes.def"
#undef CAUSE
	CAUSE_COUNT
};
struct explain_cause_info {
	const char *id;
	const char *rule;
	const char *remedy;
};
extern const struct explain_cause_info explain_causes[CAUSE_COUNT];

#define EXPLAIN_FINDINGS_MAX 8
#define EXPLAIN_FOUND_MAX    512
struct explain_finding {
	enum explain_cause cause;
	char found[EXPLAIN_FOUND_MAX];
};
struct explanation {
	struct explain_finding findings[EXPLAIN_FINDINGS_MAX];
	unsigned int count;
};

/* For user_not_found: the requested player, and a player of the dealer with a similar id. */
struct explain_player {
	char sent[EXTERNAL_ID_SIZE];    /* "": unknown */
	char near_id[EXTERNAL_ID_SIZE]; /* "": none was found */
	bool is_there;                  /* a player with exactly this id exists now */
	bool all;                       /* all players of the dealer were searched */
};

/* The input. It owns none of the pointers. */
struct explain_case {
	struct refused_request request;
	int64_t window_ms; /* for request_timestamp; 0: it was not checked */
	const struct keyring_entry *callers[KEYRING_OF_COUNT]; /* of both mounts */
	uint32_t caller_count[KEYRING_OF_COUNT];
	const struct retired_key *retired; /* of the caller, retired since the ledger started */
	uint32_t retired_count;
	const char *given_secret; /* another key to try; NULL: none */
	bool suspended;           /* the caller is suspended */
	struct explain_player player;
};

/* Fills @explanation with at least one finding. */
void explain_request(const struct explain_case *explain, struct explanation *explanation);

/* Adds a finding, or drops it if there is no room. */
void explain_add(struct explanation *explanation, enum explain_cause cause, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The parts for invalid_signature, stale_request, user_not_found and 400. */
void explain_signature(const struct explain_case *explain, struct explanation *explanation);
void explain_clock(const struct explain_case *explain, struct explanation *explanation);
void explain_player(const struct explain_case *explain, struct explanation *explanation);
void explain_body(const struct explain_case *explain, struct explanation *explanation);
/*
 * Finds an accidental form of the body, for a request whose signature has no other explanation.
 */
void explain_encoding(const struct explain_case *explain, struct explanation *explanation);

/* The encoding of a signature, and the decoded bytes. */
enum explain_writing { WRITTEN_HEX, WRITTEN_BASE64, WRITTEN_BASE64_OF_HEX, WRITTEN_COUNT };
struct explain_given {
	enum explain_writing writing;
	bool decorated;   /* a prefix, quotes or dashes were removed */
	unsigned int len; /* 20, 32 or 64: SHA-1, SHA-256, SHA-512 */
	uint8_t digest[64];
};
/* Returns false if the text has none of these encodings. */
bool explain_read_signature(struct bytes text, struct explain_given *given);

/*
 * Calls @try with bodies that may have been signed in place of the received one, the most likely
 * first, until it returns true. @what describes the body.
 */
typedef bool explain_try(void *context, struct bytes body, enum explain_cause cause,
	const char *what);
bool explain_other_bodies(const struct refused_request *request, explain_try *try, void *context);

/*
 * Searches for the input of the signature @given. Tries keys of @caller (NULL: unknown) and of
 * others, and bodies that may have been signed in place of the received one. Returns false if
 * nothing matches. Tries at most EXPLAIN_TRIES_MAX bodies.
 */
#define EXPLAIN_TRIES_MAX 4096
bool explain_search(const struct explain_case *explain, const struct keyring_entry *caller,
	const struct explain_given *given, struct explanation *explanation);

#endif
