#include "ledger/rows/operators.h"

#include <string.h>

/* Returns the place of @name, or the count. */
static uint32_t place_of(const struct operators *book, const char *name)
{
	uint32_t at = 0;

	while (at < book->count && strcmp(book->rows[at].name, name) != 0)
		at++;
	return at;
}

bool operators_put(struct operators *book, const struct desk_operator *row)
{
	const uint32_t at = place_of(book, row->name);

	if (at == DESK_OPERATORS_MAX)
		return false;
	book->rows[at] = *row;
	memset(book->rows[at].secret, 0, sizeof(book->rows[at].secret));
	book->count += at == book->count;
	return true;
}

const struct desk_operator *operators_named(const struct operators *book, const char *name)
{
	const uint32_t at = place_of(book, name);

	return at < book->count ? &book->rows[at] : NULL;
}

const struct desk_operator *operators_of_login(const struct operators *book, const char *login)
{
	for (uint32_t i = 0; i < book->count; i++) {
		if (strcmp(book->rows[i].login, login) == 0)
			return &book->rows[i];
	}
	return NULL;
}
