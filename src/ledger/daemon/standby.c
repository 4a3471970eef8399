#include "ledger/daemon/standby.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LOOK_MS 100

struct standby_watch {
	const struct standby_options *options;
	struct store_watch *watch;
	struct claim_rule rule;
	struct store_cell cell; /* as the last look showed it */
	bool known;             /* @cell is set */
	bool reachable;
	int64_t note_ms; /* boot time when this host's row is written next */
};

/* Reports the active ledger if it is another one than before. */
static void follow_cell(struct standby_watch *standing, const struct store_cell *cell)
{
	const struct store_claim *own = standing->options->store->claim;
	/* An earlier supervisor of this host ended without a release: nothing serves there. */
	const bool of_own_host = own && strcmp(cell->holder, own->member) == 0;
	const bool changed = !standing->known || standing->cell.epoch != cell->epoch ||
		strcmp(standing->cell.holder, cell->holder) != 0;

	standing->cell = *cell;
	standing->known = true;
	/* An engine of this supervisor that ended is no news: this one goes on. */
	if (!changed || cell->run == standing->rule.run)
		return;
	log_line(LOG_LEVEL_INFO, "ledger_standby", "active=%s address=%s epoch=%lld",
		cell->holder[0] ? cell->holder : "-", cell->address[0] ? cell->address : "-",
		(long long)cell->epoch);
	if (standing->options->news)
		standing->options->news(standing->options->context, of_own_host ? NULL : cell);
}

static void follow_reach(struct standby_watch *standing, bool reachable, const char *why)
{
	if (standing->reachable && !reachable)
		log_line(LOG_LEVEL_WARNING, "standby_blind", "reason=\"%s\"", why);
	standing->reachable = reachable;
	if (!reachable)
		claim_forget(&standing->rule);
}

/* One look. Returns STATUS_BUSY if the ledger may not claim yet. */
static enum status look_once(struct standby_watch *standing, char *why, size_t why_size)
{
	const struct store_claim *claim = standing->options->store->claim;
	struct store_cell cell;
	const enum status status = standing->watch->look(standing->watch, &cell, why, why_size);
	const int64_t now_ms = clock_boot_ms();

	if (status == STATUS_IO) {
		follow_reach(standing, false, why);
		return STATUS_BUSY;
	}
	if (status)
		return status;
	follow_reach(standing, true, "");
	follow_cell(standing, &cell);
	if (claim && now_ms >= standing->note_ms) {
		standing->note_ms = now_ms + STORE_MEMBER_MS;
		standing->watch->note(standing->watch, claim);
	}
	return claim_may(&standing->rule, &cell, now_ms) ? STATUS_OK : STATUS_BUSY;
}

/* Waits until the next look. Returns false if the process is to stop; the engine blocks these signals. */
static bool wait_for_look(void)
{
	const struct timespec pause = {.tv_nsec = LOOK_MS * 1000000L};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	return sigtimedwait(&set, NULL, &pause) < 0;
}

enum status standby_wait(const struct standby_options *options, struct store_claim *claim,
	char *why, size_t why_size)
{
	struct standby_watch standing = {.options = options,
		.rule = {.run = claim->run, .takeover_ms = options->takeover_ms},
		.reachable = true};
	enum status status = store_watch_open(options->store, &standing.watch, why, why_size);

	if (status)
		return status;
	while ((status = look_once(&standing, why, why_size)) == STATUS_BUSY) {
		if (!wait_for_look()) {
			snprintf(why, why_size, "it is to stop");
			break;
		}
	}
	standing.watch->close(standing.watch);
	claim->looked = status == STATUS_OK;
	claim->epoch = standing.cell.epoch;
	claim->turn = standing.cell.turn;
	if (status == STATUS_NOT_FOUND)
		return options->first ? STATUS_OK : STATUS_CONFIG;
	return status;
}

enum status standby_check_unserved(const struct store_options *options, uint32_t takeover_ms,
	char *why, size_t why_size)
{
	struct claim_rule rule = {.takeover_ms = takeover_ms};
	struct store_watch *watch;
	struct store_cell cell, first = {.turn = -1};
	enum status status = store_watch_open(options, &watch, why, why_size);

	if (status)
		return status;
	for (;;) {
		status = watch->look(watch, &cell, why, why_size);
		if (first.turn < 0)
			first = cell;
		if (status || claim_may(&rule, &cell, clock_boot_ms()))
			break;
		if (cell.epoch != first.epoch || cell.turn != first.turn) {
			snprintf(why, why_size,
				"the ledger of %s serves this data: stop it and those that stand by first",
				cell.holder);
			status = STATUS_BUSY;
			break;
		}
		clock_sleep_ms(LOOK_MS);
	}
	watch->close(watch);
	return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

const char *standby_member(const struct settings *settings, char name[STORE_MEMBER_SIZE])
{
	if (settings->cell_member[0] || gethostname(name, STORE_MEMBER_SIZE - 1) < 0)
		text_copy(name, STORE_MEMBER_SIZE, settings->cell_member);
	name[STORE_MEMBER_SIZE - 1] = '\0';
	return name;
}
