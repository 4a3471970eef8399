/*
 * page_search - finds every row that an id names. One hit opens at once.
 *
 * The ledger looks up keys (FIND); nothing walks rows without an end.
 */
#include "admin/list.h"
#include "base/pack.h"
#include "base/text.h"
#include "console/common/leads.h"
#include "console/pages/pages.h"
#include "domain/callback.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Hits of one kind that are shown. */
#define EACH_MAX 10
/* The kinds after those of FIND. */
#define KIND_REFUSED   FIND_KIND_COUNT
#define KIND_BEGINNING (FIND_KIND_COUNT + 1)
#define KINDS          (FIND_KIND_COUNT + 2)
#define HITS_MAX       (KINDS * EACH_MAX)
/* Commands of one search: 2,048 dealers and game servers. */
#define FIND_STEPS 32
/* A longer text is no request id of a caller. */
#define SHOWN_NAME_MAX 64

struct hit {
	unsigned int kind;
	char what[64];
	char whose[256];
	int64_t time_ms; /* of a call; 0: none is shown */
	bool has_page;
	struct page_address to; /* with has_page */
};

struct search {
	struct page *page;
	const char *text;
	unsigned int count;
	unsigned int found[KINDS]; /* hits of each kind, with those that are not shown */
	unsigned int owners[2];    /* dealers, game servers that were looked at */
	bool owners_more;
	bool beginnings_more;  /* there are more users whose ids begin with the text */
	bool rounds_more;      /* the game has more players than were shown */
	int64_t calls_from_ms; /* accepted calls before are not known */
	struct hit hits[HITS_MAX];
};

/* Adds a hit. Returns it, to be filled; NULL: EACH_MAX of its kind are shown already. */
static struct hit *add_hit(struct search *search, unsigned int kind, const char *what,
	const char *whose)
{
	struct hit *hit;

	if (search->found[kind]++ >= EACH_MAX)
		return NULL;
	hit = &search->hits[search->count++];
	hit->kind = kind;
	snprintf(hit->what, sizeof(hit->what), "%s", what);
	snprintf(hit->whose, sizeof(hit->whose), "%s", whose);
	hit->has_page = true;
	return hit;
}

/* Returns the owner of a request key or of a call. */
static const char *owner_of(const struct find_hit *found)
{
	return found->client_id[0] ? found->client_id : found->casino_id;
}

/* Describes a call. Its page is that of the movement or bet, or else of the callback, or else of the dealer. */
static void add_call(struct search *search, const struct find_hit *found)
{
	char what[64], whose[256];
	struct hit *hit;

	snprintf(what, sizeof(what), "call: %s of", found->call);
	snprintf(whose, sizeof(whose), "%s", owner_of(found));
	hit = add_hit(search, FIND_CALL, what, whose);
	if (!hit)
		return;
	hit->time_ms = found->time_ms;
	if (found->transaction_id)
		hit->to = lead_number(search->page, "/transactions", found->transaction_id);
	else if (found->event)
		hit->to = lead_number(search->page, "/callbacks", found->event);
	else if (found->casino_id[0])
		hit->to = lead_dealer(search->page, found->casino_id);
	else
		hit->has_page = false;
}

/* Describes one place that FIND returned. */
static void add_found(struct search *search, const struct find_hit *found)
{
	struct page *page = search->page;
	char what[64], whose[256];
	struct page_address to;
	struct hit *hit;

	snprintf(what, sizeof(what), "%s", find_kind_names[found->of]);
	snprintf(whose, sizeof(whose), "%s", found->casino_id);
	switch (found->of) {
	case FIND_DEALER:
		to = lead_dealer(page, found->casino_id);
		break;
	case FIND_PLAYER:
		snprintf(whose, sizeof(whose), "%s/%s", found->casino_id, found->user_id);
		to = lead_player(page, found->player_id);
		break;
	case FIND_TRANSACTION:
		snprintf(whose, sizeof(whose), "%s of %s", entry_kind_names[found->kind],
			found->casino_id);
		to = lead_number(page, "/transactions", found->transaction_id);
		break;
	case FIND_CALLBACK:
		callback_event_id(found->callback_kind, found->event, whose);
		to = lead_number(page, "/callbacks", found->event);
		break;
	case FIND_REQUEST:
		snprintf(what, sizeof(what), "reference: %s", entry_kind_names[found->kind]);
		snprintf(whose, sizeof(whose), "%s", owner_of(found));
		to = lead_request(page, found->scope, owner_of(found),
			found->request_transaction_id);
		break;
	case FIND_ROUND:
		snprintf(whose, sizeof(whose), "%s/%s", found->casino_id, found->user_id);
		to = lead_round(page, found->player_id, found->game_id);
		break;
	case FIND_CLIENT:
		/* It has no page of its own. */
		snprintf(what, sizeof(what), "game server, its refused calls:");
		snprintf(whose, sizeof(whose), "%s", found->client_id);
		to = page_address(page, "/refused");
		address_add(&to, "client", found->client_id);
		break;
	case FIND_CALL:
		add_call(search, found);
		return;
	default:
		return;
	}
	hit = add_hit(search, found->of, what, whose);
	if (hit)
		hit->to = to;
}

