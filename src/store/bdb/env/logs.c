#include "store/bdb/env/logs.h"

#include "store/bdb/env/files.h"
#include "store/figures.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>

uint64_t store_log_bytes(const char *directory)
{
	DIR *dir = opendir(directory);
	struct dirent *file;
	struct stat st;
	uint64_t sum = 0;

	if (!dir)
		return 0;
	while ((file = readdir(dir))) {
		if (files_log_number(file->d_name) &&
			fstatat(dirfd(dir), file->d_name, &st, 0) == 0)
			sum += (uint64_t)st.st_size;
	}
	closedir(dir);
	return sum;
}

bool logs_needed(DB_ENV *env, uint32_t *first, uint32_t *last)
{
	char **all = NULL, **unneeded = NULL;
	uint32_t number, last_unneeded = 0;

	*first = *last = 0;
	/*
	 * Keep this order: otherwise a checkpoint between the two calls could make all reported
	 * files unneeded.
	 */
	if (env->log_archive(env, &unneeded, 0) != 0 ||
		env->log_archive(env, &all, DB_ARCH_LOG) != 0) {
		free(unneeded);
		return false;
	}
	for (char **name = unneeded; name && *name; name++) {
		number = files_log_number(*name);
		last_unneeded = number > last_unneeded ? number : last_unneeded;
	}
	for (char **name = all; name && *name; name++) {
		number = files_log_number(*name);
		if (number > last_unneeded && (!*first || number < *first))
			*first = number;
		*last = number > *last ? number : *last;
	}
	free(all);
	free(unneeded);
	return *first != 0;
}
