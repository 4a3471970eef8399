/*
 * front - the file of front secrets, by which the web server proves that a request came through it.
 *
 * Each line is 64 hex characters in lower case; an empty line and one that begins with # are skipped. Two
 * values may be valid at a time, so that the secret can be changed. Other users must not be able to
 * read the file.
 */
#ifndef LEDGER_DESK_FRONT_H
#define LEDGER_DESK_FRONT_H

#include "link/frame.h"

#include <stdbool.h>
#include <stdint.h>

#define FRONT_LIVE_MAX 2
#define FRONT_FILE_MAX 4096

struct front_values {
	char live[FRONT_LIVE_MAX][FRAME_VOUCH_SIZE]; /* "": unused */
	/* of the file that was read, to notice a change */
	int64_t changed_ns;
	uint64_t inode;
	bool was_read; /* the file was looked at */
	bool failing;  /* the last read failed, which was logged */
};

/*
 * Reads @path if it changed since the last call. If it cannot be used, no value is valid, and the log has
 * the reason once for each change.
 */
void front_read(struct front_values *front, const char *path);

/* Returns true if @secret is valid. Takes the same time for every wrong one. */
bool front_check(const struct front_values *front, const char *secret);

#endif
