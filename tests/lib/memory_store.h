/*
 * memory_store - a store in a sorted array: the seam's second user, for fast tests. It can be told
 * to fail.
 */
#ifndef TESTS_LIB_MEMORY_STORE_H
#define TESTS_LIB_MEMORY_STORE_H

#include "store/store.h"

struct store *memory_store_new(void);

/* The next @times saves answer @result and change nothing. */
void memory_store_fail(struct store *store, enum save_result result, unsigned int times);

#endif
