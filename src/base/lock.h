/*
 * lock - a lock on a file or a directory, against other processes.
 */
#ifndef BASE_LOCK_H
#define BASE_LOCK_H

#include <stdbool.h>

/*
 * Locks what is open at @fd (flock(2)) for as long as it is open. Waits for @wait_ms at most. False:
 * another holds it still (EWOULDBLOCK), or errno says what failed.
 */
bool lock_wait(int fd, int wait_ms);

#endif
