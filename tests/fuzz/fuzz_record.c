/*
 * fuzz_record - stored rows, as they are read from the disk, and the rows of a list.
 *
 * The first byte chooses the row kind, the second how much of the rest is the key; its highest bit
 * makes the rest rows of a list (link/client.h). A row that can be read must pack to the same
 * bytes, and must survive a line of an export (wire/row_line.h).
 */
#include "fuzz.h"

#include "base/pack.h"
#include "domain/records.h"
#include "link/client.h"
#include "wire/row_line.h"

#define ROW_SIZE_MAX 8192

static uint64_t row[ROW_SIZE_MAX / 8], again[ROW_SIZE_MAX / 8];

/* Out into a line and in again: the very same row. */
static void check_line(const struct record_info *info)
{
	char why[ROW_LINE_WHY_SIZE];
	struct buffer out, before, after;
	struct row_line line;

	buffer_init(&out, FUZZ_ROW_MAX);
	buffer_init(&before, FUZZ_ROW_MAX);
	buffer_init(&after, FUZZ_ROW_MAX);
	row_line_init(&line);
	must(row_line_put(&out, info->name, info->fields, row, true));
	must(out.len && out.data[out.len - 1] == '\n');
	must(!memchr(out.data, '\n', out.len - 1));
	must(row_line_read(&line, (const char *)out.data, out.len - 1, why) == ROW_LINE_DONE);
	must(strcmp(line.name, info->name) == 0);
	must(row_line_take(&line, info->fields, info->size, again, true, why) == ROW_LINE_DONE);
	must(pack_record(&before, info->fields, row));
	must(pack_record(&after, info->fields, again));
	fuzz_same(&after, before.data, before.len);
	row_line_free(&line);
	buffer_free(&out);
	buffer_free(&before);
	buffer_free(&after);
}

static void check_stored(const struct record_info *info, struct bytes key, struct bytes value)
{
	struct bytes key_rest = key, value_rest = value;
	struct buffer out;

	memset(row, 0, sizeof(row));
	if (!unpack_key(&key_rest, info->fields, info->key_count, row) ||
		!unpack_record(&value_rest, info->fields + info->key_count, row))
		return;
	buffer_init(&out, FUZZ_ROW_MAX);
	must(pack_key(&out, info->fields, info->key_count, row));
	fuzz_same(&out, key.data, key.len - key_rest.len);
	buffer_reset(&out);
	must(pack_record(&out, info->fields + info->key_count, row));
	fuzz_same(&out, value.data, value.len - value_rest.len);
	buffer_free(&out);
	check_line(info);
}

static void check_list(enum record record, struct bytes rows)
{
	const struct record_info *info = &record_infos[record];
	struct bytes rest = rows;
	struct buffer out;

	for (;;) {
		const uint8_t *at = rest.data;

		memset(row, 0, sizeof(row));
		if (!link_list_row(&rest, record, row))
			return;
		buffer_init(&out, FUZZ_ROW_MAX);
		must(pack_record(&out, info->fields, row));
		fuzz_same(&out, at, (size_t)(rest.data - at));
		buffer_free(&out);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes in = {data, (uint32_t)size}, key;
	enum record record = (enum record)(fuzz_byte(&in) % RECORD_COUNT);
	uint8_t cut = fuzz_byte(&in);

	must(record_infos[record].size <= sizeof(row));
	if (cut & 0x80) {
		check_list(record, in);
	} else {
		key = fuzz_take(&in, cut);
		check_stored(&record_infos[record], key, in);
	}
	return 0;
}
