#include "web/cell_auth.h"

static enum status find_cell(const struct auth *auth, struct cell_links *links, bool proved,
	const struct http_request *request, int64_t deadline_ms, unsigned int *at)
{
	return auth->of == KEYRING_CLIENTS
		? cell_links_clients(links, proved, request->boot_ms, deadline_ms, at)
		: cell_links_dealer(links, auth_caller_id(auth, request), proved, request->boot_ms,
			  deadline_ms, at);
}

/*
 * Checks the signature with the keys that were read before, which must not admit the caller any more. They
 * decide only whether it may wait for fresh ones. A wrong signature is charged (web/flood.h).
 */
static bool is_proved_by_old(struct auth *auth, const struct cell_links *links,
	const struct http_request *request)
{
	const char *id = auth_caller_id(auth, request);
	unsigned int at = 0;

	/* The last keyring lacks an unknown caller, as each one does. */
	while (at + 1 < links->cells->count &&
		!keyring_find(&links->list[at].keyrings[auth->of], id))
		at++;
	return auth_verify(auth, &links->list[at].keyrings[auth->of], request) != NULL;
}

enum status cell_auth_check(struct auth *auth, struct cell_links *links,
	const struct http_request *request, int64_t deadline_ms,
	const struct keyring_entry **caller)
{
	enum status status;
	unsigned int at = CELL_NONE;

	*caller = NULL;
	auth->why = AUTH_HEADERS;
	if (!auth_caller_id(auth, request))
		return STATUS_OK;
	status = find_cell(auth, links, false, request, deadline_ms, &at);
	if (status && is_proved_by_old(auth, links, request))
		status = find_cell(auth, links, true, request, deadline_ms, &at);
	else if (status && auth->why == AUTH_FLOOD)
		return STATUS_OK;
	if (!status && auth->of == KEYRING_DEALERS && at != CELL_NONE)
		status = cell_links_choose(links, at);
	if (status)
		return status;
	/* The keyring of any cell lacks an unknown dealer. */
	*caller = auth_verify(auth, &links->list[at == CELL_NONE ? 0 : at].keyrings[auth->of],
		request);
	return STATUS_OK;
}
