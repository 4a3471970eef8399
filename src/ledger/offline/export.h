/*
 * export - every row of a ledger as it was at one point in time.
 *
 * The rows are read from data at rest: a backup, which is unpacked to a directory of its own, or
 * the state of a ledger that does not run. So a ledger that serves is troubled no more than by a
 * backup, and what is read is what one commit left, however long the reading takes.
 *
 * libdb may end the process (store/bdb/bdb.h) in every function here.
 */
#ifndef LEDGER_OFFLINE_EXPORT_H
#define LEDGER_OFFLINE_EXPORT_H

#include "base/clock.h"
#include "base/settings.h"
#include "base/status.h"
#include "domain/records.h"
#include "link/verdict.h"
#include "state/directory.h"

/* STATE/export: all in it is of no worth but to the export under way. */
struct export_place {
	char folder[SETTINGS_PATH_MAX + 16];
	char backup[SETTINGS_PATH_MAX + 16]; /* to be made by the ledger */
	char data[SETTINGS_PATH_MAX + 16];   /* empty */
	int lock;
};

/*
 * Makes the place, without what an interrupted export left there. STATUS_BUSY: another export is
 * under way; STATUS_IO. With a sentence in @why.
 */
enum status export_place_open(struct export_place *place, const char *state_directory, char *why,
	size_t why_size);
/* Deletes it. */
void export_place_close(struct export_place *place);

struct store;

/* The version of the rows; an import takes older ones, too. */
extern const uint32_t export_schema;

struct export {
	struct store *store;
	int lock; /* of the state; -1: it is a backup's data */
	char installation[STATE_INSTALLATION_MAX];
};

/*
 * Unpacks the backup of @bytes bytes in the place, and opens it. STATUS_FULL: there is no room, or
 * too little would be left for the ledger. Others as of bdb_restore() and bdb_open(), with a
 * sentence in @why. To be closed if STATUS_OK is returned.
 */
enum status export_open_backup(struct export *export, const struct settings *settings,
	const struct export_place *place, uint64_t bytes, char *why, size_t why_size);

/*
 * Opens the state itself, and notes in its trail that it is exported, with @detail. STATUS_BUSY: a
 * ledger runs on it. Others as of state_dir_check() and bdb_open().
 */
enum status export_open_state(struct export *export, const struct settings *settings,
	const struct operator *operator, const char *detail, char *why, size_t why_size);

/*
 * Gives @visit each row of @record in the order of their keys; it returns false to stop. A row is
 * valid during the call only.
 */
typedef bool export_visit(void *context, const void *row);
enum status export_walk(struct export *export, enum record record, export_visit *visit,
	void *context);

void export_close(struct export *export);

#endif
