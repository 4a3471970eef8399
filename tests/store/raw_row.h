/* raw_row - writes bytes into a table without encoding them, for tests of damaged rows. */
#ifndef TESTS_STORE_RAW_ROW_H
#define TESTS_STORE_RAW_ROW_H

#include "base/buffer.h"
#include "domain/records.h"

/* Writes @value under @key into the data in @directory, which no store has open. Asserts success. */
void raw_row_put(const char *directory, enum record record, struct bytes key, struct bytes value);

#endif
