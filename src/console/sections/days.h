/* days - the sums of a dealer's days on a page: charts with the same figures in a table. */
#ifndef CONSOLE_SECTIONS_DAYS_H
#define CONSOLE_SECTIONS_DAYS_H

#include "admin/days.h"
#include "console/common/page.h"
#include "console/common/view.h"

#define DAYS_SHOWN 30

/* Columns of a table of struct day_row, for a list of days and for one of dealers. */
extern const struct view_column days_columns[];
extern const struct view_column days_dealers_columns[];

/* Reads the DAYS_SHOWN days up to @last. Days before 1970-01-01 do not exist: sets *count. */
enum outcome days_before(struct page *page, const struct dealer *dealer, uint32_t last,
	struct day_row rows[DAYS_SHOWN], uint32_t *count);

/* Writes the charts and the table of @count days, and a link to the table as CSV. */
void days_section(struct page *page, const struct dealer *dealer, const struct day_row *rows,
	uint32_t count);

/* Writes the figures of one day. */
void days_figures(struct page *page, const struct day_row *row);

/* Dealers whose days days_recent() adds up. */
#define DAYS_DEALERS_MAX 4
#define DAYS_RECENT      14

/*
 * Writes a section with the numbers of bets, transfers and callbacks of the last DAYS_RECENT days, added up
 * over the @count dealers @ids (at most DAYS_DEALERS_MAX). Amounts are not added up: currencies differ.
 * Needs two commands of the ledger.
 */
enum outcome days_recent(struct page *page, const char *const *ids, uint32_t count);

/* If the sums of a day from @first on may lack rows, writes when the sums begin. */
void days_begin_note(struct page *page, const struct dealer *dealer, uint32_t first);

#endif
