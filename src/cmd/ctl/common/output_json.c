/*
 * output_json - builds JSON objects member by member.
 */
#include "cmd/ctl/common/output.h"

#include "wire/render.h"

#include <inttypes.h>
#include <stdio.h>

void output_json_open(struct output_json *json, struct ctl *ctl)
{
	json->ctl = ctl;
	json->comma = false;
	buffer_init(&json->text, OUTPUT_JSON_MAX);
	buffer_append_str(&json->text, "{");
}

static void append_comma(struct output_json *json)
{
	if (json->comma)
		buffer_append_str(&json->text, ",");
	json->comma = true;
}

static void append_name(struct output_json *json, const char *name)
{
	append_comma(json);
	buffer_printf(&json->text, "\"%s\":", name);
}

void output_json_fields(struct output_json *json, const struct field *table, const void *record)
{
	struct buffer object;

	buffer_init(&object, OUTPUT_JSON_MAX);
	/* Without its braces, an object is a list of members. */
	if (!render_record(&object, table, record)) {
		json->text.failed = true;
	} else if (object.len > 2) {
		append_comma(json);
		buffer_append(&json->text, object.data + 1, object.len - 2);
	}
	buffer_free(&object);
}

void output_json_record(struct output_json *json, const char *name, const struct field *table,
	const void *record)
{
	if (!record) {
		output_json_null(json, name);
		return;
	}
	append_name(json, name);
	render_record(&json->text, table, record);
}

/* Appends @inner and frees it. */
static void append_object(struct output_json *json, struct output_json *inner)
{
	buffer_append_str(&inner->text, "}");
	if (inner->text.failed)
		json->text.failed = true;
	else
		buffer_append(&json->text, inner->text.data, inner->text.len);
	buffer_free(&inner->text);
}

void output_json_object(struct output_json *json, const char *name, struct output_json *inner)
{
	append_name(json, name);
	append_object(json, inner);
}

void output_json_item_object(struct output_json *json, struct output_json *inner)
{
	append_comma(json);
	append_object(json, inner);
}

void output_json_string(struct output_json *json, const char *name, const char *value)
{
	append_name(json, name);
	render_string(&json->text, value);
}

void output_json_null(struct output_json *json, const char *name)
{
	append_name(json, name);
	buffer_append_str(&json->text, "null");
}

void output_json_bool(struct output_json *json, const char *name, bool value)
{
	append_name(json, name);
	buffer_append_str(&json->text, value ? "true" : "false");
}

void output_json_number(struct output_json *json, const char *name, uint64_t value)
{
	append_name(json, name);
	buffer_printf(&json->text, "%" PRIu64, value);
}

void output_json_list_open(struct output_json *json, const char *name)
{
	append_name(json, name);
	buffer_append_str(&json->text, "[");
	json->comma = false;
}

void output_json_item(struct output_json *json, const struct field *table, const void *record)
{
	append_comma(json);
	render_record(&json->text, table, record);
}

void output_json_item_string(struct output_json *json, const char *value)
{
	append_comma(json);
	render_string(&json->text, value);
}

void output_json_list_close(struct output_json *json)
{
	buffer_append_str(&json->text, "]");
	json->comma = true;
}

enum outcome output_json_close(struct output_json *json)
{
	enum outcome code = OUTCOME_DONE;

	buffer_append_str(&json->text, "}");
	if (json->text.failed)
		code = ctl_no_memory(json->ctl);
	else if (json->ctl->json && json->ctl->walk)
		output_walk_object(json->ctl, &json->text);
	else if (json->ctl->json && json->ctl->cell)
		printf("{\"cell\":\"%s\"%s%.*s\n", json->ctl->cell, json->text.len > 2 ? "," : "",
			(int)json->text.len - 1, (const char *)json->text.data + 1);
	else if (json->ctl->json)
		printf("%.*s\n", (int)json->text.len, (const char *)json->text.data);
	buffer_free(&json->text);
	return code;
}
