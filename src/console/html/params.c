#include "console/html/params.h"

#include "base/text.h"

#include <stdint.h>
#include <string.h>

static int hex_digit(char digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	if (digit >= 'a' && digit <= 'f')
		return digit - 'a' + 10;
	if (digit >= 'A' && digit <= 'F')
		return digit - 'A' + 10;
	return -1;
}

/* Decodes @len bytes to @to, with a NUL. Returns the length, or -1 if the text is not allowed. */
static long decode_part(char *to, const char *text, size_t len)
{
	size_t out = 0;
	uint32_t code;

	for (size_t at = 0; at < len; at++) {
		char byte = text[at];

		if (byte == '+') {
			byte = ' ';
		} else if (byte == '%') {
			int high = at + 2 < len ? hex_digit(text[at + 1]) : -1;
			int low = at + 2 < len ? hex_digit(text[at + 2]) : -1;

			if (high < 0 || low < 0)
				return -1;
			byte = (char)(high * 16 + low);
			at += 2;
		}
		if (!byte)
			return -1;
		to[out++] = byte;
	}
	to[out] = '\0';
	for (size_t at = 0, size; at < out; at += size) {
		size = text_utf8_len(to + at, out - at, &code);
		if (!size)
			return -1;
	}
	return (long)out;
}

/* Decodes one part to the store. Returns it, or NULL. */
static const char *store_part(struct params *params, size_t *used, const char *text, size_t len)
{
	char *to = params->store + *used;
	long size = decode_part(to, text, len);

	if (size < 0)
		return NULL;
	*used += (size_t)size + 1;
	return to;
}

static bool read_pairs(struct params *params, const char *text, size_t len)
{
	size_t used = 0;

	while (len) {
		const char *amp = memchr(text, '&', len);
		size_t pair = amp ? (size_t)(amp - text) : len;
		const char *equal = memchr(text, '=', pair);
		size_t name = equal ? (size_t)(equal - text) : pair;
		const char *value = equal ? equal + 1 : text + pair;
		unsigned int at = params->count;

		if (pair && at == PARAMS_MAX)
			return false;
		if (pair) {
			params->list[at].name = store_part(params, &used, text, name);
			params->list[at].value = params->list[at].name
				? store_part(params, &used, value, (size_t)(text + pair - value))
				: NULL;
			if (!params->list[at].value)
				return false;
			params->count++;
		}
		text += pair + (amp ? 1 : 0);
		len -= pair + (amp ? 1 : 0);
	}
	return true;
}

bool params_read(struct params *params, const char *text, size_t len)
{
	params->count = 0;
	if (len <= PARAMS_BYTES_MAX && read_pairs(params, text, len))
		return true;
	params->count = 0;
	return false;
}

const char *params_get(const struct params *params, const char *name)
{
	for (unsigned int i = 0; i < params->count; i++) {
		if (strcmp(params->list[i].name, name) == 0)
			return params->list[i].value;
	}
	return "";
}

static bool is_cookie_value(const char *text, size_t len)
{
	static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				      "0123456789_.:+-";

	for (size_t i = 0; i < len; i++) {
		if (!text[i] || !strchr(allowed, text[i]))
			return false;
	}
	return true;
}

bool cookie_get(const char *header, const char *name, char *value, size_t size)
{
	const size_t name_len = strlen(name);
	unsigned int found = 0;

	value[0] = '\0';
	while (*header) {
		size_t len = strcspn(header, ";");
		const char *end = header + len;

		header += strspn(header, " \t");
		if (header + name_len < end && strncmp(header, name, name_len) == 0 &&
			header[name_len] == '=') {
			header += name_len + 1;
			found++;
			if (!is_cookie_value(header, (size_t)(end - header)) ||
				!text_copy_len(value, size, header, (size_t)(end - header)))
				found = 2;
		}
		header = *end ? end + 1 : end;
	}
	if (found != 1)
		value[0] = '\0';
	return found == 1;
}
