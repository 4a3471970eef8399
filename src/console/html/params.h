/*
 * params - reads application/x-www-form-urlencoded text: the query of an address, or the body of a
 * form; and one cookie of a Cookie header.
 */
#ifndef CONSOLE_HTML_PARAMS_H
#define CONSOLE_HTML_PARAMS_H

#include <stdbool.h>
#include <stddef.h>

#define PARAMS_MAX       64
#define PARAMS_BYTES_MAX 65536 /* of the encoded text */

struct params {
	unsigned int count;
	struct {
		const char *name;
		const char *value;
	} list[PARAMS_MAX];
	char store[PARAMS_BYTES_MAX + 2 * PARAMS_MAX]; /* each part has a NUL */
};

/*
 * Reads @len bytes. Returns false, with no parameter, if the text is too long, has more than
 * PARAMS_MAX parameters, a "%" without two hex digits, a NUL, or ill-formed UTF-8.
 */
bool params_read(struct params *params, const char *text, size_t len);

/* Returns the value of the first parameter called @name, or "". */
const char *params_get(const struct params *params, const char *name);

/*
 * Copies the cookie @name of the header @header to @value. A value has only [A-Za-z0-9_.:+-]. Returns
 * false, with "", if there is none, it does not fit, or the name occurs twice: a second cookie of a
 * name is one that another site has set.
 */
bool cookie_get(const char *header, const char *name, char *value, size_t size);

#endif
