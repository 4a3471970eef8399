/*
 * movement - the rules for changes of a player's credit.
 *
 * Pure: the caller loads and stores the rows. Nothing is changed unless every check passes.
 */
#ifndef DOMAIN_MOVEMENT_H
#define DOMAIN_MOVEMENT_H

#include "domain/records.h"

/* A requested change of credit. */
struct movement {
	enum entry_kind kind;
	money_t amount; /* signed change of the balance */
	uint64_t transaction_id;
	int64_t time_ms;
	enum request_scope scope;
	const char *request_transaction_id;
	const char *client_id; /* owner of the request key for SCOPE_CLIENT; else NULL */
	const char *game_id;   /* of a bet or a result; else NULL */
	uint32_t bet_number;   /* of a bet; else 0 */
};

/*
 * Decides whether the dealer may transfer @amount (above 0) now. Checks in the order of the
 * contract, "Order of checks": suspension, wallet mode, decimals, player, credit. @player is NULL
 * if the player is unknown.
 */
enum refusal transfer_decide(const struct dealer *dealer, const struct player *player,
	enum entry_kind kind, money_t amount);

/*
 * Decides whether the dealer may transfer the whole balance out now, with the same checks. A
 * balance of 0 is REFUSAL_INSUFFICIENT_BALANCE.
 */
enum refusal transfer_decide_all(const struct dealer *dealer, const struct player *player);

/*
 * Decides whether the operator may adjust by the signed @amount. Same checks as for a transfer,
 * except suspension (contract, "What an operator may change"). @for_callback: it stands for a
 * result that a seamless dealer did not receive, so the wallet must be seamless. A negative @amount
 * needs no callback in either mode: it takes such credit off the platform again.
 */
enum refusal adjust_decide(const struct dealer *dealer, const struct player *player, money_t amount,
	bool for_callback);

/*
 * Changes the credit of @player and the @total of its dealer, and writes @entry. Returns
 * REFUSAL_BALANCE_LIMIT if the balance would exceed MONEY_MAX, and REFUSAL_INSUFFICIENT_BALANCE if
 * it would fall below 0. Returns REFUSAL_INTERNAL_ERROR for an unknown kind. A refusal changes
 * nothing.
 */
enum refusal movement_apply(const struct movement *movement, struct player *player,
	struct total *total, struct transaction *entry);

/*
 * Returns the name of the member in which a repeated request differs from the stored one:
 * "direction", "user_id" or "amount". Returns NULL if they are equal. @player is NULL if the player
 * is unknown.
 */
const char *request_difference(const struct request *stored, enum entry_kind kind,
	const struct player *player, money_t amount);

#endif
