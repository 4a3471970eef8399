/*
 * log_prealloc - prepares a file of zeros, the spare, that becomes the next file of the log.
 *
 * If a log file grows, each fdatasync also writes the newly used blocks to the journal of the file
 * system. Overwriting an existing file in place avoids this. libdb treats zeros after the last
 * record as the end of a file. It treats a file without a record as absent, and in recovery it
 * clears the bytes after the end of the log. libdb itself would write the zeros (DB_LOG_ZERO), but
 * during a commit.
 */
#ifndef STORE_BDB_ENV_LOG_PREALLOC_H
#define STORE_BDB_ENV_LOG_PREALLOC_H

#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* The size of a log file. */
#define BDB_LOG_FILE_SIZE (4u * 1024 * 1024)

#define LOG_PREALLOC_NAME "spare.log"
/* The name until the file is complete. */
#define LOG_PREALLOC_MAKING_NAME "spare.new"

struct log_prealloc {
	char directory[PATH_MAX];
	uint64_t low_water_bytes;
	pthread_t thread;
	bool started;
	bool stop; /* under the module's lock */
};

/*
 * Keeps a spare in @directory while more than @low_water_bytes are free there. A missing spare is
 * not an error: libdb then creates its files itself. Returns false if the thread could not be
 * created.
 */
bool log_prealloc_start(struct log_prealloc *prealloc, const char *directory,
	uint64_t low_water_bytes);
void log_prealloc_stop(struct log_prealloc *prealloc);

/*
 * Renames the spare to @path, a log file that does not exist. Returns false if there is no spare.
 * Removes a spare that is incomplete or not ours.
 */
bool log_prealloc_take(const char *path);

#endif
