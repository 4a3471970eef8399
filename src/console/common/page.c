#include "console/common/page.h"

#include "base/text.h"
#include "console/common/asset.h"
#include "console/common/places.h"
#include "console/common/route.h"

#include <stdio.h>
#include <string.h>

const char *page_variable(const struct http_variable *variable)
{
	return variable->value ? variable->value : "";
}

struct page_address page_address(const struct page *page, const char *path)
{
	struct page_address address;

	address_begin(&address, page->console->base_path, path);
	return address;
}

void page_link(struct page *page, const struct page_address *address, const char *text)
{
	html_open(&page->html, "a");
	html_exact(&page->html, "href", address->text);
	html_foreign(&page->html, text);
	html_close(&page->html);
}

enum outcome page_go(struct page *page, const struct page_address *address)
{
	page->code = 303;
	page->location = *address;
	buffer_reset(&page->body);
	return OUTCOME_DONE;
}

static void write_asset(struct page *page, enum asset asset)
{
	struct page_address address = page_address(page, asset_path(asset));
	struct html *html = &page->html;

	if (asset != ASSET_SCRIPT) {
		html_open(html, "link");
		html_attribute(html, "rel", asset == ASSET_STYLE ? "stylesheet" : "icon");
		html_exact(html, "href", address.text);
	} else {
		html_open(html, "script");
		html_exact(html, "src", address.text);
		html_flag(html, "defer");
	}
	html_close(html);
}

static void write_meta(struct page *page, const char *name, const char *content)
{
	html_open(&page->html, "meta");
	html_attribute(&page->html, "name", name);
	html_attribute(&page->html, "content", content);
	html_close(&page->html);
}

static void write_head(struct page *page, const char *title, const char *id)
{
	struct html *html = &page->html;

	html_open(html, "head");
	html_open(html, "meta");
	html_attribute(html, "charset", "utf-8");
	html_close(html);
	write_meta(page, "viewport", "width=device-width, initial-scale=1");
	write_meta(page, "color-scheme", "light dark");
	html_open(html, "title");
	html_printf(html, "%s %s - creditbridge%s%s", title, id,
		page->console->cell[0] ? ", cell " : "", page->console->cell);
	html_close(html);
	write_asset(page, ASSET_STYLE);
	write_asset(page, ASSET_ICON);
	write_asset(page, ASSET_SCRIPT);
	html_close(html);
}

static void write_search(struct page *page)
{
	struct page_address address = page_address(page, "/search");
	struct html *html = &page->html;

	html_open(html, "form");
	html_attribute(html, "class", "search");
	html_attribute(html, "role", "search");
	html_attribute(html, "method", "get");
	html_exact(html, "action", address.text);
	html_open(html, "input");
	html_attribute(html, "type", "search");
	html_attribute(html, "name", "id");
	html_attribute(html, "aria-label", "Search any id");
	html_attribute(html, "placeholder", "Search any id");
	html_attribute(html, "maxlength", "256");
	html_exact(html, "value",
		strcmp(page->route->path, "/search") == 0 ? params_get(&page->query, "id") : "");
	html_close(html);
	page_button(page, "Search");
	html_close(html);
}

static void write_operator(struct page *page)
{
	struct page_address address = page_address(page, "/sign-out");
	struct html *html = &page->html;

	html_open(html, "div");
	html_attribute(html, "class", "operator");
	html_open(html, "span");
	html_foreign(html, page->who.name);
	html_printf(html, " (%s)", role_names[page->who.role]);
	html_close(html);
	page_form(page, &address);
	page_button(page, "Sign out");
	html_close(html);
	html_close(html);
}

static void write_banner(struct page *page)
{
	struct page_address home = page_address(page, "/");
	struct html *html = &page->html;

	html_open(html, "a");
	html_attribute(html, "class", "skip");
	html_attribute(html, "href", "#main");
	html_text(html, "Skip to the page");
	html_close(html);
	html_open(html, "header");
	html_open(html, "a");
	html_attribute(html, "class", "name");
	html_exact(html, "href", home.text);
	html_text(html, "creditbridge");
	html_close(html);
	if (page->console->cell[0]) {
		html_open(html, "span");
		html_attribute(html, "class", "cell");
		html_printf(html, "cell %s", page->console->cell);
		html_close(html);
	}
	if (page->who.name[0]) {
		write_search(page);
		places_write(page);
		write_operator(page);
	}
	html_close(html);
}

void page_begin_id(struct page *page, const char *title, const char *id)
{
	struct html *html = &page->html;

	page->content_type = "text/html; charset=utf-8";
	html_begin(html, &page->body);
	html_open(html, "html");
	html_attribute(html, "lang", "en");
	write_head(page, title, id);
	html_open(html, "body");
	write_banner(page);
	html_open(html, "main");
	html_attribute(html, "id", "main");
	places_write_way(page, title, id);
	html_open(html, "h1");
	html_text(html, title);
	if (id[0]) {
		html_text(html, " ");
		html_foreign(html, id);
	}
	html_close(html);
}

void page_begin(struct page *page, const char *title)
{
	page_begin_id(page, title, "");
}

/*
 * Returns the address of this page. If it takes a form only, such as /callbacks/17/act, it is the page
 * above it.
 */
