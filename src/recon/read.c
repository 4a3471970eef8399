#include "recon/read.h"

#include "base/text.h"
#include "recon/csv.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COLUMNS_MAX 64
#define READ_BYTES  (1024 * 1024)

static enum outcome bad_file(struct side *side, uint64_t line, const char *why)
{
	return session_fail(side->session, OUTCOME_FAILED, "bad_file", "%s:%" PRIu64 ": %s",
		side->path, line, why);
}

/* Reads the whole file and appends a NUL. */
static enum outcome read_side(struct side *side)
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
		session_fail(side->session, OUTCOME_FAILED, "failed", "cannot read %s: %s",
			side->path, strerror(errno));
	if (fd > STDIN_FILENO)
		close(fd);
	if (side->text.failed || (len == 0 && !buffer_append(&side->text, "", 1)))
		return session_no_memory(side->session);
	if (len < 0)
		return OUTCOME_FAILED;
	side->text.len--;
	if (memchr(side->text.data, 0, side->text.len))
		return bad_file(side, 1, "it is no text");
	return OUTCOME_DONE;
}

/* Reads the first row, which names the columns. */
static enum outcome read_heading(struct side *side, struct csv *csv, unsigned int *width)
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
	return OUTCOME_DONE;
}

static const char *column_text(const struct side *side, char **fields, unsigned int count,
	enum recon_column name)
{
	int at = side->columns[name];

	return at >= 0 && (unsigned int)at < count ? fields[at] : "";
}

/*
 * Compares the SHA-256 at the end of the file with that of the @len bytes before it. It was
 * computed before parsing, which modifies the bytes.
 */
static enum outcome check_digest(struct side *side, const struct csv *csv, const char *digest,
	const char *expected)
{
	side->ended = strcmp(digest, expected) == 0;
	if (side->ended)
		return OUTCOME_DONE;
	return bad_file(side, csv->line,
		"the SHA-256 is another one: the file is not as it was written");
}

/* Computes the digest of the text up to its last line, before parsing modifies the text. */
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

bool recon_side_add(struct side *side, const struct compared *row)
{
	const size_t room = side->room ? 2 * side->room : 1024;
	struct compared *rows;

	if (side->count == side->room) {
		rows = reallocarray(side->rows, room, sizeof(*rows));
		if (!rows)
			return false;
		side->rows = rows;
		side->room = room;
	}
	side->rows[side->count++] = *row;
	return true;
}

static enum outcome add_row(struct side *side, const struct csv *csv, unsigned int record,
	char **fields, unsigned int count)
{
	const char *amount = column_text(side, fields, count, COLUMN_AMOUNT);
	struct compared row = {
		.record = record,
		.id = column_text(side, fields, count, COLUMN_ID),
		.state = column_text(side, fields, count, COLUMN_STATE),
		.user_id = column_text(side, fields, count, COLUMN_USER_ID),
		.game_id = column_text(side, fields, count, COLUMN_GAME_ID),
		.kind = column_text(side, fields, count, COLUMN_KIND),
		.reference = column_text(side, fields, count, COLUMN_REFERENCE),
	};
	uint64_t number;
	char why[128];

	if (!row.id[0])
		return bad_file(side, csv->line, "the id is missing");
	if (!money_from_text(amount, &row.amount)) {
		snprintf(why, sizeof(why), "'%.40s' is not an amount such as -12.34", amount);
		return bad_file(side, csv->line, why);
	}
	if (text_unsigned(column_text(side, fields, count, COLUMN_TIME_MS), INT64_MAX, &number))
		row.time_ms = (int64_t)number;
	if (text_unsigned(column_text(side, fields, count, COLUMN_TRANSACTION_ID), UINT64_MAX,
		    &number))
		row.transaction_id = number;
	if (text_unsigned(column_text(side, fields, count, COLUMN_REVISION), UINT32_MAX, &number))
		row.revision = (uint32_t)number;
	return recon_side_add(side, &row) ? OUTCOME_DONE : session_no_memory(side->session);
}

/* Handles a row of the file: a row to compare, or one about the file itself. */
static enum outcome take_row(struct side *side, const struct csv *csv, uint32_t records,
	char **fields, unsigned int count, const char *digest)
{
	const char *name = column_text(side, fields, count, COLUMN_RECORD);
	const char *id = column_text(side, fields, count, COLUMN_ID);
	unsigned int record = 0;
	char why[128];

	if (strcmp(name, RECON_TOTAL) == 0)
		return OUTCOME_DONE;
	if (strcmp(name, RECON_SHA256) == 0)
		return check_digest(side, csv, digest, id);
	if (strcmp(name, RECON_DAY) == 0) {
		snprintf(side->day, sizeof(side->day), "%s", id);
		snprintf(side->casino_id, sizeof(side->casino_id), "%s",
			column_text(side, fields, count, COLUMN_CASINO_ID));
		return OUTCOME_DONE;
	}
	while (record < RECON_RECORD_COUNT && strcmp(name, recon_record_names[record]) != 0)
		record++;
	if (record == RECON_RECORD_COUNT) {
		snprintf(why, sizeof(why), "'%.40s' is no record: movement, bet or callback", name);
		return bad_file(side, csv->line, why);
	}
	return records & UINT32_C(1) << record ? add_row(side, csv, record, fields, count)
					       : OUTCOME_DONE;
}

