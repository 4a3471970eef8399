/* row_line_put - writes rows as lines. */
#include "wire/row_line.h"

#include "base/text.h"
#include "domain/money.h"
#include "wire/render.h"

#include <inttypes.h>
#include <string.h>

#define DOUBLE_EXACT (UINT64_C(1) << 53)

static bool put_members(struct buffer *out, const char *before, const struct field *table,
	const uint8_t *row, bool secrets);

static bool put_hex(struct buffer *out, const uint8_t *data, size_t len)
{
	buffer_append_str(out, "{\"hex\":\"");
	for (size_t i = 0; i < len; i++)
		buffer_printf(out, "%02x", data[i]);
	return buffer_append_str(out, "\"}");
}

static bool put_bytes(struct buffer *out, const void *data, size_t len)
{
	const char *text = data;
	uint32_t code;
	size_t step = 1;

	for (size_t at = 0; at < len && step; at += step)
		step = text[at] ? text_utf8_len(text + at, len - at, &code) : 0;
	return step ? render_text(out, text, len) : put_hex(out, data, len);
}

static bool put_unsigned(struct buffer *out, uint64_t number)
{
	const char *quote = number < DOUBLE_EXACT ? "" : "\"";

	return buffer_printf(out, "%s%" PRIu64 "%s", quote, number, quote);
}

static bool put_signed(struct buffer *out, int64_t number)
{
	const bool exact = number < (int64_t)DOUBLE_EXACT && number > -(int64_t)DOUBLE_EXACT;
	const char *quote = exact ? "" : "\"";

	return buffer_printf(out, "%s%" PRId64 "%s", quote, number, quote);
}

static bool put_money(struct buffer *out, money_t money)
{
	char text[MONEY_TEXT_MAX];

	money_format(money, 2, text);
	return buffer_printf(out, "\"%s\"", text);
}

static bool put_sum(struct buffer *out, const uint8_t *member)
{
	char text[SUM_TEXT_MAX];
	sum_t sum;

	memcpy(&sum, member, sizeof(sum));
	sum_format(sum, 2, text);
	return buffer_printf(out, "\"%s\"", text);
}

static bool put_enum(struct buffer *out, const struct field *field, uint64_t number)
{
	/* A number without a name would not read back; the row is damaged. */
	if (number >= field->count) {
		out->failed = true;
		return false;
	}
	return render_string(out, field->names[number]);
}

static bool is_unused(const uint8_t *element, uint32_t size)
{
	for (uint32_t i = 0; i < size; i++) {
		if (element[i])
			return false;
	}
	return true;
}

static bool put_group(struct buffer *out, const struct field *field, const uint8_t *member,
	bool secrets)
{
	if (field->count == 1)
		return put_members(out, "{", field->sub, member, secrets);
	buffer_append_str(out, "[");
	for (uint32_t i = 0; i < field->count; i++) {
		const uint8_t *element = member + (size_t)i * field->size;

		if (i)
			buffer_append_str(out, ",");
		if (is_unused(element, field->size))
			buffer_append_str(out, "null");
		else
			put_members(out, "{", field->sub, element, secrets);
	}
	return buffer_append_str(out, "]");
}

static bool put_value(struct buffer *out, const struct field *field, const uint8_t *member,
	bool secrets)
{
	struct bytes bytes;

	switch (field->type) {
	case FIELD_BOOL:
		return buffer_append_str(out, *member ? "true" : "false");
	case FIELD_U8:
	case FIELD_U16:
	case FIELD_U32:
	case FIELD_U64:
		return put_unsigned(out, field_load_number(member, field->size));
	case FIELD_I32:
		return put_signed(out, (int32_t)(uint32_t)field_load_number(member, field->size));
	case FIELD_TIME_MS:
		return put_signed(out, (int64_t)field_load_number(member, field->size));
	case FIELD_MONEY:
		return put_money(out, (money_t)field_load_number(member, field->size));
	case FIELD_SUM:
		return put_sum(out, member);
	case FIELD_ENUM:
		return put_enum(out, field, field_load_number(member, field->size));
	case FIELD_STR:
	case FIELD_SECRET:
		return put_bytes(out, member, strnlen((const char *)member, field->size));
	case FIELD_BYTES:
	case FIELD_JSON:
		memcpy(&bytes, member, sizeof(bytes));
		return put_bytes(out, bytes.data, bytes.len);
	case FIELD_GROUP:
		return put_group(out, field, member, secrets);
	case FIELD_NONE:
	case FIELD_SUM_64:
		break;
	}
	return false;
}

static bool put_members(struct buffer *out, const char *before, const struct field *table,
	const uint8_t *row, bool secrets)
{
	for (; table->name; table++) {
		if (table->type == FIELD_SECRET && !secrets)
			continue;
		if (!buffer_append_str(out, before) || !render_string(out, table->name) ||
			!buffer_append_str(out, ":") ||
			!put_value(out, table, row + table->offset, secrets))
			return false;
		before = ",";
	}
	return buffer_append_str(out, "}");
}

bool row_line_put(struct buffer *out, const char *name, const struct field *table, const void *row,
	bool secrets)
{
	return buffer_printf(out, "{\"record\":\"%s\"", name) &&
		put_members(out, ",", table, row, secrets) && buffer_append_str(out, "\n");
}
