/*
 * log_prealloc - a file of zeros, made ahead, that becomes the next file of the log.
 *
 * A log that grows makes each fdatasync write which blocks are new, too, in a journal of the file
 * system; one that is written over in place does not. libdb takes zeros behind the last record for the
 * end of a file (those of DB_LOG_ZERO, which it writes itself, in the way of a commit), a file without
 * a record for none, and in recovery clears what lies behind the log's end.
 */
#ifndef STORE_BDB_ENV_LOG_PREALLOC_H
#define STORE_BDB_ENV_LOG_PREALLOC_H

#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define SPARE_NAME "spare.log"
/* As long as it is not complete. */
#define SPARE_MAKING_NAME "spare.new"

struct spare {
	char directory[PATH_MAX];
	uint64_t low_water_bytes;
	pthread_t thread;
	bool started;
	bool stop; /* under the module's lock */
};

/*
 * Begins to keep a spare in @directory as long as more than @low_water_bytes are free there. That there
 * is none is no error: libdb makes its files itself then. False: no thread could be made.
 */
bool spare_start(struct spare *spare, const char *directory, uint64_t low_water_bytes);
void spare_stop(struct spare *spare);

/*
 * Gives the spare beside it the name @path, a file of the log that is not there. False: there is none;
 * one that is not whole, or not ours, is removed.
 */
bool spare_take(const char *path);

#endif
