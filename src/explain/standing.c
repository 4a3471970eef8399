#include "explain/standing.h"

#include "domain/money.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The effect of an operation on credit. */
enum effect {
	EFFECT_NONE, /* it reads, or registers */
	EFFECT_IN,
	EFFECT_OUT,
	EFFECT_BET,
	EFFECT_RESULT,
	EFFECT_UNKNOWN, /* there is no such path */
};

static enum effect effect_of(const char *operation)
{
	static const struct {
		const char *operation;
		enum effect effect;
	} effects[] = {
		{"transfer-in", EFFECT_IN},
		{"transfer-out", EFFECT_OUT},
		{"bets", EFFECT_BET},
		{"results", EFFECT_RESULT},
		{"corrections", EFFECT_RESULT},
		{"bets-cancel", EFFECT_RESULT},
		{"none", EFFECT_UNKNOWN},
	};

	for (size_t i = 0; i < sizeof(effects) / sizeof(effects[0]); i++) {
		if (strcmp(effects[i].operation, operation) == 0)
			return effects[i].effect;
	}
	return EFFECT_NONE;
}

__attribute__((format(printf, 2, 3))) static void write_text(char text[STANDING_TEXT_MAX],
	const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(text, STANDING_TEXT_MAX, format, args);
	va_end(args);
}

/* The amount of the call, or "the amount" if it has none. */
static const char *amount_of(const struct refused_call *call)
{
	if (strcmp(call->amount, "all") == 0)
		return "the whole balance";
	return call->amount[0] ? call->amount : "the amount";
}

/* A later or earlier call with the reference moved credit. */
static void say_moved(const struct request *request, unsigned int decimals,
	struct standing *standing)
{
	char amount[MONEY_TEXT_MAX];

	money_format(request->amount, decimals, amount);
	if (request->kind == ENTRY_TRANSFER_OUT)
		write_text(standing->owed,
			"Another call with this reference moved %s out of the platform, as "
			"transaction %" PRIu64 ". The platform owes nothing. The dealer owes the "
			"player what it has not paid of it.",
			amount, request->transaction_id);
	else
		write_text(standing->owed,
			"Another call with this reference moved %s, as transaction %" PRIu64
			". For this reference, no side owes anything.",
			amount, request->transaction_id);
	write_text(standing->next,
		"Show it with `creditbridgectl transfer show --transaction %" PRIu64 "`.",
		request->transaction_id);
}

static void say_in(const struct refused_call *call, bool closed, struct standing *standing)
{
	const char *user = call->user_id[0] ? call->user_id : "the player";

	write_text(standing->owed,
		"No credit moved, so the platform owes nothing. If the dealer took %s from %s for "
		"this transfer, the dealer owes %s that amount.",
		amount_of(call), user, user);
	if (closed)
		write_text(standing->next,
			"The dealer returns the amount to the player, or makes a new transfer "
			"with a new request_transaction_id.");
	else
		write_text(standing->next,
			"The dealer removes the cause and sends the call again with the same "
			"request_transaction_id, or returns the amount to the player.");
}

static void say_out(const struct refused_call *call, bool closed, struct standing *standing)
{
	const char *user = call->user_id[0] ? call->user_id : "the player";

	write_text(standing->owed,
		"No credit moved: the credit of %s is still on the platform, and no side owes "
		"anything. If the dealer paid out %s all the same, it has paid too early.",
		user, amount_of(call));
	write_text(standing->next,
		"The dealer removes the cause and sends the call again with %s "
		"request_transaction_id; it pays the player after a 200.",
		closed ? "a new" : "the same");
}

static void say_bet(const struct refused_call *call, struct standing *standing)
{
	if (call->refusal == REFUSAL_BET_REJECTED || call->refusal == REFUSAL_DEALER_REFUSED)
		write_text(standing->owed,
			"The dealer refused the bet. No stake counts, and no side owes anything, "
			"unless the dealer's own records show that it took %s.",
			amount_of(call));
	else
		write_text(standing->owed,
			"This call placed no bet and took no stake. No side owes anything for it.");
	write_text(standing->next,
		"See the bets of the game with `creditbridgectl bet list`. A new attempt of the "
		"player needs a new request_transaction_id.");
}

static void say_result(struct standing *standing)
{
	write_text(standing->owed,
		"This call changed nothing: the round stays as it was. If the round has ended and "
		"was not settled by another call, its result is still to be sent.");
	write_text(standing->next,
		"See the round with `creditbridgectl round show`. The game server removes the "
		"cause and sends the call again with the same request_transaction_id.");
}

void standing_of(const struct refused_call *call, const struct standing_key *key,
	unsigned int decimals, struct standing *standing)
{
	const enum effect effect = effect_of(call->operation);
	/* The refusal is recorded: the same call is always refused again. */
	const bool closed = (key->known && key->request.outcome != REFUSAL_NONE) ||
		call->refusal == REFUSAL_TRANSACTION_CONFLICT ||
		call->refusal == REFUSAL_TRANSACTION_SEALED;

	if (effect != EFFECT_NONE && key->known && key->request.entry_seq) {
		say_moved(&key->request, decimals, standing);
		return;
	}
	switch (effect) {
	case EFFECT_IN:
		say_in(call, closed, standing);
		break;
	case EFFECT_OUT:
		say_out(call, closed, standing);
		break;
	case EFFECT_BET:
		say_bet(call, standing);
		break;
	case EFFECT_RESULT:
		say_result(standing);
		break;
	case EFFECT_UNKNOWN:
		write_text(standing->owed,
			"No operation has this path, so no credit moved, and the platform owes "
			"nothing. If the caller took or paid %s for it, the caller puts that right.",
			amount_of(call));
		write_text(standing->next,
			"The caller corrects the URL and sends the call again with the same "
			"request_transaction_id.");
		break;
	case EFFECT_NONE:
		write_text(standing->owed,
			"The call moves no credit, so no side owes anything for it.");
		write_text(standing->next,
			"The caller removes the cause and sends the call again.");
		break;
	}
}
