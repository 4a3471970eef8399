/* ledger_status - what the command status and the metrics say of a ledger (ledger.h). */
#include "ledger/ledger.h"

#include "base/text.h"

#include <string.h>

void ledger_status(const struct ledger *ledger, struct status_result *status)
{
	struct store_figures figures = {.log_bytes = 0};

	if (ledger->store)
		ledger->store->figures(ledger->store, &figures);
	*status = ledger->figures;
	status->halted = !ledger->store;
	status->storage_low = ledger->storage_low;
	status->schema = STORE_SCHEMA;
	status->dealers = ledger->derived.dealers;
	status->last_transaction_id = ledger->derived.transaction_id;
	status->ledger_number = ledger->store ? (uint32_t)ledger->ws.id_number : 0;
	status->held_dealers = ledger->derived.permits.held_count;
	status->unconfirmed_keys = ledger->derived.unconfirmed.count;
	memcpy(status->store, figures.named, sizeof(status->store));
	status->log_bytes = figures.log_bytes;
	status->checkpoints = figures.checkpoints;
	for (unsigned int i = 0; i < RECORD_COUNT; i++) {
		text_copy(status->tables[i].name, sizeof(status->tables[i].name),
			record_infos[i].name);
		status->tables[i].bytes = figures.table_bytes[i];
	}
	status->refused_bytes = ledger->refused_log.bytes;
	status->refused_bytes_max = ledger->refused_log.bytes_max;
	status->refused_oldest_ms = refused_log_oldest_ms(&ledger->refused_log);
	status->refused_left_out = ledger->refused_log.left_out;
	status->backup_ms = figures.backup_ms;
	status->retention_days = ledger->retention.days;
	status->bodies_dropped = ledger->retention.dropped;
	status->uptime_ms = (uint64_t)(ledger->now.boot_ms - ledger->started_ms);
	if (!ledger->metrics)
		return;
	status->engine_starts = ledger->metrics->engine_starts;
	status->swept_ms = ledger->metrics->swept_ms;
}
