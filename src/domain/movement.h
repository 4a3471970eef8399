/*
 * movement - the rules by which a player's credit moves.
 *
 * Pure: the caller brings the rows and takes them away. Nothing is changed unless every check
 * passed.
 */
#ifndef DOMAIN_MOVEMENT_H
#define DOMAIN_MOVEMENT_H

#include "domain/records.h"

/* What a movement is to be. */
struct movement {
	enum entry_kind kind;
	money_t amount; /* signed: what the balance gains */
	uint64_t transaction_id;
	int64_t time_ms;
	enum request_scope scope;
	const char *request_transaction_id;
	const char *client_id; /* SCOPE_CLIENT: whose key it is; else NULL */
	const char *game_id;   /* of a bet or a result; else NULL */
	uint32_t bet_number;   /* of a bet; else 0 */
};

/*
 * Whether the dealer may transfer @amount (above 0) now. The order is api.md's: suspension, wallet
 * mode, decimals, player, credit. @player NULL: not known.
 */
enum refusal transfer_decide(const struct dealer *dealer, const struct player *player,
	enum entry_kind kind, money_t amount);

/*
 * Whether the operator may adjust by @amount (signed): as a transfer, but suspension is no
 * obstacle (api.md, What an operator may change).
 */
enum refusal adjust_decide(const struct dealer *dealer, const struct player *player,
	money_t amount);

/*
 * Moves the credit: changes @player and its dealer's @total and writes @entry.
 * REFUSAL_BALANCE_LIMIT when the balance would exceed MONEY_MAX, REFUSAL_INSUFFICIENT_BALANCE when
 * it would fall below 0, REFUSAL_INTERNAL_ERROR for a movement of no kind. Then nothing was changed.
 */
enum refusal movement_apply(const struct movement *movement, struct player *player,
	struct total *total, struct transaction *entry);

/*
 * The member in which a repeated request differs from the one stored under its key:
 * "direction", "user_id" or "amount"; NULL when it is the same. @player NULL: not known.
 */
const char *request_difference(const struct request *stored, enum entry_kind kind,
	const struct player *player, money_t amount);

#endif
