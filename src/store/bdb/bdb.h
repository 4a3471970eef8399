/*
 * bdb - the store on Berkeley DB.
 *
 * One environment, owned by this process alone (DB_PRIVATE), recovered when it is opened. One
 * btree a row kind, in the file NAME.db. See SCHEMA beside this file for the encoding.
 *
 * The disk's errors: a failing fsync or an EIO ends the process at once with exit code 74
 * (BDB_EXIT_IO): libdb would repeat the call, and a repeated fsync can on Linux report success for
 * data that is lost. A log that finds the disk full ends the process with 72 (BDB_EXIT_FULL), one that
 * cannot be written for another reason, or whose next file cannot be made, with 70 (BDB_EXIT_LOST):
 * libdb would go on with commits that are not on the disk. Nothing is answered for the batch that
 * met it. (Without options->ends a file that cannot be made fails the save.)
 *
 * When libdb gives up (DB_RUNRECOVERY), as after a page whose checksum is wrong, every later call
 * fails as well. With options->ends the process then ends, with 76 after such a page
 * (BDB_EXIT_DAMAGED), 72 after a full disk, else 70 (BDB_EXIT_LOST). close() ends it with 70 when a
 * backup's target hangs: recovery does what the close would. (A target that hangs in the kernel, as a
 * hard NFS mount does, keeps the process for as long as it hangs.)
 */
#ifndef STORE_BDB_BDB_H
#define STORE_BDB_BDB_H

#include "store/bdb/env/fatal.h"
#include "store/bdb/env/options.h"
#include "store/store.h"

/*
 * Opens the store, running recovery. STATUS_OK; STATUS_FULL: recovery found no space;
 * STATUS_CONFIG: the data was written by a newer schema (a sentence in @why); STATUS_IO,
 * STATUS_NOMEM, STATUS_CORRUPT: with a sentence in @why. @store is to be ended by its close().
 */
enum status bdb_open(const struct bdb_options *options, struct store **store, char *why,
	size_t why_size);

/*
 * Reads which schema the data of @options is, older, ours or newer, with recovery and no other change;
 * bdb_open() makes an older one ours. Results as of bdb_open().
 */
enum status bdb_schema(const struct bdb_options *options, uint64_t *schema, char *why,
	size_t why_size);

#endif
