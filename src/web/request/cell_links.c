#include "web/request/cell_links.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

struct cell_links *cell_links_new(struct web_cells *cells, struct link *first,
	bool remembers_players)
{
	struct cell_links *links = calloc(1, sizeof(*links));
	struct cell_link *entry;
	bool made = links != NULL;

	if (!links)
		return NULL;
	links->cells = cells;
	links->held = CELL_NONE;
	for (unsigned int at = 0; at < cells->count; at++) {
		entry = &links->list[at];
		entry->cell = &cells->list[at];
		made &= link_init(&entry->own, entry->cell->ledger_path);
		entry->link = at ? &entry->own : first;
		if (at)
			entry->own.mux = muxes_pick(entry->cell->muxes);
	}
	if (remembers_players) {
		links->players = calloc(CELL_PLAYERS, sizeof(*links->players));
		made &= links->players != NULL;
	}
	if (made)
		return links;
	cell_links_free(links);
	return NULL;
}

void cell_links_free(struct cell_links *links)
{
	if (!links)
		return;
	for (unsigned int at = 0; at < links->cells->count; at++) {
		link_close(&links->list[at].own);
		for (unsigned int of = 0; of < KEYRING_OF_COUNT; of++)
			keyring_free(&links->list[at].keyrings[of]);
	}
	free(links->players);
	free(links);
}

void cell_links_begin(struct cell_links *links, const char *request_id)
{
	links->at = 0;
	links->held = CELL_NONE;
	links->crowded = false;
	links->chosen = false;
	links->remembered = NULL;
	links->began_ms = clock_boot_ms();
	for (unsigned int at = 0; at < links->cells->count; at++)
		links->list[at].link->request_id = request_id;
}

/* Returns true once in @interval_ms for all threads and fibers that share @next_ms. */
static bool take_turn(_Atomic int64_t *next_ms, int64_t interval_ms)
{
	const int64_t now_ms = clock_boot_ms();
	int64_t next = atomic_load(next_ms);

	return now_ms >= next &&
		atomic_compare_exchange_strong(next_ms, &next, now_ms + interval_ms);
}

static void warn_of_version(struct web_cell *cell)
{
	if (take_turn(&cell->warn_ms, CELL_WARN_MS))
		log_line(LOG_LEVEL_ERROR, "cell_version",
			"cell=\"%s\" error=\"its ledger speaks another protocol version\" "
			"remedy=\"restart the ledger of this cell after each upgrade\"",
			cell->name);
}

/*
 * Notes the outcome of a call to cell @at that began at @began_ms. An answer ends a silence only if it was
 * asked for later. Returns @status; a cell of another version is as good as silent, unless it is the default
 * cell.
 */
static enum status cell_note(struct cell_links *links, unsigned int at, int64_t began_ms,
	enum status status)
{
	const struct cell_link *entry = &links->list[at];
	int64_t silent_ms = atomic_load(&entry->cell->silent_ms);

	if (at && status == STATUS_PROTOCOL) {
		warn_of_version(entry->cell);
		status = STATUS_NOT_SENT;
	}
	if (entry->link->asked_ms >= began_ms) {
		if (silent_ms && entry->link->asked_ms >= silent_ms)
			atomic_compare_exchange_strong(&entry->cell->silent_ms, &silent_ms, 0);
	} else if (!silent_ms && (status == STATUS_NOT_SENT || status == STATUS_UNKNOWN)) {
		atomic_compare_exchange_strong(&entry->cell->silent_ms, &silent_ms, began_ms);
	}
	return status;
}

void cell_links_rest(struct cell_links *links)
{
	if (links->held != CELL_NONE)
		atomic_fetch_sub(&links->list[links->held].cell->calls, 1);
	links->held = CELL_NONE;
}

/*
 * Counts the request at cell @at before it asks there. STATUS_NOT_SENT: the cell is silent, and the call is
 * not @proved or enough calls are at it. One in CELL_PAUSE_MS is let through, to find that it answers again.
 */
static enum status cell_enter(struct cell_links *links, unsigned int at, bool proved)
{
	struct web_cell *cell = links->list[at].cell;

