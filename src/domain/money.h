/*
 * money - amounts of credit, exactly.
 *
 * A money_t is an int64 count of 1/10000 credit (api.md, Common rules, Money). No amount is ever
 * computed in floating point: a double appears only at the JSON border and is converted here, and
 * only when it names a representable amount exactly.
 */
#ifndef DOMAIN_MONEY_H
#define DOMAIN_MONEY_H

#include "base/wide.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int64_t money_t;
/* A sum of amounts that may grow for ever: of a dealer's movements, of a player's bets. */
typedef wide_t sum_t;

#define MONEY_UNITS_PER_CREDIT 10000
#define MONEY_DECIMALS_MAX     4
/* 99,999,999,999.9999: the limit of an amount and of a balance. */
#define MONEY_MAX INT64_C(999999999999999)
/* Bytes that any money_format() needs, with the NUL. */
#define MONEY_TEXT_MAX 40
/* The same of sum_format(). */
#define SUM_TEXT_MAX 48

/*
 * Accepts @x iff |x| < 1e11 and, with n = llround(x * 10^4), n / 10^4 == x bit for bit. So 0.1 is
 * accepted, 0.1+0.2, -0.0, NaN and amounts finer than 1/10000 are not. False: *money untouched.
 */
bool money_from_double(double x, money_t *money);

/* The amount nearest to @x with at most @decimals (0 to 4) decimals, for a message. |x| < 1e11. */
void money_nearest(double x, unsigned int decimals, money_t *money);

/* Accepts whole credits with |x| <= 99,999,999,999. */
bool money_from_integer(int64_t x, money_t *money);

/* Accepts what a person types: [-]digits[.digits], at most four decimals, at most MONEY_MAX. */
bool money_from_text(const char *text, money_t *money);

/* The double whose 15 significant digits are exactly the amount. |money| <= MONEY_MAX. */
double money_to_double(money_t money);

/* Writes "12.34" with as many decimals as needed, at least @decimals. Works for any int64. */
void money_format(money_t money, unsigned int decimals, char text[MONEY_TEXT_MAX]);

/* The same for any sum. */
void sum_format(sum_t sum, unsigned int decimals, char text[SUM_TEXT_MAX]);

/*
 * Reads what sum_format() writes, and less: [-]digits[.digits], at most four decimals, of any sum
 * below 10^30 credits. False: *sum untouched.
 */
bool sum_from_text(const char *text, sum_t *sum);

/* True: the amount has at most @decimals (0 to 4) decimals. */
bool money_has_decimals(money_t money, unsigned int decimals);

/* *sum = a + b. False on overflow of int64, *sum untouched. */
bool money_add(money_t a, money_t b, money_t *sum);

#endif
