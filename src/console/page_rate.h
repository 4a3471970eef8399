/*
 * page_rate - how many pages an operator may open, so that a program that reads the console without a pause
 * slows neither callers nor other operators.
 *
 * In the memory of the console's process. A restart forgets what was opened.
 */
#ifndef CONSOLE_PAGE_RATE_H
#define CONSOLE_PAGE_RATE_H

#include <stdbool.h>
#include <stdint.h>

/* An operator who has opened no page for this time may open as many at once as in this time. */
#define PAGE_RATE_SAVED_S 12

struct page_rate;

/* Permits @rate pages a second and operator. Returns NULL if memory is exhausted. */
struct page_rate *page_rate_new(uint32_t rate);
void page_rate_free(struct page_rate *limit);

/* Returns false if @name has opened too many pages. Threads may call it at the same time. @now_ms: boot time. */
bool page_rate_take(struct page_rate *limit, const char *name, int64_t now_ms);

#endif
