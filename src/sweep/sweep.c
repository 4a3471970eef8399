#include "sweep/run.h"
#include "sweep/sweep.h"

#include "base/clock.h"
#include "base/pack.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Interval of requests to the ledger while idle ... */
#define FIND_EVERY_MS 1000
/* ... and after an attempt has ended. A request examines the queues of all dealers. */
#define FIND_PAUSE_MS 2

/*
 * Continues running calls while the ledger is slow. Otherwise a dealer's response, unread until the
 * timeout, would be lost.
 */
static void drive_fiber(void *closure)
{
	struct sweep *sweep = closure;

	sender_run(sweep->sender, 0);
}

/* Continues running attempts for up to @timeout_ms and ends finished ones. */
static void work_client(struct sweep *sweep, uint32_t timeout_ms)
{
	struct callback_outcome outcome;
	struct flight *flight;
	void *closure;

	sender_watch(sweep->sender, waking_fd(&sweep->waking));
	sender_run(sweep->sender, timeout_ms);
	while (sender_take(sweep->sender, &outcome, &closure)) {
		flight = closure;
		flight->granted.end.outcome = outcome;
		flight->next = sweep->ended;
		sweep->ended = flight;
	}
	report_ended(sweep);
}

static bool may_claim(struct sweep *sweep)
{
	const struct timespec at_once = {0};

	if (sigtimedwait(&sweep->options->stop, NULL, &at_once) > 0) {
		log_line(LOG_LEVEL_INFO, "stopping", "under_way=%u", sender_count(sweep->sender));
		sweep->stopping = true;
	}
	return !sweep->stopping &&
		(!sweep->options->until_ms || clock_boot_ms() < sweep->options->until_ms);
}

/* Requests up to @most claimable callbacks. Returns the number in sweep->found. */
static uint32_t find_due(struct sweep *sweep, uint32_t most)
{
	struct callback_find_cmd cmd = {.most = most, .sweeping = sweep->options != NULL};
	struct callback_find_result result = {0};
	uint32_t count = 0;

	sweep->progress = false;
	sweep->full = false;
	sweep->looked_ms = clock_boot_ms();
	/* First, so that what becomes due meanwhile wakes the sweeper again. */
	if (sweep->options && sweep->options->until_ms)
		waking_arm(&sweep->waking, sweep->looked_ms);
	if (!ask_ledger(sweep, COMMAND_CALLBACK_FIND, &cmd, &result))
		return 0;
	sweep->report->waiting = result.waiting;
	/* The entries are in the link's buffer, valid until its next call. */
	while (count < most && count < result.count &&
		unpack_record(&result.entries, due_entry_fields, &sweep->found[count]))
		count++;
	return count;
}

/* Returns the time to the next request. */
static int64_t look_in_ms(const struct sweep *sweep)
{
	bool soon = sweep->progress || sweep->waking.woken;
	int64_t pause_ms = soon ? FIND_PAUSE_MS : FIND_EVERY_MS;

	return sweep->looked_ms + pause_ms - clock_boot_ms();
}

static bool sends_to(const struct sweep *sweep, const char *casino_id)
{
	for (uint32_t i = 0; i < sweep->settings->sweep_concurrency; i++) {
		if (strcmp(sweep->flights[i].granted.end.casino_id, casino_id) == 0)
			return true;
	}
	return false;
}

/*
 * The last quarter of the slots is reserved for dealers without running attempts. So dealers that
 * hang, and occupy many slots, do not block the others.
 */
static bool may_take_place(const struct sweep *sweep, const struct due_entry *entry,
	uint32_t claiming)
{
	uint32_t places = sweep->settings->sweep_concurrency;

	if (entry->takeover || sweep->full)
		return entry->takeover;
	return places - sender_count(sweep->sender) - claiming > places / 4 ||
		!sends_to(sweep, entry->casino_id);
}

/* Fills the free slots. */
static void claim_some(struct sweep *sweep)
{
	struct claim claims[LINK_SEVERAL_MAX];
	uint32_t found, at = 0, count, begun = 0;

	if (!sweep->free || look_in_ms(sweep) > 0)
		return;
	/* Request more than there are slots: some may be skipped. */
	found = find_due(sweep, CALLBACK_FIND_MAX);
	while (at < found && sweep->free && may_claim(sweep)) {
		for (count = 0; at < found && sweep->free && count < LINK_SEVERAL_MAX; at++) {
			if (!may_take_place(sweep, &sweep->found[at], count))
				continue;
			if (!claim_prepare(sweep, &sweep->found[at], &claims[count]))
				break;
			count++;
		}
		if (count)
			begun += claim_several(sweep, claims, count);
		/* Running attempts do not wait for other claims. */
		work_client(sweep, 0);
	}
	/* A callback that cannot be claimed would wake the sweeper again and again. */
	if (found && !begun)
		waking_ignore(&sweep->waking, clock_boot_ms() + FIND_EVERY_MS);
}

