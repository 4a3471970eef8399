/*
 * bdb - the store on Berkeley DB.
 *
 * One environment belongs to this process and to no other (DB_PRIVATE). It is recovered when it is
 * opened. Each row kind has one btree, in the file NAME.db. See SCHEMA beside this file for the
 * encoding.
 *
 * Disk errors: if fsync fails or returns EIO, the process ends at once with exit code 74
 * (BDB_EXIT_IO). libdb would repeat the call. On Linux a repeated fsync can report success for
 * data that is lost.
 *
 * If a log write finds the disk full, the process ends with 72 (BDB_EXIT_FULL). If the log cannot
 * be written for another reason, or its next file cannot be made, it ends with 70 (BDB_EXIT_LOST).
 * libdb would continue with commits that are not on the disk. The batch that met the error
 * receives no answer. (Without options->ends, a file that cannot be made fails the save.)
 *
 * After DB_RUNRECOVERY, as for a page with a wrong checksum, every later call of libdb fails. With
 * options->ends the process then ends. The code is 76 (BDB_EXIT_DAMAGED) after such a page, 72
 * after a full disk, and otherwise 70 (BDB_EXIT_LOST).
 *
 * close() ends the process with 70 if the target of a backup hangs; recovery does the work of the
 * close. If the target hangs in the kernel, as a hard NFS mount does, the process cannot end until
 * it responds.
 */
#ifndef STORE_BDB_BDB_H
#define STORE_BDB_BDB_H

#include "store/bdb/env/fatal.h"
#include "store/bdb/env/options.h"
#include "store/store.h"

/*
 * Opens the store and runs recovery. Returns STATUS_OK, STATUS_FULL if recovery found no space, or
 * STATUS_CONFIG if a newer schema wrote the data. Also STATUS_IO, STATUS_NOMEM and STATUS_CORRUPT.
 * Each failure has a reason in @why. The caller closes @store with its close().
 */
enum status bdb_open(const struct bdb_options *options, struct store **store, char *why,
	size_t why_size);

/*
 * Reads the schema version of the data of @options: older, current or newer. Runs recovery and
 * changes nothing else; bdb_open() raises an older version. Returns the results of bdb_open().
 */
enum status bdb_schema(const struct bdb_options *options, uint64_t *schema, char *why,
	size_t why_size);

#endif
