/*
 * output_value - formats fields for people.
 */
#include "cmd/ctl/common/output.h"

#include "base/clock.h"
#include "base/text.h"
#include "cmd/ctl/common/times.h"

#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define JSON_SHOWN_MAX 400 /* maximum bytes of JSON text shown as a value */

static void format_bytes(uint64_t bytes, char *text)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
	unsigned int unit = 0;
	uint64_t tenths = bytes * 10;

	if (bytes > UINT64_MAX / 10) {
		snprintf(text, OUTPUT_TEXT_MAX, "%" PRIu64 " B", bytes);
		return;
	}
	for (; tenths >= 10240 && unit < 5; unit++)
		tenths /= 1024;
	if (unit)
		snprintf(text, OUTPUT_TEXT_MAX, "%" PRIu64 ".%" PRIu64 " %s", tenths / 10,
			tenths % 10, units[unit]);
	else
		snprintf(text, OUTPUT_TEXT_MAX, "%" PRIu64 " B", bytes);
}

static void format_uid(uint64_t uid, char *text)
{
	const struct passwd *user = uid == UINT32_MAX ? NULL : getpwuid((uid_t)uid);

	if (uid == UINT32_MAX)
		snprintf(text, OUTPUT_TEXT_MAX, "-");
	else if (user)
		snprintf(text, OUTPUT_TEXT_MAX, "%s", user->pw_name);
	else
		snprintf(text, OUTPUT_TEXT_MAX, "%" PRIu64, uid);
}

void output_due(int64_t time_ms, char text[OUTPUT_TEXT_MAX])
{
	int64_t left_ms = time_ms - clock_wall_ms();
	char far[TEXT_DURATION_SIZE];

	if (!time_ms) {
		snprintf(text, OUTPUT_TEXT_MAX, "-");
		return;
	}
	text_duration((uint64_t)(left_ms < 0 ? -left_ms : left_ms), far);
	snprintf(text, OUTPUT_TEXT_MAX, left_ms < 0 ? "%s ago" : "in %s", far);
}

/* Formats "k1, k2": the first member of each element in use. */
static void format_group(const struct field *field, const uint8_t *member, char *text)
{
	size_t len = 0;

	for (uint32_t i = 0; i < field->count && len < OUTPUT_TEXT_MAX; i++) {
		const char *name =
			(const char *)member + (size_t)i * field->size + field->sub->offset;

		if (field->sub->type == FIELD_STR && name[0])
			len += (size_t)snprintf(text + len, OUTPUT_TEXT_MAX - len, "%s%s",
				len ? ", " : "", name);
	}
}

static void format_json(const void *member, char *text)
{
	struct bytes json;
	size_t len;

	memcpy(&json, member, sizeof(json));
	len = json.len;
	if (len <= JSON_SHOWN_MAX) {
		snprintf(text, OUTPUT_TEXT_MAX, "%.*s", (int)len, (const char *)json.data);
		return;
	}
	/* Do not cut within a character. */
	for (len = JSON_SHOWN_MAX; len && (json.data[len] & 0xc0) == 0x80;)
		len--;
	snprintf(text, OUTPUT_TEXT_MAX, "%.*s... (%" PRIu32 " bytes; all of it with --json)",
		(int)len, (const char *)json.data, json.len);
}

static void format_number(const struct field *field, enum output_format format, uint64_t number,
	char *text)
{
	if (format == OUTPUT_BYTES)
		format_bytes(number, text);
	else if (format == OUTPUT_DURATION_MS)
		text_duration(number, text);
	else if (format == OUTPUT_UID)
		format_uid(number, text);
	else if (format == OUTPUT_DUE)
		output_due((int64_t)number, text);
	else if (field->type == FIELD_BOOL)
		snprintf(text, OUTPUT_TEXT_MAX, "%s", number ? "yes" : "no");
	else if (field->type == FIELD_ENUM)
		snprintf(text, OUTPUT_TEXT_MAX, "%s",
			number < field->count ? field->names[number] : "?");
	else if (field->type == FIELD_MONEY)
		money_format((money_t)number, 2, text);
	else if (field->type == FIELD_TIME_MS)
		times_text((int64_t)number, text);
	else if (field->type == FIELD_I32)
		snprintf(text, OUTPUT_TEXT_MAX, "%" PRId32, (int32_t)(uint32_t)number);
	else
		snprintf(text, OUTPUT_TEXT_MAX, "%" PRIu64, number);
}

static void format_sum(const void *member, enum output_format format, char *text)
{
	char digits[SUM_TEXT_MAX];
	sum_t sum;

	memcpy(&sum, member, sizeof(sum));
	sum_format(sum, 2, digits);
	if (sum || format != OUTPUT_IF_ANY)
		snprintf(text, OUTPUT_TEXT_MAX, "%s", digits);
}

void output_value(const struct field *field, enum output_format format, const void *record,
	char text[OUTPUT_TEXT_MAX])
{
	const void *member = (const uint8_t *)record + field->offset;
	uint64_t number;

	text[0] = '\0';
	switch (field->type) {
	case FIELD_STR:
		snprintf(text, OUTPUT_TEXT_MAX, "%s", (const char *)member);
		return;
	case FIELD_GROUP:
		format_group(field, member, text);
		return;
	case FIELD_JSON:
		format_json(member, text);
		return;
	case FIELD_SUM:
		format_sum(member, format, text);
		return;
	case FIELD_NONE:
	case FIELD_SECRET:
	case FIELD_BYTES:
	case FIELD_SUM_64:
		return;
	default:
		break;
	}
	number = field_load_number(member, field->size);
	if (number || format != OUTPUT_IF_ANY)
		format_number(field, format, number, text);
}
