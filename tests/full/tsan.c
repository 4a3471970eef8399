/*
 * tsan - linked into what tsan.sh builds: gcc 12's ThreadSanitizer does not know
 * pthread_clockjoin_np(), and takes what follows it for unordered with the thread that ended. It
 * knows pthread_tryjoin_np().
 */
#include <errno.h>
#include <pthread.h>
#include <time.h>

int __wrap_pthread_clockjoin_np(pthread_t thread, void **result, clockid_t clock,
	const struct timespec *until);

int __wrap_pthread_clockjoin_np(pthread_t thread, void **result, clockid_t clock,
	const struct timespec *until)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	struct timespec now;
	int error;

	while ((error = pthread_tryjoin_np(thread, result)) == EBUSY) {
		clock_gettime(clock, &now);
		if (now.tv_sec > until->tv_sec ||
			(now.tv_sec == until->tv_sec && now.tv_nsec >= until->tv_nsec))
			return ETIMEDOUT;
		nanosleep(&pause, NULL);
	}
	return error;
}
