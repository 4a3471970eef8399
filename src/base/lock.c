#include "base/lock.h"

#include "base/clock.h"

#include <errno.h>
#include <sys/file.h>

#define POLL_MS 20

bool lock_wait(int fd, int wait_ms)
{
	int64_t until_ms = clock_boot_ms() + wait_ms;

	while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno == EINTR)
			continue;
		if (errno != EWOULDBLOCK || clock_boot_ms() >= until_ms)
			return false;
		clock_sleep_ms(POLL_MS);
	}
	return true;
}
