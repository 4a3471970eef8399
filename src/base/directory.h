/*
 * directory - durable file names. A new or renamed file is on the disk under its name only after a
 * sync of its directory. On some file systems a sync of the file itself is not sufficient.
 *
 * A file system that cannot sync a directory (fsync(2): EINVAL) offers no better way and counts as
 * synced. Every other error is reported.
 */
#ifndef BASE_DIRECTORY_H
#define BASE_DIRECTORY_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Syncs the directory open at @fd. Returns false with errno if that fails; its names may then be
 * lost.
 */
bool directory_sync(int fd);

/* Like directory_sync(), for the directory at @path. */
bool directory_sync_path(const char *path);

/*
 * Like directory_sync(), for the parent of the directory open at @fd. If the process may not read
 * the parent, the whole file system is synced instead.
 */
bool directory_sync_parent(int fd);

/* Suffix of the temporary names that directory_put_file() uses while it writes. */
#define DIRECTORY_NEW      ".new"
#define DIRECTORY_NAME_MAX 96

/*
 * Writes @text to the file @name (shorter than DIRECTORY_NAME_MAX) in the directory open at @fd.
 * Only the owner may read it. The file is complete and durable, or unchanged. Returns false with
 * errno on failure; a leftover NAME.new may then remain.
 */
bool directory_put_file(int fd, const char *name, const char *text);

/*
 * Reads at most @size - 1 bytes of the regular file @name into @text and ends them with a NUL.
 * Returns false with errno on failure.
 */
bool directory_get_file(int fd, const char *name, char *text, size_t size);

#endif
