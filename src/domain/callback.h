/*
 * callback - what is sent to a dealer's server, and what came of it (api.md, B).
 */
#ifndef DOMAIN_CALLBACK_H
#define DOMAIN_CALLBACK_H

#include "domain/records.h"

#define CALLBACK_EVENT_ID_SIZE 40 /* "balance-inquire-" and 20 digits */

/* Of a dealer (api.md, B): open, it takes no call; half-open, one. */
enum breaker { BREAKER_CLOSED, BREAKER_OPEN, BREAKER_HALF_OPEN, BREAKER_COUNT };
extern const char *const breaker_names[BREAKER_COUNT];

/* The paths that the specification suggests: "/" and the name. */
extern const char *const callback_default_paths[CALLBACK_KIND_COUNT];

/* Where one callback of a dealer goes, and who signs it. Holds secrets. */
struct callback_target {
	char url[URL_SIZE]; /* dealer_base_url */
	char path[CALLBACK_PATH_SIZE];
	bool allow_http;
	enum signature_algorithm signature_algorithm; /* of x-casino-signature */
	enum signature_encoding signature_encoding;
	char signing_key_id[KEY_ID_SIZE];
	struct dealer_key keys[DEALER_KEYS_MAX];
};

/* What came of one attempt. */
struct callback_outcome {
	enum callback_class class;
	uint16_t http_status; /* 0: none arrived */
	uint32_t ms;          /* from the call to its end */
	/* The dealer's own words, when it refused by an error body; clean UTF-8, cut to fit. */
	char dealer_error_id[DEALER_ERROR_ID_SIZE];
	char dealer_error_detail[DEALER_ERROR_TEXT_SIZE];
	/* What a successful answer held; what was absent or unusable is left out, and noted. */
	bool has_balance;
	money_t balance;
	char currency[CURRENCY_SIZE];
	char user_id[EXTERNAL_ID_SIZE];
	char note[CALLBACK_NOTE_SIZE]; /* for the operator; holds no secret */
};

extern const struct field callback_target_fields[];
extern const struct field callback_outcome_fields[];

/* Where callbacks of @kind to @dealer go below its URL: as set, or as the specification suggests. */
const char *dealer_callback_path(const struct dealer *dealer, enum callback_kind kind);

/* Fills @target for callbacks of @kind to @dealer. */
void callback_target_of(const struct dealer *dealer, enum callback_kind kind,
	struct callback_target *target);

/* Writes where that is: base URL and path, with one slash between them. */
#define CALLBACK_URL_SIZE (URL_SIZE + CALLBACK_PATH_SIZE)
void callback_target_url(const struct callback_target *target, char url[CALLBACK_URL_SIZE]);

/*
 * True: @path can be a callback's path: a slash and up to 127 printable ASCII characters, no space,
 * none of ? # \ and no ".." or "." between slashes.
 */
bool callback_path_ok(const char *path);

/* Writes the webhook-id of an event, the same over all its attempts: "betting-17". */
void callback_event_id(enum callback_kind kind, uint64_t event, char id[CALLBACK_EVENT_ID_SIZE]);

/*
 * True: a balance inquiry brought what api.md B wants of it: success, all three fields, the
 * player's own user_id and the dealer's currency. Else 502 dealer_bad_answer, if it is success.
 */
bool callback_balance_ok(const struct callback_outcome *outcome, const char *user_id,
	const char *currency);

#endif