/* Has the ledger look at all keys, FIND_OWNERS_MAX dealers or game servers a command. */
static enum outcome find_keys(struct search *search)
{
	struct find_cmd cmd;
	struct find_result result;
	struct find_hit found;
	enum outcome code;

	memset(&cmd, 0, sizeof(cmd));
	if (!text_copy(cmd.text, sizeof(cmd.text), search->text))
		return OUTCOME_DONE;
	for (unsigned int step = 0; step < FIND_STEPS; step++) {
		code = session_do(&search->page->desk.session, COMMAND_FIND, &cmd, &result, NULL);
		if (code != OUTCOME_DONE)
			return code;
		search->owners[0] += result.dealers;
		search->owners[1] += result.clients;
		search->calls_from_ms = result.calls_from_ms;
		search->rounds_more |= result.rounds_more;
		while (result.hits.len && unpack_record(&result.hits, find_hit_fields, &found))
			add_found(search, &found);
		if (!result.next[0])
			return OUTCOME_DONE;
		text_copy(cmd.after, sizeof(cmd.after), result.next);
	}
	search->owners_more = true;
	return OUTCOME_DONE;
}

/* One command: the newest part of the refused calls, by request id and by reference. */
static enum outcome find_refused(struct search *search)
{
	struct refused_list_cmd cmd = {.limit = 1};
	struct refused_list_result result;
	struct hit *hit;
	enum outcome code;

	for (unsigned int by_reference = 0; by_reference < 2; by_reference++) {
		memset(&cmd, 0, sizeof(cmd));
		cmd.limit = 1;
		if (!(by_reference ? text_copy(cmd.request_transaction_id,
					     sizeof(cmd.request_transaction_id), search->text)
				   : text_copy(cmd.request_id, sizeof(cmd.request_id),
					     search->text)))
			continue;
		code = session_do(&search->page->desk.session, COMMAND_REFUSED_LIST, &cmd, &result,
			NULL);
		if (code != OUTCOME_DONE)
			return code;
		if (!result.matches)
			continue;
		hit = add_hit(search, KIND_REFUSED, "Refused calls",
			by_reference ? "of this reference" : "of this request id");
		if (!hit)
			continue;
		hit->to = page_address(search->page, "/refused");
		address_add(&hit->to, by_reference ? "reference" : "request", search->text);
	}
	return OUTCOME_DONE;
}

/* Users of one dealer whose ids begin with the text after the slash, if nothing has the whole id. */
static enum outcome find_beginning(struct search *search)
{
	const char *slash = strchr(search->text, '/');
	const size_t len = slash ? (size_t)(slash - search->text) : 0;
	char whose[256];
	struct player player;
	struct list list;
	struct hit *hit;

	/* A longer text begins no user id. */
	if (search->count || !slash || !slash[1] || len >= CASINO_ID_SIZE ||
		strlen(slash + 1) >= EXTERNAL_ID_SIZE)
		return OUTCOME_DONE;
	memset(&player, 0, sizeof(player));
	memcpy(player.casino_id, search->text, len);
	list_open(&list, &search->page->desk.session, RECORD_PLAYER, false, 1, &player);
	list_beginning(&list, slash + 1);
	list.page = EACH_MAX + 1;
	while (list.taken < EACH_MAX && list_next(&list, &player)) {
		snprintf(whose, sizeof(whose), "%s/%s", player.casino_id, player.user_id);
		hit = add_hit(search, KIND_BEGINNING, "player whose user id begins so:", whose);
		if (hit)
			hit->to = lead_player(search->page, player.player_id);
	}
	search->beginnings_more = list.taken == EACH_MAX && (list.rest.len || list.more);
	return list_end(&list, OUTCOME_DONE);
}

typedef enum outcome search_finder(struct search *search);
static search_finder *const finders[] = {find_keys, find_refused, find_beginning};

