/* refused_causes - how many refused calls have which cause, of those that the ledger keeps on disk. */
#ifndef CONSOLE_SECTIONS_REFUSED_CAUSES_H
#define CONSOLE_SECTIONS_REFUSED_CAUSES_H

#include "admin/requests/refused.h"
#include "console/common/page.h"

/* Commands that one page sends at most for its counts, and for its list; each reads a bounded part of the files. */
#define REFUSED_STEPS 8

/*
 * Writes a table of the causes. Each leads to the list @list, an address without the parameters "error" and "why", to which
 * they are added. Below it the section says how far back the calls were counted.
 */
void refused_causes_write(struct page *page, const struct refused_causes *causes,
	const struct page_address *list);

#endif
