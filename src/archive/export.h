/*
 * export - writes all rows of a ledger as lines of JSON: creditbridge-export(5).
 *
 * The store may end the process (store/exit.h) in archive_export_write().
 */
#ifndef ARCHIVE_EXPORT_H
#define ARCHIVE_EXPORT_H

#include "admin/session.h"
#include "archive/lines.h"
#include "base/buffer.h"
#include "ledger/offline/export.h"
#include "wire/digest.h"

struct archive_export {
	struct session *session;
	struct export *data; /* open */
	bool with_keys;
	/* Receives the lines. Returns false to stop; it keeps the reason itself. */
	bool (*write)(void *context, const void *data, size_t len);
	void *context;
	void (*progress)(void *context, uint64_t rows);
	void *progress_context;

	/* The results. */
	struct export_head head;
	struct export_tail tail;
	uint64_t last_transaction_id; /* of the exported rows ... */
	int64_t last_ms;              /* ... and its time; 0: there is none */

	enum record record; /* the record that is being written */
	struct buffer line;
	struct digest digest;
	bool damaged; /* a row could not be written */
	bool stopped;
};

/* Writes all lines. OUTCOME_DONE also if @write stopped it. */
enum outcome archive_export_write(struct archive_export *exporting);

#endif
