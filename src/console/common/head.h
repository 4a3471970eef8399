/* head - the status and the headers of an answer of the console. */
#ifndef CONSOLE_COMMON_HEAD_H
#define CONSOLE_COMMON_HEAD_H

#include "console/common/page.h"

/* How the name of the session's cookie begins. The first one is for TLS. */
#define CONSOLE_COOKIE_SECURE   "__Host-creditbridge"
#define CONSOLE_COOKIE_LOOPBACK "creditbridge-console"
#define CONSOLE_COOKIE_ZONE     "creditbridge-zone"
/* Bytes of the name of the session's cookie. */
#define CONSOLE_COOKIE_NAME_SIZE (32 + SETTINGS_CELL_NAME_SIZE)

/*
 * Writes the name of the session's cookie. If the ledger is a cell, the name ends with "-CELL": a browser sends its
 * cookies to all consoles of a host, and each cell has sessions of its own.
 */
void console_session_cookie(const struct page *page, char name[CONSOLE_COOKIE_NAME_SIZE]);

/* Writes page->head. Call it last. */
void head_write(struct page *page);

/* Sets the session's cookie; "" removes it. */
void console_set_session(struct page *page, const char *token);
/* Sets the zone's cookie. */
void console_set_zone(struct page *page, const char *zone);

#endif
