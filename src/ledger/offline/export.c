#include "ledger/offline/export.h"

#include "base/text.h"
#include "ledger/offline/offline.h"
#include "state/directory.h"
#include "state/disk.h"
#include "state/halt.h"
#include "store/backup.h"
#include "store/servers.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define MIB      (1024u * 1024u)
#define OPEN_MAX 8 /* descriptors of nftw() */

const uint32_t export_schema = STORE_SCHEMA;

static int delete_one(const char *path, const struct stat *st, int flag, struct FTW *where)
{
	(void)st;
	(void)flag;
	/* Keep the folder itself: it holds the lock. */
	if (where->level)
		remove(path);
	return 0;
}

static void empty_place(const struct export_place *place)
{
	nftw(place->folder, delete_one, OPEN_MAX, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

static enum status cannot_export(const struct export_place *place, char *why, size_t why_size)
{
	snprintf(why, why_size, "cannot make %s: %s", place->folder, strerror(errno));
	return STATUS_IO;
}

enum status export_place_open(struct export_place *place, const char *state_directory, char *why,
	size_t why_size)
{
	snprintf(place->folder, sizeof(place->folder), "%s/" STATE_EXPORT, state_directory);
	snprintf(place->backup, sizeof(place->backup), "%s/" STATE_EXPORT_BACKUP, state_directory);
	snprintf(place->data, sizeof(place->data), "%s/" STATE_EXPORT "/db", state_directory);
	place->lock = -1;
	if (mkdir(place->folder, 0700) < 0 && errno != EEXIST)
		return cannot_export(place, why, why_size);
	place->lock = open(place->folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (place->lock < 0)
		return cannot_export(place, why, why_size);
	if (flock(place->lock, LOCK_EX | LOCK_NB) < 0) {
		snprintf(why, why_size,
			"another export is under way: wait until it is done, "
			"or end that process");
		close(place->lock);
		return STATUS_BUSY;
	}
	empty_place(place);
	if (mkdir(place->data, 0700) == 0)
		return STATUS_OK;
	cannot_export(place, why, why_size);
	export_place_close(place);
	return STATUS_IO;
}

void export_place_close(struct export_place *place)
{
	empty_place(place);
	rmdir(place->folder);
	close(place->lock);
}

/*
 * Checks the free space: the unpacked data is as large as the backup, and the ledger continues to
 * write.
 */
static enum status check_room(const struct settings *settings, const struct export_place *place,
	uint64_t bytes, char *why, size_t why_size)
{
	const uint64_t needed = bytes + 2 * (uint64_t)settings->disk_low_water_mib * MIB;
	const uint64_t room = disk_free_bytes(place->data);

	if (room >= needed)
		return STATUS_OK;
	snprintf(why, why_size,
		"%s has room for %" PRIu64 " MiB: to unpack what is exported, and "
		"to leave some for the ledger, %" PRIu64 " MiB are needed",
		place->folder, room / MIB, needed / MIB + 1);
	return STATUS_FULL;
}

enum status export_open_backup(struct export *export, const struct settings *settings,
	const struct export_place *place, uint64_t bytes, char *why, size_t why_size)
{
	const struct store_restore options = {
		.backup = place->backup,
		.directory = place->data,
		.cache_mib = settings->ledger_cache_mib,
	};
	const struct offline_options atrest = {.directory = place->data};
	struct store_restored restored;
	enum status status = check_room(settings, place, bytes, why, why_size);

	*export = (struct export){.lock = -1};
	if (!status)
		status = store_restore(&options, &restored, why, why_size);
	if (!status)
		status = offline_open(&export->store, settings, &atrest, why, why_size);
	if (!status)
		text_copy(export->installation, sizeof(export->installation),
			restored.installation);
	return status;
}

enum status export_open_snapshot(struct export *export, const struct settings *settings, char *why,
	size_t why_size)
{
	static struct store_servers servers;
	const struct store_options options = {.servers = store_servers_of(settings, &servers),
		.installation = export->installation};
	enum status status;

	*export = (struct export){.lock = -1};
	status = state_dir_check(settings->state_directory, export->installation, why, why_size);
	return status ? status : store_open_snapshot(&options, &export->store, why, why_size);
}

static enum status lock_state(struct export *export, const char *state, char *why, size_t why_size)
{
	enum status status = state_dir_check(state, export->installation, why, why_size);

	if (status)
		return status;
	if (!disk_mark_is_set(state, DISK_CREATED)) {
		snprintf(why, why_size, "%s holds no data: no ledger was started on it", state);
		return STATUS_CONFIG;
	}
	export->lock = state_dir_lock(state, 0, why, why_size);
	return export->lock < 0 ? STATUS_BUSY : STATUS_OK;
}

enum status export_open_state(struct export *export, const struct settings *settings,
	const struct operator* operator, const char * detail, char *why, size_t why_size)
{
	char directory[SETTINGS_PATH_MAX + 8];
	const struct offline_options atrest = {.directory = directory, .keep_logs = true};
	const struct offline_deed deed = {
		.operator= operator,
		.now = clock_now(),
		.action = "export",
		.object = "state",
		.detail = detail,
	};
	enum status status;

	*export = (struct export){.lock = -1};
	snprintf(directory, sizeof(directory), "%s/db", settings->state_directory);
	status = lock_state(export, settings->state_directory, why, why_size);
	if (!status)
		halt_forget_cached(settings, directory);
	if (!status)
		status = offline_open(&export->store, settings, &atrest, why, why_size);
	if (!status)
		status = offline_trail(export->store, &deed, why, why_size);
	if (status)
		export_close(export);
	return status;
}

struct row_visit {
	export_visit *visit;
	void *context;
};

static bool pass_on(void *context, struct bytes key, const void *row)
{
	const struct row_visit *visit = context;

	(void)key;
	return visit->visit(visit->context, row);
}

enum status export_walk(struct export *export, enum record record, export_visit *visit,
	void *context)
{
	const struct store_range range = {.record = record};
	struct row_visit inner = {visit, context};

	return export->store->scan(export->store, &range, pass_on, &inner);
}

void export_close(struct export *export)
{
	if (export->store)
		export->store->close(export->store);
	export->store = NULL;
	if (export->lock >= 0)
		close(export->lock);
	export->lock = -1;
}
