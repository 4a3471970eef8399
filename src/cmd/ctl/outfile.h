/*
 * outfile - what a command writes that is kept: to a file of its own or to standard output, with
 * the SHA-256 of it.
 *
 * A file is made anew, for its owner alone (0600), before root becomes another user, so that it
 * may lie wherever the caller can write. What fails leaves no half of it.
 */
#ifndef CMD_CTL_OUTFILE_H
#define CMD_CTL_OUTFILE_H

#include "cmd/ctl/ctl.h"
#include "wire/digest.h"

#include <stdio.h>

struct outfile {
	struct ctl *ctl;
	const char *path; /* NULL: standard output */
	FILE *file;
	struct digest digest;
	bool failed;
};

/*
 * Opens @path; NULL and "-" are standard output, which is refused (as usage) with --json and when
 * it is a terminal and @foreign: the bytes are for no eye. Else already_exists, or why it cannot be
 * made. To be closed only if OUTCOME_DONE is returned.
 */
enum outcome outfile_open(struct outfile *out, struct ctl *ctl, const char *path, bool foreign);

/* A failure is kept, and reported by outfile_close(). */
void outfile_put(struct outfile *out, const void *data, size_t len);

/* The SHA-256 of what was put so far, as 64 hex characters. */
void outfile_digest(struct outfile *out, char text[DIGEST_TEXT_SIZE]);

/*
 * Makes a file durable. With @code, a failure reported before, or when writing failed: empties and
 * deletes it.
 */
enum outcome outfile_close(struct outfile *out, enum outcome code);

/* Makes what was written to @file durable, where that can be. False: it is not whole, see errno. */
bool outfile_keep(FILE *file);

/* Empties and deletes the file at @path, which @file is open on: it is not whole. */
void outfile_spoil(FILE *file, const char *path);

#endif
