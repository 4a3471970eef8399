/*
 * dealer_days - counts the rows of a batch in the sums of their dealer's day (domain/dealer_day.h).
 *
 * The sums follow from the rows that the commands wrote: each new movement, and each bet and callback
 * as it was before the batch and as it is now. So no command has to count by itself, and the sums are
 * saved in the batch that changes the rows.
 */
#ifndef LEDGER_ROWS_DEALER_DAYS_H
#define LEDGER_ROWS_DEALER_DAYS_H

#include "store/ws.h"

/* Makes @ws keep the earlier rows that dealer_days_count() needs. Call it once. */
void dealer_days_keep(struct ws *ws);

/*
 * Declares the rows that dealer_days_count() needs, after the commands of the batch. If it leaves rows
 * pending, load them and call it again, as dealers name the days.
 */
void dealer_days_want(struct ws *ws);

/* Adds the rows that the batch wrote. Call it once for each batch, before it is saved. */
void dealer_days_count(struct ws *ws);

#endif
