/* dealers - the figures of the dealers, which the ledger keeps: never counted by reading rows. */
#ifndef CONSOLE_SECTIONS_DEALERS_H
#define CONSOLE_SECTIONS_DEALERS_H

#include "console/common/page.h"
#include "console/common/view.h"
#include "link/metrics_commands.h"

/*
 * Asks the ledger for its state, and calls @visit for each dealer after @after ("": from the first), in
 * the order of casino_id, until it returns false. @status may be NULL.
 */
typedef bool dealers_visit(void *context, const struct dealer_metrics *dealer);
enum outcome dealers_walk(struct page *page, const char *after, struct status_result *status,
	dealers_visit *visit, void *context);

/* Makes the answer the error page of a dealer that does not exist. Returns OUTCOME_DONE. */
enum outcome dealers_none(struct page *page);

/* Columns of a table of struct dealer_metrics. */
extern const struct view_column dealers_columns[];

#endif
