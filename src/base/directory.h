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

/* Syncs the directory that @fd is open on. False with errno: its names may be lost. */
bool directory_sync(int fd);

/* The same of the directory at @path. */
bool directory_sync_path(const char *path);

/*
 * The same of the directory that the one of @fd is in. Where its reading is denied, all of the file
 * system is synced instead.
 */
bool directory_sync_parent(int fd);

#endif
