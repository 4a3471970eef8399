/*
 * manifest - what a backup holds, with the SHA-256 of each file.
 *
 *     DIR/manifest      written last, in one rename: without it DIR holds no backup
 *     DIR/data.1/ or    the tables and, from the last checkpoint before their copy on, the log
 *     DIR/data.2/       (the names are those of the environment itself)
 *
 * A backup that follows another in the same DIR only adds log to the folder, or makes the other
 * folder anew; the manifest that is there stays true until the new one is. So a log file may be
 * longer than the manifest says: what follows is no part of the backup.
 *
 * Text, one line each: "creditbridge-backup 1", a line for each member of struct manifest, "file
 * SHA256 BYTES NAME" for each file, and at the end "end SHA256" of all lines before.
 */
#ifndef STORE_BDB_BACKUP_MANIFEST_H
#define STORE_BDB_BACKUP_MANIFEST_H

#include "base/status.h"
#include "wire/digest.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MANIFEST_NAME     "manifest"
#define MANIFEST_NEW_NAME "manifest.new"
#define MANIFEST_TEXT     48

struct manifest_file {
	char name[MANIFEST_TEXT]; /* in the folder */
	uint64_t bytes;
	char digest[DIGEST_TEXT_SIZE];
};

struct manifest {
	char version[MANIFEST_TEXT];      /* of the creditbridge that wrote it */
	char installation[MANIFEST_TEXT]; /* of the state; "-": none */
	char folder[MANIFEST_TEXT];
	uint64_t schema;
	uint64_t tables_ms;      /* when the copying of the tables began */
	uint64_t complete_to_ms; /* every movement acknowledged before is in it */
	uint64_t first_log;      /* numbers of log files, without a gap */
	uint64_t last_log;
	uint64_t last_offset; /* in the last one: where the log ends */
	uint64_t file_count;
	struct manifest_file *files; /* of file_room */
	uint64_t file_room;
};

extern const char *const manifest_folders[2];

void manifest_init(struct manifest *manifest);
void manifest_free(struct manifest *manifest);

/* Adds a file. False: no memory, or too many. */
bool manifest_add(struct manifest *manifest, const char *name, uint64_t bytes, const char *digest);
const struct manifest_file *manifest_find(const struct manifest *manifest, const char *name);
/* The bytes of all tables, or of all logs. */
uint64_t manifest_bytes(const struct manifest *manifest, bool logs);

/* Makes it the manifest of the directory, durably. False with a sentence in @why. */
bool manifest_write(const struct manifest *manifest, int directory, char *why, size_t why_size);

/*
 * Reads the manifest of the directory. STATUS_NOT_FOUND: there is none. STATUS_CORRUPT: it is not as
 * it was written. STATUS_CONFIG: a newer creditbridge wrote it. STATUS_IO, STATUS_NOMEM. With a
 * sentence in @why, but for STATUS_NOT_FOUND.
 */
enum status manifest_read(struct manifest *manifest, int directory, char *why, size_t why_size);

#endif
