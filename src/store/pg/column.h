/*
 * column - the columns of the table of a row kind, and their values in libpq's binary form.
 *
 * A table has a column for each member that records.c describes. A group of one element gives the
 * columns GROUP_MEMBER, a group of more gives GROUP_1_MEMBER, GROUP_2_MEMBER and so on. No column is
 * NULL. The types:
 *
 *     bool                       boolean
 *     U8, enum                   smallint
 *     U16                        integer
 *     I32, U32, U64, money, time bigint (a U64 by its bit pattern)
 *     sum                        numeric without a fraction
 *     string, secret, JSON       text; an absent JSON member is the empty text
 *     bytes                      bytea
 *
 * The values of many rows travel as one array for each column.
 */
#ifndef STORE_PG_COLUMN_H
#define STORE_PG_COLUMN_H

#include "base/buffer.h"
#include "domain/records.h"

#include <stdbool.h>
#include <stdint.h>

#define COLUMN_NAME_SIZE 64
#define COLUMNS_MAX      128

/* The types of columns, with their object ids, which never change between versions of PostgreSQL. */
struct column_type {
	const char *name;
	uint32_t oid;
	uint32_t array_oid;
};

struct column {
	char name[COLUMN_NAME_SIZE];
	const struct column_type *type;
	const struct field *field;
	uint32_t offset; /* of the member in the row's struct */
};

struct column_table {
	const char *name;
	unsigned int count;
	unsigned int key_count;
	struct column columns[COLUMNS_MAX];
};

/* Returns the columns of @record. The key columns come first. They live as long as the process. */
const struct column_table *column_table_of(enum record record);

/*
 * Appends the values of @column in the @count structs @rows as one array. Returns false if @out is
 * full.
 */
bool column_put_array(struct buffer *out, const struct column *column, const void *const *rows,
	unsigned int count);

/* Appends the value of @column in @row as one parameter, without its length. */
bool column_put_value(struct buffer *out, const struct column *column, const void *row);

/*
 * Sets the member of @row from the @len bytes of a value. Text and bytes members point into @value.
 * Returns false if the value does not fit the member: it is too long, has a NUL, or is no value of
 * the enum.
 */
bool column_get_value(const struct column *column, const uint8_t *value, uint32_t len, void *row);

#endif
