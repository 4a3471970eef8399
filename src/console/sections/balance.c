#include "console/sections/balance.h"

#include "base/clock.h"
#include "base/text.h"
#include "console/common/job.h"
#include "console/common/view.h"
#include "wire/body.h"

#include <string.h>

#define ANSWER_MAX (64 * 1024)

/* The members of `creditbridgectl dealer ping --json`. */
static const struct body_field answer_body[] = {
	BODY_FIELD(BODY_INTEGER, balance, ms),
	BODY_FIELD(BODY_INTEGER, balance, http_status),
	BODY_OPTIONAL("class", BODY_TEXT, balance, outcome),
	BODY_FIELD(BODY_PAYOUT, balance, balance),
	BODY_FIELD(BODY_TEXT, balance, currency),
	BODY_FIELD_END,
};

static const struct field balance_fields[] = {
	FIELD(FIELD_TIME_MS, balance, asked_ms),
	FIELD_AS("ms", FIELD_U64, balance, ms),
	FIELD_AS("http_status", FIELD_U64, balance, http_status),
	FIELD(FIELD_STR, balance, outcome),
	FIELD(FIELD_STR, balance, error),
	FIELD(FIELD_MONEY, balance, balance),
	FIELD(FIELD_STR, balance, currency),
	FIELD_END,
};

static const struct view_column answer_columns[] = {
	{"Asked", "asked_ms", VIEW_PLAIN, NULL},
	{"Answered after, ms", "ms", VIEW_PLAIN, NULL},
	{"Balance at the dealer", "balance", VIEW_PLAIN, NULL},
	{"Currency", "currency", VIEW_PLAIN, NULL},
	VIEW_END,
};

static const struct view_column failure_columns[] = {
	{"Asked", "asked_ms", VIEW_PLAIN, NULL},
	{"Ended after, ms", "ms", VIEW_PLAIN, NULL},
	{"Outcome", "outcome", VIEW_STATE, NULL},
	{"HTTP", "http_status", VIEW_IF_ANY, NULL},
	{"Reason", "error", VIEW_IF_ANY, NULL},
	VIEW_END,
};

bool balance_ask(struct page *page, const struct player *player, struct balance *balance)
{
	struct job_request request = {.job = JOB_BALANCE};
	char detail[BODY_DETAIL_MAX];
	struct buffer json;
	struct job_end end;
	bool read;

	memset(balance, 0, sizeof(*balance));
	text_copy(request.casino_id, sizeof(request.casino_id), player->casino_id);
	text_copy(request.user_id, sizeof(request.user_id), player->user_id);
	buffer_init(&json, ANSWER_MAX);
	read = job_collect(page, &request, &json, &end);
	if (read) {
		read = body_parse(json.data, json.len, answer_body, balance, detail) ==
			REFUSAL_NONE;
		if (!read)
			job_failed(page, &end);
	}
	buffer_free(&json);
	if (!read)
		return false;
	balance->asked_ms = page->now_ms;
	if (end.exit_code)
		text_copy(balance->error, sizeof(balance->error),
			end.detail[0] ? page_remedy(page, end.detail)
				      : "The command did not say why.");
	return true;
}

void balance_write(struct page *page, const struct player *player, const struct balance *balance)
{
	struct page_address ask = page_address(page, "/player/balance");

	if (balance->asked_ms && balance->error[0]) {
		html_element(&page->html, "p", "error", "The dealer gave no balance.");
		view_pairs(page, failure_columns, balance_fields, balance);
	} else if (balance->asked_ms) {
		html_element(&page->html, "p", "done", "The dealer answered.");
		view_pairs(page, answer_columns, balance_fields, balance);
	}
	if (page->who.role < job_infos[JOB_BALANCE].least) {
		page_paragraph(page,
			"The dealer keeps this player's credit. To ask it for the balance: "
			"creditbridgectl dealer ping DEALER --user USER.");
		return;
	}
	page_paragraph(page, "The dealer keeps this player's credit.");
	address_add(&ask, "id", player->player_id);
	page_form(page, &ask);
	page_button(page, "Ask the dealer for the balance");
	html_close(&page->html);
}
