#include "store/bdb/env/fatal.h"

#include "base/log.h"

#include <db.h>
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

/* A write found the disk full: libdb may report that as DB_RUNRECOVERY. */
static atomic_bool met_full;
/*
 * libdb found a page with a wrong checksum. It reports this in a message and then only returns
 * DB_RUNRECOVERY.
 */
static atomic_bool met_damage;
static atomic_bool ends_with_libdb;
static atomic_int halting;        /* the code that the process ends with; 0: none */
static void (*before_halt)(void); /* set before other threads begin */

void store_wait_if_halting(void)
{
	while (atomic_load(&halting))
		pause();
}

/*
 * Prepares the end of the process with @code. The thread that met the first halting failure sets
 * the mark. Meanwhile no other thread ends the process with a code that does not halt the ledger.
 */
static void prepare_end(int code)
{
	bool halts = code == STORE_EXIT_IO || code == STORE_EXIT_DAMAGED;
	int none = 0;

	if (!halts || !atomic_compare_exchange_strong(&halting, &none, code))
		store_wait_if_halting();
	else if (before_halt)
		before_halt();
}

void store_end_process(int code)
{
	prepare_end(code);
	_exit(code);
}

/* Set the mark first: the reader of the log output may be slow. */
void bdb_die_of_disk(const char *where, int error)
{
	prepare_end(STORE_EXIT_IO);
	log_line(LOG_LEVEL_ERROR, "disk_failed", "where=%s error=\"%s\" action=halt", where,
		strerror(error));
	_exit(STORE_EXIT_IO);
}

bool bdb_met_full(void)
{
	return atomic_load(&met_full);
}

bool bdb_met_damage(void)
{
	return atomic_load(&met_damage);
}

enum store_exit store_exit_code(void)
{
	return bdb_met_damage()  ? STORE_EXIT_DAMAGED
		: bdb_met_full() ? STORE_EXIT_FULL
				 : STORE_EXIT_LOST;
}

void bdb_note_damage(void)
{
	atomic_store(&met_damage, true);
}

void bdb_before_halt(void (*function)(void))
{
	before_halt = function;
}

void bdb_note_full(int error)
{
	if (error == ENOSPC || error == EDQUOT)
		atomic_store(&met_full, true);
}

bool bdb_ends_with_libdb(void)
{
	return atomic_load(&ends_with_libdb);
}

void bdb_end_with_libdb(bool ends)
{
	atomic_store(&ends_with_libdb, ends);
}

/* libdb cannot continue: every later call fails, including reads. */
static void die_of_libdb(int error)
{
	bool damaged = bdb_met_damage();

	if (damaged)
		prepare_end(STORE_EXIT_DAMAGED);
	log_line(LOG_LEVEL_ERROR, "database_failed", "error=\"%s\" action=%s", db_strerror(error),
		damaged ? "halt" : "restart");
	if (damaged)
		_exit(STORE_EXIT_DAMAGED);
	store_end_process((int)store_exit_code());
}

enum status bdb_status(int error)
{
	switch (error) {
	case 0:
		return STATUS_OK;
	case EIO:
		bdb_die_of_disk("libdb", error);
	case ENOSPC:
	case EDQUOT:
		return STATUS_FULL;
	case ENOMEM:
		return STATUS_NOMEM;
	case DB_RUNRECOVERY:
		if (atomic_load(&ends_with_libdb))
			die_of_libdb(error);
		return STATUS_IO;
	default:
		return STATUS_IO;
	}
}
