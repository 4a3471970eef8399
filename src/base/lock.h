/*
 * lock - a lock on a file or a directory, against other processes.
 */
#ifndef BASE_LOCK_H
#define BASE_LOCK_H

#include <stdbool.h>

/* The sweeper's, in settings.socket_directory: made by the ledger for the users of edge.sock. */
#define LOCK_SWEEP "sweep.lock"

/*
 * Locks what is open at @fd (flock(2)) for as long as it is open. Waits for @wait_ms at most. False:
 * another holds it still (EWOULDBLOCK), or errno says what failed.
 */
bool lock_wait(int fd, int wait_ms);

/*
 * Opens the file @name of @directory for a lock that several users take. Makes it if it is missing. If
 * it belongs to this process, or this process is root's, the file gets group and mode of @like, another
 * file of @directory, and the owner of @directory. Links are refused. Returns the descriptor; -1: errno.
 */
int lock_file_open(const char *directory, const char *name, const char *like);

#endif
