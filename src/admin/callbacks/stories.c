#include "admin/callbacks/stories.h"

#include "admin/callbacks/callback_subject.h"
#include "admin/callbacks/callbacks.h"
#include "admin/list.h"
#include "admin/names.h"
#include "admin/transactions.h"

#include <string.h>

/* The rows that one story needs. The values point into it. */
struct material {
	struct session *session;
	bool brief;
	struct callback_row row; /* of the message */
	char event[CALLBACK_EVENT_ID_SIZE];
	struct story_facts facts;
	struct story_values values;
};

static void material_init(struct material *material, struct session *session, bool brief)
{
	memset(material, 0, sizeof(*material));
	material->session = session;
	material->brief = brief;
	material->values = (struct story_values){
		.dealer = "",
		.user = "",
		.client = "",
		.last = "",
		.when = "",
		.event = "",
		.by = "",
		.error = "",
		.refusal = "",
	};
}

/* Takes the state of the message from the row of its callback. */
static void take_message(struct material *material)
{
	const struct callback *callback = &material->row.callback;
	struct story_values *values = &material->values;

	callback_event_id(callback->kind, callback->event, material->event);
	material->facts.message = story_message_of(callback);
	values->event = material->event;
	values->by = callback->resolved_by;
	values->adjusted_by = callback->adjusted_by;
	values->attempts = callback_attempts_ended(callback);
	values->last = material->row.last;
	values->when = material->row.next;
}

/* A message that is due is not sent while all of its dealer's are held. */
static enum outcome fetch_hold(struct material *material)
{
	struct dealer dealer;
	enum outcome code;

	if (material->brief || material->facts.message != MESSAGE_DUE)
		return OUTCOME_DONE;
	code = names_dealer(material->session, material->row.callback.casino_id, &dealer);
	if (code == OUTCOME_DONE)
		material->values.dealer_held = dealer.callbacks_held_ms != 0;
	return code;
}

/* Fetches the message @event, or completes the one that is there. */
static enum outcome fetch_message(struct material *material, uint64_t event)
{
	enum outcome code = OUTCOME_DONE;
	bool found = material->row.callback.event == event;

	if (!found) {
		material->row.callback.event = event;
		code = list_fetch(material->session, RECORD_CALLBACK, &material->row.callback,
			&found, NULL);
	}
	if (code == OUTCOME_DONE && !found)
		return names_missing(material->session, "a callback");
	if (code == OUTCOME_DONE && !material->brief)
		code = callback_row_fill(material->session, &material->row);
	if (code != OUTCOME_DONE)
		return code;
	take_message(material);
	return fetch_hold(material);
}

static enum story_move move_of(money_t amount)
{
	if (!amount)
		return MOVE_NOTHING;
	return amount > 0 ? MOVE_PAYS : MOVE_TAKES;
}

/* Sets what the last message of a seamless round moves. */
static enum outcome fetch_moved(struct material *material, const struct round *round)
{
	const struct callback *callback = &material->row.callback;
	struct correction correction;
	money_t amount = round->payout_amount;
	enum outcome code = OUTCOME_DONE;

	if (callback->revision)
		code = correction_fetch(material->session, callback, &correction, &amount);
	material->facts.move = move_of(amount);
	material->values.moved = amount < 0 ? -amount : amount;
	return code;
}

static enum outcome collect_round(struct material *material, const struct round *round)
{
	struct story_facts *facts = &material->facts;
	struct story_values *values = &material->values;
	enum outcome code = OUTCOME_DONE;