int compared_order_key(const struct compared *a, const struct compared *b)
{
	if (a->record != b->record)
		return a->record < b->record ? -1 : 1;
	return strcmp(a->id, b->id);
}

/* Orders rows of one key by amount and state, so that equal rows of both sides are paired. */
int compared_order(const struct compared *a, const struct compared *b)
{
	int keys = compared_order_key(a, b);

	if (keys)
		return keys;
	if (a->amount != b->amount)
		return a->amount < b->amount ? -1 : 1;
	return strcmp(a->state, b->state);
}

static int order_key(const void *one, const void *other)
{
	return compared_order_key(one, other);
}

static int order_compared(const void *one, const void *other)
{
	return compared_order(one, other);
}

void recon_side_sort(struct side *side)
{
	if (side->count)
		qsort(side->rows, side->count, sizeof(side->rows[0]), order_compared);
}

const struct compared *recon_side_find(const struct side *side, unsigned int record, const char *id)
{
	const struct compared key = {.record = record, .id = id};

	return side->count ? bsearch(&key, side->rows, side->count, sizeof(key), order_key) : NULL;
}

static enum outcome take_rows(struct side *side, uint32_t records)
{
	char *fields[COLUMNS_MAX], digest[DIGEST_TEXT_SIZE];
	unsigned int width, count;
	enum csv_read read;
	struct csv csv;
	enum outcome code;

	if (!digest_of(side, digest))
		return session_no_memory(side->session);
	csv_open(&csv, (char *)side->text.data, side->text.len);
	code = read_heading(side, &csv, &width);
	while (code == OUTCOME_DONE) {
		read = csv_next(&csv, fields, width, &count);
		if (read == CSV_END)
			break;
		code = read == CSV_BAD ? bad_file(side, csv.line, csv.why)
				       : take_row(side, &csv, records, fields, count, digest);
	}
	return code;
}

enum outcome recon_side_load(struct side *side, struct session *session, const char *path,
	bool ours, uint32_t records)
{
	enum outcome code;

	*side = (struct side){.session = session, .path = path};
	code = read_side(side);
	if (code == OUTCOME_DONE)
		code = take_rows(side, records);
	if (code == OUTCOME_DONE && ours && !side->ended)
		return session_fail(session, OUTCOME_FAILED, "bad_file",
			"%s does not end with its SHA-256: it was cut off, or another program "
			"wrote it. Export it again",
			path);
	if (code == OUTCOME_DONE)
		recon_side_sort(side);
	return code;
}

/* The arguments of recon_sides_walk(). */
struct pairing {
	recon_pair *pair;
	void *context;
};

/* Returns the number of rows from @at on that have the same key. */
static size_t count_same_key(const struct side *side, size_t at)
{
	size_t count = 0;

	while (at + count < side->count &&
		compared_order_key(&side->rows[at], &side->rows[at + count]) == 0)
		count++;
	return count;
}

/*
 * Pairs the rows of one key of both sides, usually one each. Equal rows are paired first. The
 * rest are paired in order. A surplus row is missing on the other side, for example if the dealer
 * booked it twice.
 */
static void compare_group(const struct pairing *pairing, struct compared *ours, size_t our_count,
	struct compared *theirs, size_t their_count)
{
	size_t i = 0, j = 0, our_rest = 0, their_rest = 0;

	while (i < our_count && j < their_count) {
		int keys = compared_order(&ours[i], &theirs[j]);

		if (keys == 0) {
			pairing->pair(pairing->context, &ours[i++], &theirs[j++]);
		} else if (keys < 0) {
			ours[our_rest++] = ours[i++];
		} else {
			theirs[their_rest++] = theirs[j++];
		}
	}
	while (i < our_count)
		ours[our_rest++] = ours[i++];
	while (j < their_count)
		theirs[their_rest++] = theirs[j++];
	for (i = 0; i < our_rest || i < their_rest; i++) {
		if (i >= their_rest)
			pairing->pair(pairing->context, &ours[i], NULL);
		else if (i >= our_rest)
			pairing->pair(pairing->context, NULL, &theirs[i]);
		else
			pairing->pair(pairing->context, &ours[i], &theirs[i]);
	}
}

void recon_sides_walk(struct side *ours, struct side *theirs, recon_pair *pair, void *context)
{
	const struct pairing pairing = {.pair = pair, .context = context};
	size_t i = 0, j = 0, our_count, their_count;
	int keys;

	while (i < ours->count || j < theirs->count) {
		keys = i == ours->count      ? 1
			: j == theirs->count ? -1
					     : compared_order_key(&ours->rows[i], &theirs->rows[j]);
		our_count = keys <= 0 ? count_same_key(ours, i) : 0;
		their_count = keys >= 0 ? count_same_key(theirs, j) : 0;
		/* A side without rows has no array, to which not even 0 may be added. */
		compare_group(&pairing, our_count ? ours->rows + i : NULL, our_count,
			their_count ? theirs->rows + j : NULL, their_count);
		i += our_count;
		j += their_count;
	}
}

void recon_side_free(struct side *side)
{
	buffer_free(&side->text);
	free(side->rows);
	side->rows = NULL;
}

void compared_show(const struct compared *row, uint8_t decimals, char amount[MONEY_TEXT_MAX],
	char state[COMPARED_STATE_SIZE])
{
	amount[0] = state[0] = '\0';
	if (!row)
		return;
	money_format(row->amount, decimals, amount);
	snprintf(state, COMPARED_STATE_SIZE, "%s", row->state);
}
