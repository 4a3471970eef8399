/* pages/dealers - the dealers, and one dealer with its settings and sums. No key is ever shown. */
#include "admin/breaker.h"
#include "admin/list.h"
#include "admin/names.h"
#include "base/text.h"
#include "console/sections/days.h"
#include "console/sections/dealer_setup.h"
#include "console/sections/dealer_state.h"
#include "console/sections/dealers.h"
#include "console/sections/refused_causes.h"
#include "console/common/leads.h"
#include "console/common/places.h"
#include "console/pages/pages.h"
#include "console/pages/players.h"
#include "console/pages/suspend.h"
#include "console/common/walk.h"
#include "link/jobs.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Dealers on one page. */
#define DEALERS_SHOWN 64

struct dealers_page {
	struct view view;
	uint64_t most;
	char last[CASINO_ID_SIZE];
	bool more;
};

static bool add_dealer(void *context, const struct dealer_metrics *dealer)
{
	struct dealers_page *dealers = context;

	if (dealers->view.rows == dealers->most) {
		dealers->more = true;
		return false;
	}
	dealers_row(&dealers->view, dealer);
	text_copy(dealers->last, sizeof(dealers->last), dealer->casino_id);
	return true;
}

enum outcome page_dealers(struct page *page)
{
	struct dealers_page dealers = {.view = dealers_view(),
		.most = page->route->csv ? DEALERS_MAX : DEALERS_SHOWN};
	const struct page_address list = page_address(page, "/dealers");
	const struct page_address csv = page_address(page, "/dealers.csv");
	enum outcome code;

	if (!page->route->csv)
		page_begin(page, "Dealers");
	view_begin(&dealers.view, page, "Dealers, by their id", dealers_columns);
	code = dealers_walk(page, params_get(&page->query, "after"), NULL, add_dealer, &dealers);
	view_end(&dealers.view, "No dealer yet: creditbridgectl dealer add.");
	if (code != OUTCOME_DONE || page->route->csv)
		return code;
	page_pager(page, &list, dealers.more ? dealers.last : "", &csv);
	return page_end(page);
}

static const struct view_column dealer_columns[] = {
	{"Wallet", "mode", VIEW_PLAIN, NULL},
	{"Currency", "currency", VIEW_PLAIN, NULL},
	{"Decimals", "decimals", VIEW_PLAIN, NULL},
	{"Suspended", "suspended", VIEW_IF_ANY, NULL},
	{"Minutes east of UTC", "utc_offset_min", VIEW_PLAIN, NULL},
	{"Calls a second", "rate_limit", VIEW_IF_ANY, NULL},
	{"URL", "url", VIEW_IF_ANY, NULL},
	{"Refund delay, s", "refund_delay_s", VIEW_PLAIN, NULL},
	{"At a time", "max_inflight", VIEW_PLAIN, NULL},
	{"Signing key", "signing_key_id", VIEW_PLAIN, NULL},
	{"Added", "created_ms", VIEW_PLAIN, NULL},
	{"Callbacks held since", "callbacks_held_ms", VIEW_IF_ANY, NULL},
	{"Exam", "exam_ms", VIEW_IF_ANY, NULL},
	{"Exam, passed", "exam_passed", VIEW_IF_ANY, NULL},
	{"Exam, failed", "exam_failed", VIEW_IF_ANY, NULL},
	{"Exam, not judged", "exam_not_judged", VIEW_IF_ANY, NULL},
	VIEW_END,
};

static const struct view_column total_columns[] = {
	{"Players", "players", VIEW_COUNT, NULL},
	{"Balance of all players here", "balance", VIEW_PLAIN, NULL},
	{"Transferred in", "transferred_in", VIEW_PLAIN, NULL},
	{"Transferred out", "transferred_out", VIEW_PLAIN, NULL},
	{"Adjusted", "adjusted", VIEW_IF_ANY, NULL},
	{"Staked", "staked", VIEW_PLAIN, NULL},
	{"Paid", "paid", VIEW_PLAIN, NULL},
	{"Staked at the dealer", "seamless_staked", VIEW_PLAIN, NULL},
	{"Paid at the dealer", "seamless_paid", VIEW_PLAIN, NULL},
	{"Refunded at the dealer", "seamless_refunded", VIEW_PLAIN, NULL},
	{"Open bets", "open_bets", VIEW_COUNT, NULL},
	{"Parked callbacks", "parked", VIEW_COUNT, NULL},
	{"Held callbacks", "held", VIEW_COUNT, NULL},
	{"Owes in payouts", "owed_payouts", VIEW_PLAIN, NULL},
	{"Owes in refunds", "owed_refunds", VIEW_PLAIN, NULL},
	{"Players owe", "shortfall", VIEW_IF_ANY, NULL},
	VIEW_END,
};

static void write_links(struct page *page, const struct dealer *dealer)
{
	static const struct {
		const char *path, *text;
	} links[] = {
		{"/transactions", "Transactions"},
		{"/callbacks", "Callbacks"},
		{"/days", "Days"},
		{"/refused", "Refused calls"},
	};

	html_open(&page->html, "p");
	html_attribute(&page->html, "class", "pager");
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
		struct page_address to = page_address(page, links[i].path);

		address_add(&to, "casino", dealer->casino_id);
		page_link(page, &to, links[i].text);
		html_text(&page->html, " ");
	}
	html_close(&page->html);
}

