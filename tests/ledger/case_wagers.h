/*
 * case_wagers - commands of group C and of the sweeper as one-liners: alice plays, the client is
 * `slots`.
 */
#ifndef TESTS_LEDGER_CASE_WAGERS_H
#define TESTS_LEDGER_CASE_WAGERS_H

#include "case.h"

#define CREDIT MONEY_UNITS_PER_CREDIT
#define SECOND INT64_C(1000)
#define MINUTE (60 * SECOND)
#define HOUR   (60 * MINUTE)
#define DAY    (24 * HOUR)

/* case_open() with a dealer of that mode. */
void case_open_mode(int kind, enum wallet_mode mode);
/* Lets @ms pass on both clocks. */
void case_pass(int64_t ms);

/* Each command has a sender of its own: with an id used before it is a call made again. */
struct bet_place_cmd case_bet_cmd(const char *id, const char *game, money_t amount);
struct bet_place_result case_bet(const char *id, const char *game, money_t amount);
/* With all that a game server may tell. */
struct round_settle_cmd case_settle_cmd(const char *id, const char *game, enum round_result result,
	money_t payout);
struct round_settle_result case_settle(const char *id, const char *game, enum round_result result,
	money_t payout);

/* How the attempt of @grant ended. */
struct callback_end_cmd case_end_cmd(const struct callback_grant *grant, enum callback_class class);
struct callback_end_result case_end(const struct callback_grant *grant, enum callback_class class);
/* As a sweeper, on a link that is not the one of all other commands. */
struct callback_claim_result case_claim(uint64_t event);
enum refusal case_operate(uint64_t event, enum callback_action action);

#endif