	if (links->held != at) {
		cell_links_rest(links);
		links->held = at;
		links->crowded = atomic_fetch_add(&cell->calls, 1) >= links->cells->calls_max;
	}
	if ((links->crowded || !proved) && cell_links_is_silent(links, at) &&
		!take_turn(&cell->pause_ms, CELL_PAUSE_MS))
		return STATUS_NOT_SENT;
	return STATUS_OK;
}

enum status cell_links_end(struct cell_links *links, enum status status)
{
	if (links->chosen)
		status = cell_note(links, links->at, links->began_ms, status);
	cell_links_rest(links);
	return status;
}

enum status cell_links_choose(struct cell_links *links, unsigned int at)
{
	enum status status = cell_enter(links, at, true);

	links->at = at;
	links->chosen = !status;
	return status;
}

bool cell_links_is_silent(const struct cell_links *links, unsigned int at)
{
	return atomic_load(&links->list[at].cell->silent_ms) != 0;
}

static int64_t earlier_ms(int64_t a_ms, int64_t b_ms)
{
	return a_ms < b_ms ? a_ms : b_ms;
}

int64_t cell_links_deadline_ms(const struct cell_links *links, unsigned int at, int64_t deadline_ms)
{
	const int64_t silent_ms = atomic_load(&links->list[at].cell->silent_ms);
	const int64_t now_ms = clock_boot_ms();

	if (!links->crowded &&
		(!silent_ms || now_ms - silent_ms < links->cells->ledger_deadline_ms))
		return deadline_ms;
	return earlier_ms(deadline_ms, now_ms + CELL_SILENT_MS);
}

/* Returns until when a search may wait for the cell. */
static int64_t look_deadline_ms(const struct cell_links *links, unsigned int at,
	int64_t deadline_ms)
{
	return earlier_ms(deadline_ms,
		clock_boot_ms() +
			(cell_links_is_silent(links, at) ? CELL_SILENT_MS : CELL_LOOK_MS));
}

enum status cell_links_ask(struct cell_links *links, unsigned int at, enum command command,
	const void *cmd, void *result, int64_t deadline_ms)
{
	const int64_t began_ms = clock_boot_ms();
	enum status status = STATUS_NOT_SENT;

	/* Without time to ask, a failure would not mean that the cell is silent. */
	if (began_ms < deadline_ms)
		status = cell_enter(links, at, true);
	if (status)
		return status;
	status = link_call(links->list[at].link, command, cmd, result,
		cell_links_deadline_ms(links, at, deadline_ms));
	return cell_note(links, at, began_ms, status);
}

enum status cell_links_look(struct cell_links *links, unsigned int at, enum command command,
	const void *cmd, void *result, int64_t deadline_ms)
{
	return cell_links_ask(links, at, command, cmd, result,
		look_deadline_ms(links, at, deadline_ms));
}

/* Updates a keyring of cell @at. @proved: as in cell_links_dealer(). */
static enum status cell_refresh(struct cell_links *links, unsigned int at, enum keyring_of of,
	bool proved, int64_t now_ms, int64_t deadline_ms)
{
	struct cell_link *entry = &links->list[at];
	const int64_t began_ms = clock_boot_ms();
	enum status status;

	if (keyring_is_fresh(&entry->keyrings[of], entry->link, now_ms))
		return STATUS_OK;
	status = began_ms < deadline_ms ? cell_enter(links, at, proved) : STATUS_NOT_SENT;
	if (status)
		return status;
	if (!proved)
		deadline_ms = look_deadline_ms(links, at, deadline_ms);
	status = keyring_refresh(&entry->keyrings[of], of, entry->link, now_ms,
		cell_links_deadline_ms(links, at, deadline_ms));
	return cell_note(links, at, began_ms, status);
}

/*
 * Returns a bit for each cell whose keyring has the dealer, as far as it was read. A cell that yields counts only if
 * no other one serves the dealer: a move relies on that, and so does the suspension of a dealer in one of two cells.
 */
static unsigned int holders_of(const struct cell_links *links, const char *casino_id)
{
	unsigned int holders = 0, yielding = 0;
	const struct keyring_entry *entry;

	for (unsigned int at = 0; at < links->cells->count; at++) {
		entry = keyring_find(&links->list[at].keyrings[KEYRING_DEALERS], casino_id);
		if (entry && entry->yields)
			yielding |= 1U << at;
		else if (entry)
			holders |= 1U << at;
	}
	return holders ? holders : yielding;
}

