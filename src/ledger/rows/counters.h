/* counters - named numbers that outlive the process (domain/records.h, struct counter). */
#ifndef LEDGER_ROWS_COUNTERS_H
#define LEDGER_ROWS_COUNTERS_H

#include "store/ws.h"

#define DEALERS_COUNTER   "dealers"
#define RETENTION_COUNTER "retention" /* see ledger/retention.h */

/* Declares the row of the counter. */
void counter_want(struct ws *ws, const char *name);
/* Returns its value; 0 if there is no row. */
uint64_t counter_read(struct ws *ws, const char *name);
/* Increments the counter and returns the new number. */
uint64_t counter_next(struct ws *ws, const char *name);
/* Writes a value. */
void counter_write(struct ws *ws, const char *name, uint64_t value);

#endif
