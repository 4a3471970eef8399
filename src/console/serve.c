#include "console/serve.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "console/common/asset.h"
#include "console/common/head.h"
#include "console/common/job.h"
#include "console/page_record.h"
#include "console/page_rate.h"
#include "console/pages/pages.h"
#include "console/pages/routes.h"
#include "wire/signature.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const header_names[CONSOLE_HEADER_COUNT] = {
	[CONSOLE_FRONT] = "CREDITBRIDGE_FRONT",
	[CONSOLE_LOGIN] = "REMOTE_USER",
	[CONSOLE_COOKIE] = "HTTP_COOKIE",
	[CONSOLE_ORIGIN] = "HTTP_ORIGIN",
	[CONSOLE_FETCH_SITE] = "HTTP_SEC_FETCH_SITE",
	[CONSOLE_HOST] = "HTTP_HOST",
	[CONSOLE_HTTPS] = "HTTPS",
};
const struct http_format console_format = {
	.headers = header_names,
	.header_count = CONSOLE_HEADER_COUNT,
	.body_max = PARAMS_BYTES_MAX,
};

/* Bytes of the ids that a line of the log names. */
#define OBJECT_MAX 512

/* The route of an address that has none. */
static const struct console_route nowhere = {"", ROUTE_GET, ROLE_READ, false, false, NULL};

static const char *header_of(const struct page *page, enum console_header header)
{
	return page_variable(&page->request->headers[header]);
}

static bool is_tls(const struct page *page)
{
	const char *https = header_of(page, CONSOLE_HTTPS);

	return strcmp(https, "on") == 0 || strcmp(https, "1") == 0;
}

static bool is_loopback(const char *address)
{
	return strncmp(address, "127.", 4) == 0 || strcmp(address, "::1") == 0;
}

/* Reads the choice of the zone from its cookie. */
static void read_zone(struct page *page)
{
	char text[ZONE_NAME_SIZE];

	page->choice = CHOICE_UTC;
	page->zone = zone_offset(0);
	if (!cookie_get(header_of(page, CONSOLE_COOKIE), CONSOLE_COOKIE_ZONE, text, sizeof(text)))
		return;
	if (strcmp(text, "dealer") == 0)
		page->choice = CHOICE_DEALER;
	else if (page_read_offset(text, &page->zone))
		page->choice = CHOICE_OFFSET;
}

/* Forgets the last request. */
static void reset_page(struct page *page, const struct http_request *request)
{
	char cookie[CONSOLE_COOKIE_NAME_SIZE];

	page->request = request;
	page->route = &nowhere;
	page->post = strcmp(page_variable(&request->method), "POST") == 0;
	page->number = 0;
	page->query.count = page->form.count = 0;
	memset(&page->who, 0, sizeof(page->who));
	page->now_ms = request->wall_ms;
	page->code = 200;
	page->content_type = "text/plain; charset=utf-8";
	page->location.len = 0;
	memset(page->cookies, 0, sizeof(page->cookies));
	page->section = NULL;
	page->step_count = 0;
	page->clear_site = page->kept = page->streams = false;
	page->file_name[0] = '\0';
	page->token[0] = '\0';
	buffer_reset(&page->body);
	buffer_reset(&page->head);
	if (!signature_random_id(page->request_id, 21))
		text_copy(page->request_id, sizeof(page->request_id), "-");
	page->secure = is_tls(page);
	read_zone(page);
	memset(&page->desk.session.failure, 0, sizeof(page->desk.session.failure));
	console_session_cookie(page, cookie);
	page->desk.caller = (struct desk_caller){
		.front = header_of(page, CONSOLE_FRONT),
		.login = header_of(page, CONSOLE_LOGIN),
		.address = page_variable(&request->remote_address),
		.request_id = page->request_id,
	};
	cookie_get(header_of(page, CONSOLE_COOKIE), cookie, page->desk.caller.token,
		sizeof(page->desk.caller.token));
}

/* Returns the path below the mount, or NULL. */
static const char *path_below(const struct page *page)
{
	const char *base = page->console->base_path;
	size_t len = strlen(base);

	if (strncmp(page->request->path, base, len) != 0 || page->request->path[len] != '/')
		return NULL;
	return page->request->path + len;
}

/* Returns true if the browser says that one of our own pages sent the form. */
static bool is_own_origin(const struct page *page)
{
	const char *site = header_of(page, CONSOLE_FETCH_SITE);
	const char *origin = header_of(page, CONSOLE_ORIGIN);
	char own[300];

	snprintf(own, sizeof(own), "%s://%.256s", page->secure ? "https" : "http",
		header_of(page, CONSOLE_HOST));
	return strcmp(origin, own) == 0 && (!site[0] || strcmp(site, "same-origin") == 0);
}