static void write_nothing(struct page *page, const struct search *search)
{
	struct html *html = &page->html;

	html_open(html, "p");
	html_text(html, "Nothing has the id ");
	html_foreign(html, search->text);
	html_text(html, ".");
	html_close(html);
	html_open(html, "p");
	html_printf(html,
		"Looked at transactions, callbacks, player ids, games, user ids and "
		"references of %u dealers, references of %u game servers, and refused calls. ",
		search->owners[0], search->owners[1]);
	if (page->console->cell[0])
		html_printf(html,
			"This console shows cell %s; the dealers of another cell are in the console of that cell. ",
			page->console->cell);
	/* Not known for a text that is longer than any id. */
	if (search->calls_from_ms) {
		html_text(html, "Of the accepted calls, only those since ");
		page_time(page, search->calls_from_ms);
		html_text(html, " are known here. ");
	}
	html_text(html,
		"Ids must be whole; of one dealer, DEALER/BEGINNING finds users whose ids begin so.");
	html_close(html);
	html_open(html, "p");
	html_text(html, "The log has every call by its request id: ");
	html_open(html, "code");
	html_text(html, "journalctl -t creditbridge.fcgi --grep request_id=");
	/* The text comes from the address: only a name is safe in a line that a person pastes into a shell. */
	if (text_is_name(search->text, SHOWN_NAME_MAX))
		html_foreign(html, search->text);
	else
		html_text(html, "ID");
	html_close(html);
	html_close(html);
}

static void write_hit(struct page *page, const struct hit *hit)
{
	if (hit->has_page)
		page_link(page, &hit->to, hit->whose);
	else
		html_foreign(&page->html, hit->whose);
	if (!hit->time_ms)
		return;
	html_text(&page->html, " ");
	page_time(page, hit->time_ms);
}

/* Writes that further users have ids with this beginning, with a link to all of them. */
static void write_beginnings_more(struct page *page, const struct search *search)
{
	const char *slash = strchr(search->text, '/');
	struct page_address to = page_address(page, "/players");
	char casino_id[CASINO_ID_SIZE];

	/* find_beginning() found users, so the text has a dealer before the slash. */
	text_copy_len(casino_id, sizeof(casino_id), search->text, (size_t)(slash - search->text));
	address_add(&to, "casino", casino_id);
	address_add(&to, "begins", slash + 1);
	html_open(&page->html, "p");
	html_text(&page->html, "There are more users whose ids begin so: ");
	page_link(page, &to, "all of them");
	html_text(&page->html, ".");
	html_close(&page->html);
}

static bool is_cut(const struct search *search, unsigned int kind)
{
	return search->found[kind] > EACH_MAX || (kind == FIND_ROUND && search->rounds_more) ||
		(kind == KIND_BEGINNING && search->beginnings_more);
}

/* Writes the hits of one kind, and last whether there are more. */
static void write_kind(struct page *page, const struct search *search, unsigned int kind)
{
	struct html *html = &page->html;
	const struct hit *last = NULL;

	for (unsigned int i = 0; i < search->count; i++) {
		if (search->hits[i].kind != kind)
			continue;
		last = &search->hits[i];
		html_open(html, "li");
		html_text(html, last->what);
		html_text(html, " ");
		write_hit(page, last);
		html_close(html);
	}
	if (last && is_cut(search, kind)) {
		html_open(html, "li");
		html_attribute(html, "class", "note");
		html_printf(html, "The first %d of this kind are shown; there are more.", EACH_MAX);
		html_close(html);
	}
}

static enum outcome write_hits(struct page *page, const struct search *search)
{
	struct html *html = &page->html;

	page_begin(page, "Search");
	if (!search->text[0])
		page_paragraph(page,
			"Give a player id, a user id, DEALER/USER, a transaction id, a game id, a reference, a "
			"webhook-id, a request id, or the id of a dealer or of a game server.");
	else if (!search->count)
		write_nothing(page, search);
	html_open(html, "ul");
	html_attribute(html, "class", "hits");
	for (unsigned int kind = 0; kind < KINDS; kind++)
		write_kind(page, search, kind);
	html_close(html);
	if (search->beginnings_more)
		write_beginnings_more(page, search);
	if (is_cut(search, FIND_ROUND))
		page_paragraph(page, "The page of a player leads to the player's rounds.");
	if (search->owners_more)
		page_paragraph(page,
			"Only the first 2,048 dealers and game servers were looked at. "
			"DEALER/USER finds a user of any dealer.");
	return page_end(page);
}

enum outcome page_search(struct page *page)
{
	static _Thread_local struct search search;
	enum outcome code = OUTCOME_DONE;

	memset(&search, 0, sizeof(search));
	search.page = page;
	search.text = params_get(&page->query, "id");
	for (size_t i = 0; search.text[0] && i < sizeof(finders) / sizeof(finders[0]); i++) {
		code = finders[i](&search);
		if (code != OUTCOME_DONE)
			return code;
	}
	/* The beginning of an id is never taken for the id. */
	if (search.count == 1 && search.hits[0].has_page && !search.owners_more &&
		!search.found[KIND_BEGINNING])
		return page_go(page, &search.hits[0].to);
	return write_hits(page, &search);
}
