#include "base/pack.h"

#include "base/wide.h"

#include <endian.h>
#include <string.h>

#define STR_LEN_MAX 0xffff

static bool put_number(struct buffer *out, uint64_t value, unsigned int width)
{
	uint8_t *to = buffer_reserve(out, width);
	uint8_t big[8];

	if (!to)
		return false;
	/* Gives each memcpy() a constant size. */
	value = htobe64(value << (64 - 8 * width));
	memcpy(big, &value, sizeof(big));
	switch (width) {
	case 1:
		to[0] = big[0];
		break;
	case 2:
		memcpy(to, big, 2);
		break;
	case 4:
		memcpy(to, big, 4);
		break;
	default:
		memcpy(to, big, 8);
		break;
	}
	out->len += width;
	return true;
}

static bool get_number(struct bytes *in, uint64_t *value, unsigned int width)
{
	if (in->len < width)
		return false;
	*value = 0;
	for (unsigned int i = 0; i < width; i++)
		*value = *value << 8 | in->data[i];
	in->data += width;
	in->len -= width;
	return true;
}

/* Returns the number of bytes on the wire of a number of @type, or 0 if @type is no number. */
static unsigned int number_width(enum field_type type)
{
	static const uint8_t widths[] = {
		[FIELD_BOOL] = 1,
		[FIELD_U8] = 1,
		[FIELD_ENUM] = 1,
		[FIELD_U16] = 2,
		[FIELD_U32] = 4,
		[FIELD_I32] = 4,
		[FIELD_U64] = 8,
		[FIELD_MONEY] = 8,
		[FIELD_TIME_MS] = 8,
		[FIELD_JSON] = 0,
		[FIELD_GROUP] = 0,
	};

	return type < sizeof(widths) ? widths[type] : 0;
}

static bool put_wide(struct buffer *out, const uint8_t *member)
{
	wide_unsigned_t value;

	memcpy(&value, member, sizeof(value));
	return put_number(out, (uint64_t)(value >> 64), 8) && put_number(out, (uint64_t)value, 8);
}

/* @width: 16, or 8 with the sign extended. */
static bool get_wide(struct bytes *in, unsigned int width, uint8_t *member)
{
	uint64_t high, low;
	wide_unsigned_t value;

	if (!get_number(in, &high, 8))
		return false;
	low = high;
	if (width == 16 && !get_number(in, &low, 8))
		return false;
	if (width == 8)
		high = low >> 63 ? UINT64_MAX : 0;
	value = (wide_unsigned_t)high << 64 | low;
	memcpy(member, &value, sizeof(value));
	return true;
}

static bool number_in_range(const struct field *field, uint64_t value)
{
	if (field->type == FIELD_BOOL)
		return value <= 1;
	if (field->type == FIELD_ENUM)
		return value < field->count;
	return true;
}

static bool pack_field(struct buffer *out, const struct field *field, const uint8_t *member)
{
	unsigned int width = number_width(field->type);
	const struct bytes *bytes;
	size_t len;

	if (width)
		return put_number(out, field_load_number(member, field->size), width);
	switch (field->type) {
	case FIELD_STR:
	case FIELD_SECRET:
		len = strnlen((const char *)member, field->size);
		return len <= STR_LEN_MAX && put_number(out, len, 2) &&
			buffer_append(out, member, len);
	case FIELD_BYTES:
	case FIELD_JSON:
		bytes = (const void *)member;
		return put_number(out, bytes->len, 4) &&
			buffer_append(out, bytes->data, bytes->len);
	case FIELD_SUM:
		return put_wide(out, member);
	case FIELD_GROUP:
		for (uint32_t i = 0; i < field->count; i++) {
			if (!pack_record(out, field->sub, member + (size_t)i * field->size))
				return false;
		}
		return true;
	default:
		return false;
	}
}

bool pack_record(struct buffer *out, const struct field *table, const void *record)
{
	for (; table->name; table++) {
		if (!pack_field(out, table, (const uint8_t *)record + table->offset))
			return false;
	}
	return true;
}

static bool take_bytes(struct bytes *in, uint32_t len, const uint8_t **data)
{
	if (in->len < len)
		return false;
	*data = in->data;
	in->data += len;
	in->len -= len;
	return true;
}

static bool unpack_str(struct bytes *in, const struct field *field, uint8_t *member)
{
	uint64_t len;
	const uint8_t *text;

	if (!get_number(in, &len, 2) || len >= field->size || !take_bytes(in, (uint32_t)len, &text))
		return false;
	if (memchr(text, 0, len))
		return false;
	memset(member, 0, field->size);
	memcpy(member, text, len);
	return true;
}

static bool unpack_field(struct bytes *in, const struct field *field, uint8_t *member)
{
	unsigned int width = number_width(field->type);
	struct bytes bytes;
	uint64_t value;

	if (width) {
		if (!get_number(in, &value, width) || !number_in_range(field, value))
			return false;
		field_store_number(member, field->size, value);
		return true;
	}
	switch (field->type) {
	case FIELD_STR:
	case FIELD_SECRET:
		return unpack_str(in, field, member);
	case FIELD_BYTES:
	case FIELD_JSON:
		if (!get_number(in, &value, 4) || value > in->len)
			return false;
		bytes.len = (uint32_t)value;
		if (!take_bytes(in, bytes.len, &bytes.data))
			return false;
		memcpy(member, &bytes, sizeof(bytes));
		return true;
	case FIELD_SUM:
		return get_wide(in, 16, member);
	case FIELD_SUM_64:
		return get_wide(in, 8, member);
	case FIELD_GROUP:
		for (uint32_t i = 0; i < field->count; i++) {
			if (!unpack_record(in, field->sub, member + (size_t)i * field->size))
				return false;
		}
		return true;
	default:
		return false;
	}
}

bool unpack_record(struct bytes *in, const struct field *table, void *record)
{
	for (; table->name; table++) {
		if (!unpack_field(in, table, (uint8_t *)record + table->offset))
			return false;
	}
	return true;
}

bool pack_key(struct buffer *out, const struct field *table, unsigned int count, const void *record)
{
	for (unsigned int i = 0; i < count; i++) {
		const uint8_t *member = (const uint8_t *)record + table[i].offset;
		unsigned int width = number_width(table[i].type);
		size_t len;

		if (width) {
			if (!put_number(out, field_load_number(member, table[i].size), width))
				return false;
			continue;
		}
		if (table[i].type != FIELD_STR)
			return false;
		len = strnlen((const char *)member, table[i].size - 1);
		if (!buffer_append(out, member, len) || !put_number(out, 0, 1))
			return false;
	}
	return true;
}

bool unpack_key(struct bytes *in, const struct field *table, unsigned int count, void *record)
{
	for (unsigned int i = 0; i < count; i++) {
		uint8_t *member = (uint8_t *)record + table[i].offset;
		const uint8_t *end, *text;
		uint32_t len;

		if (number_width(table[i].type)) {
			if (!unpack_field(in, &table[i], member))
				return false;
			continue;
		}
		end = in->len ? memchr(in->data, 0, in->len) : NULL;
		if (table[i].type != FIELD_STR || !end)
			return false;
		len = (uint32_t)(end - in->data);
		if (len >= table[i].size || !take_bytes(in, len, &text) || !take_bytes(in, 1, &end))
			return false;
		memset(member, 0, table[i].size);
		memcpy(member, text, len);
	}
	return true;
}
