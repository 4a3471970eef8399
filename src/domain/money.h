/*
 * money - exact amounts of credit.
 *
 * A money_t is an int64 count of 1/10000 credit (contract, "Amounts"). No amount is
 * computed in floating point. A double appears only in JSON. It is converted here, if it represents
 * an amount exactly.
 */
#ifndef DOMAIN_MONEY_H
#define DOMAIN_MONEY_H

#include "base/wide.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int64_t money_t;
/* A sum of amounts that grows without limit, such as a dealer's transactions or a player's bets. */
typedef wide_t sum_t;

#define MONEY_UNITS_PER_CREDIT 10000
#define MONEY_DECIMALS_MAX     4
/* 99,999,999,999.9999: the limit of an amount and of a balance. */
#define MONEY_MAX INT64_C(999999999999999)
/* Size of the buffer for money_format(), with the NUL. */
#define MONEY_TEXT_MAX 40
/* Size of the buffer for sum_format(), with the NUL. */
#define SUM_TEXT_MAX 48

/*
 * Accepts @x if |x| < 1e11 and, with n = llround(x * 10^4), n / 10^4 equals x bit for bit. So 0.1
 * is accepted; 0.1+0.2, -0.0, NaN and amounts finer than 1/10000 are not. Returns false otherwise;
 * *money is then unchanged.
 */
bool money_from_double(double x, money_t *money);

/*
 * Sets *money to the amount nearest to @x with at most @decimals (0 to 4) decimals, for a message.
 * |x| < 1e11.
 */
void money_nearest(double x, unsigned int decimals, money_t *money);

/* Accepts whole credits with |x| <= 99,999,999,999. */
bool money_from_integer(int64_t x, money_t *money);

/*
 * Reads an amount typed by a person: [-]digits[.digits], at most four decimals, at most MONEY_MAX.
 */
bool money_from_text(const char *text, money_t *money);

/* Returns the double whose 15 significant digits are exactly the amount. |money| <= MONEY_MAX. */
double money_to_double(money_t money);

/* Writes "12.34" with as many decimals as needed, at least @decimals. Works for any int64. */
void money_format(money_t money, unsigned int decimals, char text[MONEY_TEXT_MAX]);

/* Like money_format(), for any sum. */
void sum_format(sum_t sum, unsigned int decimals, char text[SUM_TEXT_MAX]);

/*
 * Reads the format of sum_format(), also without decimals: [-]digits[.digits], at most four
 * decimals, any sum below 10^30 credits. Returns false otherwise; *sum is then unchanged.
 */
bool sum_from_text(const char *text, sum_t *sum);

/* Returns true if the amount has at most @decimals (0 to 4) decimals. */
bool money_has_decimals(money_t money, unsigned int decimals);

/* Sets *sum to a + b. Returns false if int64 overflows; *sum is then unchanged. */
bool money_add(money_t a, money_t b, money_t *sum);

#endif
