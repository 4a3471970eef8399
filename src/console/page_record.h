/*
 * page_record - records in the audit that an operator takes a list as CSV, and, with the setting console_audit_views, that an
 * operator looks at a page.
 */
#ifndef CONSOLE_PAGE_RECORD_H
#define CONSOLE_PAGE_RECORD_H

#include "console/common/page.h"

/*
 * Views of one address in one session and in one interval of this length are one row, so that a page that refreshes itself
 * does not fill the audit.
 */
#define PAGE_RECORD_MS INT64_C(600000)

/*
 * Records the answer in @page: a CSV that was made and, with the setting console_audit_views, a page, which may be the one
 * that a refused form shows.
 * Call it after the page is made, and before any of it is sent. If the ledger cannot record it, an error page takes its
 * place.
 */
void page_record(struct page *page);

#endif
