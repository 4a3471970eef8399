#include "cmd/ctl/recon_read.h"

#include "cmd/ctl/csv.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COLUMNS_MAX 64
#define READ_BYTES  (1024 * 1024)

static enum ctl_exit bad_file(struct side *side, uint64_t line, const char *why)
{
	return ctl_fail(side->ctl, CTL_FAILED, "bad_file", "%s:%" PRIu64 ": %s", side->path, line,
		why);
}

/* Reads all of the file, and a NUL behind it. */
static enum ctl_exit read_side(struct side *side)
{
	int fd = strcmp(side->path, "-") == 0 ? STDIN_FILENO
					      : open(side->path, O_RDONLY | O_CLOEXEC);
	ssize_t len = -1;
	uint8_t *room;

	buffer_init(&side->text, SIZE_MAX / 4);
	while (fd >= 0) {
		room = buffer_reserve(&side->text, READ_BYTES);
		do
			len = room ? read(fd, room, READ_BYTES) : -1;
		while (len < 0 && room && errno == EINTR);
		if (len <= 0)
			break;
		side->text.len += (size_t)len;
	}
	if (len < 0 && !side->text.failed)
		ctl_fail(side->ctl, CTL_FAILED, "failed", "cannot read %s: %s", side->path,
			strerror(errno));
	if (fd > STDIN_FILENO)
		close(fd);
	if (side->text.failed || (len == 0 && !buffer_append(&side->text, "", 1)))
		return ctl_no_memory(side->ctl);
	if (len < 0)
		return CTL_FAILED;
	side->text.len--;
	if (memchr(side->text.data, 0, side->text.len))
		return bad_file(side, 1, "it is no text");
	return CTL_DONE;
}

/* The first row: where the columns are. */
static enum ctl_exit read_heading(struct side *side, struct csv *csv, unsigned int *width)
{
	static const enum recon_column needed[] = {COLUMN_RECORD, COLUMN_ID, COLUMN_AMOUNT};
	char *fields[COLUMNS_MAX], why[128];

	for (unsigned int i = 0; i < RECON_COLUMN_COUNT; i++)
		side->columns[i] = -1;
	switch (csv_next(csv, fields, COLUMNS_MAX, width)) {
	case CSV_BAD:
		return bad_file(side, csv->line, csv->why);
	case CSV_END:
		return bad_file(side, csv->line, "the file is empty");
	case CSV_ROW:
		break;
	}
	for (unsigned int i = 0; i < *width; i++) {
		for (unsigned int j = 0; j < RECON_COLUMN_COUNT; j++) {
			if (strcmp(fields[i], recon_column_names[j]) != 0)
				continue;
			if (side->columns[j] >= 0)
				return bad_file(side, csv->line, "a column is named twice");
			side->columns[j] = (int)i;
		}
	}
	for (unsigned int i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		if (side->columns[needed[i]] >= 0)
			continue;
		snprintf(why, sizeof(why), "the first row names no column '%s'",
			recon_column_names[needed[i]]);
		return bad_file(side, csv->line, why);
	}
	return CTL_DONE;
}

static const char *column(const struct side *side, char **fields, unsigned int count,
	enum recon_column name)
{
	int at = side->columns[name];

	return at >= 0 && (unsigned int)at < count ? fields[at] : "";
}

/* The SHA-256 that the file ends with, of @len bytes as they were: taken apart they are changed. */
static enum ctl_exit check_digest(struct side *side, const struct csv *csv, const char *digest,
	const char *expected)
{
	side->ended = strcmp(digest, expected) == 0;
	if (side->ended)
		return CTL_DONE;
	return bad_file(side, csv->line,
		"the SHA-256 is another one: the file is not as it was written");
}

/* The digest of the text up to its last line, which is not changed yet. */
static bool digest_of(const struct side *side, char text[DIGEST_TEXT_SIZE])
{
	const char *data = (const char *)side->text.data;
	size_t len = side->text.len;
	struct digest digest;
	bool done;

	while (len && (data[len - 1] == '\n' || data[len - 1] == '\r'))
		len--;
	while (len && data[len - 1] != '\n')
		len--;
	digest_begin(&digest);
	digest_add(&digest, data, len);
	done = digest_text(&digest, text);
	digest_end(&digest);
	return done;
}

