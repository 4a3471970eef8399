/*
 * scratch - a directory for one test, removed at its end.
 */
#ifndef TESTS_LIB_SCRATCH_H
#define TESTS_LIB_SCRATCH_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static inline int scratch_remove_one(const char *path, const struct stat *st, int type,
	struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

/* Creates a directory below $TMPDIR, by default /tmp, and writes its name to @path. */
static inline void scratch_make(char path[64])
{
	const char *place = getenv("TMPDIR");

	if (!place || strlen(place) > 16) /* sockets need short paths */
		place = "/tmp";
	snprintf(path, 64, "%s/creditbridge-test.XXXXXX", place);
	if (!mkdtemp(path))
		abort();
}

static inline void scratch_remove(const char *path)
{
	nftw(path, scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

#endif
