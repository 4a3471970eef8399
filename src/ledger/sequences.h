/*
 * sequences - the numbers that name transactions and events, when data was put back (api.md, What an
 * operator may change): a number that was given out before must never name something new.
 */
#ifndef LEDGER_SEQUENCES_H
#define LEDGER_SEQUENCES_H

#include "store/ws.h"

#define SEQUENCES_RAISED_BY UINT64_C(1000000000)

/* Declares what sequences_raise() needs. */
void sequences_want(struct ws *ws);

/* Raises both. False: there are not so many numbers left; nothing was changed. */
bool sequences_raise(struct ws *ws);

#endif
