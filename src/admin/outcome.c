#include "admin/outcome.h"

#include <stddef.h>

/* One row for each status; "failed" where a source has no id of its own. */
static const struct status_row {
	enum status status;
	enum outcome outcome;
	const char *ids[FAILURE_SOURCE_COUNT];
} status_rows[] = {
	{STATUS_NOT_SENT, OUTCOME_UNREACHABLE, {[FAILURE_OF_LEDGER] = "ledger_unreachable"}},
	{STATUS_UNKNOWN, OUTCOME_UNREACHABLE, {[FAILURE_OF_LEDGER] = OUTCOME_UNKNOWN_ID}},
	{STATUS_FORBIDDEN, OUTCOME_NOT_PERMITTED, {[FAILURE_OF_LEDGER] = "not_permitted"}},
	{STATUS_BUSY, OUTCOME_BUSY, {"ledger_busy", "busy", "busy"}},
	{STATUS_NOT_FOUND, OUTCOME_FAILED, {[FAILURE_OF_BACKUP] = "backup_not_found"}},
	{STATUS_CORRUPT, OUTCOME_FAILED, {NULL, "damaged", "backup_damaged"}},
	{STATUS_CONFIG, OUTCOME_CONFIG, {NULL, "configuration", "configuration"}},
	{STATUS_FULL, OUTCOME_FAILED, {NULL, "storage_full", "storage_full"}},
};

enum outcome outcome_of_status(enum failure_source source, enum status status, const char **id)
{
	*id = "failed";
	for (size_t i = 0; i < sizeof(status_rows) / sizeof(status_rows[0]); i++) {
		if (status_rows[i].status != status || !status_rows[i].ids[source])
			continue;
		*id = status_rows[i].ids[source];
		return status_rows[i].outcome;
	}
	return OUTCOME_FAILED;
}
