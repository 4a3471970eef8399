/*
 * explain - why a request was answered 4xx (creditbridgectl explain).
 * These functions only compute: they ask no ledger and print nothing.
 *
 * Their input is all callers, and the ledger's copy of the rejected request: from memory with its
 * body (link/refused_commands.h), or from disk without it (link/refused_calls.h). A function of the
 * caller tries the keys. They find the errors that a dealer's integrator must correct. Each finding is
 * a cause of causes.def and one line of detail. The first finding is the cause of the answer; the others add
 * to it. A finding never contains a key, a signature or a body, except names and short values of
 * fields.
 */
#ifndef EXPLAIN_EXPLAIN_H
#define EXPLAIN_EXPLAIN_H

#include "link/refused_calls.h"
#include "link/refused_commands.h"
#include "wire/signature.h"

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

/* Returns the cause of a refusal that has one cause only; CAUSE_COUNT: there is none. */
enum explain_cause explain_refusal(enum refusal refusal);

/* Whether the cause of calls that were counted follows from what is kept of them on disk. */
enum explain_known {
	EXPLAIN_KNOWN,
	EXPLAIN_NEEDS_BODY, /* it needs the body, and of a wrong signature the signature and the keys */
	EXPLAIN_NEEDS_CALL, /* it differs from call to call: it needs the registered callers or players */
	EXPLAIN_KNOWN_COUNT
};
/* Sets *cause if it is known. Needs no key. */
enum explain_known explain_counted(const struct refused_cause *counted, enum explain_cause *cause);

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

/* For user_not_found, and for a search without a result: the requested player, and a player of the dealer with a similar id. */
struct explain_player {
	char sent[EXTERNAL_ID_SIZE];    /* "": unknown */
	char near_id[EXTERNAL_ID_SIZE]; /* "": none was found */
	bool is_there;                  /* a player with exactly this id exists now */
	bool all;                       /* all players of the dealer were searched */
};

/*
 * Tries keys as COMMAND_KEY_TRY does, which returns the first that made a signature. Returns false if
 * they cannot be tried; the search then ends without a result.
 */
typedef bool explain_try_keys(void *context, const struct key_try_cmd *cmd,
	struct key_try_result *result);

/* The input. It owns none of the pointers. */
struct explain_case {
	struct refused_request request;
	int64_t window_ms; /* for request_timestamp; 0: it was not checked */
	/* of both mounts; the secrets of their keys are not used */
	const struct keyring_entry *callers[KEYRING_OF_COUNT];
	uint32_t caller_count[KEYRING_OF_COUNT];
	explain_try_keys *try_keys; /* NULL: no key can be tried */
	void *try_context;
	const char *given_secret; /* another key to try; NULL: none */
	bool suspended;           /* the caller is suspended */
	/*
	 * @request is what was kept on disk: it has no signature and no body. @call is the kept
	 * call; NULL: it is not on disk.
	 */
	bool from_disk;
	const struct refused_call *call;
	struct explain_player player;
};

/* Fills @explanation with at least one finding. */
void explain_request(const struct explain_case *explain, struct explanation *explanation);

/* Adds a finding, or drops it if there is no room. */
void explain_add(struct explanation *explanation, enum explain_cause cause, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Finds the intended caller and reports an error in its id. Returns NULL if it cannot be
 * determined.
 */
const struct keyring_entry *explain_caller(const struct explain_case *explain,
	struct explanation *explanation);

/* The part for requests of which only the ids are left: explain->from_disk. */
void explain_kept(const struct explain_case *explain, struct explanation *explanation);
/* The part for refusals that the caller's data explain: 402, 403, 405, 409, 413, 429. */
void explain_answer(const struct explain_case *explain, struct explanation *explanation);

/* The parts for invalid_signature, stale_request, user_not_found and 400. */
void explain_signature(const struct explain_case *explain, struct explanation *explanation);
void explain_clock(const struct explain_case *explain, struct explanation *explanation);
void explain_player(const struct explain_case *explain, struct explanation *explanation);
void explain_body(const struct explain_case *explain, struct explanation *explanation);
/*
 * Finds an accidental form of the body, for a request whose signature has no other explanation.
 */
void explain_encoding(const struct explain_case *explain, struct explanation *explanation);

/* The encoding of a signature, and the decoded bytes. The first two are accepted. */
enum explain_writing {
	WRITTEN_HEX,
	WRITTEN_BASE64,
	WRITTEN_BASE64_OTHER, /* of the URL-safe alphabet, or without its padding */
	WRITTEN_BASE64_OF_HEX,
	WRITTEN_COUNT
};
struct explain_given {
	enum explain_writing writing;
	bool decorated; /* a prefix, quotes or dashes were removed */
	enum signature_algorithm algorithm;
	unsigned int len; /* of the digest: the algorithm's */
	uint8_t digest[SIGNATURE_DIGEST_MAX];
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
