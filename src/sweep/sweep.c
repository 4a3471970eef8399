#include "sweep/sweep.h"

#include "base/clock.h"
#include "base/pack.h"
#include "callback/granted.h"
#include "link/client.h"
#include "wire/signature.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Interval of requests to the ledger while idle ... */
#define FIND_EVERY_MS 1000
/* ... and after an attempt has ended. A request examines the queues of all dealers. */
#define FIND_PAUSE_MS 10
/* Pause before a command is repeated that the ledger had no room for. */
#define BUSY_PAUSE_MS 20

/* A running attempt. */
struct flight {
	/* first member: its address is the flight's; free if it has no casino_id */
	struct granted granted;
	struct flight *next_free;
};

struct sweep {
	const struct settings *settings;
	const struct sweep_options *options; /* NULL: lists only */
	struct report *report;
	struct link link;
	struct sender *sender;
	struct flight *flights; /* sweep_concurrency of them */
	struct flight *free;
	struct due_entry *found; /* CALLBACK_FIND_MAX of them */
	int64_t looked_ms;       /* boot time of the last look */
	bool progress;           /* an attempt ended since then, so another request may find more */
	bool full;          /* the ledger's storage is full: this time only takeovers are claimed */
	bool stopping;      /* no further claims */
	bool cut_off;       /* and the ledger cannot be reached */
	enum status status; /* the first failure ... */
	char *why;          /* ... in words */
};

/*
 * Records the first failure and stops further claims. Exceptions are failures of this command only,
 * and full storage, because takeovers need none.
 */
static void sweep_fail(struct sweep *sweep, enum status status, enum command command,
	const char *text)
{
	sweep->full |= status == STATUS_FULL;
	sweep->stopping |= status != STATUS_FAULT && status != STATUS_FULL;
	if (sweep->status != STATUS_OK)
		return;
	sweep->status = status;
	snprintf(sweep->why, SWEEP_WHY_MAX, "%s at %s: %s", command_infos[command].name,
		sweep->link.path, text);
}

/*
 * Continues running calls while the ledger is slow. Otherwise a dealer's response, unread until the
 * timeout, would be lost.
 */
static void drive_fiber(void *closure)
{
	struct sweep *sweep = closure;

	sender_run(sweep->sender, 0);
}

/*
 * Sends a command to the ledger for up to ledger_deadline_ms. Returns false if it failed or got a
 * refusal that applies to every dealer.
 */
static bool ask_ledger(struct sweep *sweep, enum command command, const void *cmd, void *result)
{
	int64_t deadline_ms = clock_boot_ms() + sweep->settings->ledger_deadline_ms;
	const struct verdict *verdict = result;
	enum status status;

	for (;;) {
		status = link_call(&sweep->link, command, cmd, result, deadline_ms);
		if (status != STATUS_BUSY || clock_boot_ms() + BUSY_PAUSE_MS >= deadline_ms)
			break;
		if (sweep->sender)
			drive_fiber(sweep);
		clock_sleep_ms(BUSY_PAUSE_MS);
	}
	if (status != STATUS_OK) {
		sweep->cut_off |= status != STATUS_FAULT;
		sweep_fail(sweep, status, command, status_text(status));
		return false;
	}
	if (verdict->refusal == REFUSAL_STORAGE_FULL) {
		sweep_fail(sweep, STATUS_FULL, command, refusal_info(verdict->refusal)->detail);
		return false;
	}
	return true;
}

static void log_end(const struct callback_end_cmd *cmd, const struct callback_end_result *end)
{
	const struct callback_outcome *outcome = &cmd->outcome;
	char id[CALLBACK_EVENT_ID_SIZE], note[LOG_QUOTED_MAX];

	callback_event_id(cmd->kind, cmd->event, id);
	log_line(LOG_LEVEL_INFO, "callback",
		"webhook_id=%s casino_id=%s attempt=%" PRIu32 " class=%s http_status=%u ms=%" PRIu32
		" state=%s next_ms=%" PRId64 "%s%s%s%s",
		id, cmd->casino_id, cmd->attempt, callback_class_names[outcome->class],
		outcome->http_status, outcome->ms, callback_state_names[end->state], end->next_ms,
		end->late ? " late=1" : "", outcome->note[0] ? " note=\"" : "",
		log_quote(note, outcome->note), outcome->note[0] ? "\"" : "");
}

/* Reports the outcome of @flight to the ledger and frees the slot. */
static void end_flight(struct sweep *sweep, struct flight *flight,
	const struct callback_outcome *outcome)
{
	struct callback_end_cmd *cmd = &flight->granted.end;
	struct callback_end_result end = {0};

	cmd->outcome = *outcome;
	if (!sweep->cut_off && ask_ledger(sweep, COMMAND_CALLBACK_END, cmd, &end)) {
		log_end(cmd, &end);
		/*
		 * A repeated command is late too. What counts is whether another sender continued.
		 */
		if (end.verdict.refusal != REFUSAL_NONE ||
			(end.late && end.attempts != cmd->attempt))
			report_count(sweep->report, cmd->casino_id, SWEPT_LATE);
		else
			report_state(sweep->report, cmd->casino_id, cmd->kind, cmd->event,
				end.state);
	}
	cmd->casino_id[0] = '\0';
	flight->next_free = sweep->free;
	sweep->free = flight;
	sweep->progress = true;
}

