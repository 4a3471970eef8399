/* sql - the statements of a table, made from its columns. */
#ifndef STORE_PG_SQL_H
#define STORE_PG_SQL_H

#include "store/pg/column.h"

#define SQL_MAX (64 * 1024)

/* Statements on rows whose values are passed as one array for each column. */
enum sql_kind {
	SQL_LOAD, /* parameters: key columns. Result: number from 1 in the arrays, other columns */
	SQL_UPDATE, /* parameters: all columns */
	SQL_INSERT, /* parameters: all columns */
	SQL_DELETE, /* parameters: key columns */
	SQL_KIND_COUNT
};

/* The name of a prepared statement. */
#define SQL_NAME_SIZE 64
void sql_name(enum sql_kind kind, enum record record, char name[SQL_NAME_SIZE]);

/* Appends the text of a statement. Returns false if @out is full. */
bool sql_statement(struct buffer *out, enum sql_kind kind, enum record record);

/* Returns the number of parameters of a statement. */
unsigned int sql_parameters(enum sql_kind kind, enum record record);

/*
 * Appends a SELECT of all columns: the rows whose first @prefix key columns are equal to the parameters
 * from $1 on, and which follow @after further key values in the order of the key. @whole: the latter
 * are a whole key, whose own row is left out.
 */
struct sql_range {
	enum record record;
	unsigned int prefix;
	unsigned int after; /* number of key values; 0: from the beginning */
	bool whole;
	bool reverse;
	unsigned int limit;
};
bool sql_range(struct buffer *out, const struct sql_range *range);

/* The schema (store.h) of the first tables in PostgreSQL. */
#define SQL_FIRST_SCHEMA 3

/* Appends the statements that make the tables of the first schema in an empty schema of PostgreSQL. */
bool sql_create(struct buffer *out);

/*
 * Appends statements of PL/pgSQL for the tables that were added after the schema in the row of `cell`. A table that the
 * data had and lost is not made again.
 */
bool sql_create_lacking(struct buffer *out);

/* Appends the statements for the tables that were added after @schema, where they do not exist. */
bool sql_create_newer(struct buffer *out, int64_t schema);

/* Appends a query for the number of those tables that do not exist. */
bool sql_count_newer(struct buffer *out, int64_t schema);

#endif
