#include "console/common/head.h"

#include "console/common/route.h"

#include <stdio.h>
#include <string.h>

static const struct {
	int code;
	const char *reason;
} reasons[] = {
	{200, "OK"},
	{303, "See Other"},
	{400, "Bad Request"},
	{403, "Forbidden"},
	{404, "Not Found"},
	{405, "Method Not Allowed"},
	{409, "Conflict"},
	{429, "Too Many Requests"},
	{500, "Internal Server Error"},
	{503, "Service Unavailable"},
};

/*
 * Referrer-Policy is not no-referrer: with that, browsers send "Origin: null" with our own forms.
 */
static const char fixed[] =
	"Content-Security-Policy: default-src 'none'; style-src 'self'; script-src 'self'; "
	"connect-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; "
	"base-uri 'none'\r\n"
	"X-Content-Type-Options: nosniff\r\n"
	"Cross-Origin-Opener-Policy: same-origin\r\n"
	"Cross-Origin-Resource-Policy: same-origin\r\n"
	"Referrer-Policy: same-origin\r\n";

static const char *reason_of(int code)
{
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		if (reasons[i].code == code)
			return reasons[i].reason;
	}
	return "Status";
}

static void write_optional(struct page *page)
{
	struct buffer *head = &page->head;

	if (page->location.len)
		buffer_printf(head, "Location: %s\r\n", page->location.text);
	for (unsigned int i = 0; i < PAGE_COOKIES; i++) {
		if (page->cookies[i][0])
			buffer_printf(head, "Set-Cookie: %s\r\n", page->cookies[i]);
	}
	if (page->clear_site)
		buffer_append_str(head, "Clear-Site-Data: \"cache\", \"storage\"\r\n");
	if (page->code == 429)
		buffer_append_str(head, "Retry-After: 5\r\n");
	if (page->code == 405)
		buffer_printf(head, "Allow: %s%s%s\r\n",
			page->route->methods & ROUTE_GET ? "GET, HEAD" : "",
			page->route->methods == (ROUTE_GET | ROUTE_POST) ? ", " : "",
			page->route->methods & ROUTE_POST ? "POST" : "");
	if (page->code == 200 && page->file_name[0])
		buffer_printf(head, "Content-Disposition: attachment; filename=\"%s\"\r\n",
			page->file_name);
	else if (page->code == 200 && page->route->csv)
		buffer_printf(head, "Content-Disposition: attachment; filename=\"%s\"\r\n",
			strrchr(page->route->path, '/') + 1);
}

void head_write(struct page *page)
{
	struct buffer *head = &page->head;

	buffer_printf(head, "Status: %d %s\r\n", page->code, reason_of(page->code));
	buffer_printf(head, "Content-Type: %s\r\n", page->content_type);
	buffer_append_str(head, fixed);
	buffer_append_str(head,
		page->kept ? "Cache-Control: public, max-age=31536000, immutable\r\n"
			   : "Cache-Control: no-store\r\n");
	buffer_printf(head, "X-Request-Id: %s\r\n", page->request_id);
	write_optional(page);
	buffer_append_str(head, "\r\n");
	if (strcmp(page_variable(&page->request->method), "HEAD") == 0)
		buffer_reset(&page->body);
}

/* Writes a cookie to the first free place. @age_s 0: until the browser ends, below 0: remove it. */
static void set_cookie(struct page *page, const char *name, const char *value, long age_s)
{
	unsigned int at = page->cookies[0][0] ? 1 : 0;
	char age[32] = "";

	if (age_s)
		snprintf(age, sizeof(age), "; Max-Age=%ld", age_s < 0 ? 0 : age_s);
	snprintf(page->cookies[at], sizeof(page->cookies[at]),
		"%s=%s; Path=/%s; HttpOnly; SameSite=Lax%s", name, value,
		page->secure ? "; Secure" : "", age);
}

void console_session_cookie(const struct page *page, char name[CONSOLE_COOKIE_NAME_SIZE])
{
	const char *cell = page->console->cell;

	snprintf(name, CONSOLE_COOKIE_NAME_SIZE, "%s%s%s",
		page->secure ? CONSOLE_COOKIE_SECURE : CONSOLE_COOKIE_LOOPBACK, cell[0] ? "-" : "",
		cell);
}

void console_set_session(struct page *page, const char *token)
{
	char name[CONSOLE_COOKIE_NAME_SIZE];

	console_session_cookie(page, name);
	set_cookie(page, name, token, token[0] ? 0 : -1);
}

void console_set_zone(struct page *page, const char *zone)
{
	set_cookie(page, CONSOLE_COOKIE_ZONE, zone, 31536000);
}