/* Sends a browser without a session to the sign-in, and then back to the page. */
static void go_sign_in(struct page *page)
{
	struct page_address to = page_address(page, "/sign-in"), back = page_address(page, "");

	if (!page->post && page->route != &nowhere && page->request->path[0]) {
		snprintf(back.text, sizeof(back.text), "%s%s%s", page->request->path,
			page_variable(&page->request->query_string)[0] ? "?" : "",
			page_variable(&page->request->query_string));
		if (strlen(back.text) < 1024 && address_is_own(back.text, page->console->base_path))
			address_add(&to, "back", back.text);
	}
	page_go(page, &to);
}

/* Has the ledger check the front secret and the session. Returns false after an answer. */
static bool check_session(struct page *page)
{
	enum desk_answer answer =
		page->desk.way->look(page->desk.context, &page->desk.caller, &page->who);

	switch (answer) {
	case DESK_DONE:
		if (token_make(page->desk.caller.token, page->token))
			return true;
		page_error(page, 503, "The kernel gives no random numbers.", "Repeat this.");
		return false;
	case DESK_SIGNED_OUT:
	case DESK_WRONG_CODE:
		memset(&page->who, 0, sizeof(page->who));
		if (page->route->open)
			return true;
		go_sign_in(page);
		return false;
	case DESK_NO_FRONT:
		log_line(LOG_LEVEL_WARNING, "console_front",
			"request_id=%s reason=\"the front secret is missing or wrong\"",
			page->request_id);
		page_error(page, 403, "The web server passed no valid front secret.",
			"For the administrator: include the file with the front secret in the "
			"location of the console; see creditbridge.fcgi(8).");
		return false;
	case DESK_UNREACHABLE:
		if (page->route->show == page_health)
			page_health_down(page);
		else
			page_error(page, 503, "No ledger answers on desk.sock.",
				"On its host: systemctl status creditbridge-ledger; "
				"creditbridgectl doctor.");
		return false;
	default:
		page_error(page, 503, "The console is not configured.",
			"The ledger has no socket for the console (desk.sock). For the administrator: make the front secret with console-front, see that console_front_file of creditbridge.conf names it, and restart creditbridge-ledger.");
		return false;
	}
}

/* Bounds the pages of one operator; a form, such as the sign-out, is none. Returns false after an answer. */
static bool check_rate(struct page *page)
{
	struct page_rate *limit = page->console->page_rate;

	if (!limit || page->post || !page->who.name[0] ||
		page_rate_take(limit, page->who.name, page->route->csv, clock_boot_ms()))
		return true;
	page_error(page, 429, "You have opened too many pages at once.",
		"Wait a few seconds, and open this page again. For the administrator: the setting console_page_rate is the number of pages that one operator may open in a second.");
	return false;
}

/* Checks what must hold before the ledger is asked. Returns false after an answer. */
static bool check_front(struct page *page)
{
	const struct http_request *request = page->request;
	const char *query = page_variable(&request->query_string);

	if (request->excess) {
		page_error(page, 503, "Too many requests wait.", "Repeat this in a moment.");
		return false;
	}
	if (!page->secure &&
		!(page->console->loopback_http &&
			is_loopback(page_variable(&request->remote_address)))) {
		page_error(page, 403, "The console is served over TLS only.",
			"Use https. For the administrator: the web server must pass HTTPS=on.");
		return false;
	}
	if (!page->desk.caller.login[0]) {
		log_line(LOG_LEVEL_WARNING, "console_login",
			"request_id=%s reason=\"the web server named no user\"", page->request_id);
		page_error(page, 403, "The web server named no user.",
			"For the administrator: require a valid user in the location of the "
			"console, so that the web server passes REMOTE_USER.");
		return false;
	}
	if (params_read(&page->query, query, strlen(query)))
		return true;
	page_error(page, 400, "The part of the address after the question mark cannot be read.",
		"It must be percent-encoded UTF-8 without the character U+0000.");
	return false;
}

/* Checks a form. Returns false after an answer. */
static bool check_form(struct page *page)
{
	const struct http_request *request = page->request;

	if (!page->post)
		return true;
	if (request->body_state != HTTP_BODY_WHOLE ||
		!params_read(&page->form, (const char *)request->body, request->body_len)) {
		page_error(page, 400, "The form cannot be read.",
			"A form has at most 64 KiB of percent-encoded UTF-8.");
		return false;
	}
	/* The sign-in was written without a token. Another tab may have signed in since then. */
	if (!is_own_origin(page) ||
		(page->who.name[0] && !page->route->open &&
			!token_check(page->desk.caller.token, params_get(&page->form, "token")))) {
		page_error(page, 403, "This form was not made by this console for your session.",
			"Nothing was done. Open the page again, and send the form again.");
		return false;
	}
	return true;
}

/* Checks the address, the method and the role. Returns false after an answer. */
static bool check_route(struct page *page)
{
	if (page->route == &nowhere) {
		page_error(page, 404, "There is no such page.",
			"Looked at the pages of the console only. Ids are found by the search.");
		return false;
	}
	if (!(page->route->methods & (page->post ? ROUTE_POST : ROUTE_GET)) ||
		(!page->post && strcmp(page_variable(&page->request->method), "GET") != 0 &&
			strcmp(page_variable(&page->request->method), "HEAD") != 0)) {
		page_error(page, 405, "This page does not take this method.", "");
		return false;
	}
	return !page->who.name[0] || page_may(page, page->route->least);
}