	facts->subject = STORY_ROUND;
	facts->mode = round->mode;
	facts->state = round->state;
	if (round->shortfall > 0)
		facts->flags = STORY_SHORTFALL;
	values->dealer = round->casino_id;
	values->user = round->user_id;
	values->client = round->client_id;
	values->result = round->current_result;
	values->corrections = round->revision;
	values->amount = round->current_payout;
	values->shortfall = round->shortfall;
	values->refunds = round->refunded;
	if (round->state == ROUND_OPEN)
		return OUTCOME_DONE;
	if (round->mode == WALLET_TRANSFER) {
		facts->move = move_of(round->current_payout);
		return OUTCOME_DONE;
	}
	code = fetch_message(material, round->last_event);
	return code == OUTCOME_DONE ? fetch_moved(material, round) : code;
}

static enum outcome collect_bet(struct material *material, const struct round *round,
	const struct bet *bet)
{
	struct story_facts *facts = &material->facts;
	struct story_values *values = &material->values;

	facts->subject = STORY_BET;
	facts->mode = bet->mode;
	facts->state = bet->state;
	if (bet->cancelled)
		facts->flags |= STORY_CANCELLED;
	if (bet->outcome == REFUSAL_DEALER_UNREACHABLE)
		facts->flags |= STORY_NOT_SENT;
	values->dealer = bet->casino_id;
	values->user = round->user_id;
	values->client = bet->client_id;
	values->amount = values->moved = bet->bet_amount;
	values->transaction_id = bet->transaction_id;
	values->error = bet->dealer_error_id;
	return bet->refund_event ? fetch_message(material, bet->refund_event) : OUTCOME_DONE;
}

static enum outcome finish_story(const struct material *material, enum outcome code,
	struct story *story)
{
	if (code == OUTCOME_DONE)
		story_make(&material->facts, &material->values, story);
	return code;
}

enum outcome stories_round(struct session *session, const struct round *round, bool brief,
	struct story *story)
{
	struct material material;

	material_init(&material, session, brief);
	return finish_story(&material, collect_round(&material, round), story);
}

enum outcome stories_bet(struct session *session, const struct round *round, const struct bet *bet,
	bool brief, struct story *story)
{
	struct material material;

	material_init(&material, session, brief);
	return finish_story(&material,
		bet->state == BET_SETTLED ? collect_round(&material, round)
					  : collect_bet(&material, round, bet),
		story);
}

enum outcome stories_callback(struct session *session, const struct callback *callback, bool brief,
	struct story *story, bool *found)
{
	struct material material;
	struct round round;
	struct bet bet;
	enum outcome code;

	material_init(&material, session, brief);
	material.row.callback = *callback;
	*found = false;
	if (callback->kind == CALLBACK_BETTING || callback->kind == CALLBACK_BALANCE_INQUIRE)
		return OUTCOME_DONE;
	code = callback_round_fetch(session, callback, &round, found);
	if (code != OUTCOME_DONE || !*found)
		return code;
	if (callback->kind != CALLBACK_BETTING_REFUND)
		return finish_story(&material, collect_round(&material, &round), story);
	code = callback_bet_fetch(session, callback, &bet, found);
	if (code != OUTCOME_DONE || !*found)
		return code;
	return finish_story(&material, collect_bet(&material, &round, &bet), story);
}

void stories_request(const struct request *request, const struct transaction *entry,
	const struct player_name *name, struct story *story)
{
	struct material material;
	struct story_values *values = &material.values;

	material_init(&material, NULL, true);
	material.facts.subject = STORY_TRANSFER;
	material.facts.mode = WALLET_TRANSFER;
	material.facts.state = request->kind;
	if (request_is_sealed(request))
		material.facts.flags = STORY_SEALED;
	else if (request->outcome != REFUSAL_NONE)
		material.facts.flags = STORY_REFUSED;
	values->dealer = name->casino_id;
	values->user = name->user_id;
	values->amount = entry ? entry->amount : request->amount;
	if (request->kind == ENTRY_TRANSFER_OUT || request->kind == ENTRY_BET)
		values->amount = request->amount;
	values->balance = request->current_balance;
	values->transaction_id = request->transaction_id;
	values->refusal = refusal_info(request->outcome)->id;
	story_make(&material.facts, values, story);
}
