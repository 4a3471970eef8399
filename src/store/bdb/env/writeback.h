/*
 * writeback - what nobody waits for is handed to the disk a little at a time.
 *
 * Pages of a checkpoint and zeros of a spare lie in the kernel until an fdatasync brings all of them to
 * the disk at once, and the log's next commit, for which callers wait, comes behind them. So writing
 * out is begun after each few, and a rest follows. Nothing here makes anything durable: that is still
 * the fdatasync's. Where the kernel cannot even begin with a page of a checkpoint, the process ends (74).
 */
#ifndef STORE_BDB_ENV_WRITEBACK_H
#define STORE_BDB_ENV_WRITEBACK_H

#include <db.h>
#include <stdint.h>

/* How much of a file that is made ahead is written between two rests. */
#define PACE_BYTES (32 * 1024)

/*
 * How many pages of a checkpoint of @pages are written between two rests: as many as make PACE_RESTS
 * of them, and 8 at least. A checkpoint that takes longer makes a recovery longer.
 */
#define PACE_RESTS 150
uint32_t pace_lot(uint64_t pages);

/*
 * Writes a checkpoint of @env when @kib of log were written since the last (0: whenever there is any),
 * at that pace. @flags: DB_FORCE for one though there is none, or 0. One at a time: another caller waits.
 * Returns libdb's error, 0 if there was none.
 *
 * How many pages it will write is taken from the last checkpoints; the first rests not at all, and none
 * longer than half a second altogether. Another thread that has libdb write pages meanwhile does not rest.
 * Its two halves are named for tests. *@pages: those that were written.
 */
int pace_checkpoint(DB_ENV *env, uint32_t kib, uint32_t flags, uint64_t *pages);
void pace_checkpoint_begin(DB_ENV *env);
void pace_checkpoint_end(DB_ENV *env);

/*
 * What env.c has libdb call: this thread wrote a page to @fd; and the wait between two lots, or another
 * one, of @seconds and @microseconds (none: it yields the processor). A checkpoint that found a page in
 * use would come back to it after a second. The last page of a table that rows are appended to is often
 * in use, for microseconds, and a recovery would read a second's log more: it comes back at once.
 */
void pace_wrote_page(int fd);
int pace_wait(unsigned long seconds, unsigned long microseconds);

/* Hands over zeros that were written to @fd, and rests. What of them is lost is read as zeros. */
void pace_hand_over(int fd);

#endif
