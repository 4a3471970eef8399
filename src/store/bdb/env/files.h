/*
 * files - reading and writing the files of a backup.
 *
 * Not by libdb's functions, which end the process when a disk fails (bdb.h): a backup's disk may
 * fail without harm to the ledger.
 */
#ifndef STORE_BDB_ENV_FILES_H
#define STORE_BDB_ENV_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Reads @len bytes at @offset, fewer at the file's end. Returns how many, -1 with errno. */
ssize_t files_read(int fd, void *data, size_t len, uint64_t offset);

/* Writes @len bytes at @offset. False with errno. */
bool files_write(int fd, const void *data, size_t len, uint64_t offset);

/* The number in the name of a log file, log.0000000012; 0: it is none. */
uint32_t files_log_number(const char *name);
#define FILES_LOG_NAME_SIZE 16
void files_log_name(uint32_t number, char name[FILES_LOG_NAME_SIZE]);

/* True: what a ledger's data directory holds: NAME.db or a log. */
bool files_is_data(const char *name);

/*
 * Deletes the folder @name in @directory with the data in it. What else it holds stays, and the
 * folder with it. False with errno: it is there still.
 */
bool files_remove_folder(int directory, const char *name);

/* Bytes that may still be written where @fd lies; UINT64_MAX when that cannot be told. */
uint64_t files_free_bytes(int fd);

#endif
