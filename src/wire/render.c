#include "wire/render.h"

#include "base/text.h"

#include <inttypes.h>
#include <string.h>

static bool render_members(struct buffer *out, const struct field *table, const uint8_t *record);

/* Appends one character of a string. */
static bool put_character(struct buffer *out, const char *text, size_t len, uint32_t code)
{
	static const char letters[] = "\"\"\\\\\bb\ff\nn\rr\tt";

	for (const char *pair = letters; *pair; pair += 2) {
		if (code == (unsigned char)pair[0])
			return buffer_append(out, "\\", 1) && buffer_append(out, pair + 1, 1);
	}
	if (text_is_control(code))
		return buffer_printf(out, "\\u%04" PRIx32, code);
	return buffer_append(out, text, len);
}

/* Returns the number of leading ASCII characters that need no escape, usually all. */
static size_t plain_len(const char *text, size_t len)
{
	size_t plain = 0;

	while (plain < len && text[plain] >= ' ' && text[plain] < 0x7f && text[plain] != '"' &&
		text[plain] != '\\')
		plain++;
	return plain;
}

bool render_text(struct buffer *out, const char *text, size_t len)
{
	uint32_t code;
	size_t step;
	bool done = buffer_append(out, "\"", 1);

	while (len && done) {
		step = plain_len(text, len);
		if (step) {
			done = buffer_append(out, text, step);
		} else {
			step = text_utf8_len(text, len, &code);
			done = step ? put_character(out, text, step, code)
				    : buffer_append(out, "?", 1);
		}
		if (!step)
			step = 1;
		text += step;
		len -= step;
	}
	return done && buffer_append(out, "\"", 1);
}

bool render_string(struct buffer *out, const char *text)
{
	return render_text(out, text, strlen(text));
}

static bool put_money(struct buffer *out, money_t money)
{
	char text[MONEY_TEXT_MAX];

	/*
	 * The decimal text is a JSON number, exact for every int64. It has a decimal even if it is
	 * whole: amounts are floating-point numbers (specification, "Amounts and time values"), and
	 * typed languages distinguish 100 from 100.0.
	 */
	money_format(money, 1, text);
	return buffer_append_str(out, text);
}

/* Also exact: a sum may have more digits than a double holds (creditbridge-protocol(7)). */
static bool put_sum(struct buffer *out, sum_t sum)
{
	char text[SUM_TEXT_MAX];

	sum_format(sum, 1, text);
	return buffer_append_str(out, text);
}

/* Returns true for an unused slot of a group: its first member is an empty string. */
static bool slot_unused(const struct field *first, const uint8_t *element)
{
	return first->type == FIELD_STR && element[first->offset] == '\0';
}

static bool put_group(struct buffer *out, const struct field *field, const uint8_t *member)
{
	bool first = true;

	if (field->count == 1)
		return render_members(out, field->sub, member);
	if (!buffer_append(out, "[", 1))
		return false;
	for (uint32_t i = 0; i < field->count; i++) {
		const uint8_t *element = member + (size_t)i * field->size;

		if (slot_unused(field->sub, element))
			continue;
		if (!first && !buffer_append(out, ",", 1))
			return false;
		first = false;
		if (!render_members(out, field->sub, element))
			return false;
	}
	return buffer_append(out, "]", 1);
}

/* Read members by memcpy(): a table gives their offset, not their alignment. */
#define LOAD(type_, member_)                                                                       \
	({                                                                                         \
		type_ load_;                                                                       \
		memcpy(&load_, (member_), sizeof(load_));                                          \
		load_;                                                                             \
	})

static bool put_enum(struct buffer *out, const struct field *field, const uint8_t *member)
{
	unsigned int value = LOAD(unsigned int, member);

	if (value >= field->count)
		return buffer_append_str(out, "null");
	return render_string(out, field->names[value]);
}

/* Copies JSON text without its line breaks, which have no meaning in JSON and would end a line. */
static bool put_json(struct buffer *out, struct bytes json)
{
	size_t start = out->len;

	if (!buffer_append(out, json.data, json.len))
		return false;
	for (uint8_t *at = out->data + start; at < out->data + out->len; at++) {
		if (*at == '\n' || *at == '\r')
			*at = ' ';
	}
	return true;
}