/* Updates the keyrings of the cells in @holders. Returns the first failure. */
static enum status refresh_holders(struct cell_links *links, unsigned int holders, bool proved,
	int64_t now_ms, int64_t deadline_ms)
{
	enum status status = STATUS_OK;

	for (unsigned int at = 0; !status && at < links->cells->count; at++) {
		if (holders & 1U << at)
			status = cell_refresh(links, at, KEYRING_DEALERS, proved, now_ms,
				deadline_ms);
	}
	return status;
}

/*
 * Updates the keyrings of the cells that are not in @holders now and then, so that a dealer that two cells
 * have is noticed. A cell that does not answer delays this call a little and no further one.
 */
static void recheck_others(struct cell_links *links, unsigned int holders, int64_t now_ms,
	int64_t deadline_ms)
{
	if (!holders || now_ms < links->recheck_ms)
		return;
	links->recheck_ms = now_ms + CELL_RECHECK_MS;
	for (unsigned int at = 0; at < links->cells->count; at++) {
		if (!(holders & 1U << at) && !cell_links_is_silent(links, at))
			cell_refresh(links, at, KEYRING_DEALERS, false, now_ms,
				earlier_ms(deadline_ms, clock_boot_ms() + CELL_SILENT_MS));
	}
}

/* Updates all keyrings. Returns the last failure, or that of a default cell of another version. */
static enum status refresh_all(struct cell_links *links, int64_t now_ms, int64_t deadline_ms)
{
	enum status status, failed = STATUS_OK;

	for (unsigned int at = 0; at < links->cells->count; at++) {
		status = cell_refresh(links, at, KEYRING_DEALERS, false, now_ms, deadline_ms);
		if (status && failed != STATUS_PROTOCOL)
			failed = status;
	}
	return failed;
}

static void warn_of_two(struct cell_links *links, const char *casino_id, unsigned int holders)
{
	const unsigned int first = (unsigned int)__builtin_ctz(holders);
	const unsigned int second = (unsigned int)__builtin_ctz(holders & (holders - 1));

	if (!take_turn(&links->cells->warn_ms, CELL_WARN_MS))
		return;
	log_line(LOG_LEVEL_ERROR, "dealer_in_two_cells",
		"casino_id=%s cells=\"%s %s\" remedy=\"no call of this dealer is served; "
		"creditbridgectl doctor describes what to do\"",
		casino_id, links->list[first].cell->name, links->list[second].cell->name);
}

enum status cell_links_dealer(struct cell_links *links, const char *casino_id, bool proved,
	int64_t now_ms, int64_t deadline_ms, unsigned int *at)
{
	unsigned int holders = holders_of(links, casino_id);
	enum status status = refresh_holders(links, holders, proved, now_ms, deadline_ms);

	*at = CELL_NONE;
	if (status)
		return status;
	recheck_others(links, holders, now_ms, deadline_ms);
	holders = holders_of(links, casino_id);
	if (!holders) {
		status = refresh_all(links, now_ms, deadline_ms);
		holders = holders_of(links, casino_id);
	}
	if (holders & (holders - 1)) {
		warn_of_two(links, casino_id, holders);
		return STATUS_BUSY;
	}
	if (!holders)
		return status;
	*at = (unsigned int)__builtin_ctz(holders);
	return STATUS_OK;
}

enum status cell_links_clients(struct cell_links *links, bool proved, int64_t now_ms,
	int64_t deadline_ms, unsigned int *at)
{
	enum status status = STATUS_NOT_SENT;

	/* A silent cell is asked now and then, and the default cell before the others. */
	for (*at = 0; *at < links->cells->count; ++*at) {
		status = cell_refresh(links, *at, KEYRING_CLIENTS, false, now_ms, deadline_ms);
		if (!status || (!*at && status == STATUS_PROTOCOL))
			return status;
	}
	*at = 0;
	return proved ? cell_refresh(links, 0, KEYRING_CLIENTS, true, now_ms, deadline_ms) : status;
}
