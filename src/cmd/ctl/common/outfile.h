/*
 * outfile - writes a command's result to a file or to standard output, and computes its SHA-256.
 *
 * The file is created new with mode 0600. It is created before root changes to another user, so
 * that it can be in any directory to which the caller can write. After a failure, no partial file
 * remains.
 */
#ifndef CMD_CTL_COMMON_OUTFILE_H
#define CMD_CTL_COMMON_OUTFILE_H

#include "cmd/ctl/common/ctl.h"
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
 * Opens @path. NULL and "-" are standard output. Refuses standard output as a usage error with
 * --json, and if it is a terminal and @foreign is true, because the bytes are not text. Otherwise
 * reports already_exists or why the file cannot be created. Close @out only if OUTCOME_DONE is
 * returned.
 */
enum outcome outfile_open(struct outfile *out, struct ctl *ctl, const char *path, bool foreign);

/* Writes @len bytes. outfile_close() reports a failure. */
void outfile_put(struct outfile *out, const void *data, size_t len);

/* Writes the SHA-256 of the bytes written so far to @text, as 64 hexadecimal characters. */
void outfile_digest(struct outfile *out, char text[DIGEST_TEXT_SIZE]);

/*
 * Makes the file durable and closes it. If @code is a failure (already reported), or if a write
 * failed, empties and deletes the file.
 */
enum outcome outfile_close(struct outfile *out, enum outcome code);

/*
 * Makes the contents of @file durable if its kind of file supports that. Returns false if the
 * file is incomplete; errno is set.
 */
bool outfile_keep(FILE *file);

/* Empties and deletes the incomplete file at @path, which is open as @file. */
void outfile_spoil(FILE *file, const char *path);

#endif