/* Continues running attempts for up to @timeout_ms and ends finished ones. */
static void work_client(struct sweep *sweep, uint32_t timeout_ms)
{
	struct callback_outcome outcome;
	void *closure;

	sender_run(sweep->sender, timeout_ms);
	while (sender_take(sweep->sender, &outcome, &closure)) {
		end_flight(sweep, closure, &outcome);
		/* Reporting many ends takes time too. */
		drive_fiber(sweep);
	}
}

/* Begins the attempt of @grant. There is a free slot. */
static void send_granted(struct sweep *sweep, const char *casino_id,
	const struct callback_grant *grant)
{
	struct callback_outcome outcome = {.class = CALLBACK_NOT_SENT, .note = "out of memory"};
	struct flight *flight = sweep->free;
	struct callback_request request = granted_request(&flight->granted, grant, casino_id,
		sweep->settings->callback_timeout_ms);

	sweep->free = flight->next_free;
	report_count(sweep->report, casino_id, SWEPT_SENT);
	if (!sender_add(sweep->sender, &request))
		end_flight(sweep, flight, &outcome);
}

static void note_takeover(struct sweep *sweep, const struct due_entry *entry,
	const struct callback_claim_result *claimed)
{
	char id[CALLBACK_EVENT_ID_SIZE];

	callback_event_id(entry->kind, entry->event, id);
	log_line(LOG_LEVEL_INFO, "callback_taken_over",
		"webhook_id=%s casino_id=%s attempt=%" PRIu32 " state=%s next_ms=%" PRId64, id,
		entry->casino_id, claimed->attempts, callback_state_names[claimed->state],
		claimed->next_ms);
	report_count(sweep->report, entry->casino_id, SWEPT_TAKEN_OVER);
	report_state(sweep->report, entry->casino_id, entry->kind, entry->event, claimed->state);
	sweep->progress = true;
}

/* Claims @entry and begins to send it, or takes it over. There is a free slot. */
static void claim_event(struct sweep *sweep, const struct due_entry *entry)
{
	struct callback_claim_cmd cmd = {.event = entry->event};
	struct callback_claim_result claimed = {0};

	if (!signature_random_number(&cmd.sender)) {
		sweep_fail(sweep, STATUS_IO, COMMAND_CALLBACK_CLAIM,
			"the kernel gives no random "
			"numbers: allow the system call getrandom");
		return;
	}
	if (!ask_ledger(sweep, COMMAND_CALLBACK_CLAIM, &cmd, &claimed))
		return;
	if (claimed.verdict.refusal == REFUSAL_DEALER_BUSY)
		report_count(sweep->report, entry->casino_id, SWEPT_REFUSED_BUSY);
	else if (claimed.verdict.refusal == REFUSAL_NONE && claimed.taken_over)
		note_takeover(sweep, entry, &claimed);
	else if (claimed.verdict.refusal == REFUSAL_NONE && claimed.send.event)
		send_granted(sweep, entry->casino_id, &claimed.send);
	/* Any other refusal: another sender or the operator was faster. */
	explicit_bzero(&claimed.send.target, sizeof(claimed.send.target));
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
	int64_t pause_ms = sweep->progress ? FIND_PAUSE_MS : FIND_EVERY_MS;

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
static bool may_take_place(const struct sweep *sweep, const struct due_entry *entry)
{
	uint32_t places = sweep->settings->sweep_concurrency;

	if (entry->takeover || sweep->full)
		return entry->takeover;
	return places - sender_count(sweep->sender) > places / 4 ||
		!sends_to(sweep, entry->casino_id);
}

/* Fills the free slots. */
static void claim_some(struct sweep *sweep)
{
	uint32_t count;

	if (!sweep->free || look_in_ms(sweep) > 0)
		return;
	/* Request more than there are slots: some may be skipped. */
	count = find_due(sweep, CALLBACK_FIND_MAX);
	for (uint32_t i = 0; i < count && sweep->free && may_claim(sweep); i++) {
		if (may_take_place(sweep, &sweep->found[i]))
			claim_event(sweep, &sweep->found[i]);
		/* Running attempts do not wait for other claims. */
		work_client(sweep, 0);
	}
}

/* Sleeps until the next request or the end of the run. A stop signal interrupts the sleep. */
static void rest_between(struct sweep *sweep)
{
	int64_t ms = look_in_ms(sweep), left_ms = sweep->options->until_ms - clock_boot_ms();
	struct timespec time;

	if (sweep->options->until_ms && left_ms < ms)
		ms = left_ms;
	if (ms <= 0)
		return;
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
		sweep->flights[i].next_free = sweep->free;
		sweep->free = &sweep->flights[i];
	}
	return true;
}

/* Returns false if the socket's path is too long, which the limit of the setting prevents. */
static bool open_link(struct sweep *sweep)
{
	char path[SETTINGS_PATH_MAX + 16];

	snprintf(path, sizeof(path), "%s/edge.sock", sweep->settings->socket_directory);
	return link_init(&sweep->link, path);
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
	return sweep.status;
}
