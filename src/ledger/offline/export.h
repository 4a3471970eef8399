/*
 * export - reads every row of a ledger as of one point in time.
 *
 * The rows are read from data that does not change. This is either a backup, unpacked to a
 * separate directory, or the state of a ledger that does not run. An export therefore costs a
 * running ledger no more than a backup. It sees the data of one commit, however long the reading
 * takes.
 *
 * The store may end the process (store/exit.h) in every function here.
 */
#ifndef LEDGER_OFFLINE_EXPORT_H
#define LEDGER_OFFLINE_EXPORT_H

#include "base/clock.h"
#include "base/settings.h"
#include "base/status.h"
#include "domain/records.h"
#include "link/verdict.h"
#include "state/directory.h"
#include "state/identity.h"

/* STATE/export: its content serves only the running export. */
struct export_place {
	char folder[SETTINGS_PATH_MAX + 16];
	char backup[SETTINGS_PATH_MAX + 16]; /* the ledger writes the backup here */
	char data[SETTINGS_PATH_MAX + 16];   /* empty */
	int lock;
};

/*
 * Creates the directory and deletes the remains of an interrupted export. Returns STATUS_BUSY if
 * another export runs, or STATUS_IO. Writes the reason to @why.
 */
enum status export_place_open(struct export_place *place, const char *state_directory, char *why,
	size_t why_size);
/* Deletes the directory. */
void export_place_close(struct export_place *place);

struct store;

/* The version of the rows. An import also accepts older ones. */
extern const uint32_t export_schema;

struct export
{
	struct store *store;
	int lock; /* lock of the state; -1: the data is from a backup */
	char installation[STATE_INSTALLATION_MAX];
};

/*
 * Opens the rows of this moment while a ledger writes them, where store_has_snapshot() (store/servers.h).
 * Returns its results. After STATUS_OK the caller closes @export.
 */
enum status export_open_snapshot(struct export *export, const struct settings *settings, char *why,
	size_t why_size);

/*
 * Unpacks the backup of @bytes bytes and opens it. Returns STATUS_FULL if there is no room, or too
 * little would be left for the ledger. Otherwise returns the results of store_restore() and
 * store_open(), with a reason in @why. After STATUS_OK the caller closes @export.
 */
enum status export_open_backup(struct export *export, const struct settings *settings,
	const struct export_place *place, uint64_t bytes, char *why, size_t why_size);

/*
 * Opens the state itself and records the export in its audit, with @detail. Returns STATUS_BUSY if
 * a ledger runs on it, otherwise the results of state_dir_check() and store_open().
 */
enum status export_open_state(struct export *export, const struct settings *settings,
	const struct operator* operator, const char * detail, char *why, size_t why_size);

/*
 * Calls @visit for each row of @record in the order of their keys. @visit returns false to stop. A
 * row is valid only during the call.
 */
typedef bool export_visit(void *context, const void *row);
enum status export_walk(struct export *export, enum record record, export_visit *visit,
	void *context);

void export_close(struct export *export);

#endif
