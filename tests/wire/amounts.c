/*
 * amounts - two commands that test the conversion of amounts:
 *
 *   amounts print SEED COUNT   prints random amounts as in answers, one JSON number a line
 *   amounts read SEED COUNT    reads them from standard input as in a request's body
 *
 * `read` compares each amount with the one that was printed. If one differs, it prints that
 * amount and exits with 1.
 */
#include "chance.h"
#include "domain/money.h"
#include "wire/body.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct amount {
	money_t amount;
};

static const struct body_field fields[] = {
	BODY_FIELD(BODY_PAYOUT, amount, amount),
	{.name = NULL},
};

static uint64_t state;

/*
 * Returns amounts of all sizes: each number of digits is equally likely. The first ones are the
 * bounds.
 */
static money_t next(uint64_t number)
{
	uint64_t most = 10;

	if (number < 2)
		return number ? MONEY_MAX : 0;
	for (uint64_t digits = chance_below(&state, 15); digits; digits--)
		most *= 10;
	return (money_t)(chance_below(&state, most));
}

static int print(uint64_t count)
{
	char text[MONEY_TEXT_MAX];

	for (uint64_t i = 0; i < count; i++) {
		money_format(next(i), 1, text);
		puts(text);
	}
	return fflush(stdout) ? 1 : 0;
}

static int read_back(uint64_t count)
{
	char line[128], body[160], detail[BODY_DETAIL_MAX];
	struct amount got;
	money_t wanted;
	int len;

	for (uint64_t i = 0; i < count; i++) {
		wanted = next(i);
		if (!fgets(line, sizeof(line), stdin)) {
			printf("there are %" PRIu64 " lines\n", i);
			return 1;
		}
		line[strcspn(line, "\n")] = '\0';
		len = snprintf(body, sizeof(body), "{\"amount\":%s}", line);
		if (body_parse(body, (size_t)len, fields, &got, detail) != REFUSAL_NONE) {
			printf("%s: %s\n", line, detail);
			return 1;
		}
		if (got.amount != wanted) {
			printf("%s is %" PRId64 " and was %" PRId64 "\n", line, got.amount, wanted);
			return 1;
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc != 4 || (strcmp(argv[1], "print") != 0 && strcmp(argv[1], "read") != 0)) {
		fprintf(stderr, "usage: amounts print|read SEED COUNT\n");
		return 2;
	}
	state = strtoull(argv[2], NULL, 10);
	return argv[1][0] == 'p' ? print(strtoull(argv[3], NULL, 10))
				 : read_back(strtoull(argv[3], NULL, 10));
}
