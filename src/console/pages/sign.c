/* pages/sign - the sign-in, the sign-out, and the choice of the zone. */
#include "base/text.h"
#include "console/pages/pages.h"
#include "console/common/code.h"
#include "console/common/head.h"

#include <string.h>

/* Returns the page @back, which the browser sent, or the overview. */
static struct page_address address_back(const struct page *page, const char *back)
{
	struct page_address to = page_address(page, "/");

	if (strlen(back) < sizeof(to.text) && address_is_own(back, page->console->base_path)) {
		text_copy(to.text, sizeof(to.text), back);
		to.len = strlen(to.text);
	}
	return to;
}

static enum outcome go_back(struct page *page, const char *back)
{
	const struct page_address to = address_back(page, back);

	return page_go(page, &to);
}

/* Two tabs may have sent the same code at once: the one that came second has no session yet. */
static void write_refused(struct page *page, const char *back)
{
	struct page_address to = address_back(page, back);
	struct html *html = &page->html;

	html_element(html, "p", "error",
		"The code was not accepted. It may be wrong or used already, or this name is not an "
		"operator, or is suspended or locked.");
	html_open(html, "p");
	html_text(html,
		"If you have just signed in with this code in another tab, this tab is signed in, too: ");
	page_link(page, &to, "open the page");
	html_text(html, ". Otherwise wait for the next code.");
	html_close(html);
}

static enum outcome write_sign_in(struct page *page, bool failed)
{
	struct html *html = &page->html;
	struct page_address action = page_address(page, "/sign-in");
	const char *back = params_get(page->post ? &page->form : &page->query, "back");

	page->code = failed ? 403 : 200;
	page_begin(page, "Sign in");
	if (failed)
		write_refused(page, back);
	html_open(html, "p");
	html_text(html, "The web server says that you are ");
	html_foreign(html, page->desk.caller.login);
	html_text(html, ". Enter the code that your authenticator shows now.");
	html_close(html);
	html_open(html, "form");
	html_attribute(html, "method", "post");
	html_attribute(html, "class", "sign-in");
	html_exact(html, "action", action.text);
	page_hidden(page, "back", back);
	code_field(page, "Code", true);
	page_button(page, "Sign in");
	html_close(html);
	return page_end(page);
}

enum outcome page_sign_in(struct page *page)
{
	const char *code = params_get(&page->form, "code");
	enum desk_answer answer;

	if (!page->post && !page->who.name[0])
		return write_sign_in(page, false);
	/* Another tab has signed in: this one is signed in, too, and its code was not used. */
	if (page->post && !page->who.name[0]) {
		page->desk.caller.token[0] = '\0';
		answer = strlen(code) < DESK_CODE_SIZE
			? page->desk.way->enter(page->desk.context, &page->desk.caller, code)
			: DESK_WRONG_CODE;
		memset(&page->who, 0, sizeof(page->who));
		if (answer == DESK_UNREACHABLE)
			return page_error(page, 503, "No ledger answers on desk.sock.",
				"You were not signed in. Try again in a moment.");
		if (answer != DESK_DONE)
			return write_sign_in(page, true);
		console_set_session(page, page->desk.caller.token);
	}
	return go_back(page, params_get(page->post ? &page->form : &page->query, "back"));
}

enum outcome page_sign_out(struct page *page)
{
	struct page_address to = page_address(page, "/sign-in");

	page->desk.way->leave(page->desk.context, &page->desk.caller);
	console_set_session(page, "");
	page->clear_site = true;
	return page_go(page, &to);
}

enum outcome page_zone(struct page *page)
{
	const char *zone = params_get(&page->form, "zone");
	struct zone read;

	if (strcmp(zone, "UTC") == 0 || strcmp(zone, "dealer") == 0)
		console_set_zone(page, zone);
	else if (page_read_offset(zone, &read))
		console_set_zone(page, zone);
	else
		return page_error(page, 400, "This is no zone.",
			"A zone is UTC, dealer, or an offset such as +07:00.");
	return go_back(page, params_get(&page->form, "back"));
}
