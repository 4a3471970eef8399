#include "store/bdb/env/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

ssize_t files_read(int fd, void *data, size_t len, uint64_t offset)
{
	size_t done = 0;
	ssize_t n;

	while (done < len) {
		n = pread(fd, (uint8_t *)data + done, len - done, (off_t)(offset + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (n == 0)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

bool files_write(int fd, const void *data, size_t len, uint64_t offset)
{
	size_t done = 0;
	ssize_t n;

	while (done < len) {
		n = pwrite(fd, (const uint8_t *)data + done, len - done, (off_t)(offset + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0)
			errno = ENOSPC;
		if (n <= 0)
			return false;
		done += (size_t)n;
	}
	return true;
}

uint32_t files_log_number(const char *name)
{
	if (strncmp(name, "log.", 4) != 0 || strlen(name) != 14 ||
		strspn(name + 4, "0123456789") != 10)
		return 0;
	return (uint32_t)strtoul(name + 4, NULL, 10);
}

void files_log_name(uint32_t number, char name[FILES_LOG_NAME_SIZE])
{
	snprintf(name, FILES_LOG_NAME_SIZE, "log.%010u", number);
}

bool files_is_data(const char *name)
{
	size_t len = strlen(name);

	return files_log_number(name) ||
		(len > 3 && strcmp(name + len - 3, ".db") == 0 &&
			strspn(name, "abcdefghijklmnopqrstuvwxyz_") == len - 3);
}

bool files_remove_folder(int directory, const char *name)
{
	int fd = openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct dirent *file;
	DIR *dir;

	if (fd < 0)
		return errno == ENOENT;
	dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return false;
	}
	while ((file = readdir(dir))) {
		if (files_is_data(file->d_name))
			unlinkat(dirfd(dir), file->d_name, 0);
	}
	closedir(dir);
	return unlinkat(directory, name, AT_REMOVEDIR) == 0;
}

uint64_t files_free_bytes(int fd)
{
	struct statvfs vfs;

	if (fstatvfs(fd, &vfs) < 0)
		return UINT64_MAX;
	return (uint64_t)vfs.f_bavail * vfs.f_frsize;
}
