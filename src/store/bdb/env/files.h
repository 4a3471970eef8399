/*
 * files - reads and writes the files of a backup.
 *
 * It does not use the functions of libdb, which end the process when a disk fails (fatal.h). The
 * disk of a backup may fail without harm to the ledger.
 */
#ifndef STORE_BDB_ENV_FILES_H
#define STORE_BDB_ENV_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Reads @len bytes at @offset, or fewer at the end of the file. Returns their number, or -1 with
 * errno.
 */
ssize_t files_read(int fd, void *data, size_t len, uint64_t offset);

/* Writes @len bytes at @offset. Returns false and sets errno on failure. */
bool files_write(int fd, const void *data, size_t len, uint64_t offset);

/* Returns the number in the name of a log file such as log.0000000012; 0 for another name. */
uint32_t files_log_number(const char *name);
#define FILES_LOG_NAME_SIZE 16
void files_log_name(uint32_t number, char name[FILES_LOG_NAME_SIZE]);

/* Returns true for a file of the data directory of a ledger: NAME.db or a log. */
bool files_is_data(const char *name);

/*
 * Deletes the folder @name in @directory with its data files. If it holds other files, these and
 * the folder stay. Returns false and sets errno if the folder still exists.
 */
bool files_remove_folder(int directory, const char *name);

/* Returns the bytes that may still be written to the file system of @fd; UINT64_MAX if unknown. */
uint64_t files_free_bytes(int fd);

#endif
