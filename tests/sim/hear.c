/*
 * hear - the answers that game servers get. They agree with earlier answers and, where it is
 * final, with the rows.
 */
#include "ledger/rows/keys.h"
#include "sim.h"

/* The answer counts only while it is waited for. */
static struct sim_call *waiting_call(struct world *w, const struct process *p)
{
	struct sim_call *call = &w->calls[p->call];

	return call->waiting && call->waiting == p->call_try ? call : NULL;
}

/*
 * An answer to other content under a key that is used, or to another key of a round that is
 * settled. False: it is neither.
 */
static bool hear_twisted(struct world *w, const struct process *p, struct sim_call *call,
	enum refusal refusal)
{
	enum refusal expected =
		p->twist == TWIST_CONTENT ? REFUSAL_TRANSACTION_CONFLICT : REFUSAL_ALREADY_SETTLED;

	if (p->twist != TWIST_CONTENT && (p->twist != TWIST_KEY || call->kind != CALL_SETTLE))
		return false;
	if (refusal != expected)
		violate(w, FLAW_ANSWER, "call %u with other content or key: %s",
			(uint32_t)(call - w->calls), refusal_info(refusal)->id);
	w->tally.conflicts++;
	game_done(w, call);
	return true;
}

/* A game server hears "accepted" only when that is on disk. */
static void check_accepted(struct world *w, uint32_t index, uint64_t transaction_id)
{
	const struct sim_round *round = &w->rounds[w->bets[index].round];
	const struct request *request;
	const struct bet *bet;
	struct request request_key;
	struct bet bet_key;
	char id[16], game_id[16];

	snprintf(id, sizeof(id), "b%u", index);
	snprintf(game_id, sizeof(game_id), "g%u", w->bets[index].round);
	request_key = request_named(SCOPE_CLIENT, round->client ? "cards" : "slots", id);
	request = world_load(w, RECORD_REQUEST, &request_key);
	bet_key = bet_named(w->users[round->user].player_id, game_id,
		request ? request->bet_number : 0);
	bet = world_load(w, RECORD_BET, &bet_key);
	if (!bet || (bet->state != BET_ACCEPTED && bet->state != BET_SETTLED && !bet->cancelled) ||
		bet->transaction_id != transaction_id)
		violate(w, FLAW_ANSWERED, "b%u is accepted, it is answered, and is %s", index,
			bet ? bet_state_names[bet->state] : "nothing");
	/* The answer may be older than the cancellation; what is stored is not. */
	else if (w->bets[index].cancelled && !bet->cancelled)
		violate(w, FLAW_CANCELLED, "b%u was cancelled and is accepted", index);
}

/* What a refusal means for a bet. ANSWERED_NOTHING: to be tried again. */
static enum answered answered_by(enum refusal refusal, bool *known)
{
	static const struct {
		enum refusal refusal;
		enum answered answered;
	} meanings[] = {
		{REFUSAL_NONE, ANSWERED_ACCEPTED},
		{REFUSAL_BET_REJECTED, ANSWERED_REJECTED},
		{REFUSAL_DEALER_UNREACHABLE, ANSWERED_REJECTED},
		{REFUSAL_DEALER_TIMEOUT, ANSWERED_TIMEOUT},
		{REFUSAL_ALREADY_SETTLED, ANSWERED_NO},
		{REFUSAL_INSUFFICIENT_BALANCE, ANSWERED_NO},
		{REFUSAL_BET_CANCELLED, ANSWERED_CANCELLED},
		{REFUSAL_BET_IN_PROGRESS, ANSWERED_NOTHING},
		{REFUSAL_DEALER_BUSY, ANSWERED_NOTHING},
		{REFUSAL_STORAGE_FULL, ANSWERED_NOTHING},
	};

	for (size_t i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++) {
		if (meanings[i].refusal == refusal) {
			*known = true;
			return meanings[i].answered;
		}
	}
	*known = false;
	return ANSWERED_NOTHING;
}

