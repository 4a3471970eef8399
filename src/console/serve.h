/*
 * serve - answers the browsers of operators: `creditbridge.fcgi --serve console`.
 *
 * Checks, in this order: the mount, TLS, the web server's user, the front secret and the session (both
 * by the ledger), the number of pages that the operator opened, the address, the method, the role, and for
 * a form its origin and its token. What the page shows is recorded in the audit before it is sent (page_record.h). Without a
 * session only the style sheet, the script and the sign-in are served.
 */
#ifndef CONSOLE_SERVE_H
#define CONSOLE_SERVE_H

#include "console/common/page.h"
#include "fcgi/server.h"

/* The variables of the web server that the console reads, as indexes of http_request.headers. */
enum console_header {
	CONSOLE_FRONT,      /* CREDITBRIDGE_FRONT: the front secret */
	CONSOLE_LOGIN,      /* REMOTE_USER */
	CONSOLE_COOKIE,     /* Cookie */
	CONSOLE_ORIGIN,     /* Origin */
	CONSOLE_FETCH_SITE, /* Sec-Fetch-Site */
	CONSOLE_HOST,       /* Host */
	CONSOLE_HTTPS,      /* HTTPS: "on" with TLS */
	CONSOLE_HEADER_COUNT,
};

extern const struct http_format console_format;

/* Returns false if memory is exhausted. */
bool console_open(struct page *page, const struct console *console);
void console_close(struct page *page);
/* Answers @request in page->head and page->body, and logs one line. */
void console_serve(struct page *page, const struct http_request *request);

/* Returns the console as a program of fcgi_run(). @console must outlive it. */
struct fcgi_program console_program(const struct console *console);

#endif
