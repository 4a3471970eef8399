#include "web/cell_auth.h"

enum status cell_auth_check(struct auth *auth, struct cell_links *links,
	const struct http_request *request, int64_t deadline_ms,
	const struct keyring_entry **caller)
{
	const char *id = auth_caller_id(auth, request);
	enum status status = STATUS_OK;
	unsigned int at = CELL_NONE;

	*caller = NULL;
	auth->why = AUTH_HEADERS;
	if (!id)
		return STATUS_OK;
	if (auth->of == KEYRING_CLIENTS)
		status = cell_links_clients(links, request->boot_ms, deadline_ms, &at);
	else
		status = cell_links_dealer(links, id, request->boot_ms, deadline_ms, &at);
	if (status)
		return status;
	if (auth->of == KEYRING_DEALERS && at != CELL_NONE)
		cell_links_choose(links, at);
	/* The keyring of any cell lacks an unknown dealer. */
	*caller = auth_verify(auth, &links->list[at == CELL_NONE ? 0 : at].keyrings[auth->of],
		request);
	return STATUS_OK;
}