/* Returns true if the session ended after check_session(), as all do when the ledger restarts. */
static bool session_has_ended(const struct page *page)
{
	const char *id = page->desk.session.failure.id;

	return id && strcmp(id, refusal_info(REFUSAL_SESSION_NEEDED)->id) == 0;
}

static void answer_page(struct page *page)
{
	const char *path = path_below(page);
	const struct console_route *route;
	struct page_address home;
	enum outcome code;

	if (!path) {
		home = page_address(page, "/");
		page_go(page, &home);
		return;
	}
	if (asset_serve(page, path))
		return;
	route = routes_find(path, &page->number);
	if (route)
		page->route = route;
	if (!check_front(page) || !check_session(page) || !check_rate(page) || !check_route(page) ||
		!check_form(page))
		return;
	code = page->route->show(page);
	if (code != OUTCOME_DONE && session_has_ended(page)) {
		go_sign_in(page);
		return;
	}
	if (code != OUTCOME_DONE)
		page_failure(page, code);
	/* That nothing has an id is an answer, too. Other failures show nothing of the ledger. */
	if (code == OUTCOME_DONE || page->code == 404)
		page_record(page);
}

/*
 * Writes what the operator looked at: the ids that the request names. The text of a search may be anything, also a secret
 * that was pasted: it is left out.
 */
static void write_object(const struct page *page, char to[OBJECT_MAX])
{
	static const char *const names[] = {"id", "player", "owner", "casino", "user", "game",
		"reference", "request"};
	const struct params *params = page->post ? &page->form : &page->query;
	size_t len = 0;

	to[0] = '\0';
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && len < OBJECT_MAX - 1; i++) {
		const char *value = params_get(params, names[i]);

		if (value[0] && strcmp(page->route->path, "/search") != 0)
			len += (size_t)snprintf(to + len, OBJECT_MAX - len, "%s%s", len ? "/" : "",
				value);
	}
}

void console_serve(struct page *page, const struct http_request *request)
{
	char object[OBJECT_MAX], quoted[LOG_QUOTED_MAX];
	long long ms;

	reset_page(page, request);
	answer_page(page);
	if (page->body.failed) {
		page->code = 500;
		page->content_type = "text/plain; charset=utf-8";
		buffer_reset(&page->body);
		buffer_append_str(&page->body, "The page is too large, or memory is exhausted.\n");
	}
	head_write(page);
	write_object(page, object);
	ms = clock_boot_ms() - request->boot_ms;
	log_line(page->code >= 500 ? LOG_LEVEL_WARNING : LOG_LEVEL_INFO, "view",
		"request_id=%s operator=%s page=%s number=%llu object=\"%s\" post=%d code=%d ms=%lld",
		page->request_id, page->who.name[0] ? page->who.name : "-",
		page->route->path[0] ? page->route->path : "-", (unsigned long long)page->number,
		log_quote(quoted, object), page->post, page->code, ms);
}

bool console_open(struct page *page, const struct console *console)
{
	void *context = NULL;

	memset(page, 0, sizeof(*page));
	if (console->open_way)
		context = console->open_way(console->way_closure);
	if (console->open_way && !context)
		return false;
	page->console = console;
	desk_init(&page->desk, console->way, context);
	job_link_init(&page->job);
	buffer_init(&page->body, PAGE_MAX);
	buffer_init(&page->head, 32768);
	return true;
}

void console_close(struct page *page)
{
	if (page->console->close_way)
		page->console->close_way(page->desk.context);
	job_link_free(&page->job);
	buffer_free(&page->body);
	buffer_free(&page->head);
}

static void *open_page(void *context)
{
	struct page *page = malloc(sizeof(*page));

	if (page && console_open(page, context))
		return page;
	free(page);
	errno = ENOMEM;
	return NULL;
}

static void close_page(void *worker)
{
	console_close(worker);
	free(worker);
}

static bool more_of_page(void *worker, struct fcgi_reply *reply)
{
	return job_more(worker, &reply->cut);
}

static void serve_page(void *worker, const struct http_request *request, struct fcgi_reply *reply)
{
	struct page *page = worker;

	console_serve(page, request);
	reply->head = &page->head;
	reply->body = &page->body;
	if (page->streams)
		reply->more = more_of_page;
}

/* A job of which the browser wants no more is ended. */
static void after_page(void *worker)
{
	job_link_close(&((struct page *)worker)->job);
}

struct fcgi_program console_program(const struct console *console)
{
	asset_init();
	return (struct fcgi_program){
		.context = (void *)(uintptr_t)console,
		.format = &console_format,
		.open = open_page,
		.close = close_page,
		.serve = serve_page,
		.after = after_page,
	};
}
