/*
 * ddl - the statements that a superuser runs before the first start, and again before the first start of a version that
 * has more tables: roles, tables and views. Existing tables are not changed.
 *
 * The owner of the tables cannot log in. The ledger's role changes rows and no table. The report role
 * reads the views of a schema of their own: amounts and times as people write them, and no secret.
 */
#ifndef STORE_PG_DDL_H
#define STORE_PG_DDL_H

#include "base/buffer.h"

/* Appends the statements for psql. Returns false if @out is full. */
bool ddl_put(struct buffer *out, const char *schema, const char *ledger_role);

#endif
