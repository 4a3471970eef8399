/*
 * attempts - claims callbacks and reports their ends. Commands for several callbacks go to the ledger
 * together, so that they share a commit.
 */
#include "sweep/run.h"

#include "base/clock.h"
#include "base/text.h"
#include "sweep/sweep.h"
#include "wire/signature.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Pause before a command is repeated that the ledger had no room for. */
#define BUSY_PAUSE_MS 20

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

/* Returns false if the command failed, or the ledger refused what it refuses for every dealer. */
static bool is_answer(struct sweep *sweep, enum command command, enum status status,
	const void *result)
{
	const struct verdict *verdict = result;

	if (status != STATUS_OK) {
		sweep->cut_off |= status != STATUS_FAULT;
		sweep_fail(sweep, status, command, status_text(status));
		return false;
	}
	if (verdict->refusal != REFUSAL_STORAGE_FULL)
		return true;
	sweep_fail(sweep, STATUS_FULL, command, refusal_info(verdict->refusal)->detail);
	return false;
}

bool ask_ledger(struct sweep *sweep, enum command command, const void *cmd, void *result)
{
	int64_t deadline_ms = clock_boot_ms() + sweep->settings->ledger_deadline_ms;
	enum status status;

	for (;;) {
		status = link_call(&sweep->link, command, cmd, result, deadline_ms);
		if (status != STATUS_BUSY || clock_boot_ms() + BUSY_PAUSE_MS >= deadline_ms)
			break;
		if (sweep->sender)
			sender_run(sweep->sender, 0);
		clock_sleep_ms(BUSY_PAUSE_MS);
	}
	return is_answer(sweep, command, status, result);
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

static void free_flight(struct sweep *sweep, struct flight *flight)
{
	flight->granted.end.casino_id[0] = '\0';
	flight->next = sweep->free;
	sweep->free = flight;
}

/* Counts the end of an attempt by the ledger's answer. */
static void count_end(struct sweep *sweep, const struct callback_end_cmd *cmd,
	const struct callback_end_result *end)
{
	log_end(cmd, end);
	/* A repeated command is late too. The difference is whether another sender continued. */
	if (end->verdict.refusal != REFUSAL_NONE || (end->late && end->attempts != cmd->attempt))
		report_count(sweep->report, cmd->casino_id, SWEPT_LATE);
	else
		report_state(sweep->report, cmd->casino_id, cmd->kind, cmd->event, end->state);
}

/* Ends that were sent together. */
struct ends {
	struct sweep *sweep;
	struct flight *flights[LINK_SEVERAL_MAX]; /* NULL: answered */
};

static void end_answered(void *closure, unsigned int at, enum status status, const void *result)
{
	struct ends *ends = closure;

	if (status == STATUS_BUSY)
		return;
	if (is_answer(ends->sweep, COMMAND_CALLBACK_END, status, result))
		count_end(ends->sweep, &ends->flights[at]->granted.end, result);
	free_flight(ends->sweep, ends->flights[at]);
	ends->flights[at] = NULL;
}

/* Reports the end of one attempt for which the ledger had no room, or after a failure only frees it. */
static void report_alone(struct sweep *sweep, struct flight *flight)
{
	struct callback_end_result end = {0};

	if (!sweep->cut_off && ask_ledger(sweep, COMMAND_CALLBACK_END, &flight->granted.end, &end))
		count_end(sweep, &flight->granted.end, &end);
	free_flight(sweep, flight);
}

void report_ended(struct sweep *sweep)
{
	const void *cmds[LINK_SEVERAL_MAX];
	struct ends ends = {.sweep = sweep};
	unsigned int count;

	while (sweep->ended) {
		for (count = 0; count < LINK_SEVERAL_MAX && sweep->ended; count++) {
			ends.flights[count] = sweep->ended;
			cmds[count] = &sweep->ended->granted.end;
			sweep->ended = sweep->ended->next;
		}
		if (!sweep->cut_off)
			link_call_several(&sweep->link, COMMAND_CALLBACK_END, cmds, count,
				end_answered, &ends,
				clock_boot_ms() + sweep->settings->ledger_deadline_ms);
		for (unsigned int at = 0; at < count; at++) {
			if (ends.flights[at])
				report_alone(sweep, ends.flights[at]);
		}
		sweep->progress = true;
	}
}

bool claim_prepare(struct sweep *sweep, const struct due_entry *entry, struct claim *claim)
{
	struct flight *flight = sweep->free;

	*claim = (struct claim){.entry = entry, .flight = flight, .open = true};
	claim->cmd.event = entry->event;
	if (!signature_random_number(&claim->cmd.sender)) {
		sweep_fail(sweep, STATUS_IO, COMMAND_CALLBACK_CLAIM,
			"the kernel gives no random "
			"numbers: allow the system call getrandom");
		return false;
	}
	sweep->free = flight->next;
	/* From now on the dealer counts as being sent to. */
	text_copy(flight->granted.end.casino_id, sizeof(flight->granted.end.casino_id),
		entry->casino_id);
	return true;
}

/* Begins the attempt of @grant. The ledger's link may be in use. */
static void send_granted(struct sweep *sweep, struct flight *flight, const char *casino_id,
	const struct callback_grant *grant)
{
	struct callback_request request = granted_request(&flight->granted, grant,
		sweep->link.asked_ms, casino_id, sweep->settings->callback_timeout_ms);

	report_count(sweep->report, casino_id, SWEPT_SENT);
	if (sender_add(sweep->sender, &request))
		return;
	flight->granted.end.outcome =
		(struct callback_outcome){.class = CALLBACK_NOT_SENT, .note = "out of memory"};
	flight->next = sweep->ended;
	sweep->ended = flight;
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

/* Claims that were sent together. */
struct claims {
	struct sweep *sweep;
	struct claim *list;
	unsigned int begun; /* sent or taken over */
};

static void take_claim(struct claims *claims, struct claim *claim,
	const struct callback_claim_result *claimed)
{
	struct sweep *sweep = claims->sweep;
	const struct due_entry *entry = claim->entry;
	const bool granted = claimed->verdict.refusal == REFUSAL_NONE;

	claims->begun += granted;
	if (granted && !claimed->taken_over && claimed->send.event) {
		send_granted(sweep, claim->flight, entry->casino_id, &claimed->send);
		return;
	}
	free_flight(sweep, claim->flight);
	if (claimed->verdict.refusal == REFUSAL_DEALER_BUSY)
		report_count(sweep->report, entry->casino_id, SWEPT_REFUSED_BUSY);
	else if (granted && claimed->taken_over)
		note_takeover(sweep, entry, claimed);
	/* Any other refusal: another sender or the operator was faster. */
}

static void claim_answered(void *closure, unsigned int at, enum status status, const void *result)
{
	struct claims *claims = closure;

	if (status == STATUS_BUSY)
		return;
	claims->list[at].open = false;
	if (is_answer(claims->sweep, COMMAND_CALLBACK_CLAIM, status, result))
		take_claim(claims, &claims->list[at], result);
	else
		free_flight(claims->sweep, claims->list[at].flight);
}

unsigned int claim_several(struct sweep *sweep, struct claim *claims, unsigned int count)
{
	struct claims asked = {.sweep = sweep, .list = claims};
	const void *cmds[LINK_SEVERAL_MAX];
	struct callback_claim_result claimed;

	for (unsigned int at = 0; at < count; at++)
		cmds[at] = &claims[at].cmd;
	link_call_several(&sweep->link, COMMAND_CALLBACK_CLAIM, cmds, count, claim_answered, &asked,
		clock_boot_ms() + sweep->settings->ledger_deadline_ms);
	/* Those for which the ledger had no room. */
	for (unsigned int at = 0; at < count; at++) {
		if (!claims[at].open)
			continue;
		memset(&claimed, 0, sizeof(claimed));
		if (!sweep->stopping && !sweep->full &&
			ask_ledger(sweep, COMMAND_CALLBACK_CLAIM, &claims[at].cmd, &claimed))
			take_claim(&asked, &claims[at], &claimed);
		else
			free_flight(sweep, claims[at].flight);
	}
	explicit_bzero(&claimed, sizeof(claimed));
	report_ended(sweep);
	return asked.begun;
}
