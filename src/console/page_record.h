/*
 * page_record - records in the audit that an operator takes a list as CSV, and, with the setting console_audit_views, that an
 * operator looks at a page.
 */
#ifndef CONSOLE_PAGE_RECORD_H
#define CONSOLE_PAGE_RECORD_H

#include "console/common/page.h"

/*
 * Views of one address by one operator within this time are one row: a page that refreshes itself does not
 * fill the audit.
 */
#define PAGE_RECORD_MS INT64_C(600000)

/*
 * Records the request before it is answered, if it is to be recorded. Call it after all checks of the request. Returns false
 * after an error page: the ledger could not record it, and what is not recorded is not shown.
 */
bool page_record(struct page *page);

#endif
