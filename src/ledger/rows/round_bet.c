#include "ledger/rows/round_bet.h"

#include "domain/round_list.h"

void round_bet_update(struct ws *ws, const struct round *stored, const struct bet *bet)
{
	uint8_t list[ROUND_LIST_SIZE];
	struct round round = *stored;

	if (bet->state == BET_ACCEPTED) {
		round_list_accept(&round, bet->number, list);
	} else {
		round_list_remove(&round, bet->number, list);
		round.staked -= bet->bet_amount;
		/* An older version did not count the bytes of rounds that it began. */
		round.objects_len -= bet->user_bet.len < round.objects_len ? bet->user_bet.len
									   : round.objects_len;
		round.refunded += bet->state == BET_REFUNDING || bet->state == BET_REFUNDED;
	}
	ws_put(ws, RECORD_ROUND, &round);
}
