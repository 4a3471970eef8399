#include "base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

bool text_copy_len(char *to, size_t size, const char *from, size_t len)
{
	if (!size)
		return false;
	if (len >= size) {
		to[0] = '\0';
		return false;
	}
	if (len)
		memmove(to, from, len);
	to[len] = '\0';
	return true;
}

bool text_copy(char *to, size_t size, const char *from)
{
	return text_copy_len(to, size, from, strlen(from));
}

size_t text_utf8_len(const char *text, size_t len, uint32_t *code)
{
	/* The smallest code point of each length; a smaller one was encoded too long. */
	static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
	const uint8_t *byte = (const uint8_t *)text;
	size_t need;
	uint32_t c;

	if (!len)
		return 0;
	if (byte[0] < 0x80) {
		*code = byte[0];
		return 1;
	}
	if (byte[0] >= 0xc2 && byte[0] <= 0xdf)
		need = 2;
	else if (byte[0] >= 0xe0 && byte[0] <= 0xef)
		need = 3;
	else if (byte[0] >= 0xf0 && byte[0] <= 0xf4)
		need = 4;
	else
		return 0;
	if (len < need)
		return 0;
	c = byte[0] & (0x7fu >> need);
	for (size_t i = 1; i < need; i++) {
		if ((byte[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (byte[i] & 0x3fu);
	}
	if (c < smallest[need] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	*code = c;
	return need;
}

bool text_is_control(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code <= 0x9f);
}

bool text_steers(uint32_t code)
{
	return text_is_control(code) || code == 0x061c || code == 0x200e || code == 0x200f ||
		(code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

/* First and last code point of each range of characters shown as nothing or as a gap. */
static const uint32_t hidden[][2] = {
	{0x00a0, 0x00a0},
	{0x00ad, 0x00ad},
	{0x034f, 0x034f},
	{0x061c, 0x061c},
	{0x115f, 0x1160},
	{0x1680, 0x1680},
	{0x17b4, 0x17b5},
	{0x180b, 0x180f},
	{0x2000, 0x200f},
	{0x2028, 0x202f},
	{0x205f, 0x206f},
	{0x2800, 0x2800},
	{0x3000, 0x3000},
	{0x3164, 0x3164},
	{0xfe00, 0xfe0f},
	{0xfeff, 0xfeff},
	{0xffa0, 0xffa0},
	{0xfff0, 0xfffc},
	{0x1bca0, 0x1bca3},
	{0x1d173, 0x1d17a},
	{0xe0000, 0xe0fff},
};

bool text_is_hidden(uint32_t code)
{
	for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]) && code >= hidden[i][0]; i++) {
		if (code <= hidden[i][1])
			return true;
	}
	return text_is_control(code);
}

size_t text_escape(uint32_t code, char to[TEXT_ESCAPE_MAX])
{
	/* Write a JSON escape, since a line of the log may contain a JSON string. */
	if (code > 0xffff)
		return (size_t)snprintf(to, TEXT_ESCAPE_MAX, "\\u%04x\\u%04x",
			(unsigned int)(0xd800 + ((code - 0x10000) >> 10)),
			(unsigned int)(0xdc00 + ((code - 0x10000) & 0x3ff)));
	return (size_t)snprintf(to, TEXT_ESCAPE_MAX, "\\u%04x", (unsigned int)code);
}

size_t text_show(char *to, size_t size, const char *from)
{
	size_t used = 0, left = strlen(from), step, len;
	char escape[TEXT_ESCAPE_MAX];
	const char *one;
	uint32_t code;

	for (; left; from += step, left -= step) {
		step = text_utf8_len(from, left, &code);
		one = step ? from : "?";
		len = step ? step : 1;
		step = len;
		if (one == from && text_is_hidden(code)) {
			len = text_escape(code, escape);
			one = escape;
		}
		if (used + len >= size)
			break;
		memcpy(to + used, one, len);
		used += len;
	}
	to[used] = '\0';
	return used;
}

void text_clean(char *text, size_t len)
{
	uint32_t code;
	size_t step;

	for (size_t at = 0; at < len; at += step) {
		step = text_utf8_len(text + at, len - at, &code);
		if (step && !text_is_control(code))
			continue;
		if (!step)
			step = 1;
		memset(text + at, '?', step);
	}
}

bool text_is_utf8_clean(const char *text, size_t len)
{
	uint32_t code;
	size_t step;

	while (len) {
		step = text_utf8_len(text, len, &code);
		if (!step || text_is_control(code))
			return false;
		text += step;
		len -= step;
	}
	return true;
}

bool text_is_name(const char *text, size_t max)
{
	static const bool of_names[UINT8_MAX + 1] = {
		['A' ... 'Z'] = true,
		['a' ... 'z'] = true,
		['0' ... '9'] = true,
		['_'] = true,
		['.'] = true,
		['-'] = true,
	};
	size_t len = 0;

	while (len < max && of_names[(unsigned char)text[len]])
		len++;
	return len >= 1 && text[len] == '\0';
}

char *text_number(char *to, uint64_t number, unsigned int width)
{
	char digits[TEXT_NUMBER_MAX];
	unsigned int count = 0;

	do {
		digits[count++] = (char)('0' + number % 10);
		number /= 10;
	} while (number || (count < width && count < TEXT_NUMBER_MAX));
	while (count)
		*to++ = digits[--count];
	return to;
}

uint32_t text_hash(const char *text)
{
	uint32_t hash = 2166136261u;

	for (; *text; text++)
		hash = (hash ^ (uint8_t)*text) * 16777619u;
	return hash;
}

bool text_base_path(const char *text, char *base_path, size_t size)
{
	size_t len = strlen(text);

	if (len && text[len - 1] == '/')
		len--;
	if (len &&
		(text[0] != '/' || text[len - 1] == '/' || strstr(text, "//") ||
			!text_is_utf8_clean(text, len)))
		return false;
	return text_copy_len(base_path, size, text, len);
}

bool text_unsigned(const char *text, uint64_t max, uint64_t *number)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*number = strtoull(text, &end, 10);
	return !errno && !*end && *number <= max;
}

void text_time(int64_t time_ms, char text[TEXT_TIME_SIZE])
{
	time_t seconds = (time_t)(time_ms / 1000);
	int ms = (int)(time_ms % 1000);
	struct tm tm;
	char date[24];

	if (!time_ms) {
		snprintf(text, TEXT_TIME_SIZE, "-");
		return;
	}
	if (ms < 0) {
		ms += 1000;
		seconds--;
	}
	if (!gmtime_r(&seconds, &tm) || !strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &tm)) {
		snprintf(text, TEXT_TIME_SIZE, "%" PRId64, time_ms);
		return;
	}
	snprintf(text, TEXT_TIME_SIZE, "%s.%03dZ", date, ms);
}

void text_duration(uint64_t ms, char text[TEXT_DURATION_SIZE])
{
	uint64_t s = ms / 1000;

	if (s >= 86400)
		snprintf(text, TEXT_DURATION_SIZE, "%" PRIu64 " d %" PRIu64 " h", s / 86400,
			s / 3600 % 24);
	else if (s >= 3600)
		snprintf(text, TEXT_DURATION_SIZE, "%" PRIu64 " h %" PRIu64 " min", s / 3600,
			s / 60 % 60);
	else if (s >= 60)
		snprintf(text, TEXT_DURATION_SIZE, "%" PRIu64 " min %" PRIu64 " s", s / 60, s % 60);
	else
		snprintf(text, TEXT_DURATION_SIZE, "%" PRIu64 ".%03" PRIu64 " s", s, ms % 1000);
}