static bool put_value(struct buffer *out, const struct field *field, const uint8_t *member)
{
	switch (field->type) {
	case FIELD_BOOL:
		return buffer_append_str(out, LOAD(bool, member) ? "true" : "false");
	case FIELD_U8:
		return buffer_append_number(out, *member);
	case FIELD_U16:
		return buffer_append_number(out, LOAD(uint16_t, member));
	case FIELD_U32:
		return buffer_append_number(out, LOAD(uint32_t, member));
	case FIELD_I32:
		return buffer_printf(out, "%" PRId32, LOAD(int32_t, member));
	case FIELD_U64:
		return buffer_append_number(out, LOAD(uint64_t, member));
	case FIELD_TIME_MS:
		return buffer_printf(out, "%" PRId64, LOAD(int64_t, member));
	case FIELD_MONEY:
		return put_money(out, LOAD(money_t, member));
	case FIELD_SUM:
		return put_sum(out, LOAD(sum_t, member));
	case FIELD_ENUM:
		return put_enum(out, field, member);
	case FIELD_STR:
		return render_text(out, (const char *)member,
			strnlen((const char *)member, field->size));
	case FIELD_GROUP:
		return put_group(out, field, member);
	case FIELD_JSON:
		return put_json(out, LOAD(struct bytes, member));
	case FIELD_NONE:
	case FIELD_SECRET:
	case FIELD_BYTES:
	case FIELD_SUM_64:
		break;
	}
	return false;
}

/* Returns true if the member is not shown. */
static bool left_out(const struct field *field, const uint8_t *member)
{
	return field->type == FIELD_SECRET || field->type == FIELD_BYTES ||
		(field->type == FIELD_JSON && !LOAD(struct bytes, member).len);
}

static bool render_members(struct buffer *out, const struct field *table, const uint8_t *record)
{
	const char *before = "{\"";

	for (; table->name; table++) {
		if (left_out(table, record + table->offset))
			continue;
		/* Our own names need no escapes. */
		if (!buffer_append_str(out, before) || !buffer_append_str(out, table->name) ||
			!buffer_append_str(out, "\":") ||
			!put_value(out, table, record + table->offset))
			return false;
		before = ",\"";
	}
	return (*before == ',' || buffer_append(out, "{", 1)) && buffer_append(out, "}", 1);
}

/* Removes the text appended since @start on failure, so that a reader never gets half an object. */
static bool finish_render(struct buffer *out, size_t start, bool done)
{
	if (!done) {
		out->len = start;
		out->failed = true;
	}
	return done;
}

bool render_record(struct buffer *out, const struct field *table, const void *record)
{
	size_t start = out->len;

	return finish_render(out, start, render_members(out, table, record));
}

bool render_error(struct buffer *out, const struct error_body *error)
{
	const struct refusal_info *info = refusal_info(error->refusal);
	size_t start = out->len;

	buffer_append_str(out, "{\"id\":");
	render_string(out, info->id);
	buffer_printf(out, ",\"code\":%d,\"status\":", info->code);
	render_string(out, render_reason(info->code));
	buffer_append_str(out, ",\"detail\":");
	render_string(out, error->detail ? error->detail : info->detail);
	buffer_append_str(out,
		info->retryable || error->retryable ? ",\"retryable\":true"
						    : ",\"retryable\":false");
	buffer_append_str(out, ",\"request_id\":");
	render_string(out, error->request_id ? error->request_id : "");
	if (error->field && error->field[0]) {
		buffer_append_str(out, ",\"field\":");
		render_string(out, error->field);
	}
	if (error->has_balance) {
		buffer_append_str(out, ",\"current_balance\":");
		put_money(out, error->current_balance);
	}
	if (error->has_revision)
		buffer_printf(out, ",\"current_revision\":%u",
			(unsigned int)error->current_revision);
	if (error->state) {
		buffer_append_str(out, ",\"state\":");
		render_string(out, error->state);
	}
	if (error->dealer_error_id) {
		buffer_append_str(out, ",\"dealer_error\":{\"id\":");
		render_string(out, error->dealer_error_id);
		buffer_append_str(out, ",\"detail\":");
		render_string(out, error->dealer_error_detail);
		buffer_append(out, "}", 1);
	}
	buffer_append(out, "}", 1);
	return finish_render(out, start, !out->failed);
}

const char *render_reason(int code)
{
	static const struct {
		int code;
		const char *reason;
	} reasons[] = {
		{200, "OK"},
		{400, "Bad Request"},
		{401, "Unauthorized"},
		{402, "Payment Required"},
		{403, "Forbidden"},
		{404, "Not Found"},
		{405, "Method Not Allowed"},
		{409, "Conflict"},
		{413, "Payload Too Large"},
		{429, "Too Many Requests"},
		{500, "Internal Server Error"},
		{502, "Bad Gateway"},
		{503, "Service Unavailable"},
		{504, "Gateway Timeout"},
	};

	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		if (reasons[i].code == code)
			return reasons[i].reason;
	}
	return "Error";
}
