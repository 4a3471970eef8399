#include "web/request/fresh_keyring.h"

/* A call to the ledger that must end in time. */
struct ledger_call {
	struct link *link;
	int64_t deadline_ms;
};

static enum status ask_keyring(void *context, const struct keyring_cmd *cmd,
	struct keyring_result *page)
{
	const struct ledger_call *call = context;
	enum status status = link_call(call->link, COMMAND_KEYRING, cmd, page, call->deadline_ms);

	return status == STATUS_OK && page->verdict.refusal != REFUSAL_NONE ? STATUS_BUSY : status;
}

bool keyring_is_fresh(const struct keyring *keyring, const struct link *link, int64_t now_ms)
{
	return keyring->generation && keyring->generation == link->generation &&
		now_ms - link->asked_ms <= KEYRING_FRESH_MS;
}

enum status keyring_refresh(struct keyring *keyring, enum keyring_of of, struct link *link,
	int64_t now_ms, int64_t deadline_ms)
{
	struct ledger_call call = {.link = link, .deadline_ms = deadline_ms};

	return keyring_is_fresh(keyring, link, now_ms)
		? STATUS_OK
		: keyring_fetch(keyring, of, ask_keyring, &call);
}
