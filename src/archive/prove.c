#include "archive/prove.h"

#include "archive/local.h"
#include "ledger/rows/life.h"
#include "store/store.h"

#include <string.h>

static bool take_counter(void *context, struct bytes key, const void *row)
{
	const struct counter *counter = row;

	(void)key;
	if (strcmp(counter->name, LIFE_TRANSACTIONS) == 0)
		*(uint64_t *)context = counter->value;
	return true;
}

enum outcome archive_prove(struct session *session, struct store *store, struct check_found *found,
	void (*progress)(void *closure, const char *what, uint64_t rows), void *progress_closure)
{
	const struct store_range counters = {.record = RECORD_COUNTER};
	uint64_t transaction_id = 0;
	int64_t newest_ms = 0;
	struct local local;
	enum status status = store->scan(store, &counters, take_counter, &transaction_id);
	enum outcome code;

	if (status)
		return session_fail_status(session, FAILURE_OF_DATA, status,
			"the counters cannot be read");
	status = life_newest(store, &newest_ms);
	if (status)
		return session_fail_status(session, FAILURE_OF_DATA, status,
			"the newest rows cannot be read");
	local_begin(&local, session, store, transaction_id);
	code = check_prove(session, newest_ms, found, progress, progress_closure);
	local_end(&local, session);
	return code;
}
