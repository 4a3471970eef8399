/* ages - how long the callbacks that wait have waited, by state: counted in an index, within bounds. */
#ifndef CONSOLE_SECTIONS_AGES_H
#define CONSOLE_SECTIONS_AGES_H

#include "console/common/page.h"

/* Dealers that one table shows. */
#define AGES_DEALERS_MAX 4

/*
 * Writes a section with the table of @count dealers @ids (at most AGES_DEALERS_MAX; "" is all dealers together). Of
 * each, @rows parked and held callbacks are counted: one command of the ledger for CALLBACK_AGES_LOOK_MAX rows.
 */
enum outcome ages_section(struct page *page, const char *const *ids, unsigned int count,
	uint64_t rows);

#endif
