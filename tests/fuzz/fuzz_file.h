/*
 * fuzz_file - a file that is only in memory, for what is read by its name.
 */
#ifndef TESTS_FUZZ_FUZZ_FILE_H
#define TESTS_FUZZ_FUZZ_FILE_H

#include "fuzz.h"

#include <sys/mman.h>
#include <unistd.h>

/* Fills the one file that there is. Returns its name. */
static inline const char *fuzz_file(const void *data, size_t size)
{
	static char path[64];
	static int fd = -1;

	if (fd < 0) {
		fd = memfd_create("fuzz", MFD_CLOEXEC);
		must(fd >= 0);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	}
	must(ftruncate(fd, 0) == 0);
	must(pwrite(fd, data, size, 0) == (ssize_t)size);
	return path;
}

#endif
