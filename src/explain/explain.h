/*
 * explain - why a request was answered 400, 401 or user_not_found (creditbridgectl explain): the pure
 * part.
 *
 * From what the ledger kept of the request (link/refused_commands.h) and the keys there are, it finds
 * what a dealer's integrator has to change. Each finding is a cause of explain_causes.def with one
 * line that tells what was found; the first is the cause of the answer, the others go with it. No
 * key, no signature and no body is in a finding, but for names and short values of fields.
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

/* Of a user_not_found: the player that was asked for, and one of the dealer's with a similar id. */
struct explain_player {
	char sent[EXTERNAL_ID_SIZE];    /* "": not known */
	char near_id[EXTERNAL_ID_SIZE]; /* "": none was found */
	bool is_there; /* by now there is a player of exactly the id that was sent */
	bool all;      /* all players of the dealer were looked at */
};

/* What there is to go by. Nothing of it is owned. */
struct explain_case {
	struct refused_request request;
	int64_t window_ms; /* of request_timestamp; 0: it was not looked at */
	const struct keyring_entry *callers[KEYRING_OF_COUNT]; /* of both mounts */
	uint32_t caller_count[KEYRING_OF_COUNT];
	const struct retired_key *retired; /* of the caller, since the ledger started */
	uint32_t retired_count;
	const char *given_secret; /* a further key to try; NULL: none */
	bool suspended;           /* the caller is */
	struct explain_player player;
};

/* At least one finding comes of it. */
void explain_request(const struct explain_case *explain, struct explanation *explanation);

/* Adds a finding; one too many is dropped. */
void explain_add(struct explanation *explanation, enum explain_cause cause, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The parts: invalid_signature, stale_request, user_not_found, and 400. */
void explain_signature(const struct explain_case *explain, struct explanation *explanation);
void explain_clock(const struct explain_case *explain, struct explanation *explanation);
void explain_player(const struct explain_case *explain, struct explanation *explanation);
void explain_body(const struct explain_case *explain, struct explanation *explanation);
/* A body that a program made by accident, of a request whose signature nothing explains. */
void explain_encoding(const struct explain_case *explain, struct explanation *explanation);

/* How a signature was written, and the bytes that it stands for. */
enum explain_writing { WRITTEN_HEX, WRITTEN_BASE64, WRITTEN_BASE64_OF_HEX, WRITTEN_COUNT };
struct explain_given {
	enum explain_writing writing;
	bool decorated; /* a prefix, quotes or dashes were taken off */
	unsigned int len; /* 20, 32 or 64: SHA-1, SHA-256, SHA-512 */
	uint8_t digest[64];
};
/* False: it is neither. */
bool explain_read_signature(struct bytes text, struct explain_given *given);

/*
 * Gives @try the bodies that may have been signed in place of the one that came, the likely ones
 * first, until it returns true. @what describes one.
 */
typedef bool explain_try(void *context, struct bytes body, enum explain_cause cause,
	const char *what);
bool explain_other_bodies(const struct refused_request *request, explain_try *try, void *context);

/*
 * Looks for what @given was made of: keys of @caller (NULL: it is not known who calls) and of others,
 * and the bodies that may have been signed in place of the one that was sent. False: nothing that is
 * tried makes it. At most EXPLAIN_TRIES_MAX bodies are tried.
 */
#define EXPLAIN_TRIES_MAX 4096
bool explain_search(const struct explain_case *explain, const struct keyring_entry *caller,
	const struct explain_given *given, struct explanation *explanation);

#endif
