/*
 * case_wagers - one-line commands of group C and of the sweeper. The player is alice, the client
 * is `slots`.
 */
#ifndef TESTS_LEDGER_CASE_WAGERS_H
#define TESTS_LEDGER_CASE_WAGERS_H

#include "case.h"

#define CREDIT MONEY_UNITS_PER_CREDIT
#define SECOND INT64_C(1000)
#define MINUTE (60 * SECOND)
#define HOUR   (60 * MINUTE)
#define DAY    (24 * HOUR)

/* As case_open(), with a dealer of @mode. */
void case_open_mode(int kind, enum wallet_mode mode);
/* Advances both clocks by @ms. */
void case_pass(int64_t ms);

/* Each command has a different sender. With an id that was used before, it is a repeated call. */
struct bet_place_cmd case_bet_cmd(const char *id, const char *game, money_t amount);
struct bet_place_result case_bet(const char *id, const char *game, money_t amount);
/* Cancels the bet that was placed with the id @bet. */
struct bet_cancel_cmd case_cancel_cmd(const char *id, const char *bet, const char *game);
struct round_correct_cmd case_correct_cmd(const char *id, const char *game, uint32_t revision,
	enum round_result result, money_t payout);
/* Sets everything that a game server may send. */
struct round_settle_cmd case_settle_cmd(const char *id, const char *game, enum round_result result,
	money_t payout);
struct round_settle_result case_settle(const char *id, const char *game, enum round_result result,
	money_t payout);

/* Reports how the attempt of @grant ended. */
struct callback_end_cmd case_end_cmd(const struct callback_grant *grant, enum callback_class class);
struct callback_end_result case_end(const struct callback_grant *grant, enum callback_class class);
/* Claims as a sweeper, on a different link from all other commands. */
struct callback_claim_result case_claim(uint64_t event);
enum refusal case_operate(uint64_t event, enum callback_action action);

/*
 * Returns the event of the result of round pgNUMBER, with a stake of 1, which the dealer refused once. case_park() has the
 * dealer refuse it twice more, so that it is parked; case_refuse() once.
 */
uint64_t case_refused_result(unsigned int number, money_t payout);
void case_refuse(uint64_t event);
void case_park(uint64_t event);

#endif
