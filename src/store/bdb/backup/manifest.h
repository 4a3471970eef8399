/*
 * manifest - the list of the files of a backup, with the SHA-256 of each.
 *
 *     DIR/manifest      written last, by one rename: without it DIR holds no backup
 *     DIR/data.1/ or    the tables and the log since the last checkpoint before their copy
 *     DIR/data.2/       (the names are those of the environment itself)
 *
 * A later backup in the same DIR either adds log to the folder or writes the other folder. The
 * existing manifest stays valid until the new one replaces it. A log file may therefore be longer
 * than the manifest states; the rest is not part of the backup.
 *
 * The format is text, one item a line: "creditbridge-backup 1", a line for each member of struct
 * manifest, "file SHA256 BYTES NAME" for each file, and last "end SHA256" of all lines before.
 */
#ifndef STORE_BDB_BACKUP_MANIFEST_H
#define STORE_BDB_BACKUP_MANIFEST_H

#include "base/status.h"
#include "store/backup.h"
#include "wire/digest.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MANIFEST_NAME     "manifest"
#define MANIFEST_NEW_NAME "manifest.new"
#define MANIFEST_TEXT     RESTORED_TEXT

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
	uint64_t complete_to_ms; /* every transaction acknowledged before is included */
	uint64_t first_log;      /* numbers of log files, without a gap */
	uint64_t last_log;
	uint64_t last_offset; /* in the last one: where the log ends */
	uint64_t file_count;
	struct manifest_file *files; /* capacity: file_room */
	uint64_t file_room;
};

extern const char *const manifest_folders[2];

void manifest_init(struct manifest *manifest);
void manifest_free(struct manifest *manifest);

/* Adds a file. Returns false if memory is exhausted or there are too many files. */
bool manifest_add(struct manifest *manifest, const char *name, uint64_t bytes, const char *digest);
const struct manifest_file *manifest_find(const struct manifest *manifest, const char *name);
/* Returns the total bytes of the tables, or of the logs if @logs. */
uint64_t manifest_bytes(const struct manifest *manifest, bool logs);

/* Durably replaces the manifest of the directory. Returns false and writes a reason to @why. */
bool manifest_write(const struct manifest *manifest, int directory, char *why, size_t why_size);

/*
 * Reads the manifest of the directory. Returns STATUS_NOT_FOUND if there is none and
 * STATUS_CORRUPT if it was altered. Returns STATUS_CONFIG if a newer creditbridge wrote it; also
 * STATUS_IO and STATUS_NOMEM. All but STATUS_NOT_FOUND write a reason to @why.
 */
enum status manifest_read(struct manifest *manifest, int directory, char *why, size_t why_size);

#endif