/* Begins a form about the dealer. html_close() closes it. */
static void open_form(struct page *page, const char *path, const struct dealer *dealer)
{
	const struct page_address to = page_address(page, path);

	page_form(page, &to);
	page_hidden(page, "id", dealer->casino_id);
}

/* The forms of what a job does (pages/jobs.c), for the roles that may. */
static void write_jobs(struct page *page, const struct dealer *dealer)
{
	const struct zone zone = zone_offset(dealer->utc_offset_min);
	struct html *html = &page->html;
	char yesterday[TEXT_TIME_SIZE];

	if (page->who.role >= job_infos[JOB_PING].least && dealer->mode == WALLET_SEAMLESS) {
		open_form(page, "/dealer/ping", dealer);
		page_button(page, "Ping");
		html_close(html);
	}
	if (page->who.role < job_infos[JOB_RECON].least)
		return;
	zone_time_short(&zone, page->now_ms - INT64_C(86400000), yesterday);
	yesterday[JOBS_DATE_SIZE - 1] = '\0';
	open_form(page, "/dealer/recon", dealer);
	html_open(html, "label");
	html_text(html, "Day of the dealer ");
	html_open(html, "input");
	html_attribute(html, "type", "date");
	html_attribute(html, "name", "date");
	html_flag(html, "required");
	html_exact(html, "value", yesterday);
	html_close(html);
	html_close(html);
	page_button_again(page, "Recon file (CSV)");
	html_close(html);
}

static void write_players(struct page *page, const struct dealer *dealer, const struct total *total)
{
	struct html *html = &page->html;
	char players[VIEW_COUNT_SIZE], note[VIEW_COUNT_SIZE + 16];

	snprintf(note, sizeof(note), "%s player%s. ", view_count(total->players, players),
		total->players == 1 ? "" : "s");
	html_open(html, "section");
	html_element(html, "h2", "", "Players");
	players_form(page, dealer, note);
	html_close(html);
}

/* The refused calls of a day, by their cause. */
static enum outcome write_refused(struct page *page, const struct dealer *dealer)
{
	const int64_t since_ms = page->now_ms - INT64_C(86400000);
	struct page_address list = page_address(page, "/refused");
	struct refused_list_cmd filter;
	struct refused_causes causes;
	enum outcome code;

	memset(&filter, 0, sizeof(filter));
	memcpy(filter.casino_id, dealer->casino_id, sizeof(filter.casino_id));
	filter.since_ms = since_ms;
	code = refused_count_causes(&page->desk.session, &filter, REFUSED_STEPS, &causes);
	if (code != OUTCOME_DONE)
		return code;
	address_add(&list, "casino", dealer->casino_id);
	address_add_number(&list, "since", (uint64_t)since_ms);
	html_open(&page->html, "section");
	html_element(&page->html, "h2", "", "Refused calls in 24 hours");
	refused_causes_write(page, &causes, &list);
	html_close(&page->html);
	return OUTCOME_DONE;
}

/* What the page shows of the dealer. */
struct dealer_facts {
	struct dealer dealer;
	struct total total;
	struct dealer_state_result state;
	struct day_row days[DAYS_SHOWN];
	uint32_t day_count;
};

/* OUTCOME_USAGE: there is no such dealer. */
static enum outcome read_facts(struct page *page, struct dealer_facts *facts)
{
	struct session *session = &page->desk.session;
	enum outcome code;
	bool found;

	memset(facts, 0, sizeof(*facts));
	code = names_dealer(session, params_get(&page->query, "id"), &facts->dealer);
	if (code != OUTCOME_DONE)
		return code;
	memcpy(facts->total.casino_id, facts->dealer.casino_id, sizeof(facts->total.casino_id));
	code = list_fetch(session, RECORD_TOTAL, &facts->total, &found, NULL);
	if (code == OUTCOME_DONE)
		code = breaker_fetch(session, facts->dealer.casino_id, &facts->state);
	if (code == OUTCOME_DONE)
		code = days_before(page, &facts->dealer, days_today(&facts->dealer, page->now_ms),
			facts->days, &facts->day_count);
	return code;
}

static void write_pairs(struct page *page, const char *heading, const struct view_column *columns,
	const struct field *fields, const void *row)
{
	html_open(&page->html, "section");
	html_element(&page->html, "h2", "", heading);
	view_pairs(page, columns, fields, row);
	html_close(&page->html);
}

enum outcome page_dealer(struct page *page)
{
	struct dealer_facts facts;
	const struct dealer *dealer = &facts.dealer;
	enum outcome code = read_facts(page, &facts);

	if (code == OUTCOME_USAGE)
		return dealers_none(page);
	if (code != OUTCOME_DONE)
		return code;
	page_dealer_zone(page, dealer->utc_offset_min);
	places_section(page, "/dealers");
	page_begin_id(page, "Dealer", dealer->casino_id);
	write_links(page, dealer);
	write_jobs(page, dealer);
	dealer_setup_steps(page, dealer, &facts.total);
	code = dealer_state_write(page, &facts.state);
	if (code == OUTCOME_DONE)
		code = write_refused(page, dealer);
	if (code != OUTCOME_DONE)
		return code;
	write_pairs(page, "Sums", total_columns, total_fields, &facts.total);
	write_players(page, dealer, &facts.total);
	days_section(page, dealer, facts.days, facts.day_count);
	write_pairs(page, "Settings", dealer_columns, dealer_fields, dealer);
	dealer_setup_keys(page, dealer);
	suspend_dealer_form(page, dealer);
	return page_end(page);
}
