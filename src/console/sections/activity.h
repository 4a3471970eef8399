/* activity - the calls of the last 24 hours: a chart with the same figures in a table. */
#ifndef CONSOLE_SECTIONS_ACTIVITY_H
#define CONSOLE_SECTIONS_ACTIVITY_H

#include "console/common/page.h"
#include "link/metrics_commands.h"

/* Asks the ledger for the calls of its host's workers, and writes a section. @status: of that ledger. */
enum outcome activity_section(struct page *page, const struct status_result *status);

/* Returns how many calls a minute @count calls within @known_ms are. Less than a minute counts as one. */
money_t activity_rate(uint64_t count, uint64_t known_ms);

#endif
