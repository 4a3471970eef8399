/*
 * fuzz_row_line - a line of an export, as `import` reads it (wire/row_line.h).
 *
 * The first byte chooses whether secrets are expected. A row that was accepted must be written as a
 * line with the same values, which is read as the same row.
 */
#include "fuzz.h"

#include "base/pack.h"
#include "domain/records.h"
#include "wire/row_line.h"

#include <jansson.h>

#define ROW_SIZE_MAX 8192

static uint64_t row[ROW_SIZE_MAX / 8], again[ROW_SIZE_MAX / 8];

static const struct record_info *info_of(const char *name)
{
	for (unsigned int i = 0; i < RECORD_COUNT; i++) {
		if (strcmp(record_infos[i].name, name) == 0)
			return &record_infos[i];
	}
	return NULL;
}

/* Packs @record of @line into @out: its bytes are the line's. */
static void pack(struct buffer *out, const struct record_info *info, const void *record)
{
	buffer_reset(out);
	must(pack_record(out, info->fields, record));
}

/* A number, as such or in a string. */
static long double number_of(const json_t *value)
{
	return json_is_integer(value) ? (long double)json_integer_value(value)
				      : strtold(json_string_value(value), NULL);
}

/* What the members of two lines say is the same, however it is written. */
static void check_members(const struct field *table, const json_t *one, const json_t *other,
	bool secrets)
{
	for (; table->name; table++) {
		const json_t *a = json_object_get(one, table->name);
		const json_t *b = json_object_get(other, table->name);

		if (table->type == FIELD_SECRET && !secrets)
			continue;
		must(a && b);
		switch (table->type) {
		case FIELD_GROUP:
			if (table->count == 1)
				check_members(table->sub, a, b, secrets);
			for (size_t i = 0; json_is_array(a) && i < json_array_size(a); i++) {
				/* An element of nothing but zeroes is written as null. */
				if (json_is_object(json_array_get(b, i)))
					check_members(table->sub, json_array_get(a, i),
						json_array_get(b, i), secrets);
			}
			break;
		case FIELD_STR:
		case FIELD_SECRET:
		case FIELD_BYTES:
		case FIELD_JSON:
			must(!json_is_string(a) || !json_is_string(b) || json_equal(a, b));
			break;
		case FIELD_BOOL:
		case FIELD_ENUM:
			must(json_equal(a, b));
			break;
		default:
			must(number_of(a) == number_of(b));
			break;
		}
	}
}

static void check_said(const struct record_info *info, struct bytes first,
	const struct buffer *second, bool secrets)
{
	json_t *one = json_loadb((const char *)first.data, first.len, 0, NULL);
	json_t *other = json_loadb((const char *)second->data, second->len, 0, NULL);

	must(other);
	/* A number that no double holds is none of another look's. */
	if (one)
		check_members(info->fields, one, other, secrets);
	json_decref(one);
	json_decref(other);
}

static void check_row(const struct record_info *info, struct row_line *first, struct bytes text,
	bool secrets)
{
	char why[ROW_LINE_WHY_SIZE];
	struct buffer out, before, after;
	struct row_line second;

	if (row_line_take(first, info->fields, info->size, row, secrets, why) != ROW_LINE_DONE) {
		must(why[0] && strnlen(why, sizeof(why)) < sizeof(why));
		return;
	}
	buffer_init(&out, FUZZ_ROW_MAX);
	buffer_init(&before, FUZZ_ROW_MAX);
	buffer_init(&after, FUZZ_ROW_MAX);
	row_line_init(&second);
	must(row_line_put(&out, info->name, info->fields, row, secrets));
	must(!memchr(out.data, '\n', out.len - 1));
	check_said(info, text, &out, secrets);
	must(row_line_read(&second, (const char *)out.data, out.len - 1, why) == ROW_LINE_DONE);
	must(row_line_take(&second, info->fields, info->size, again, secrets, why) ==
		ROW_LINE_DONE);
	pack(&before, info, row);
	pack(&after, info, again);
	fuzz_same(&after, before.data, before.len);
	row_line_free(&second);
	buffer_free(&out);
	buffer_free(&before);
	buffer_free(&after);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes in = {data, (uint32_t)size};
	bool secrets = fuzz_byte(&in) & 1;
	char why[ROW_LINE_WHY_SIZE] = "";
	const struct record_info *info;
	enum row_line_status status;
	struct row_line line;

	row_line_init(&line);
	status = row_line_read(&line, (const char *)in.data, in.len, why);
	must(status != ROW_LINE_NO_MEMORY);
	must(status == ROW_LINE_DONE || why[0]);
	info = status == ROW_LINE_DONE ? info_of(line.name) : NULL;
	if (info)
		check_row(info, &line, in, secrets);
	row_line_free(&line);
	return 0;
}
