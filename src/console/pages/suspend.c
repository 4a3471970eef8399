/* pages/suspend - suspends a dealer or a player, and lifts a suspension. */
#include "console/pages/suspend.h"

#include "admin/names.h"
#include "console/common/form.h"
#include "console/common/places.h"
#include "console/pages/pages.h"
#include "console/sections/dealers.h"
#include "wire/signature.h"

#include <stdio.h>
#include <string.h>

/* What is suspended, or was. */
struct suspension {
	const char *what; /* "player" */
	const char *path; /* of its page; the form is sent to PATH/suspend */
	const char *id;   /* of that page */
	const char *casino_id;
	const char *user_id; /* of a player; NULL: a dealer */
	bool suspended;      /* now */
	bool needs_code;
	const char *effect;
};

static void write_suspension(struct page *page, const struct suspension *of, const char *failed)
{
	struct html *html = &page->html;
	struct page_address to;
	char text[64];

	snprintf(text, sizeof(text), "%s/suspend", of->path);
	to = page_address(page, text);
	html_open(html, "section");
	html_element(html, "h2", "", of->suspended ? "Suspended" : "Suspension");
	page_paragraph(page, of->effect);
	form_failed(page, failed);
	if (form_open(page, &to, of->needs_code, failed != NULL)) {
		page_hidden(page, "id", of->id);
		page_hidden(page, "suspended", of->suspended ? "no" : "yes");
		snprintf(text, sizeof(text), "%s this %s",
			of->suspended ? "Lift the suspension of" : "Suspend", of->what);
		page_button(page, text);
	}
	html_close(html);
	html_close(html);
}

static struct suspension suspension_of_player(const struct player *player)
{
	return (struct suspension){.what = "player",
		.path = "/player",
		.id = player->player_id,
		.casino_id = player->casino_id,
		.user_id = player->user_id,
		.suspended = player->suspended,
		.effect =
			"Transfers and new bets of a suspended player are refused. Open rounds are "
			"settled, and callbacks are sent."};
}

static struct suspension suspension_of_dealer(const struct dealer *dealer)
{
	return (struct suspension){.what = "dealer",
		.path = "/dealer",
		.id = dealer->casino_id,
		.casino_id = dealer->casino_id,
		.suspended = dealer->suspended,
		.needs_code = true,
		.effect =
			"Transfers, new players and new bets of a suspended dealer are refused. Open "
			"rounds are settled, and callbacks are sent."};
}

void suspend_player_form(struct page *page, const struct player *player)
{
	const struct suspension of = suspension_of_player(player);

	if (page->who.role >= ROLE_SUPPORT)
		write_suspension(page, &of, NULL);
}

void suspend_dealer_form(struct page *page, const struct dealer *dealer)
{
	const struct suspension of = suspension_of_dealer(dealer);

	if (page->who.role >= ROLE_ADMIN)
		write_suspension(page, &of, NULL);
}

/* Shows the form again, with the reason that was given and with what failed. */
static enum outcome show_again(struct page *page, const void *subject, const char *failed)
{
	const struct suspension *of = subject;

	if (of->user_id)
		places_player(page, of->casino_id, of->id, of->user_id);
	else
		places_dealer(page, of->casino_id);
	page_begin_id(page, of->suspended ? "Suspended:" : "Suspend:", of->id);
	write_suspension(page, of, failed);
	return page_end(page);
}

/* Sends the command, and opens the page of what it changed. */
static enum outcome send_suspension(struct page *page, const struct suspension *of,
	struct form_command command)
{
	struct page_address to = page_address(page, of->path);
	enum outcome code;

	command.has_code = of->needs_code;
	command.show = show_again;
	command.subject = of;
	if (!form_send(page, &command, &code))
		return code;
	address_add(&to, "id", of->id);
	return page_go(page, &to);
}

/* Reads which of both the form asks for. If it does not say so, answers with an error page and returns false. */
static bool read_wanted(struct page *page, bool *suspended)
{
	const char *wanted = params_get(&page->form, "suspended");

	*suspended = strcmp(wanted, "yes") == 0;
	if (*suspended || strcmp(wanted, "no") == 0)
		return true;
	page_error(page, 400, "The form is not complete.", "Nothing was done.");
	return false;
}

enum outcome page_player_suspend(struct page *page)
{
	struct player_put_cmd cmd = {.change_suspended = true};
	struct player_put_result result;
	struct suspension of;
	struct player player;
	enum outcome code =
		names_player_word(&page->desk.session, params_get(&page->form, "id"), &player);

	if (code != OUTCOME_DONE)
		return code;
	of = suspension_of_player(&player);
	if (!read_wanted(page, &cmd.suspended))
		return OUTCOME_DONE;
	memcpy(cmd.casino_id, player.casino_id, sizeof(cmd.casino_id));
	memcpy(cmd.user_id, player.user_id, sizeof(cmd.user_id));
	if (!signature_random_id(cmd.player_id, sizeof(cmd.player_id)))
		return session_no_random(&page->desk.session);
	return send_suspension(page, &of,
		(struct form_command){.command = COMMAND_PLAYER_PUT,
			.cmd = &cmd,
			.result = &result,
			.by = &cmd.operator});
}

enum outcome page_dealer_suspend(struct page *page)
{
	struct dealer_put_cmd cmd = {.mask = UINT32_C(1) << DEALER_SUSPENDED};
	struct dealer_put_result result;
	struct suspension of;
	struct dealer dealer;
	enum outcome code =
		names_dealer(&page->desk.session, params_get(&page->form, "id"), &dealer);

	if (code == OUTCOME_USAGE)
		return dealers_none(page);
	if (code != OUTCOME_DONE)
		return code;
	of = suspension_of_dealer(&dealer);
	if (!read_wanted(page, &cmd.dealer.suspended))
		return OUTCOME_DONE;
	memcpy(cmd.dealer.casino_id, dealer.casino_id, sizeof(cmd.dealer.casino_id));
	return send_suspension(page, &of,
		(struct form_command){.command = COMMAND_DEALER_PUT,
			.cmd = &cmd,
			.result = &result,
			.by = &cmd.operator});
}
