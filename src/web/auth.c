#include "web/auth.h"

#include "web/request/headers.h"
#include "wire/signature.h"

#include <string.h>

bool auth_init(struct auth *auth, enum keyring_of of)
{
	memset(auth, 0, sizeof(*auth));
	auth->of = of;
	for (size_t i = 0; i < DEALER_KEYS_MAX; i++) {
		if (!signature_new_secret(auth->unknown.keys[i].secret))
			return false;
	}
	return true;
}

void auth_free(struct auth *auth)
{
	keyring_free(&auth->keyring);
	explicit_bzero(auth, sizeof(*auth));
}

/*
 * Returns true if one of @found's keys signed @request. With @found NULL it does the same work
 * and returns false. The work is one HMAC for each key slot. Its algorithm follows from the
 * length of the header that was sent, so the work depends on nothing that only the key's owner
 * knows. With @lean, only existing keys cost work.
 */
static bool is_signed_by(const struct auth *auth, const struct keyring_entry *found, bool lean,
	const struct http_request *request, const struct signature *given)
{
	bool usable = found && found->signature_algorithm == given->algorithm;

	for (unsigned int slot = 0; slot < DEALER_KEYS_MAX; slot++) {
		bool live = usable && found->keys[slot].key_id[0] != '\0';

		if (lean && !live && slot)
			continue;
		if (signature_verify(given,
			    live ? found->keys[slot].secret : auth->unknown.keys[slot].secret,
			    request->body, request->body_len) &&
			live)
			return true;
	}
	return false;
}

/* Like is_signed_by(), within the budget of wrong signatures. */
static bool verify_within_budget(struct auth *auth, const struct keyring_entry *found,
	const struct http_request *request, const char *caller_id, const struct signature *given)
{
	const struct flood_request what = {
		.address = request->remote_address.value ? request->remote_address.value : "",
		.caller_id = caller_id,
		.exists = found != NULL,
		.body_len = request->body_len,
		.now_ms = request->boot_ms,
	};
	enum flood_room room = auth->flood ? flood_enter(auth->flood, &what) : FLOOD_ROOM;
	bool good;

	if (room == FLOOD_REFUSED) {
		auth->why = AUTH_FLOOD;
		return false;
	}
	good = is_signed_by(auth, found, room == FLOOD_LEAN, request, given);
	if (auth->flood)
		flood_leave(auth->flood, &what, good);
	return good;
}

static const struct http_variable *caller_header(const struct auth *auth,
	const struct http_request *request)
{
	return &request->headers[auth->of == KEYRING_DEALERS ? HEADER_CASINO_ID : HEADER_CLIENT_ID];
}

const char *auth_caller_id(const struct auth *auth, const struct http_request *request)
{
	const struct http_variable *id = caller_header(auth, request);

	return http_header_is_single(id) ? id->value : NULL;
}

const struct keyring_entry *auth_verify(struct auth *auth, const struct keyring *keyring,
	const struct http_request *request)
{
	const char *id = auth_caller_id(auth, request);
	const struct http_variable *header =
		&request->headers[auth->of == KEYRING_DEALERS ? HEADER_SIGNATURE
							      : HEADER_CLIENT_SIGNATURE];
	const struct keyring_entry *found;
	struct signature given;

	auth->why = AUTH_HEADERS;
	if (!id || !http_header_is_single(header))
		return NULL;
	found = keyring_find(keyring, id);
	auth->why = found ? AUTH_SIGNATURE : AUTH_UNKNOWN;
	/* A header that cannot be a signature is rejected without an HMAC. */
	if (!signature_read(header->value, &given) ||
		!verify_within_budget(auth, found, request, id, &given))
		return NULL;
	auth->why = AUTH_UNKNOWN;
	return found;
}

enum status auth_check(struct auth *auth, struct link *link, const struct http_request *request,
	int64_t now_ms, int64_t deadline_ms, const struct keyring_entry **caller)
{
	enum status status;

	*caller = NULL;
	auth->why = AUTH_HEADERS;
	status = keyring_refresh(&auth->keyring, auth->of, link, now_ms, deadline_ms);
	if (status == STATUS_OK)
		*caller = auth_verify(auth, &auth->keyring, request);
	return status;
}
