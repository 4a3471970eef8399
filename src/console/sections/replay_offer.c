#include "console/sections/replay_offer.h"

#include "base/text.h"
#include "console/common/route.h"
#include "console/common/view.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The filter of the list, which the preview reads, too. */
static const char *const filter_names_kept[] = {"casino", "user", "player", "game", "since",
	"until", "kind", "state"};

bool replay_offer_may(const struct page *page, const struct filter *filter)
{
	const char *state = params_get(&page->query, "state");

	return !page->route->csv && page->who.role >= ROLE_SUPPORT && filter->casino_id[0] &&
		(!state[0] || strcmp(state, "waits") == 0 || strcmp(state, "parked") == 0);
}

void replay_offer_open(struct page *page)
{
	const struct page_address action = page_address(page, "/replays/preview");
	struct html *html = &page->html;

	html_open(html, "form");
	html_attribute(html, "method", "get");
	html_exact(html, "action", action.text);
	for (size_t i = 0; i < sizeof(filter_names_kept) / sizeof(filter_names_kept[0]); i++) {
		const char *value = params_get(&page->query, filter_names_kept[i]);

		if (value[0])
			page_hidden(page, filter_names_kept[i], value);
	}
}

static void write_offer_button(struct page *page, const char *which, const char *text)
{
	html_open(&page->html, "button");
	html_attribute(&page->html, "name", "which");
	html_exact(&page->html, "value", which);
	html_text(&page->html, text);
	html_close(&page->html);
}

/* The script marks the rows, and shows the button: without it the button does nothing. */
static void write_mark_all(struct html *html)
{
	html_open(html, "button");
	html_attribute(html, "type", "button");
	html_attribute(html, "class", "mark-all");
	html_flag(html, "hidden");
	html_text(html, "Mark all of this page");
	html_close(html);
}

/* Returns true if the filter has only the dealer, so that the dealer's sums have the number. */
static bool is_dealer_alone(const struct page *page, const struct filter *filter)
{
	return !filter->player_id[0] && !filter->game_id[0] && !filter->since_ms &&
		filter->until_ms == INT64_MAX && !params_get(&page->query, "kind")[0];
}

enum outcome replay_offer_close(struct page *page, const struct filter *filter,
	const struct row_walk *walk)
{
	struct total total = {.casino_id = ""};
	char count[VIEW_COUNT_SIZE],
		text[96] = "Preview replay of all parked ones with this filter";
	enum outcome code;
	bool found;

	text_copy(total.casino_id, sizeof(total.casino_id), filter->casino_id);
	code = list_fetch(&page->desk.session, RECORD_TOTAL, &total, &found, NULL);
	if (code != OUTCOME_DONE)
		return code;
	if (found && total.parked && (walk->shown || walk->stopped)) {
		if (is_dealer_alone(page, filter))
			snprintf(text, sizeof(text), "Preview replay of all %s parked",
				view_count(total.parked, count));
		html_open(&page->html, "p");
		/* A replay is not selected by the last attempt: it would send others, too. */
		if (params_get(&page->query, "last")[0])
			html_text(&page->html,
				"With the filter Last attempt, only marked callbacks can be sent. ");
		else
			write_offer_button(page, "all", text);
		html_text(&page->html, " ");
		if (walk->shown) {
			write_offer_button(page, "marked", "Preview replay of the marked ones");
			html_text(&page->html, " ");
			write_mark_all(&page->html);
		}
		html_close(&page->html);
	}
	html_close(&page->html); /* form */
	return OUTCOME_DONE;
}
