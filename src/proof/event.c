#include "proof/event.h"

#include "domain/delivery.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void __attribute__((format(printf, 2, 3)))
accuse(struct event_reading *reading, const char *format, ...)
{
	char what[PROOF_LINE_SIZE / 2], id[CALLBACK_EVENT_ID_SIZE];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(what, sizeof(what), format, arguments);
	va_end(arguments);
	if (reading->there)
		callback_event_id(reading->callback.kind, reading->event, id);
	else
		snprintf(id, sizeof(id), "%" PRIu64, reading->event);
	proof_fault(&reading->faults, "callback %s %s", id, what);
}

void proof_event_begin(struct event_reading *reading, struct proof *proof, uint64_t event)
{
	memset(reading, 0, sizeof(*reading));
	reading->proof = proof;
	reading->event = event;
}

/* ---- the callback by itself */

/* The possible states of each kind. A betting is made and sent at once. */
#define STATE(state) (1u << CALLBACK_##state)
static const unsigned int kind_states[CALLBACK_KIND_COUNT] = {
	[CALLBACK_BETTING] = STATE(SENDING) | STATE(DELIVERED) | STATE(FAILED),
	[CALLBACK_BETTING_RESULT] = STATE(DUE) | STATE(SENDING) | STATE(DELIVERED) | STATE(PARKED) |
		STATE(HELD) | STATE(CANCELLED),
	[CALLBACK_BETTING_CORRECTION] = STATE(DUE) | STATE(SENDING) | STATE(DELIVERED) |
		STATE(PARKED) | STATE(HELD) | STATE(CANCELLED),
	[CALLBACK_BETTING_REFUND] = STATE(DUE) | STATE(SENDING) | STATE(DELIVERED) | STATE(PARKED) |
		STATE(HELD) | STATE(CANCELLED),
};
/* These states require an attempt. */
static const unsigned int tried_states = STATE(SENDING) | STATE(DELIVERED) | STATE(FAILED);

static bool is_one_of(const struct callback *callback, unsigned int states)
{
	return states & 1u << callback->state;
}

static void check_end(struct event_reading *reading)
{
	const struct callback *callback = &reading->callback;
	bool cancelled = callback->state == CALLBACK_CANCELLED;

	if (callback_has_ended(callback->state) != (callback->ended_ms != 0))
		accuse(reading, "is %s %s", callback_state_names[callback->state],
			callback->ended_ms ? "and has an end" : "without an end");
	if (cancelled != (callback->resolved_by[0] != '\0'))
		accuse(reading, "is %s %s", callback_state_names[callback->state],
			cancelled ? "by no process" : "and resolved by an operator");
	if (callback->once_more && callback->state != CALLBACK_DUE &&
		callback->state != CALLBACK_SENDING && callback->state != CALLBACK_HELD)
		accuse(reading, "is %s and to be sent once more",
			callback_state_names[callback->state]);
	if (callback->unknown_to_dealer &&
		(callback->kind != CALLBACK_BETTING_REFUND ||
			callback->state != CALLBACK_DELIVERED ||
			callback->last_class != CALLBACK_REFUSED))
		accuse(reading, "cannot be unknown to the dealer");
	if (callback->known_to_dealer &&
		(callback->kind == CALLBACK_BETTING || callback->attempts < 2 ||
			!callback->maybe_performed || callback->unknown_to_dealer ||
			callback->state != CALLBACK_DELIVERED ||
			callback->last_class != CALLBACK_REFUSED))
		accuse(reading, "cannot be known to the dealer");
	if (callback->state == CALLBACK_DELIVERED && callback->last_class != CALLBACK_SUCCESS &&
		!callback->unknown_to_dealer && !callback->known_to_dealer)
		accuse(reading, "is delivered and was answered by no success");
	if (callback->path[0] &&
		(callback->kind != CALLBACK_BETTING_CORRECTION ||
			!callback_path_ok(callback->path)))
		accuse(reading, "has a path of its own");
	if (callback->state == CALLBACK_FAILED && callback->last_class == CALLBACK_SUCCESS)
		accuse(reading, "has failed and was answered by a success");
}

