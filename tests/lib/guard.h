/*
 * guard - memory that ends at an inaccessible page, so that reading one byte too many crashes in
 * every build.
 */
#ifndef TESTS_LIB_GUARD_H
#define TESTS_LIB_GUARD_H

#include <check.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct guard {
	uint8_t *pages;
	size_t size; /* without the inaccessible page */
};

static inline struct guard guard_make(size_t max)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct guard guard = {.size = (max + page) / page * page};
	void *pages = mmap(NULL, guard.size + page, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(pages, MAP_FAILED);
	guard.pages = pages;
	ck_assert_int_eq(mprotect(guard.pages + guard.size, page, PROT_NONE), 0);
	return guard;
}

/* Copies @data so that it ends at the inaccessible page. */
static inline uint8_t *guard_put(struct guard *guard, const void *data, size_t len)
{
	uint8_t *at = guard->pages + guard->size - len;

	ck_assert_uint_le(len, guard->size);
	if (len)
		memcpy(at, data, len);
	return at;
}

static inline void guard_free(struct guard *guard)
{
	munmap(guard->pages, guard->size + (size_t)sysconf(_SC_PAGESIZE));
}

#endif
