/*
 * lock - a lock on a file or a directory, against other processes.
 */
#ifndef BASE_LOCK_H
#define BASE_LOCK_H

#include <stdbool.h>

/*
 * The sweeper's lock file in settings.socket_directory. The ledger makes it for users of edge.sock.
 */
#define LOCK_SWEEP "sweep.lock"

/*
 * Locks the file open at @fd (flock(2)) until @fd is closed. Waits at most @wait_ms. Returns false
 * with errno on failure; EWOULDBLOCK means that another process still holds the lock.
 */
bool lock_wait(int fd, int wait_ms);

/*
 * Opens the file @name in @directory for a lock shared by several users. Creates the file if it is
 * missing. The function sets owner and mode if this process owns the file or runs as root. Group
 * and mode are copied from @like, another file of @directory; the owner is that of @directory.
 * Links are refused. Returns the descriptor, or -1 with errno.
 */
int lock_file_open(const char *directory, const char *name, const char *like);

#endif