/*
 * Sleeps until the next request or the end of the run. A stop signal and a due callback interrupt the
 * sleep.
 */
static void rest_between(struct sweep *sweep)
{
	int64_t ms = look_in_ms(sweep), left_ms = sweep->options->until_ms - clock_boot_ms();
	struct timespec time;

	if (sweep->options->until_ms && left_ms < ms)
		ms = left_ms;
	if (ms <= 0)
		return;
	if (waking_fd(&sweep->waking) >= 0) {
		waking_sleep(&sweep->waking, ms);
		return;
	}
	time = (struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
	if (sigtimedwait(&sweep->options->stop, NULL, &time) > 0)
		sweep->stopping = true;
}

/* Runs until an attempt has ended or the next request is due. */
static void work_on(struct sweep *sweep, bool claiming)
{
	int64_t ms = FIND_EVERY_MS;

	if (claiming && sweep->free)
		ms = look_in_ms(sweep);
	work_client(sweep, ms > 0 ? (uint32_t)ms : 0);
}

static void sweep_loop(struct sweep *sweep)
{
	bool claiming;

	for (;;) {
		waking_look(&sweep->waking);
		claiming = may_claim(sweep);
		if (claiming)
			claim_some(sweep);
		if (sender_count(sweep->sender))
			work_on(sweep, claiming);
		else if (!claiming || (!sweep->progress && !sweep->options->until_ms))
			return;
		else
			rest_between(sweep);
	}
}

/* Returns false if memory is exhausted. */
static bool prepare_sweep(struct sweep *sweep)
{
	const struct settings *settings = sweep->settings;
	const struct sender_options options = sender_options_of(settings);
	uint32_t places = settings->sweep_concurrency;

	sweep->sender = sender_new(&options);
	sweep->flights = calloc(places, sizeof(*sweep->flights));
	sweep->found = calloc(CALLBACK_FIND_MAX, sizeof(*sweep->found));
	if (!sweep->sender || !sweep->flights || !sweep->found)
		return false;
	sweep->link.idle = drive_fiber;
	sweep->link.idle_closure = sweep;
	for (uint32_t i = 0; i < places; i++) {
		sweep->flights[i].next = sweep->free;
		sweep->free = &sweep->flights[i];
	}
	return true;
}

/* Returns false if the socket's path is too long, which the limit of the setting prevents. */
static bool open_link(struct sweep *sweep)
{
	char path[SETTINGS_PATH_MAX + 16];

	snprintf(path, sizeof(path), "%s/edge.sock", sweep->settings->socket_directory);
	return waking_open(&sweep->waking, path, sweep->options ? &sweep->options->stop : NULL) &&
		link_init(&sweep->link, path);
}

enum status sweep_run(const struct sweep_options *options, struct report *report,
	char why[SWEEP_WHY_MAX])
{
	struct sweep sweep = {.settings = options->settings,
		.options = options,
		.report = report,
		.why = why,
		.progress = true};

	if (!open_link(&sweep) || !prepare_sweep(&sweep)) {
		sweep.status = STATUS_NOMEM;
		snprintf(why, SWEEP_WHY_MAX, "%s", status_text(STATUS_NOMEM));
		goto out;
	}
	sweep_loop(&sweep);
	/* Request how many callbacks are left now. */
	if (sweep.status == STATUS_OK)
		find_due(&sweep, 1);
out:
	sender_free(sweep.sender);
	free(sweep.flights);
	free(sweep.found);
	link_close(&sweep.link);
	waking_close(&sweep.waking);
	return sweep.status;
}

enum status sweep_look(const struct settings *settings, bool json, FILE *out,
	char why[SWEEP_WHY_MAX])
{
	static struct due_entry found[CALLBACK_FIND_MAX];
	struct report report;
	struct sweep sweep = {.settings = settings, .report = &report, .found = found, .why = why};
	uint32_t count;

	report_init(&report);
	if (!open_link(&sweep)) {
		snprintf(why, SWEEP_WHY_MAX,
			"the path of edge.sock is too long: shorten "
			"socket_directory");
		return STATUS_CONFIG;
	}
	count = find_due(&sweep, CALLBACK_FIND_MAX);
	if (sweep.status == STATUS_OK &&
		!report_print_due(found, count, report.waiting, json, out)) {
		sweep.status = STATUS_NOMEM;
		snprintf(why, SWEEP_WHY_MAX, "%s", status_text(STATUS_NOMEM));
	}
	link_close(&sweep.link);
	waking_close(&sweep.waking);
	return sweep.status;
}
