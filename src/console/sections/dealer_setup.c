#include "console/sections/dealer_setup.h"

#include "base/text.h"
#include "console/common/view.h"

#include <stdio.h>
#include <string.h>

#define COMMAND_SIZE 256

static bool is_added(const struct dealer *dealer, const struct total *total)
{
	(void)total;
	return dealer->created_ms != 0;
}

static bool has_key(const struct dealer *dealer, const struct total *total)
{
	(void)total;
	for (unsigned int i = 0; i < DEALER_KEYS_MAX; i++) {
		if (dealer->keys[i].key_id[0])
			return true;
	}
	return false;
}

static bool has_url(const struct dealer *dealer, const struct total *total)
{
	(void)total;
	return dealer->url[0] != '\0';
}

static bool has_player(const struct dealer *dealer, const struct total *total)
{
	(void)dealer;
	return total->players != 0;
}

static bool has_passed(const struct dealer *dealer, const struct total *total)
{
	(void)total;
	return dealer->exam_passed && !dealer->exam_failed && !dealer->exam_not_judged;
}

static bool has_credit(const struct dealer *dealer, const struct total *total)
{
	(void)dealer;
	return total->transferred_in != 0;
}

static bool has_bet(const struct dealer *dealer, const struct total *total)
{
	(void)dealer;
	return total->staked != 0;
}

#define STEPS 5
/* The steps of each wallet, in their order. "%s" in a command is the dealer. */
static const struct step {
	const char *text;
	bool (*is_done)(const struct dealer *dealer, const struct total *total);
	const char *command;
} steps[WALLET_MODE_COUNT][STEPS] = {
	[WALLET_TRANSFER] =
		{
			{"The dealer is added", is_added, ""},
			{"It has a key", has_key, "creditbridgectl dealer key-add %s"},
			{"It has a player", has_player, "creditbridgectl player add %s USER"},
			{"It has transferred credit in", has_credit,
				"creditbridgectl request --url URL %s transfer-in --user USER --amount 10"},
			{"Its players have bet", has_bet, "creditbridgectl client add CLIENT"},
		},
	[WALLET_SEAMLESS] =
		{
			{"The dealer is added", is_added, ""},
			{"It has a key", has_key, "creditbridgectl dealer key-add %s"},
			{"It has a URL", has_url, "creditbridgectl dealer set %s --url URL"},
			{"It has a player", has_player, "creditbridgectl player add %s USER"},
			{"Its server has passed the exam", has_passed,
				"creditbridgectl dealer test %s --user USER"},
		},
};

static void write_next(struct page *page, const struct step *step, const char *casino_id)
{
	struct html *html = &page->html;
	char command[COMMAND_SIZE];
	const char *mark = strstr(step->command, "%s"), *shown;

	if (mark)
		snprintf(command, sizeof(command), "%.*s%s%s", (int)(mark - step->command),
			step->command, casino_id, mark + 2);
	else
		text_copy(command, sizeof(command), step->command);
	html_text(html, ". Next: ");
	html_open(html, "code");
	shown = page_remedy(page, command);
	html_text(html, shown);
	html_close(html);
	html_text(html, " ");
	page_copy(page, shown, "copy");
}

void dealer_setup_steps(struct page *page, const struct dealer *dealer, const struct total *total)
{
	const struct step *list = steps[dealer->mode];
	struct html *html = &page->html;
	unsigned int done = 0, next = STEPS;

	for (unsigned int i = 0; i < STEPS; i++) {
		done += list[i].is_done(dealer, total);
		if (next == STEPS && !list[i].is_done(dealer, total))
			next = i;
	}
	html_open(html, "section");
	html_element(html, "h2", "", "Onboarding");
	html_open(html, "details");
	if (done < STEPS)
		html_flag(html, "open");
	html_open(html, "summary");
	html_printf(html, "%u of %u steps are done", done, STEPS);
	html_close(html);
	html_open(html, "ol");
	for (unsigned int i = 0; i < STEPS; i++) {
		html_open(html, "li");
		html_printf(html, "%s: %s", list[i].text,
			list[i].is_done(dealer, total) ? "done" : "not yet");
		if (i == next)
			write_next(page, &list[i], dealer->casino_id);
		html_close(html);
	}
	html_close(html);
	html_close(html);
	html_close(html);
}

/* A key, with what it is for. */
struct key_row {
	char key_id[KEY_ID_SIZE];
	char use[48];
	int64_t created_ms;
};

static const struct field key_fields[] = {
	FIELD(FIELD_STR, key_row, key_id),
	FIELD(FIELD_STR, key_row, use),
	FIELD(FIELD_TIME_MS, key_row, created_ms),
	FIELD_END,
};

static const struct view_column key_columns[] = {
	{"Key", "key_id", VIEW_PLAIN, NULL},
	{"State", "use", VIEW_PLAIN, NULL},
	{"Made", "created_ms", VIEW_PLAIN, NULL},
	VIEW_END,
};

void dealer_setup_keys(struct page *page, const struct dealer *dealer)
{
	struct view view = {.fields = key_fields};
	struct html *html = &page->html;
	struct key_row row;

	html_open(html, "section");
	html_element(html, "h2", "", "Keys");
	view_begin(&view, page, "The ids of the live keys. A key itself is never shown",
		key_columns);
	for (unsigned int i = 0; i < DEALER_KEYS_MAX; i++) {
		const struct dealer_key *key = &dealer->keys[i];
		const bool signs = dealer->mode == WALLET_SEAMLESS &&
			strcmp(key->key_id, dealer->signing_key_id) == 0;

		if (!key->key_id[0])
			continue;
		memcpy(row.key_id, key->key_id, sizeof(row.key_id));
		text_copy(row.use, sizeof(row.use),
			signs ? "signs callbacks, verifies calls" : "verifies calls");
		row.created_ms = key->created_ms;
		view_row(&view, &row);
	}
	view_end(&view, "No key: the dealer can make no call.");
	if (dealer->keys_restored_ms) {
		html_open(html, "p");
		html_attribute(html, "class", "error");
		html_text(html, "A restore brought these keys back at ");
		page_time(page, dealer->keys_restored_ms);
		html_text(html,
			page_remedy(page,
				", and no operator has confirmed them: creditbridgectl status."));
		html_close(html);
	}
	html_close(html);
}
