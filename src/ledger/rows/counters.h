/*
 * counters - numbers that outlive the process, by their names (domain/records.h, struct counter).
 */
#ifndef LEDGER_ROWS_COUNTERS_H
#define LEDGER_ROWS_COUNTERS_H

#include "store/ws.h"

/* Declares the row of the counter. */
void counter_want(struct ws *ws, const char *name);
/* Its value; 0 when there is no row. */
uint64_t counter_read(struct ws *ws, const char *name);
/* Gives out the next number. */
uint64_t counter_next(struct ws *ws, const char *name);

#endif
