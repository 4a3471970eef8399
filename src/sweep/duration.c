#include "sweep/duration.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS_MAX 8

static const struct {
	const char *name;
	int64_t ms;
} units[] = {{"", 1000}, {"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}};

bool duration_parse(const char *text, int64_t *ms)
{
	size_t digits = strspn(text, "0123456789");
	int64_t number;

	if (!digits || digits > DIGITS_MAX)
		return false;
	number = strtol(text, NULL, 10);
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(text + digits, units[i].name) != 0)
			continue;
		*ms = number * units[i].ms;
		return *ms > 0 && *ms <= DURATION_MAX_MS;
	}
	return false;
}
