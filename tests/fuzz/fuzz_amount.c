/*
 * fuzz_amount - amounts of credit: what is accepted, and that it reads back as it was printed.
 *
 * The first byte chooses the way in: the bytes of a double, a literal of JSON in a body, what a
 * person types, a whole number. The yardstick of a double is the C library's exact "%.4f".
 */
#include "fuzz.h"

#include "domain/money.h"
#include "wire/body.h"
#include "wire/render.h"

#include <math.h>

struct one {
	money_t amount;
};
static const struct body_field body_fields[] = {
	BODY_FIELD(BODY_AMOUNT, one, amount),
	BODY_FIELD_END,
};
static const struct body_field payout_fields[] = {
	BODY_FIELD(BODY_PAYOUT, one, amount),
	BODY_FIELD_END,
};
static const struct field one_fields[] = {
	FIELD(FIELD_MONEY, one, amount),
	FIELD_END,
};

/* Prints and reads it in every way that there is. */
static void check_there_and_back(money_t money)
{
	struct one one = {money}, back = {-1};
	char text[MONEY_TEXT_MAX], detail[BODY_DETAIL_MAX];
	unsigned int decimals = 0;
	struct buffer out;
	money_t again;

	while (!money_has_decimals(money, decimals))
		decimals++;
	must(decimals <= MONEY_DECIMALS_MAX);
	must(!money_has_decimals(money, MONEY_DECIMALS_MAX + 1));
	for (unsigned int least = 0; least <= MONEY_DECIMALS_MAX; least++) {
		const char *point;

		money_format(money, least, text);
		point = strchr(text, '.');
		must((point ? strlen(point + 1) : 0) == (least > decimals ? least : decimals));
		must(money_from_text(text, &again) && again == money);
	}
	must(money_from_double(money_to_double(money), &again) && again == money);
	if (money < 0)
		return;
	buffer_init(&out, 256);
	must(render_record(&out, one_fields, &one));
	must(body_parse(out.data, out.len, payout_fields, &back, detail) == REFUSAL_NONE);
	must(back.amount == money);
	buffer_free(&out);
}

/* Whether @x is an amount, by the digits of its exact value rounded to four decimals. */
static bool is_amount(double x, money_t *money)
{
	char text[64];

	if (!(fabs(x) < 1e11) || (x == 0 && signbit(x)))
		return false;
	snprintf(text, sizeof(text), "%.4f", x);
	if (strtod(text, NULL) != x)
		return false;
	memmove(strchr(text, '.'), strchr(text, '.') + 1, 5);
	*money = strtoll(text, NULL, 10);
	return true;
}

static void check_double(double x)
{
	money_t money = 42, yardstick = 42;
	bool accepted = money_from_double(x, &money);

	must(accepted == is_amount(x, &yardstick));
	must(money == yardstick);
	if (accepted)
		check_there_and_back(money);
}

/* @text as the one amount of a body. */
static void check_literal(const char *text)
{
	struct one one = {42};
	char body[256], detail[BODY_DETAIL_MAX], *end;
	enum refusal refusal;
	money_t yardstick;
	double x;

	if (!*text || strspn(text, "0123456789+-.eE") != strlen(text) || strlen(text) > 200)
		return;
	snprintf(body, sizeof(body), "{\"amount\":%s}", text);
	refusal = body_parse(body, strlen(body), body_fields, &one, detail);
	x = strtod(text, &end);
	if (refusal == REFUSAL_BAD_REQUEST) {
		/* Only what is no number of JSON. */
		must(*end || !strpbrk(text, "0123456789") || text[0] == '+' || text[0] == '.' ||
			strstr(text, "-.") || strstr(text, ".e") || strstr(text, ".E") ||
			text[strlen(text) - 1] == '.' || text[text[0] == '-'] == '0');
		must(one.amount == 42);
	} else if (refusal == REFUSAL_INVALID_AMOUNT) {
		must(x <= 0 || !is_amount(x, &yardstick));
		must(one.amount == 42);
	} else {
		must(refusal == REFUSAL_NONE && !*end);
		must(x > 0 && is_amount(x, &yardstick));
		must(one.amount == yardstick);
		check_there_and_back(one.amount);
	}
}

/* Digits, then at most four after a point; at most MONEY_MAX. */
static void check_typed(const char *text)
{
	money_t money = 42;
	bool accepted = money_from_text(text, &money);
	const char *whole = text + (*text == '-');
	size_t digits = strspn(whole, "0123456789"), decimals = 0;
	const char *rest = whole + digits;
	bool good = digits >= 1 && digits <= 11;

	if (*rest == '.') {
		decimals = strspn(rest + 1, "0123456789");
		good = good && decimals >= 1 && decimals <= MONEY_DECIMALS_MAX;
		rest += 1 + decimals;
	}
	must(accepted == (good && !*rest));
	must(accepted || money == 42);
	if (!accepted)
		return;
	must(strtod(text, NULL) == money_to_double(money));
	check_there_and_back(money);
}

static void check_whole(int64_t a, int64_t b)
{
	money_t money = 42, sum = 42;
	bool accepted = money_from_integer(a, &money);
	const __int128 exact = (__int128)a + b;
	char text[MONEY_TEXT_MAX];

	must(accepted == (a >= -INT64_C(99999999999) && a <= INT64_C(99999999999)));
	must(money == (accepted ? a * MONEY_UNITS_PER_CREDIT : 42));
	if (accepted)
		check_there_and_back(money);
	must(money_add(a, b, &sum) == (exact >= INT64_MIN && exact <= INT64_MAX));
	must(sum == 42 || sum == (money_t)exact);
	money_format(a, 2, text);
	must(strlen(text) < MONEY_TEXT_MAX);
	if (a >= -MONEY_MAX && a <= MONEY_MAX)
		check_there_and_back(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes in = {data, (uint32_t)size};
	unsigned int way = fuzz_byte(&in) % 5;
	uint64_t number;
	double x;
	char *text;

	if (way == 0) {
		number = fuzz_number(&in, 8);
		memcpy(&x, &number, sizeof(x));
		check_double(x);
	} else if (way == 1) {
		/* Beside an amount: what rounds wrongly lies there. */
		number = fuzz_number(&in, 8) % (uint64_t)(MONEY_MAX + 1);
		x = money_to_double((money_t)number);
		check_double(x);
		check_double(nextafter(x, INFINITY));
		check_double(-nextafter(x, 0));
	} else if (way == 2) {
		number = fuzz_number(&in, 8);
		check_whole((int64_t)number, (int64_t)fuzz_number(&in, 8));
	} else {
		text = fuzz_text(in);
		if (way == 3)
			check_literal(text);
		else
			check_typed(text);
		free(text);
	}
	return 0;
}
