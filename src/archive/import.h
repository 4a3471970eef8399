/*
 * import - creates the state of a ledger that does not run from the lines of an export.
 *
 * The file is read once. The state counts as uninitialised until the last line has been verified and
 * all rows were checked. If anything fails, the state is emptied again.
 *
 * The store may end the process (store/exit.h) in archive_import_run().
 */
#ifndef ARCHIVE_IMPORT_H
#define ARCHIVE_IMPORT_H

#include "archive/import_lines.h"
#include "archive/lines.h"
#include "ledger/offline/import.h"
#include "ledger/rows/issued_keys.h"
#include "ledger/rows/life.h"

/* A row of any kind. */
union archive_row {
#define RECORD(name, struct_, keys) struct struct_ struct_;
#include "domain/records.def"
#undef RECORD
};

struct archive_import {
	struct session *session;
	bool dry_run;      /* only reads and checks the lines */
	bool accept_clock; /* accepts a clock before the newest row */
	/* @what: what is being checked; NULL: rows are read */
	void (*progress)(void *context, const char *what, uint64_t rows);
	void *progress_context;

	/* The results. */
	struct export_head head;
	struct export_tail tail;
	uint64_t rows;
	uint64_t last_transaction_id;
	int64_t last_ms;
	struct life_begun life;
	struct buffer keyless_dealers; /* ids of CASINO_ID_SIZE bytes: imported without keys */
	struct buffer keyless_clients; /* likewise */
	struct buffer revived;         /* struct revived (ledger/offline/revived.h) */

	struct import_lines lines;
	struct import import;
	struct export_counts counts;
	struct key_book key_book;
	union archive_row row;
};

/* Opens @path; "-" is standard input. Call archive_import_close() even if this function fails. */
enum outcome archive_import_open(struct archive_import *importing, struct session *session,
	const char *path);

/*
 * Imports into the state directory of the session's settings. Fails with bad_file, and the number of
 * the line, if the file is not an export or its rows do not agree.
 */
enum outcome archive_import_run(struct archive_import *importing);

void archive_import_close(struct archive_import *importing);

#endif
