#include "ledger/offline/old_audit.h"

#include "ledger/offline/export.h"
#include "ledger/offline/offline.h"
#include "store/backup.h"

#include <stdio.h>

bool old_audit_is_there(const char *data)
{
	return store_has_table(data, RECORD_AUDIT);
}

struct audit_visit {
	void (*visit)(void *context, const struct audit *row);
	void *context;
};

static bool pass_on(void *context, struct bytes key, const void *row)
{
	const struct audit_visit *visit = context;

	(void)key;
	visit->visit(visit->context, row);
	return true;
}

enum status old_audit_walk(const struct settings *settings, const char *data,
	void (*visit)(void *context, const struct audit *row), void *context, char *why,
	size_t why_size)
{
	const struct store_range range = {.record = RECORD_AUDIT};
	struct audit_visit inner = {visit, context};
	struct export_place place;
	/* Create the other tables: the records of the log about them are not needed here. */
	const struct offline_options atrest = {.directory = place.data, .create = true};
	struct store *store = NULL;
	enum status status = export_place_open(&place, settings->state_directory, why, why_size);

	if (status)
		return status;
	status = store_copy_table(RECORD_AUDIT, data, place.data, why, why_size);
	if (!status)
		status = offline_open(&store, settings, &atrest, why, why_size);
	if (!status) {
		status = store->scan(store, &range, pass_on, &inner);
		if (status)
			snprintf(why, why_size, "the trail in %s cannot be read: %s", data,
				status_text(status));
		store->close(store);
	}
	export_place_close(&place);
	return status;
}
