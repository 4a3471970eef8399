#include "domain/movement.h"

#include "base/check.h"

#include <string.h>

/* Returns the change of the balance by a transfer of @amount. */
static money_t transfer_gain(enum entry_kind kind, money_t amount)
{
	return kind == ENTRY_TRANSFER_OUT ? -amount : amount;
}

static enum refusal decide_credit(const struct player *player, money_t gain)
{
	money_t balance;

	if (!money_add(player->balance, gain, &balance) || balance > MONEY_MAX)
		return REFUSAL_BALANCE_LIMIT;
	return balance < 0 ? REFUSAL_INSUFFICIENT_BALANCE : REFUSAL_NONE;
}

/* Checks wallet mode, decimals, player and credit, in this order. */
static enum refusal decide_movement(const struct dealer *dealer, enum wallet_mode mode,
	const struct player *player, money_t gain)
{
	if (dealer->mode != mode)
		return REFUSAL_WRONG_WALLET_MODE;
	if (gain == 0 || gain > MONEY_MAX || gain < -MONEY_MAX ||
		!money_has_decimals(gain, dealer->decimals))
		return REFUSAL_INVALID_AMOUNT;
	if (!player)
		return REFUSAL_USER_NOT_FOUND;
	return decide_credit(player, gain);
}

static enum refusal decide_suspension(const struct dealer *dealer, const struct player *player)
{
	if (dealer->suspended)
		return REFUSAL_DEALER_SUSPENDED;
	return player && player->suspended ? REFUSAL_USER_SUSPENDED : REFUSAL_NONE;
}

enum refusal transfer_decide(const struct dealer *dealer, const struct player *player,
	enum entry_kind kind, money_t amount)
{
	enum refusal refusal = decide_suspension(dealer, player);

	return refusal == REFUSAL_NONE
		? decide_movement(dealer, WALLET_TRANSFER, player, transfer_gain(kind, amount))
		: refusal;
}

enum refusal transfer_decide_all(const struct dealer *dealer, const struct player *player)
{
	enum refusal refusal = decide_suspension(dealer, player);

	if (refusal != REFUSAL_NONE)
		return refusal;
	if (dealer->mode != WALLET_TRANSFER)
		return REFUSAL_WRONG_WALLET_MODE;
	if (!player)
		return REFUSAL_USER_NOT_FOUND;
	return player->balance > 0 ? REFUSAL_NONE : REFUSAL_INSUFFICIENT_BALANCE;
}

enum refusal adjust_decide(const struct dealer *dealer, const struct player *player, money_t amount,
	bool for_callback)
{
	/* Credit that stands for a result must be able to leave the platform again. */
	const bool seamless = for_callback || (dealer->mode == WALLET_SEAMLESS && amount < 0);

	return decide_movement(dealer, seamless ? WALLET_SEAMLESS : WALLET_TRANSFER, player,
		amount);
}

/* Adds a transaction to its dealer's sums. Returns false for an unknown kind. */
static bool total_count(struct total *total, enum entry_kind kind, money_t gain)
{
	switch (kind) {
	case ENTRY_TRANSFER_IN:
		total->transferred_in += gain;
		break;
	case ENTRY_TRANSFER_OUT:
		total->transferred_out -= gain;
		break;
	case ENTRY_ADJUST:
		total->adjusted += gain;
		break;
	case ENTRY_BET:
		total->staked -= gain;
		break;
	case ENTRY_PAYOUT:
		total->paid += gain;
		break;
	case ENTRY_CORRECTION:
		total->corrected += gain;
		break;
	case ENTRY_BET_CANCEL:
		total->cancelled += gain;
		break;
	case ENTRY_SEAL:
	case ENTRY_RESULT_BATCH:
	case ENTRY_KIND_COUNT:
	default:
		return false;
	}
	total->balance += gain;
	return true;
}

enum refusal movement_apply(const struct movement *movement, struct player *player,
	struct total *total, struct transaction *entry)
{
	enum refusal refusal = decide_credit(player, movement->amount);

	if (refusal != REFUSAL_NONE)
		return refusal;
	if (!total_count(total, movement->kind, movement->amount))
		return REFUSAL_INTERNAL_ERROR;

	CHECK(movement->transaction_id);
	memset(entry, 0, sizeof(*entry));
	entry->transaction_id = movement->transaction_id;
	memcpy(entry->casino_id, player->casino_id, sizeof(entry->casino_id));
	memcpy(entry->player_id, player->player_id, sizeof(entry->player_id));
	entry->kind = movement->kind;
	entry->time_ms = movement->time_ms;
	if (movement->game_id)
		strncpy(entry->game_id, movement->game_id, sizeof(entry->game_id) - 1);
	entry->bet_number = movement->bet_number;
	entry->entry_seq = player->entry_seq + 1;
	entry->previous = player->entry_transaction_id;
	entry->amount = movement->amount;
	entry->before_balance = player->balance;
	entry->current_balance = player->balance + movement->amount;
	entry->scope = movement->scope;
	strncpy(entry->request_transaction_id, movement->request_transaction_id,
		sizeof(entry->request_transaction_id) - 1);
	if (movement->client_id)
		strncpy(entry->client_id, movement->client_id, sizeof(entry->client_id) - 1);

	CHECK(entry->current_balance >= 0 && entry->current_balance <= MONEY_MAX);
	player->balance = entry->current_balance;
	player->entry_seq = entry->entry_seq;
	player->entry_transaction_id = entry->transaction_id;
	return REFUSAL_NONE;
}

const char *request_difference(const struct request *stored, enum entry_kind kind,
	const struct player *player, money_t amount)
{
	if (stored->kind != kind)
		return "direction";
	if (!player || strcmp(stored->player_id, player->player_id) != 0)
		return "user_id";
	if (stored->amount != amount)
		return "amount";
	return NULL;
}