static enum ctl_exit add_row(struct side *side, const struct csv *csv, unsigned int record,
	char **fields, unsigned int count)
{
	const char *amount = column(side, fields, count, COLUMN_AMOUNT);
	struct compared row = {
		.record = record,
		.id = column(side, fields, count, COLUMN_ID),
		.state = column(side, fields, count, COLUMN_STATE),
	};
	struct compared *rows = side->rows;
	char why[128];

	if (!row.id[0])
		return bad_file(side, csv->line, "the id is missing");
	if (!money_from_text(amount, &row.amount)) {
		snprintf(why, sizeof(why), "'%.40s' is not an amount such as -12.34", amount);
		return bad_file(side, csv->line, why);
	}
	if (side->count == side->room) {
		side->room = side->room ? 2 * side->room : 1024;
		rows = reallocarray(side->rows, side->room, sizeof(*rows));
		if (!rows)
			return ctl_no_memory(side->ctl);
		side->rows = rows;
	}
	rows[side->count++] = row;
	return CTL_DONE;
}

/* A row of the file: one to be compared, or about the file. */
static enum ctl_exit take_row(struct side *side, const struct csv *csv, uint32_t records,
	char **fields, unsigned int count, const char *digest)
{
	const char *name = column(side, fields, count, COLUMN_RECORD);
	const char *id = column(side, fields, count, COLUMN_ID);
	unsigned int record = 0;
	char why[128];

	if (strcmp(name, RECON_TOTAL) == 0)
		return CTL_DONE;
	if (strcmp(name, RECON_SHA256) == 0)
		return check_digest(side, csv, digest, id);
	if (strcmp(name, RECON_DAY) == 0) {
		snprintf(side->day, sizeof(side->day), "%s", id);
		snprintf(side->casino_id, sizeof(side->casino_id), "%s",
			column(side, fields, count, COLUMN_CASINO_ID));
		return CTL_DONE;
	}
	while (record < RECON_RECORD_COUNT && strcmp(name, recon_record_names[record]) != 0)
		record++;
	if (record == RECON_RECORD_COUNT) {
		snprintf(why, sizeof(why), "'%.40s' is no record: movement, bet or callback", name);
		return bad_file(side, csv->line, why);
	}
	return records & UINT32_C(1) << record ? add_row(side, csv, record, fields, count)
					       : CTL_DONE;
}

int compared_order_key(const struct compared *a, const struct compared *b)
{
	if (a->record != b->record)
		return a->record < b->record ? -1 : 1;
	return strcmp(a->id, b->id);
}

/* Rows of one key: by amount and state, so that equal ones of both sides meet. */
int compared_order(const struct compared *a, const struct compared *b)
{
	int keys = compared_order_key(a, b);

	if (keys)
		return keys;
	if (a->amount != b->amount)
		return a->amount < b->amount ? -1 : 1;
	return strcmp(a->state, b->state);
}

static int order(const void *one, const void *other)
{
	return compared_order(one, other);
}

static enum ctl_exit take_rows(struct side *side, uint32_t records)
{
	char *fields[COLUMNS_MAX], digest[DIGEST_TEXT_SIZE];
	unsigned int width, count;
	enum csv_read read;
	struct csv csv;
	enum ctl_exit code;

	if (!digest_of(side, digest))
		return ctl_no_memory(side->ctl);
	csv_open(&csv, (char *)side->text.data, side->text.len);
	code = read_heading(side, &csv, &width);
	while (code == CTL_DONE) {
		read = csv_next(&csv, fields, width, &count);
		if (read == CSV_END)
			break;
		code = read == CSV_BAD
			? bad_file(side, csv.line, csv.why)
			: take_row(side, &csv, records, fields, count, digest);
	}
	return code;
}

enum ctl_exit recon_side_load(struct side *side, struct ctl *ctl, const char *path, bool ours,
	uint32_t records)
{
	enum ctl_exit code;

	*side = (struct side){.ctl = ctl, .path = path};
	code = read_side(side);
	if (code == CTL_DONE)
		code = take_rows(side, records);
	if (code == CTL_DONE && ours && !side->ended)
		return ctl_fail(ctl, CTL_FAILED, "bad_file",
			"%s does not end with its SHA-256: it was cut off, or is not ours", path);
	if (code == CTL_DONE && side->count)
		qsort(side->rows, side->count, sizeof(side->rows[0]), order);
	return code;
}

void recon_side_free(struct side *side)
{
	buffer_free(&side->text);
	free(side->rows);
	side->rows = NULL;
}
