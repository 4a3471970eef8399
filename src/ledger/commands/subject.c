#include "ledger/commands/subject.h"

#include "ledger/rows/keys.h"
#include "ledger/rows/moves.h"

#include <stddef.h>

/* How a command names its dealer. */
enum named_by { BY_NONE, BY_CASINO, BY_PLAYER, BY_EVENT };

#define CASINO(lower, member) BY_CASINO, offsetof(struct lower##_cmd, member)
#define PLAYER(lower)         BY_PLAYER, offsetof(struct lower##_cmd, player)
#define EVENT(lower)          BY_EVENT, offsetof(struct lower##_cmd, event)

static const struct {
	enum named_by by;
	size_t offset;
} subjects[COMMAND_COUNT] = {
	[COMMAND_TRANSFER] = {CASINO(transfer, casino_id)},
	[COMMAND_TRANSFER_INQUIRE] = {CASINO(transfer_inquire, casino_id)},
	[COMMAND_BALANCE] = {CASINO(balance, casino_id)},
	[COMMAND_USER_STAT] = {CASINO(user_stat, casino_id)},
	[COMMAND_RESULT_INQUIRE] = {CASINO(result_inquire, casino_id)},
	[COMMAND_FEED] = {CASINO(feed, casino_id)},
	[COMMAND_CALLBACK_PAGE] = {CASINO(callback_page, casino_id)},
	[COMMAND_CALLBACK_RESEND] = {CASINO(callback_resend, casino_id)},
	[COMMAND_DEALER_PUT] = {CASINO(dealer_put, dealer.casino_id)},
	[COMMAND_DEALER_KEY] = {CASINO(dealer_key, casino_id)},
	[COMMAND_PLAYER_PUT] = {CASINO(player_put, casino_id)},
	[COMMAND_ADJUST] = {CASINO(adjust, casino_id)},
	[COMMAND_OPERATOR_CORRECT] = {CASINO(operator_correct, casino_id)},
	[COMMAND_REPLAY_START] = {CASINO(replay_start, filter.casino_id)},
	[COMMAND_PLAYER_REGISTER] = {CASINO(player_register, casino_id)},
	[COMMAND_PLAYER_BALANCE] = {PLAYER(player_balance)},
	[COMMAND_BET_PLACE] = {PLAYER(bet_place)},
	[COMMAND_BET_CANCEL] = {PLAYER(bet_cancel)},
	[COMMAND_ROUND_SETTLE] = {PLAYER(round_settle)},
	[COMMAND_ROUND_CORRECT] = {PLAYER(round_correct)},
	[COMMAND_CALLBACK_OPERATE] = {EVENT(callback_operate)},
};

static bool player_is_moving(const struct moves *moves, const struct player_ref *player,
	bool may_ask_elsewhere, struct ws *ws, struct verdict *verdict)
{
	const struct player_name key = player_id_named(player->player_id);
	const struct player_name *name;

	if (player->casino_id[0] || !player->player_id[0])
		return moves_refuse(moves, player->casino_id, false, verdict);
	name = ws_loaded(ws, RECORD_PLAYER_NAME, &key) ? ws_get(ws, RECORD_PLAYER_NAME, &key)
						       : NULL;
	return name && moves_refuse(moves, name->casino_id, may_ask_elsewhere, verdict);
}

bool subject_item_is_moving(const struct moves *moves, const struct player_ref *player,
	struct ws *ws, struct verdict *verdict)
{
	return moves && moves->count && player_is_moving(moves, player, false, ws, verdict);
}

static bool event_is_moving(const struct moves *moves, uint64_t event, struct ws *ws,
	struct verdict *verdict)
{
	const struct callback key = callback_named(event);
	const struct callback *callback =
		ws_loaded(ws, RECORD_CALLBACK, &key) ? ws_get(ws, RECORD_CALLBACK, &key) : NULL;

	return callback && moves_refuse(moves, callback->casino_id, false, verdict);
}

bool subject_is_moving(const struct moves *moves, enum command command, const union any_cmd *cmd,
	struct ws *ws, struct verdict *verdict)
{
	const char *at = (const char *)cmd + subjects[command].offset;
	uint64_t event;

	if (!moves || !moves->count)
		return false;
	switch (subjects[command].by) {
	case BY_CASINO:
		return moves_refuse(moves, at, false, verdict);
	case BY_PLAYER:
		return player_is_moving(moves, (const struct player_ref *)(const void *)at, true,
			ws, verdict);
	case BY_EVENT:
		memcpy(&event, at, sizeof(event));
		return event_is_moving(moves, event, ws, verdict);
	case BY_NONE:
		break;
	}
	return false;
}
