/*
 * set_row - writes one row past the ledger, which must not be running.
 */
#ifndef TESTS_FAULT_SET_ROW_H
#define TESTS_FAULT_SET_ROW_H

#include "domain/records.h"

#include <stdbool.h>

/* Puts @row into the data in @directory (a state's db/); @known: it must be there already. Returns
 * main()'s exit code. An error is printed on standard error. */
int set_row(const char *directory, enum record record, const void *row, bool known);

#endif