void game_hear_bet(struct world *w, const struct process *p, enum refusal refusal,
	const struct bet_answer *answer)
{
	struct sim_call *call = waiting_call(w, p);
	struct sim_bet *bet;
	enum answered answered;
	bool known;

	if (!call)
		return;
	trace(w, "b%u is answered %s", call->index, refusal_info(refusal)->id);
	if (hear_twisted(w, p, call, refusal))
		return;
	bet = &w->bets[call->index];
	answered = answered_by(refusal, &known);
	if (!known)
		violate(w, FLAW_ANSWER, "b%u is answered %s", call->index,
			refusal_info(refusal)->id);
	if (answered == ANSWERED_ACCEPTED && answer->state != BET_ACCEPTED)
		violate(w, FLAW_ANSWERED, "b%u is accepted and answered %s", call->index,
			bet_state_names[answer->state]);
	if (answered == ANSWERED_ACCEPTED)
		check_accepted(w, call->index, answer->transaction_id);
	if (bet->answered != ANSWERED_NOTHING && bet->answered != ANSWERED_NO &&
		(bet->answered != ANSWERED_ACCEPTED || answered != ANSWERED_CANCELLED) &&
		(bet->answered != answered || bet->refusal != refusal ||
			bet->transaction_id != answer->transaction_id))
		violate(w, FLAW_ANSWERED, "b%u is answered %s, and before %s", call->index,
			refusal_info(refusal)->id, refusal_info(bet->refusal)->id);
	if (answered == ANSWERED_NOTHING) {
		game_try_again(w, call);
		return;
	}
	bet->answered = answered;
	bet->refusal = refusal;
	bet->transaction_id = answer->transaction_id;
	game_done(w, call);
}

static void hear_settled(struct world *w, struct sim_call *call,
	const struct round_settle_result *result)
{
	struct sim_round *round = &w->rounds[call->index];

	if (result->win_amount !=
			result->payout_amount - result->bet_amount - result->addition_amount ||
		(round->result == RESULT_WIN && result->payout_amount != round->payout))
		violate(w, FLAW_ANSWER, "s%u: its sums", call->index);
	if (round->settled && round->transaction_id != result->transaction_id)
		violate(w, FLAW_ANSWERED, "s%u is answered another transaction_id", call->index);
	round->settled = true;
	round->transaction_id = result->transaction_id;
	game_done(w, call);
}

void game_hear_round(struct world *w, const struct process *p, enum refusal refusal,
	const struct round_settle_result *result)
{
	struct sim_call *call = waiting_call(w, p);
	struct sim_round *round;

	if (!call)
		return;
	trace(w, "s%u is answered %s", call->index, refusal_info(refusal)->id);
	round = &w->rounds[call->index];
	if (hear_twisted(w, p, call, refusal))
		return;
	switch (refusal) {
	case REFUSAL_NONE:
		hear_settled(w, call, result);
		return;
	case REFUSAL_BET_NOT_FOUND:
	case REFUSAL_GAME_NOT_FOUND:
		if (game_bets_are_done(w, call->index)) {
			game_done(w, call);
			return;
		}
		break;
	case REFUSAL_ALREADY_SETTLED:
		/* A late copy of its batch settled it. */
		if (!round->batch)
			violate(w, FLAW_ANSWER, "s%u is settled by nothing", call->index);
		game_done(w, call);
		return;
	case REFUSAL_BET_IN_PROGRESS:
	case REFUSAL_STORAGE_FULL:
		break;
	default:
		violate(w, FLAW_ANSWER, "s%u is answered %s", call->index,
			refusal_info(refusal)->id);
		break;
	}
	if (round->settled)
		violate(w, FLAW_ANSWERED, "s%u was settled and is answered %s", call->index,
			refusal_info(refusal)->id);
	game_try_again(w, call);
}

void game_hear_balance(struct world *w, const struct process *p, enum refusal refusal)
{
	struct sim_call *call = waiting_call(w, p);

	if (!call)
		return;
	if (refusal != REFUSAL_NONE && refusal != REFUSAL_DEALER_BUSY &&
		refusal != REFUSAL_STORAGE_FULL)
		violate(w, FLAW_ANSWER, "a balance is answered %s", refusal_info(refusal)->id);
	game_done(w, call);
}

void game_hear_other(struct world *w, const struct process *p, enum refusal refusal)
{
	const struct sim_call *asked = &w->calls[p->call];
	struct sim_call *call = waiting_call(w, p);
	bool known;

	if (asked->kind == CALL_BATCH && p->twist == TWIST_CONTENT) {
		if (refusal == REFUSAL_STORAGE_FULL)
			game_hear_nothing(w, p);
		else if (call)
			hear_twisted(w, p, call, refusal);
		return;
	}
	known = asked->kind == CALL_TRANSFER  ? seal_hear(w, p, asked->index)
		: asked->kind == CALL_CANCEL  ? cancel_hear(w, p, asked->index, refusal)
		: asked->kind == CALL_CORRECT ? correct_hear(w, p, asked->index, refusal)
					      : batch_hear(w, p, asked->index, refusal);
	if (call && known)
		game_done(w, call);
	else if (call)
		game_try_again(w, call);
}

void game_hear_nothing(struct world *w, const struct process *p)
{
	struct sim_call *call = waiting_call(w, p);

	if (call)
		game_try_again(w, call);
}
