#include "store/bdb/env/oom.h"

#include "base/log.h"
#include "store/bdb/env/fatal.h"
#include "store/options.h"

#include <db.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void *memory_or_end(void *memory)
{
	if (memory)
		return memory;
	log_line(LOG_LEVEL_ERROR, "database_failed", "error=\"%s\" action=restart",
		strerror(ENOMEM));
	store_end_process(STORE_EXIT_LOST);
}

static void *malloc_or_end(size_t size)
{
	return memory_or_end(malloc(size));
}

static void *realloc_or_end(void *old, size_t size)
{
	return memory_or_end(realloc(old, size));
}

void oom_ends_process(bool must)
{
	db_env_set_func_malloc(must ? malloc_or_end : malloc);
	db_env_set_func_realloc(must ? realloc_or_end : realloc);
}
