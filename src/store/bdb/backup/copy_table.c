/* copy_table - copies one table with the log, to read it apart from its data (store/backup.h). */
#include "store/backup.h"
#include "store/bdb/env/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHUNK           (1024 * 1024)
#define TABLE_NAME_SIZE 64

struct copy {
	const char *from; /* names of the folders, for messages */
	const char *to;
	char table[TABLE_NAME_SIZE];
	int source;
	int target;
	uint8_t *chunk; /* CHUNK bytes */
	char *why;
	size_t why_size;
};

static void name_table(char name[TABLE_NAME_SIZE], enum record record)
{
	snprintf(name, TABLE_NAME_SIZE, "%s.db", record_infos[record].name);
}

bool store_has_table(const char *data, enum record record)
{
	char path[PATH_MAX], table[TABLE_NAME_SIZE];

	name_table(table, record);
	return (unsigned int)snprintf(path, sizeof(path), "%s/%s", data, table) < sizeof(path) &&
		access(path, R_OK) == 0;
}

static enum status copy_failed(struct copy *copy, const char *folder, const char *name)
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
			return copy_failed(copy, copy->to, name);
		at += (uint64_t)len;
	}
	return len < 0 ? copy_failed(copy, copy->from, name) : STATUS_OK;
}

static enum status copy_one_file(struct copy *copy, const char *name)
{
	int from = openat(copy->source, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW), to;
	enum status status;

	if (from < 0)
		return copy_failed(copy, copy->from, name);
	to = openat(copy->target, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	status = to < 0 ? copy_failed(copy, copy->to, name) : copy_bytes(copy, name, from, to);
	if (to >= 0)
		close(to);
	close(from);
	return status;
}

/* Copies the table before the log: the log contains writes of a ledger that happen meanwhile. */
static enum status copy_table_and_logs(struct copy *copy)
{
	enum status status = copy_one_file(copy, copy->table);
	const struct dirent *entry;
	DIR *folder;

	if (status)
		return status;
	folder = opendir(copy->from);
	if (!folder)
		return copy_failed(copy, copy->from, "");
	while (!status && (entry = readdir(folder)) != NULL) {
		if (files_log_number(entry->d_name))
			status = copy_one_file(copy, entry->d_name);
	}
	closedir(folder);
	return status;
}

enum status store_copy_table(enum record record, const char *from, const char *to, char *why,
	size_t why_size)
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

	name_table(copy.table, record);
	if (copy.source < 0 || copy.target < 0 || !copy.chunk)
		status = copy_failed(&copy, copy.source < 0 ? from : to, "");
	else
		status = copy_table_and_logs(&copy);
	if (copy.source >= 0)
		close(copy.source);
	if (copy.target >= 0)
		close(copy.target);
	free(copy.chunk);
	return status;
}
