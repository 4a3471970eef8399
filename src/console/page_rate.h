/*
 * page_rate - bounds the pages that an operator opens, so that a program that reads the console without a
 * pause costs callers and other operators little: a page that is refused costs the ledger one short command.
 *
 * The figures are in the memory of the console's process. A restart forgets them.
 */
#ifndef CONSOLE_PAGE_RATE_H
#define CONSOLE_PAGE_RATE_H

#include <stdbool.h>
#include <stdint.h>

/* After this time without a page, an operator may open as many pages at once as in this time. */
#define PAGE_RATE_SAVED_S 12
/* A list as CSV counts as so many pages, because the ledger reads as many rows. At a rate of 1, it is PAGE_RATE_SAVED_S. */
#define PAGE_RATE_CSV 20

struct page_rate;

/* Permits @rate pages a second to each operator. Returns NULL if memory is exhausted. */
struct page_rate *page_rate_new(uint32_t rate);
void page_rate_free(struct page_rate *limit);

/*
 * Returns false if @name has opened too many pages. @csv: this one is a list as CSV. @now_ms is boot time.
 * Threads may call it at the same time.
 */
bool page_rate_take(struct page_rate *limit, const char *name, bool csv, int64_t now_ms);

#endif
