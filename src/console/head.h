/* head - the status and the headers of an answer of the console. */
#ifndef CONSOLE_HEAD_H
#define CONSOLE_HEAD_H

#include "console/page.h"

/* Writes page->head. Call it last. */
void head_write(struct page *page);

#endif
