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
	for (unsigned int at = 0; at < cells->count; at++) {
		entry = &links->list[at];
		entry->cell = &cells->list[at];
		made &= link_init(&entry->own, entry->cell->ledger_path);
		entry->own.mux = muxes_pick(entry->cell->muxes);
		entry->link = at ? &entry->own : first;
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
	links->chosen = false;
	links->remembered = NULL;
	links->began_ms = clock_boot_ms();
	for (unsigned int at = 0; at < links->cells->count; at++)
		links->list[at].link->request_id = request_id;
}

/* Notes the outcome of a call to the cell that began at @began_ms. */
static void cell_note(struct cell_link *entry, int64_t began_ms, enum status status)
{
	int64_t answers = 0;

	if (entry->link->asked_ms >= began_ms)
		atomic_store(&entry->cell->silent_ms, 0);
	else if (status == STATUS_NOT_SENT || status == STATUS_UNKNOWN)
		atomic_compare_exchange_strong(&entry->cell->silent_ms, &answers, began_ms);
}

void cell_links_end(struct cell_links *links, enum status status)
{
	if (links->chosen)
		cell_note(&links->list[links->at], links->began_ms, status);
}

struct link *cell_links_choose(struct cell_links *links, unsigned int at)
{
	links->at = at;
	links->chosen = true;
	return links->list[at].link;
}

static int64_t earlier_ms(int64_t a_ms, int64_t b_ms)
{
	return a_ms < b_ms ? a_ms : b_ms;
}

int64_t cell_links_deadline_ms(const struct cell_links *links, unsigned int at, int64_t deadline_ms)
{
	const int64_t silent_ms = atomic_load(&links->list[at].cell->silent_ms);
	const int64_t now_ms = clock_boot_ms();

	if (!silent_ms || now_ms - silent_ms < links->cells->ledger_deadline_ms)
		return deadline_ms;
	return earlier_ms(deadline_ms, now_ms + CELL_SILENT_MS);
}

/* Returns until when a search may wait for the cell. */
static int64_t look_deadline_ms(const struct cell_link *entry, int64_t deadline_ms)
{
	return earlier_ms(deadline_ms,
		clock_boot_ms() +
			(atomic_load(&entry->cell->silent_ms) ? CELL_SILENT_MS : CELL_LOOK_MS));
}

enum status cell_links_look(struct cell_links *links, unsigned int at, enum command command,
	const void *cmd, void *result, int64_t deadline_ms)
{
	struct cell_link *entry = &links->list[at];
	const int64_t began_ms = clock_boot_ms();
	enum status status =
		link_call(entry->link, command, cmd, result, look_deadline_ms(entry, deadline_ms));

	cell_note(entry, began_ms, status);
	return status;
}

static enum status cell_refresh(struct cell_link *entry, enum keyring_of of, int64_t now_ms,
	int64_t deadline_ms)
{
	const int64_t began_ms = clock_boot_ms();
	enum status status =
		keyring_refresh(&entry->keyrings[of], of, entry->link, now_ms, deadline_ms);

	cell_note(entry, began_ms, status);
	return status;
}

/* Returns a bit for each cell whose keyring has the dealer, as far as it was read. */
static unsigned int holders_of(const struct cell_links *links, const char *casino_id)
{
	unsigned int holders = 0;

	for (unsigned int at = 0; at < links->cells->count; at++) {
		if (keyring_find(&links->list[at].keyrings[KEYRING_DEALERS], casino_id))
			holders |= 1U << at;
	}
	return holders;
}

/* Updates the keyrings of the cells in @holders. Returns the first failure. */
static enum status refresh_holders(struct cell_links *links, unsigned int holders, int64_t now_ms,
	int64_t deadline_ms)
{
	enum status status = STATUS_OK;

	for (unsigned int at = 0; !status && at < links->cells->count; at++) {
		if (holders & 1U << at)
			status = cell_refresh(&links->list[at], KEYRING_DEALERS, now_ms,
				cell_links_deadline_ms(links, at, deadline_ms));
	}
	return status;
}

/* Updates a keyring for an unknown dealer. A cell that is silent is asked now and then only. */
static enum status refresh_for_unknown(struct cell_link *entry, int64_t now_ms, int64_t deadline_ms)
{
	if (!keyring_is_fresh(&entry->keyrings[KEYRING_DEALERS], entry->link, now_ms) &&
		atomic_load(&entry->cell->silent_ms)) {
		if (now_ms < atomic_load(&entry->cell->pause_ms))
			return STATUS_NOT_SENT;
		atomic_store(&entry->cell->pause_ms, now_ms + CELL_PAUSE_MS);
	}
	return cell_refresh(entry, KEYRING_DEALERS, now_ms, look_deadline_ms(entry, deadline_ms));
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
		struct cell_link *entry = &links->list[at];

		if (!(holders & 1U << at) && !atomic_load(&entry->cell->silent_ms))
			cell_refresh(entry, KEYRING_DEALERS, now_ms,
				earlier_ms(deadline_ms, clock_boot_ms() + CELL_SILENT_MS));
	}
}

/* Updates all keyrings. Returns the last failure. */
static enum status refresh_all(struct cell_links *links, int64_t now_ms, int64_t deadline_ms)
{
	enum status status, failed = STATUS_OK;

	for (unsigned int at = 0; at < links->cells->count; at++) {
		status = refresh_for_unknown(&links->list[at], now_ms, deadline_ms);
		if (status)
			failed = status;
	}
	return failed;
}

static void warn_of_two(struct cell_links *links, const char *casino_id, unsigned int holders)
{
	const unsigned int first = (unsigned int)__builtin_ctz(holders);
	const unsigned int second = (unsigned int)__builtin_ctz(holders & (holders - 1));
	const int64_t now_ms = clock_boot_ms();
	int64_t next_ms = atomic_load(&links->cells->warn_ms);

	if (now_ms < next_ms ||
		!atomic_compare_exchange_strong(&links->cells->warn_ms, &next_ms,
			now_ms + CELL_WARN_MS))
		return;
	log_line(LOG_LEVEL_ERROR, "dealer_in_two_cells",
		"casino_id=%s cells=\"%s %s\" remedy=\"no call of this dealer is served; "
		"creditbridgectl doctor describes what to do\"",
		casino_id, links->list[first].cell->name, links->list[second].cell->name);
}

enum status cell_links_dealer(struct cell_links *links, const char *casino_id, int64_t now_ms,
	int64_t deadline_ms, unsigned int *at)
{
	unsigned int holders = holders_of(links, casino_id);
	enum status status = refresh_holders(links, holders, now_ms, deadline_ms);

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

enum status cell_links_clients(struct cell_links *links, int64_t now_ms, int64_t deadline_ms,
	unsigned int *at)
{
	const unsigned int count = links->cells->count;
	enum status status;

	for (*at = 0; *at < count; ++*at) {
		const struct cell_link *entry = &links->list[*at];

		if (keyring_is_fresh(&entry->keyrings[KEYRING_CLIENTS], entry->link, now_ms))
			return STATUS_OK;
	}
	/* A silent cell is the last choice. */
	for (unsigned int i = 0; i < 2 * count; i++) {
		struct cell_link *entry = &links->list[i % count];

		*at = i % count;
		if ((atomic_load(&entry->cell->silent_ms) != 0) != (i >= count))
			continue;
		status = cell_refresh(entry, KEYRING_CLIENTS, now_ms,
			look_deadline_ms(entry, deadline_ms));
		if (!status)
			return status;
	}
	*at = 0;
	return cell_refresh(&links->list[0], KEYRING_CLIENTS, now_ms, deadline_ms);
}
