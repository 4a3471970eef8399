/*
 * os_hooks - what libdb calls in the place of the system: syncs that are not repeated, writes whose errors
 * are met where they happen, names that are on the disk when they are made (bdb.h).
 */
#ifndef STORE_BDB_ENV_OS_HOOKS_H
#define STORE_BDB_ENV_OS_HOOKS_H

/* From now on, in this process. */
void calls_replace(void);

/* fdatasync(), whose failure ends the process (74). Returns 0. */
int calls_sync(int fd);
/* Syncs the directory @fd; a failure ends the process (74). */
void calls_sync_names(int fd);

#endif