static struct page_address address_of_page(const struct page *page)
{
	const bool fixed = page->route->path[0] && !strchr(page->route->path, '#');
	const char *path =
		fixed ? page->route->path : page->request->path + strlen(page->console->base_path);
	const char *query = page_variable(&page->request->query_string);
	struct page_address here = page_address(page, "");
	int len = (int)strlen(path);

	if (!(page->route->methods & ROUTE_GET)) {
		const char *above = strrchr(path, '/');

		len = above && above > path ? (int)(above - path) : 1;
	}
	snprintf(here.text + here.len, sizeof(here.text) - here.len, "%.*s%s%.2048s", len, path,
		query[0] ? "?" : "", query);
	return here;
}

/* The choice of the zone. */
static void write_zone(struct page *page)
{
	static const char *const names[] = {"UTC", "dealer"};
	const struct page_address address = page_address(page, "/zone"),
				  here = address_of_page(page);
	struct html *html = &page->html;

	page_form(page, &address);
	page_hidden(page, "back", here.text);
	html_open(html, "label");
	html_text(html, "Zone ");
	html_open(html, "input");
	html_attribute(html, "name", "zone");
	html_attribute(html, "size", "8");
	html_attribute(html, "maxlength", "6");
	html_attribute(html, "list", "zones");
	html_exact(html, "value",
		page->choice == CHOICE_OFFSET ? page->zone.name : names[page->choice]);
	html_close(html);
	html_close(html);
	html_open(html, "datalist");
	html_attribute(html, "id", "zones");
	for (unsigned int i = 0; i < 2; i++) {
		html_open(html, "option");
		html_attribute(html, "value", names[i]);
		html_close(html);
	}
	html_open(html, "option");
	html_attribute(html, "value", "+07:00");
	html_close(html);
	html_close(html);
	page_button(page, "Set");
	html_close(html);
}

/* The keys, which the script has; it shows this, and the key ? opens it. */
static void write_keys(struct html *html)
{
	static const struct {
		const char *key, *what;
	} keys[] = {
		{"/", "search"},
		{"j", "next row"},
		{"k", "row before"},
		{"Enter", "open the row"},
		{"c", "copy the id"},
		{"?", "show or hide these keys"},
	};

	html_open(html, "details");
	html_attribute(html, "class", "keys");
	html_flag(html, "hidden");
	html_element(html, "summary", "", "Keys");
	html_open(html, "dl");
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		html_open(html, "div");
		html_element(html, "dt", "", keys[i].key);
		html_element(html, "dd", "", keys[i].what);
		html_close(html);
	}
	html_close(html);
	html_close(html);
}

enum outcome page_end(struct page *page)
{
	struct html *html = &page->html;
	struct zone zone = page->zone;

	html_close(html); /* main */
	html_open(html, "footer");
	if (page->who.name[0]) {
		html_open(html, "p");
		html_text(html, "As of ");
		page_time(page, page->now_ms);
		html_printf(html, ". Times are in %s; logs are in UTC.",
			zone.kind == ZONE_UTC ? "UTC" : zone.name);
		html_close(html);
		write_zone(page);
	}
	write_keys(html);
	html_open(html, "p");
	html_printf(html, "creditbridge %s, request ", PACKAGE_VERSION);
	html_element(html, "code", "", page->request_id);
	html_close(html);
	html_end(html);
	return OUTCOME_DONE;
}

enum outcome page_error(struct page *page, int code, const char *what, const char *where)
{
	static const struct {
		int code;
		const char *title;
	} titles[] = {
		{400, "This request cannot be read"},
		{403, "Not allowed"},
		{404, "Not found"},
		{405, "Not possible"},
		{409, "Not done"},
		{429, "Too many pages"},
		{500, "Failed"},
		{503, "Not available now"},
	};
	const char *title = "Failed";

	for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++) {
		if (titles[i].code == code)
			title = titles[i].title;
	}
	buffer_reset(&page->body);
	page->code = code;
	page_begin(page, title);
	page_error_line(page, what);
	if (where[0])
		page_paragraph(page, where);
	return page_end(page);
}

enum outcome page_failure(struct page *page, enum outcome code)
{
	const struct failure *failure = &page->desk.session.failure;
	const char *id = failure->id ? failure->id : "";
	size_t len = strlen(id);

	if (len > 10 && strcmp(id + len - 10, "_not_found") == 0)
		return page_error(page, 404, failure->detail, "The ledger has no such row now.");
	if (code == OUTCOME_UNREACHABLE || code == OUTCOME_BUSY)
		return page_error(page, 503, failure->detail,
			"This page shows nothing until the ledger answers again. On its host: "
			"systemctl status creditbridge-ledger; creditbridgectl doctor.");
	if (code == OUTCOME_USAGE)
		return page_error(page, 400, failure->detail, "");
	if (code == OUTCOME_NOT_PERMITTED)
		return page_error(page, 403, failure->detail, "");
	return page_error(page, strcmp(id, "failed") == 0 ? 500 : 409,
		failure->detail[0] ? failure->detail : "The page could not be made.", "");
}

bool page_may(struct page *page, enum role least)
{
	char why[128];

	if (page->who.role >= least)
		return true;
	snprintf(why, sizeof(why), "Your role is %s. This needs the role %s.",
		role_names[page->who.role], role_names[least]);
	page_error(page, 403, why,
		"An administrator changes roles with: creditbridgectl operator set.");
	return false;
}
