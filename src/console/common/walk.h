/*
 * walk - walks numbered rows (transactions, callbacks, the audit) from the newest to the oldest for one
 * page, within bounds: a page stops after PAGE_LOOK_MAX rows, or after PAGE_LOOK_LEAST or more once PAGE_LOOK_MS have
 * passed. It then offers to go on.
 */
#ifndef CONSOLE_COMMON_WALK_H
#define CONSOLE_COMMON_WALK_H

#include "admin/filter.h"
#include "admin/list.h"
#include "console/common/page.h"
#include "console/common/view.h"

struct row_walk {
	struct page *page;
	struct list list;
	uint64_t rows;               /* rows that the page shows at most */
	uint64_t shown;              /* counted by the caller */
	uint64_t looked;             /* rows that were looked at */
	uint64_t last;               /* number of the row that was read last */
	int64_t last_ms;             /* its time; the caller sets that of a row that it got */
	int64_t until_ms;            /* boot time after which the page looks no further */
	bool stopped;                /* there may be older rows */
	const struct filter *filter; /* its times; NULL: the list has none */
};

/*
 * Begins after the number in the parameter "after". Call walk_end() in any case. @filter (NULL: none) must live as long as
 * the walk: its times end the walk, and the ledger passes over the rows of other dealers. The caller applies the rest of
 * it. Before the first walk_next() the caller may set members of walk->list that make the ledger pass over more rows.
 */
void walk_open(struct row_walk *walk, struct page *page, enum record record,
	const struct filter *filter);
/* Reads the next row. Returns false at the end, at a bound, or after a failure. */
bool walk_next(struct row_walk *walk, void *row);
enum outcome walk_end(struct row_walk *walk, enum outcome code);
/* Ends a CSV that has not all rows with a line that says so and names the number to go on after. */
void walk_csv_end(struct view *view, bool stopped, uint64_t after);
/* The same for rows that have ids. @after: that of the last row; "": the CSV has all rows. */
void walk_csv_end_id(struct view *view, const char *after);
/* Writes how far the page looked back, and the links to further rows and to the list as CSV. */
void walk_foot(const struct row_walk *walk);

/*
 * Reads the filter in the query: casino, user, player, game, since, until. A player that does not
 * exist selects no row. OUTCOME_USAGE: a value cannot be read.
 */
enum outcome walk_filter(struct page *page, struct filter *filter);
/* Opens the form of the filter, with these inputs. html_close() closes it. */
void walk_form(struct page *page);

/* Returns the number of the name in the parameter @param, or @count if it is absent or unknown. */
unsigned int walk_choice(const struct page *page, const char *param, const char *const *names,
	unsigned int count);
/* Writes links to the next page (@after 0: none) and to the CSV of this list, with the same filter. */
void walk_links(struct page *page, uint64_t after);

#endif
