#include "console/common/places.h"

#include "base/text.h"
#include "console/common/leads.h"
#include "console/common/route.h"

#include <string.h>

/* The sections, in the order in which they are shown. */
static const struct {
	const char *path, *text;
	enum role least;
} places[] = {
	{"/", "Overview", ROLE_READ},
	{"/dealers", "Dealers", ROLE_READ},
	{"/transactions", "Transactions", ROLE_READ},
	{"/callbacks", "Callbacks", ROLE_READ},
	{"/replays", "Replays", ROLE_READ},
	{"/refused", "Refused", ROLE_READ},
	{"/days", "Days", ROLE_READ},
	{"/audit", "Audit", ROLE_READ},
	{"/health", "Health", ROLE_READ},
	{"/operators", "Operators", ROLE_ADMIN},
};
#define PLACES (sizeof(places) / sizeof(places[0]))

/* ---- the way to a page */

static void add_step(struct page *page, const struct page_address *to, const char *text)
{
	struct page_step *step;

	if (page->step_count == PAGE_STEPS)
		return;
	step = &page->steps[page->step_count++];
	step->to = *to;
	text_copy(step->text, sizeof(step->text), text);
}

void places_section(struct page *page, const char *path)
{
	struct page_address to = page_address(page, path);

	page->step_count = 0;
	page->section = path;
	for (size_t i = 0; i < PLACES; i++) {
		if (strcmp(places[i].path, path) == 0)
			add_step(page, &to, places[i].text);
	}
}

void places_dealer(struct page *page, const char *casino_id)
{
	const struct page_address to = lead_dealer(page, casino_id);

	places_section(page, "/dealers");
	add_step(page, &to, casino_id);
}

void places_player(struct page *page, const char *casino_id, const char *player_id,
	const char *user_id)
{
	const struct page_address to = lead_player(page, player_id);

	places_dealer(page, casino_id);
	add_step(page, &to, user_id);
}

void places_round(struct page *page, const struct round *round)
{
	const struct page_address to = lead_round(page, round->player_id, round->game_id);

	places_player(page, round->casino_id, round->player_id, round->user_id);
	add_step(page, &to, round->game_id);
}

void places_write_way(struct page *page, const char *title, const char *id)
{
	struct html *html = &page->html;

	if (!page->step_count)
		return;
	html_open(html, "nav");
	html_attribute(html, "class", "way");
	html_attribute(html, "aria-label", "Breadcrumb");
	html_open(html, "ol");
	for (unsigned int i = 0; i < page->step_count; i++) {
		html_open(html, "li");
		page_link(page, &page->steps[i].to, page->steps[i].text);
		html_close(html);
	}
	html_open(html, "li");
	html_attribute(html, "aria-current", "page");
	html_text(html, title);
	if (id[0]) {
		html_text(html, " ");
		html_foreign(html, id);
	}
	html_close(html);
	html_close(html);
	html_close(html);
}

/* ---- the sections */

/* Returns true if the place is that of the current page: /callbacks of /callbacks/17, /dealers of the page of a player. */
static bool is_here(const struct page *page, const char *path)
{
	size_t len = strlen(path);

	if (page->section && strcmp(page->section, path) == 0)
		return true;
	return len == 1 ? strcmp(page->route->path, path) == 0
			: strncmp(page->route->path, path, len) == 0 &&
			(!page->route->path[len] || page->route->path[len] == '/');
}

void places_write(struct page *page)
{
	struct html *html = &page->html;
	struct page_address address;

	html_open(html, "nav");
	html_attribute(html, "aria-label", "Pages");
	html_open(html, "ul");
	for (size_t i = 0; i < PLACES; i++) {
		if (page->who.role < places[i].least)
			continue;
		address = page_address(page, places[i].path);
		html_open(html, "li");
		html_open(html, "a");
		html_exact(html, "href", address.text);
		if (is_here(page, places[i].path))
			html_attribute(html, "aria-current", "page");
		html_text(html, places[i].text);
		html_close(html);
		html_close(html);
	}
	html_close(html);
	html_close(html);
}
