#include "archive/import_lines.h"

#include "archive/lines.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define PIECE 65536

enum outcome import_lines_open(struct import_lines *lines, struct session *session,
	const char *path)
{
	const bool standard = strcmp(path, "-") == 0;

	memset(lines, 0, sizeof(*lines));
	lines->session = session;
	lines->path = standard ? "standard input" : path;
	buffer_init(&lines->text, EXPORT_LINE_MAX);
	row_line_init(&lines->line);
	digest_begin(&lines->before);
	lines->file = standard ? stdin : fopen(path, "re");
	if (lines->file)
		return OUTCOME_DONE;
	return session_fail(session, OUTCOME_FAILED, "failed", "cannot open %s: %s", path,
		strerror(errno));
}

enum outcome import_lines_bad(struct import_lines *lines, const char *why)
{
	return session_fail(lines->session, OUTCOME_FAILED, "bad_file", "%s:%" PRIu64 ": %s",
		lines->path, lines->number, why);
}

/* Reads up to and including the next newline. */
static enum outcome read_text(struct import_lines *lines)
{
	struct buffer *text = &lines->text;
	char piece[PIECE];
	size_t len;

	buffer_reset(text);
	lines->number++;
	for (;;) {
		/*
		 * A NUL byte ends the string early: the line then seems to lack a newline and is
		 * refused.
		 */
		if (!fgets(piece, sizeof(piece), lines->file))
			break;
		len = strlen(piece);
		if (!buffer_append(text, piece, len))
			return import_lines_bad(lines, "the line is too long");
		if (len && piece[len - 1] == '\n')
			return OUTCOME_DONE;
	}
	if (ferror(lines->file))
		return session_fail(lines->session, OUTCOME_FAILED, "failed", "cannot read %s: %s",
			lines->path, strerror(errno));
	if (text->len)
		return import_lines_bad(lines, "the line has no end: the file was cut off");
	lines->end = true;
	return OUTCOME_DONE;
}

static enum outcome fail_line(struct import_lines *lines, enum row_line_status status,
	const char *why)
{
	return status == ROW_LINE_NO_MEMORY ? session_no_memory(lines->session)
					    : import_lines_bad(lines, why);
}

enum outcome import_lines_next(struct import_lines *lines)
{
	char why[ROW_LINE_WHY_SIZE];
	enum row_line_status status;
	enum outcome code;

	digest_add(&lines->before, lines->text.data, lines->text.len);
	code = read_text(lines);
	if (code != OUTCOME_DONE || lines->end)
		return code;
	status = row_line_read(&lines->line, (const char *)lines->text.data, lines->text.len - 1,
		why);
	return status ? fail_line(lines, status, why) : OUTCOME_DONE;
}

enum outcome import_lines_take(struct import_lines *lines, const struct field *fields,
	uint32_t size, void *row, bool secrets)
{
	char why[ROW_LINE_WHY_SIZE];
	enum row_line_status status = row_line_take(&lines->line, fields, size, row, secrets, why);

	return status ? fail_line(lines, status, why) : OUTCOME_DONE;
}

void import_lines_close(struct import_lines *lines)
{
	if (lines->file && lines->file != stdin)
		fclose(lines->file);
	buffer_free(&lines->text);
	row_line_free(&lines->line);
	digest_end(&lines->before);
}
