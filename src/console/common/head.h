/* head - the status and the headers of an answer of the console. */
#ifndef CONSOLE_COMMON_HEAD_H
#define CONSOLE_COMMON_HEAD_H

#include "console/common/page.h"

/* The names of the session's cookie. The first one is for TLS. */
#define CONSOLE_COOKIE_SECURE   "__Host-creditbridge"
#define CONSOLE_COOKIE_LOOPBACK "creditbridge-console"
#define CONSOLE_COOKIE_ZONE     "creditbridge-zone"

/* Writes page->head. Call it last. */
void head_write(struct page *page);

/* Sets the session's cookie; "" removes it. */
void console_set_session(struct page *page, const char *token);
/* Sets the zone's cookie. */
void console_set_zone(struct page *page, const char *zone);

#endif