/* An adjustment stands for a result that was parked, and is never sent again. */
static void check_adjusted(struct event_reading *reading)
{
	static const unsigned int states = STATE(PARKED) | STATE(HELD) | STATE(CANCELLED);
	const struct callback *callback = &reading->callback;

	if (callback->adjusted_by &&
		(callback->kind != CALLBACK_BETTING_RESULT || !is_one_of(callback, states)))
		accuse(reading, "is %s although an adjustment stands for it",
			callback_state_names[callback->state]);
}

const char *proof_event_adjusted(const struct callback *callback, const struct transaction *entry)
{
	if (!entry)
		return "names an adjustment that does not exist";
	if (entry->kind != ENTRY_ADJUST || strcmp(entry->casino_id, callback->casino_id) != 0 ||
		strcmp(entry->player_id, callback->player_id) != 0)
		return "names a transaction that is no adjustment of its player";
	return NULL;
}

static void check_attempts(struct event_reading *reading)
{
	const struct callback *callback = &reading->callback;

	if (!callback->attempts && is_one_of(callback, tried_states))
		accuse(reading, "is %s without an attempt", callback_state_names[callback->state]);
	if (callback->kind == CALLBACK_BETTING && callback->attempts > 1)
		accuse(reading, "was sent %" PRIu32 " times", callback->attempts);
	if (callback->kind != CALLBACK_BETTING_REFUND && callback->state == CALLBACK_PARKED &&
		callback->attempts < PROOF_RESULT_ATTEMPTS)
		accuse(reading, "is parked after %" PRIu32 " attempts", callback->attempts);
}

void proof_event_callback(struct event_reading *reading, const struct callback *callback)
{
	reading->callback = *callback;
	reading->there = true;
	proof_hash_callback(reading->proof, callback, &reading->link);
	if (!is_one_of(callback, kind_states[callback->kind])) {
		accuse(reading, "cannot be %s", callback_state_names[callback->state]);
		return;
	}
	if ((callback->bet_number != 0) !=
		(callback->kind == CALLBACK_BETTING || callback->kind == CALLBACK_BETTING_REFUND))
		accuse(reading, "names bet number %" PRIu32, callback->bet_number);
	check_end(reading);
	check_adjusted(reading);
	check_attempts(reading);
}

/* ---- its other rows */

void proof_event_body(struct event_reading *reading, const struct callback_body *body)
{
	const struct callback *callback = &reading->callback;
	const struct proof_dealer *dealer;
	struct proof_body_extra extra;

	reading->body = true;
	proof_body_hash(&reading->link, callback->kind, body->body, &extra);
	if (!reading->there)
		return;
	if (callback->kind == CALLBACK_BETTING_REFUND && extra.timestamp != callback->created_ms)
		accuse(reading, "has a body of another time");
	/* The currency of a dealer with players does not change. */
	dealer = proof_find_dealer(reading->proof, callback->casino_id);
	if (extra.currency[0] && dealer && dealer->present &&
		strcmp(extra.currency, dealer->currency) != 0)
		accuse(reading, "has a body in another currency");
}

void proof_event_attempt(struct event_reading *reading, const struct attempt *attempt)
{
	if (attempt->number != reading->attempts + 1)
		accuse(reading, "has attempt %" PRIu32 " after attempt %" PRIu32, attempt->number,
			reading->attempts);
	if (reading->under_way)
		accuse(reading,
			"has attempt %" PRIu32 " although attempt %" PRIu32 " has not ended",
			attempt->number, reading->attempts);
	reading->attempts = attempt->number;
	reading->under_way = !attempt->ended;
	if (!attempt->ended)
		return;
	reading->ended = true;
	reading->class = attempt->class;
	reading->http_status = attempt->http_status;
}

/* A success ends the sending, so only the last attempt can be one. */
void proof_event_answer(struct event_reading *reading, const struct answer *answer)
{
	reading->answered = true;
	if (!answer->number || answer->number > reading->attempts)
		accuse(reading, "has the answer to attempt %" PRIu32 ", which is not there",
			answer->number);
	else if (answer->number == reading->attempts &&
		(reading->under_way || reading->class == CALLBACK_SUCCESS))
		accuse(reading, "has the answer to attempt %" PRIu32 ", which %s", answer->number,
			reading->under_way ? "has not ended" : "was a success");
	if (!answer->length || !answer->text[0])
		accuse(reading, "has an empty answer to attempt %" PRIu32, answer->number);
}

