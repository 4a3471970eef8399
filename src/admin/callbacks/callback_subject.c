#include "admin/callbacks/callback_subject.h"

#include "admin/bets.h"
#include "admin/list.h"
#include "admin/transactions.h"

#include <string.h>

static void name_round(const struct callback *callback, struct round *round)
{
	memset(round, 0, sizeof(*round));
	memcpy(round->player_id, callback->player_id, sizeof(round->player_id));
	memcpy(round->game_id, callback->game_id, sizeof(round->game_id));
}

enum outcome callback_bet_fetch(struct session *session, const struct callback *callback,
	struct bet *bet, bool *found)
{
	bets_name(bet, callback->player_id, callback->game_id, callback->bet_number);
	return list_fetch(session, RECORD_BET, bet, found, NULL);
}

enum outcome callback_round_fetch(struct session *session, const struct callback *callback,
	struct round *round, bool *found)
{
	name_round(callback, round);
	return list_fetch(session, RECORD_ROUND, round, found, NULL);
}

/* Corrections are rare, and are read one by one. */
void callback_subject_want(struct ahead *ahead, const struct callback *callback)
{
	struct round round;
	struct bet bet;

	if (callback->bet_number) {
		bets_name(&bet, callback->player_id, callback->game_id, callback->bet_number);
		ahead_want(ahead, RECORD_BET, &bet);
	} else if (!callback->revision) {
		name_round(callback, &round);
		ahead_want(ahead, RECORD_ROUND, &round);
	}
}

enum outcome callback_subject_fetch(struct session *session, const struct callback *callback,
	struct callback_subject *subject)
{
	struct correction correction;
	struct round round;
	struct bet bet;
	bool found = false;
	enum outcome code;

	*subject = (struct callback_subject){.state = ""};
	if (callback->bet_number) {
		code = callback_bet_fetch(session, callback, &bet, &found);
		subject->amount = bet.bet_amount;
		subject->transaction_id = bet.transaction_id;
		if (found)
			subject->state = bet_state_names[bet.state];
	} else if (callback->revision) {
		code = correction_fetch(session, callback, &correction, &subject->amount);
		subject->transaction_id = correction.transaction_id;
		subject->state = round_result_names[correction.result];
	} else {
		code = callback_round_fetch(session, callback, &round, &found);
		subject->amount = round.payout_amount;
		subject->transaction_id = round.transaction_id;
		if (found)
			subject->state = round_result_names[round.result];
	}
	return code;
}
