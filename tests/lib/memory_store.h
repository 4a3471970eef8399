/*
 * memory_store - a store in a sorted array, for fast tests: the second implementation of the
 * seam. It can be set to fail.
 */
#ifndef TESTS_LIB_MEMORY_STORE_H
#define TESTS_LIB_MEMORY_STORE_H

#include "store/store.h"

struct store *memory_store_new(void);

/* Makes the next @times saves return @result and change nothing. */
void memory_store_fail(struct store *store, enum save_result result, unsigned int times);

#endif
