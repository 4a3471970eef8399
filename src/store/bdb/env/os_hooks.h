/*
 * os_hooks - replaces the system calls of libdb (fatal.h). Syncs are not repeated, write errors are
 * handled where they occur, and new names are durable when their call returns.
 */
#ifndef STORE_BDB_ENV_OS_HOOKS_H
#define STORE_BDB_ENV_OS_HOOKS_H

/* Installs the hooks in this process. */
void os_hooks_install(void);

/* Calls fdatasync() and ends the process (74) if it fails. Returns 0. */
int os_hooks_sync(int fd);
/* Syncs the directory @fd and ends the process (74) on failure. */
void os_hooks_sync_directory(int fd);

#endif
