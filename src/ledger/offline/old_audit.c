#include "ledger/offline/old_audit.h"

#include "ledger/offline/export.h"
#include "ledger/offline/offline.h"
#include "store/bdb/env/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TRAIL "audit.db"
#define CHUNK (1024 * 1024)

struct copy {
	const char *from; /* names of the folders, for messages */
	const char *to;
	int source;
	int target;
	uint8_t *chunk; /* CHUNK bytes */
	char *why;
	size_t why_size;
};

bool old_audit_is_there(const char *data)
{
	char path[PATH_MAX];

	return (unsigned int)snprintf(path, sizeof(path), "%s/" TRAIL, data) < sizeof(path) &&
		access(path, R_OK) == 0;
}

static enum status fail(struct copy *copy, const char *folder, const char *name)
{
	const enum status status = status_of_errno(errno);

	snprintf(copy->why, copy->why_size, "cannot copy %s/%s: %s", folder, name, strerror(errno));
	return status;
}

static enum status copy_bytes(struct copy *copy, const char *name, int from, int to)
{
	uint64_t at = 0;
	ssize_t len;

	while ((len = files_read(from, copy->chunk, CHUNK, at)) > 0) {
		if (!files_write(to, copy->chunk, (size_t)len, at))
			return fail(copy, copy->to, name);
		at += (uint64_t)len;
	}
	return len < 0 ? fail(copy, copy->from, name) : STATUS_OK;
}

static enum status copy_file(struct copy *copy, const char *name)
{
	int from = openat(copy->source, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW), to;
	enum status status;

	if (from < 0)
		return fail(copy, copy->from, name);
	to = openat(copy->target, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	status = to < 0 ? fail(copy, copy->to, name) : copy_bytes(copy, name, from, to);
	if (to >= 0)
		close(to);
	close(from);
	return status;
}

/* Copies the trail before the log: the log contains writes of a ledger that happen meanwhile. */
static enum status copy_files(struct copy *copy)
{
	enum status status = copy_file(copy, TRAIL);
	const struct dirent *entry;
	DIR *folder;

	if (status)
		return status;
	folder = opendir(copy->from);
	if (!folder)
		return fail(copy, copy->from, "");
	while (!status && (entry = readdir(folder)) != NULL) {
		if (files_log_number(entry->d_name))
			status = copy_file(copy, entry->d_name);
	}
	closedir(folder);
	return status;
}

static enum status copy_trail(const char *from, const char *to, char *why, size_t why_size)
{
	struct copy copy = {
		.from = from,
		.to = to,
		.source = open(from, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
		.target = open(to, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
		.chunk = malloc(CHUNK),
		.why = why,
		.why_size = why_size,
	};
	enum status status;

	if (copy.source < 0 || copy.target < 0 || !copy.chunk)
		status = fail(&copy, copy.source < 0 ? from : to, "");
	else
		status = copy_files(&copy);
	if (copy.source >= 0)
		close(copy.source);
	if (copy.target >= 0)
		close(copy.target);
	free(copy.chunk);
	return status;
}

struct visit {
	void (*visit)(void *context, const struct audit *row);
	void *context;
};

static bool pass_on(void *context, struct bytes key, const void *row)
{
	const struct visit *visit = context;

	(void)key;
	visit->visit(visit->context, row);
	return true;
}

enum status old_audit_walk(const struct settings *settings, const char *data,
	void (*visit)(void *context, const struct audit *row), void *context, char *why,
	size_t why_size)
{
	const struct store_range range = {.record = RECORD_AUDIT};
	struct visit inner = {visit, context};
	struct export_place place;
	/* Create the other tables: the records of the log about them are not needed here. */
	const struct offline_options atrest = {.directory = place.data, .create = true};
	struct store *store = NULL;
	enum status status =
		export_place_open(&place, settings->state_directory, why, why_size);

	if (status)
		return status;
	status = copy_trail(data, place.data, why, why_size);
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
