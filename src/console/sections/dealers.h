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

/*
 * A table of dealers, with these columns. dealers_row() adds a dealer, and says what became of its callbacks
 * in the last METRICS_RECENT_MS.
 */
extern const struct view_column dealers_columns[];
struct view dealers_view(void);
void dealers_row(struct view *view, const struct dealer_metrics *dealer);

/*
 * Writes "ok 98.2 %, refused 1, no answer 10" of the attempts that ended; "" if there were none. No answer: the
 * request was not sent, or its outcome is not known.
 */
#define DEALERS_ANSWERED_SIZE 96
void dealers_answered(const struct dealer_metrics *dealer, char text[DEALERS_ANSWERED_SIZE]);

#endif
