/*
 * directory - making names durable. A new or renamed file is on the disk under its name only when
 * its directory was synced: that of the file itself does not do it on every file system.
 *
 * A file system that cannot sync a directory (fsync(2): EINVAL) has no better way, and counts as one
 * that has. Every other error is one.
 */
#ifndef BASE_DIRECTORY_H
#define BASE_DIRECTORY_H

#include <stdbool.h>
#include <stddef.h>

/* Syncs the directory that @fd is open on. False with errno: its names may be lost. */
bool directory_sync(int fd);

/* The same of the directory at @path. */
bool directory_sync_path(const char *path);

/*
 * The same of the directory that the one of @fd is in. Where its reading is denied, all of the file
 * system is synced instead.
 */
bool directory_sync_parent(int fd);

/* Names of directory_put_file() end so while they are written. */
#define DIRECTORY_NEW ".new"
#define DIRECTORY_NAME_MAX 32

/*
 * Makes @text the file @name (shorter than DIRECTORY_NAME_MAX) in the directory that @fd is open on,
 * for the owner only: complete and durable, or not at all. False with errno. A leftover NAME.new may
 * stay then.
 */
bool directory_put_file(int fd, const char *name, const char *text);

/*
 * Reads at most @size - 1 bytes of the regular file @name into @text, and ends them with a 0. False
 * with errno.
 */
bool directory_get_file(int fd, const char *name, char *text, size_t size);

#endif
