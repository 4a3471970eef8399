#include "domain/money.h"

#include "base/text.h"

#include <math.h>
#include <string.h>

#define MONEY_DOUBLE_LIMIT 1e11
/* Digits, in ten-thousandths, that fit in any sum. */

bool money_from_double(double x, money_t *money)
{
	money_t n;
	double back;

	if (!(fabs(x) < MONEY_DOUBLE_LIMIT))
		return false;
	n = llround(x * MONEY_UNITS_PER_CREDIT);
	back = (double)n / MONEY_UNITS_PER_CREDIT;
	/* Compare bit for bit: this also refuses -0.0. */
	if (memcmp(&back, &x, sizeof(x)) != 0)
		return false;
	if (n > MONEY_MAX || n < -MONEY_MAX)
		return false;
	*money = n;
	return true;
}

void money_nearest(double x, unsigned int decimals, money_t *money)
{
	static const int32_t step[MONEY_DECIMALS_MAX + 1] = {10000, 1000, 100, 10, 1};
	const int32_t steps_per_credit = MONEY_UNITS_PER_CREDIT / step[decimals];
	double steps = x * steps_per_credit;

	*money = (money_t)llround(steps) * step[decimals];
}

bool money_from_integer(int64_t x, money_t *money)
{
	const int64_t limit = MONEY_MAX / MONEY_UNITS_PER_CREDIT;

	if (x > limit || x < -limit)
		return false;
	*money = x * MONEY_UNITS_PER_CREDIT;
	return true;
}

/* Reads at most @max digits into *value. Returns their number, or -1 if there are more. */
static int read_digits(const char **text, int max, int64_t *value)
{
	int digits = 0;

	*value = 0;
	while (**text >= '0' && **text <= '9') {
		if (++digits > max)
			return -1;
		*value = *value * 10 + (**text - '0');
		(*text)++;
	}
	return digits;
}

bool money_from_text(const char *text, money_t *money)
{
	bool negative = *text == '-';
	int64_t whole, part = 0;
	int digits;

	if (negative)
		text++;
	if (read_digits(&text, 11, &whole) < 1)
		return false;
	if (*text == '.') {
		text++;
		digits = read_digits(&text, MONEY_DECIMALS_MAX, &part);
		if (digits < 1)
			return false;
		for (; digits < MONEY_DECIMALS_MAX; digits++)
			part *= 10;
	}
	if (*text)
		return false;
	*money = whole * MONEY_UNITS_PER_CREDIT + part;
	if (negative)
		*money = -*money;
	return true;
}

double money_to_double(money_t money)
{
	return (double)money / MONEY_UNITS_PER_CREDIT;
}

/* Writes ".34" and the closing NUL. */
static void format_part(char *text, unsigned int part, unsigned int decimals)
{
	unsigned int width = MONEY_DECIMALS_MAX;

	while (width > decimals && part % 10 == 0) {
		part /= 10;
		width--;
	}
	if (width) {
		*text++ = '.';
		text = text_number(text, part, width);
	}
	*text = '\0';
}

void money_format(money_t money, unsigned int decimals, char text[MONEY_TEXT_MAX])
{
	/* Negate as unsigned: -INT64_MIN does not fit in int64. */
	uint64_t units = money < 0 ? 0 - (uint64_t)money : (uint64_t)money;

	if (money < 0)
		*text++ = '-';
	text = text_number(text, units / MONEY_UNITS_PER_CREDIT, 1);
	format_part(text, (unsigned int)(units % MONEY_UNITS_PER_CREDIT), decimals);
}

/* Writes @number, of any size, in groups of 18 digits. */
static char *format_wide(char *text, wide_unsigned_t number)
{
	const uint64_t group = UINT64_C(1000000000000000000);

	if (number < group)
		return text_number(text, (uint64_t)number, 1);
	text = format_wide(text, number / group);
	return text_number(text, (uint64_t)(number % group), 18);
}

void sum_format(sum_t sum, unsigned int decimals, char text[SUM_TEXT_MAX])
{
	wide_unsigned_t units = sum < 0 ? 0 - (wide_unsigned_t)sum : (wide_unsigned_t)sum;

	if (sum < 0)
		*text++ = '-';
	text = format_wide(text, units / MONEY_UNITS_PER_CREDIT);
	format_part(text, (unsigned int)(units % MONEY_UNITS_PER_CREDIT), decimals);
}

/* Appends a decimal digit. Returns false if the result would exceed @limit. */
static bool add_digit(wide_unsigned_t *units, unsigned int digit, wide_unsigned_t limit)
{
	if (*units > (limit - digit) / 10)
		return false;
	*units = *units * 10 + digit;
	return true;
}

bool sum_from_text(const char *text, sum_t *sum)
{
	const bool negative = *text == '-';
	/* The full range of a sum: an export of a damaged row must read back unchanged. */
	const wide_unsigned_t limit = ((wide_unsigned_t)1 << 127) - !negative;
	const char *point = NULL;
	unsigned int decimals = 0;
	bool digits = false;
	wide_unsigned_t units = 0;

	text += negative;
	for (; *text; text++) {
		if (*text == '.' && !point && digits) {
			point = text;
			continue;
		}
		if (*text < '0' || *text > '9' || (point && ++decimals > MONEY_DECIMALS_MAX) ||
			!add_digit(&units, (unsigned int)(*text - '0'), limit))
			return false;
		digits = true;
	}
	if (!digits || (point && !decimals))
		return false;
	for (; decimals < MONEY_DECIMALS_MAX; decimals++) {
		if (!add_digit(&units, 0, limit))
			return false;
	}
	*sum = (sum_t)(negative ? 0 - units : units);
	return true;
}

bool money_has_decimals(money_t money, unsigned int decimals)
{
	static const money_t step[] = {10000, 1000, 100, 10, 1};

	return decimals <= MONEY_DECIMALS_MAX && money % step[decimals] == 0;
}

bool money_add(money_t a, money_t b, money_t *sum)
{
	money_t result;

	if (__builtin_add_overflow(a, b, &result))
		return false;
	*sum = result;
	return true;
}
