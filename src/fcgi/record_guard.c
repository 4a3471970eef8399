#include "fcgi/record_guard.h"

#include <string.h>

#define PROTOCOL 1

enum { BEGIN_REQUEST = 1, PARAMS = 4, STDIN = 5 };

void record_guard_begin(struct record_guard *guard)
{
	memset(guard, 0, sizeof(*guard));
}

/* Called after a length field. Returns false if the pair is too long. */
static bool length_read(struct record_guard *guard)
{
	guard->pair_left += guard->length;
	guard->value_next = !guard->value_next;
	return guard->pair_left <= FCGI_PARAMS_MAX;
}

/* Follows the length fields in @len bytes of variables. Returns false if a pair is too long. */
static bool pass_params(struct record_guard *guard, const uint8_t *at, size_t len)
{
	const uint8_t *end = at + len;
	size_t part;

	while (at < end) {
		if (guard->length_bytes) {
			guard->length = guard->length << 8 | *at++;
			if (--guard->length_bytes == 0 && !length_read(guard))
				return false;
		} else if (guard->value_next || !guard->pair_left) {
			guard->length = *at & 0x7f;
			guard->length_bytes = *at++ & 0x80 ? 3 : 0;
			if (!guard->length_bytes && !length_read(guard))
				return false;
		} else {
			part = (size_t)(end - at) < guard->pair_left ? (size_t)(end - at)
								     : guard->pair_left;
			guard->pair_left -= part;
			at += part;
		}
	}
	return true;
}

/* Called after a record head. Returns false on a violation. */
static bool head_read(struct record_guard *guard)
{
	const uint8_t *head = guard->head;
	uint16_t id = (uint16_t)(head[2] << 8 | head[3]);

	guard->type = head[1];
	guard->content = (size_t)head[4] << 8 | head[5];
	guard->padding = head[6];
	if (head[0] != PROTOCOL || !id || (!guard->content && guard->padding))
		return false;
	if (!guard->id) {
		guard->id = id;
		return guard->type == BEGIN_REQUEST && !guard->padding;
	}
	if (id != guard->id || guard->type != (guard->params_ended ? STDIN : PARAMS))
		return false;
	if (guard->content)
		return true;
	guard->ended = guard->params_ended;
	guard->params_ended = true;
	return true;
}

/* Follows content of a record. Returns false on a violation. */
static bool pass_content(struct record_guard *guard, const uint8_t *data, size_t len)
{
	guard->content -= len;
	if (guard->type != PARAMS)
		return true;
	guard->params += len;
	return guard->params <= FCGI_PARAMS_MAX && pass_params(guard, data, len);
}

size_t record_guard_pass(struct record_guard *guard, const void *data, size_t len)
{
	const uint8_t *at = data, *end = at + len;
	size_t left, part;

	while (at < end && !guard->ended) {
		left = (size_t)(end - at);
		if (guard->content) {
			part = left < guard->content ? left : guard->content;
			if (!pass_content(guard, at, part))
				return 0;
		} else if (guard->padding) {
			part = left < guard->padding ? left : guard->padding;
			guard->padding -= part;
		} else {
			part = 1;
			guard->head[guard->head_len++] = *at;
			if (guard->head_len == RECORD_HEAD_SIZE) {
				guard->head_len = 0;
				if (!head_read(guard))
					return 0;
			}
		}
		at += part;
	}
	return (size_t)(at - (const uint8_t *)data);
}