void proof_event_due(struct event_reading *reading, const struct due *due)
{
	reading->due = true;
	reading->due_row = *due;
}

static void check_due(struct event_reading *reading)
{
	const struct callback *callback = &reading->callback;
	const struct due *due = &reading->due_row;
	bool wanted = callback->state == CALLBACK_DUE || callback->state == CALLBACK_SENDING;

	if (wanted != reading->due)
		accuse(reading, "is %s and has %s due row", callback_state_names[callback->state],
			wanted ? "no" : "a");
	if (!reading->due)
		return;
	if (due->kind != callback->kind || strcmp(due->casino_id, callback->casino_id) != 0)
		accuse(reading, "has the due row of a %s to %s", callback_kind_names[due->kind],
			due->casino_id);
	if (wanted && due->sending != (callback->state == CALLBACK_SENDING))
		accuse(reading, "is %s and its due row says %s",
			callback_state_names[callback->state], due->sending ? "sending" : "due");
}

static void check_last_attempt(struct event_reading *reading)
{
	const struct callback *callback = &reading->callback;

	/* Retention deletes the attempts with the body, all or none. */
	if (reading->attempts != callback->attempts && (reading->body || reading->attempts))
		accuse(reading,
			"counts %" PRIu32 " attempts, the last one found is number %" PRIu32,
			callback->attempts, reading->attempts);
	if (reading->under_way != (callback->state == CALLBACK_SENDING))
		accuse(reading, "is %s and its last attempt has %s",
			callback_state_names[callback->state],
			reading->under_way ? "not ended" : "ended");
	if (reading->ended &&
		(callback->last_class != reading->class ||
			callback->last_http_status != reading->http_status))
		accuse(reading, "has another outcome than its last attempt");
}

void proof_event_end(struct event_reading *reading)
{
	if (!reading->there) {
		accuse(reading, "is not there and has %s",
			reading->body               ? "a body"
				: reading->attempts ? "attempts"
				: reading->answered ? "answers"
						    : "a due row");
		return;
	}
	if (!reading->body && reading->callback.state != CALLBACK_DELIVERED)
		accuse(reading, "has no body");
	check_due(reading);
	check_last_attempt(reading);
}

bool proof_is_result(enum callback_kind kind)
{
	return kind == CALLBACK_BETTING_RESULT || kind == CALLBACK_BETTING_CORRECTION;
}

/* Counts waiting callbacks, and whether the result was open when its dealer's sums were read. */
static void count_for_dealer(const struct event_reading *reading)
{
	const struct callback *callback = &reading->callback;
	struct proof_dealer *dealer = proof_find_dealer(reading->proof, callback->casino_id);
	bool open = !callback_has_ended(callback->state);
	const struct proof_moment *moment;

	if (!dealer)
		return;
	dealer->parked += callback->state == CALLBACK_PARKED;
	dealer->held += callback->state == CALLBACK_HELD;
	if (!proof_is_result(callback->kind))
		return;
	moment = &dealer->moment;
	dealer->open_least += callback->event <= moment->event_from &&
		(open || proof_is_since(reading->proof, callback->ended_ms, moment->until_ms + 1));
	dealer->open_most += callback->event <= moment->event_until &&
		(open || callback->ended_ms >= moment->from_ms);
}

void proof_event_take(const struct event_reading *reading)
{
	const struct callback *callback = &reading->callback;
	struct proof *proof = reading->proof;
	struct row_hash row;

	if (!reading->there)
		return;
	proof->callbacks++;
	count_for_dealer(reading);
	proof_days_callback(proof, callback);
	if (callback->event > proof->point.event)
		return;
	fingerprint_add(&proof->found.callbacks, &reading->link);
	if (proof_is_result(callback->kind) || !callback_has_ended(callback->state) ||
		proof_is_since(proof, callback->ended_ms, proof->point.begin_ms))
		return;
	proof_hash_end(proof, callback, &row);
	fingerprint_add(&proof->found.ends, &row);
}
