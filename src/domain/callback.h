/* callback - messages to a dealer's server and their outcomes (contract, "Group B: callbacks"). */
#ifndef DOMAIN_CALLBACK_H
#define DOMAIN_CALLBACK_H

#include "domain/records.h"

#define CALLBACK_EVENT_ID_SIZE 40 /* "balance-inquire-" and 20 digits */

/* A dealer's breaker (contract, "Breaker"). Open: no call is sent. Half-open: one call is sent. */
enum breaker { BREAKER_CLOSED, BREAKER_OPEN, BREAKER_HALF_OPEN, BREAKER_COUNT };
extern const char *const breaker_names[BREAKER_COUNT];

/* The paths that the specification suggests: "/" and the name. B5 has none: "". */
extern const char *const callback_default_paths[CALLBACK_KIND_COUNT];

/* The address of one callback of a dealer, and the keys that sign it. Holds secrets. */
struct callback_target {
	char url[URL_SIZE]; /* dealer_base_url */
	char path[CALLBACK_PATH_SIZE];
	bool allow_http;
	enum signature_algorithm signature_algorithm; /* of x-casino-signature */
	enum signature_encoding signature_encoding;
	char signing_key_id[KEY_ID_SIZE];
	struct dealer_key keys[DEALER_KEYS_MAX];
	bool needs_balance; /* dealer_needs_balance() */
};

/* The outcome of one attempt. */
struct callback_outcome {
	enum callback_class class;
	uint16_t http_status; /* 0: no response */
	uint32_t ms;          /* duration of the call */
	/* Id and text of the dealer's error body; clean UTF-8, cut to fit. */
	char dealer_error_id[DEALER_ERROR_ID_SIZE];
	char dealer_error_detail[DEALER_ERROR_TEXT_SIZE];
	/* Members of a successful response. An absent or unusable one is left out and noted. */
	bool has_balance;
	money_t balance;
	/* Of B5: the part of the decrease that the dealer could not take; below 0: not usable. */
	money_t shortfall;
	char currency[CURRENCY_SIZE];
	char user_id[EXTERNAL_ID_SIZE];
	char note[CALLBACK_NOTE_SIZE]; /* for the operator; holds no secret */
	/* Of an answer that is no success, as in struct answer; 0 and "": there was none. */
	uint32_t answer_length;
	char answer_type[ANSWER_TYPE_SIZE];
	char answer[ANSWER_TEXT_SIZE];
};

extern const struct field callback_target_fields[];
extern const struct field callback_outcome_fields[];

/*
 * Returns the path of callbacks of @kind below the URL of @dealer: the dealer's setting, or the
 * path that the specification suggests.
 */
const char *dealer_callback_path(const struct dealer *dealer, enum callback_kind kind);

/* Returns the currency that callbacks of @kind to @dealer name (B1 to B4, send_currency), or "". */
const char *dealer_sent_currency(const struct dealer *dealer, enum callback_kind kind);

/* Returns true if a 2xx to a callback of @kind is a success of @dealer only with a balance. */
bool dealer_needs_balance(const struct dealer *dealer, enum callback_kind kind);

/* Fills @target for callbacks of @kind to @dealer. */
void callback_target_of(const struct dealer *dealer, enum callback_kind kind,
	struct callback_target *target);

/*
 * As callback_target_of(), for @callback. A betting-correction has no default path: if the dealer's
 * path was removed, the path of the time when the callback was made is used.
 */
void callback_target_for(const struct dealer *dealer, const struct callback *callback,
	struct callback_target *target);

/* Writes the full URL: base URL and path, with one slash between them. */
#define CALLBACK_URL_SIZE (URL_SIZE + CALLBACK_PATH_SIZE)
void callback_target_url(const struct callback_target *target, char url[CALLBACK_URL_SIZE]);

/*
 * Returns true if @path is valid for a callback: a slash and up to 127 printable ASCII characters.
 * It may contain no space, none of ? # \ and no ".." or "." between slashes.
 */
bool callback_path_ok(const char *path);

/*
 * The action of the audit by which a cell that a dealer moved to allows the attempts of a result that were made
 * in the other cell (domain/dealer_move.h). The detail is "attempts=NUMBER".
 */
#define CALLBACK_MOVED_ACTION "callback moved"

/* Writes the webhook-id of an event, "betting-17". All attempts of the event share it. */
void callback_event_id(enum callback_kind kind, uint64_t event, char id[CALLBACK_EVENT_ID_SIZE]);

/*
 * Parses an event: a number or a webhook-id ("betting-17"), which also names the kind. Sets *kind
 * to CALLBACK_KIND_COUNT if any kind is meant. Returns false if @text is neither.
 */
bool callback_event_read(const char *text, uint64_t *event, enum callback_kind *kind);

/*
 * Returns true if a balance inquiry succeeded as the contract, "Answers of a dealer", requires: all
 * three fields, the player's own user_id and the dealer's currency. If a successful response lacks
 * one of these, the caller answers 502 dealer_bad_answer.
 */
bool callback_balance_ok(const struct callback_outcome *outcome, const char *user_id,
	const char *currency);

#endif
