/*
 * writeback - throttles background writes, so that commits do not wait for them.
 *
 * Pages of a checkpoint and zeros of a prepared log file stay in the kernel until an fdatasync writes all of
 * them at once. The next commit of the log, for which callers wait, would be queued after them.
 * This component therefore starts writing out after every few pages and then rests. It makes
 * nothing durable; the fdatasync still does. If the kernel cannot start to write a page of a
 * checkpoint, the process ends (74).
 */
#ifndef STORE_BDB_ENV_WRITEBACK_H
#define STORE_BDB_ENV_WRITEBACK_H

#include <db.h>
#include <stdint.h>

/* The bytes of a prepared file that are written between two rests. */
#define WRITEBACK_BYTES (32 * 1024)

/*
 * Returns how many pages of a checkpoint of @pages are written between two rests. The number leads
 * to WRITEBACK_RESTS rests, but is at least 8. A longer checkpoint makes a recovery longer.
 */
#define WRITEBACK_RESTS 150
uint32_t writeback_lot(uint64_t pages);

/*
 * Writes a throttled checkpoint of @env if @kib of log were written since the last (0: if there is
 * any). @flags is 0, or DB_FORCE to write one in any case. Only one runs at a time; another caller
 * waits. Returns the error of libdb, or 0. Sets *@pages to the number of pages written.
 *
 * The expected number of pages is taken from the last checkpoints. The first one does not rest,
 * and none rests longer than half a second in total. Another thread that makes libdb write pages
 * meanwhile does not rest. The two halves are public for tests.
 */
int writeback_checkpoint(DB_ENV *env, uint32_t kib, uint32_t flags, uint64_t *pages);
void writeback_checkpoint_begin(DB_ENV *env);
void writeback_checkpoint_end(DB_ENV *env);

/*
 * The hooks that env.c gives to libdb. writeback_wrote_page(): this thread wrote a page to @fd.
 * writeback_wait(): the wait between two groups of pages, or another wait, of @seconds and
 * @microseconds (0: yields the CPU).
 *
 * If a checkpoint finds a page in use, libdb would retry it after a second. The last page of a
 * table with appended rows is often in use, for microseconds, and recovery would read a second
 * more of log. Therefore it is retried at once.
 */
void writeback_wrote_page(int fd);
int writeback_wait(unsigned long seconds, unsigned long microseconds);

/* Starts writing zeros that were written to @fd, and rests. Lost zeros are read as zeros. */
void writeback_start(int fd);

#endif
