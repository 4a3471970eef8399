#include "cmd/ctl/common/output.h"

#include "base/text.h"
#include "cmd/ctl/common/output_fit.h"
#include "cmd/ctl/common/times.h"
#include "wire/render.h"

#include <inttypes.h>
#include <libsmartcols/libsmartcols.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PART_LINES 512           /* maximum lines of a table held in memory */
#define PART_BYTES (1024 * 1024) /* maximum bytes of JSON held in memory */

static bool colors_wanted(void)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	return (!no_color || !no_color[0]) && term && strcmp(term, "dumb") != 0 &&
		isatty(STDOUT_FILENO);
}

static bool is_number_field(const struct field *field, enum output_format format)
{
	switch (field->type) {
	case FIELD_U8:
	case FIELD_U16:
	case FIELD_U32:
	case FIELD_I32:
	case FIELD_U64:
	case FIELD_MONEY:
	case FIELD_SUM:
		return format != OUTPUT_UID;
	default:
		return false;
	}
}

static struct libscols_table *new_table(bool headings)
{
	struct libscols_table *table = scols_new_table();

	if (!table)
		return NULL;
	scols_table_enable_noheadings(table, !headings);
	scols_table_enable_colors(table, colors_wanted());
	return table;
}

void output_title(struct ctl *ctl, const char *title)
{
	static bool behind;
	const bool bold = colors_wanted();

	if (ctl->json)
		return;
	printf("%s%s%s%s\n", behind ? "\n" : "", bold ? "\033[1m" : "", title,
		bold ? "\033[0m" : "");
	behind = true;
}

/* Sets a cell to @text, with hidden characters escaped. */
static bool set_cell(struct libscols_line *line, size_t column, const char *text)
{
	char shown[OUTPUT_SHOWN_MAX];

	return scols_line_set_data(line, column, output_shown(text, shown)) == 0;
}

void output_pairs_open(struct output_pairs *pairs, struct ctl *ctl)
{
	*pairs = (struct output_pairs){.ctl = ctl};
	if (ctl->json)
		return;
	pairs->lines = new_table(false);
	pairs->failed = !pairs->lines || !scols_table_new_column(pairs->lines, "name", 0, 0) ||
		!scols_table_new_column(pairs->lines, "value", 0, 0);
}

/* @field: the member that @text is the value of; NULL: none */
static void add_pair(struct output_pairs *pairs, const char *heading, const char *text,
	const struct field *field)
{
	struct libscols_line *line =
		pairs->failed ? NULL : scols_table_new_line(pairs->lines, NULL);

	if (!line || !set_cell(line, 0, heading) || !set_cell(line, 1, text))
		pairs->failed = true;
	else if (field)
		fit_color(scols_line_get_cell(line, 1), field, text);
}

void output_pairs_add(struct output_pairs *pairs, const char *heading, const char *format, ...)
{
	char text[OUTPUT_TEXT_MAX];
	va_list arguments;

	if (pairs->ctl->json)
		return;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	add_pair(pairs, heading, text, NULL);
}

void output_pairs_fields(struct output_pairs *pairs, const struct field *table,
	const struct output_column *columns, const void *record)
{
	char text[OUTPUT_TEXT_MAX];

	if (pairs->ctl->json)
		return;
	times_select(pairs->ctl, table, record);
	for (; columns->heading; columns++) {
		const struct field *field = field_find(table, columns->field);

		output_value(field, columns->format, record, text);
		if (columns->format != OUTPUT_IF_ANY || text[0])
			add_pair(pairs, columns->heading, text, field);
	}
}

enum outcome output_pairs_close(struct output_pairs *pairs)
{
	if (!pairs->failed && pairs->lines) {
		fit_pairs(pairs->lines);
		scols_print_table(pairs->lines);
	}
	scols_unref_table(pairs->lines);
	return pairs->failed ? ctl_no_memory(pairs->ctl) : OUTCOME_DONE;
}

enum outcome output_record(struct ctl *ctl, const struct field *table,
	const struct output_column *columns, const void *record)
{
	struct output_pairs pairs;

	output_pairs_open(&pairs, ctl);
	output_pairs_fields(&pairs, table, columns, record);
	return output_pairs_close(&pairs);
}

void output_view(struct field *view, size_t size, const struct field *table,
	const struct field *more)
{
	size_t count = 0;

	for (; table->name && count + 1 < size; table++)
		view[count++] = *table;
	for (; more->name && count + 1 < size; more++)
		view[count++] = *more;
	/* A view that is too small is a bug, which every call of its command reveals. */
	if (table->name || more->name)
		abort();
	view[count] = (struct field)FIELD_END;
}

const struct field *output_result(enum command command)
{
	return command_infos[command].result_fields + 1;
}

static void print_part(struct output_list *list)
{
	if (list->failed || !list->lines)
		return;
	fit_list(list);
	scols_table_enable_noheadings(list->lines, list->printed);
	scols_print_table(list->lines);
	scols_table_remove_lines(list->lines);
	list->printed = true;
}

/* After the columns of the rows, so that those keep their places. */
static void add_cell_column(struct output_list *list)
{
	struct libscols_column *column =
		list->failed ? NULL : scols_table_new_column(list->lines, "CELL", 0, 0);

	if (column)
		scols_cell_set_color(scols_column_get_header(column), "bold");
	else
		list->failed = true;
}

void output_list_open(struct output_list *list, struct ctl *ctl, const char *name, const char *what,
	const struct field *table, const struct output_column *columns)
{
	struct libscols_column *column;
	const struct field *field;

	if (name && ctl->walk && ctl->walk->listing) {
		*list = ctl->walk->list;
		list->max = ctl->limit ? list->count + ctl->limit : 0;
		return;
	}
	*list = (struct output_list){.ctl = ctl,
		.what = what,
		.table = table,
		.json = table,
		.columns = columns,
		.max = name ? ctl->limit : 0,
		.silent = ctl->json && !name,
		.walked = name && ctl->walk};
	buffer_init(&list->text, OUTPUT_JSON_MAX);
	if (list->silent)
		return;
	if (ctl->json) {
		buffer_append_str(&list->text, "{");
		if (ctl->cell && !list->walked)
			buffer_printf(&list->text, "\"cell\":\"%s\",", ctl->cell);
		buffer_printf(&list->text, "\"%s\":[", name);
		return;
	}
	list->lines = new_table(true);
	list->failed = !list->lines;
	for (; !list->failed && columns->heading; columns++) {
		field = field_find(table, columns->field);
		column = scols_table_new_column(list->lines, columns->heading, 0,
			is_number_field(field, columns->format) ? SCOLS_FL_RIGHT : 0);
		if (!column)
			list->failed = true;
		else
			scols_cell_set_color(scols_column_get_header(column), "bold");
		if (column && fit_folds(field))
			fit_folding(column);
	}
	if (list->walked)
		add_cell_column(list);
}

static void print_buffered(struct output_list *list)
{
	printf("%.*s", (int)list->text.len, (const char *)list->text.data);
	buffer_reset(&list->text);
	list->printed = true;
}

static void add_json_of_cell(struct output_list *list, const void *row)
{
	struct buffer object;

	buffer_init(&object, OUTPUT_JSON_MAX);
	if (!render_record(&object, list->json, row))
		list->failed = true;
	buffer_printf(&list->text, "{\"cell\":\"%s\"%s", list->ctl->cell,
		object.len > 2 ? "," : "");
	if (object.len)
		buffer_append(&list->text, object.data + 1, object.len - 1);
	buffer_free(&object);
}

static void add_json(struct output_list *list, const void *row)
{
	if (list->count++)
		buffer_append_str(&list->text, ",");
	if (list->walked)
		add_json_of_cell(list, row);
	else if (!render_record(&list->text, list->json, row))
		list->failed = true;
	if (!list->failed && list->text.len >= PART_BYTES)
		print_buffered(list);
}

void output_list_add(struct output_list *list, const void *row)
{
	struct libscols_line *line;
	char text[OUTPUT_TEXT_MAX];

	if (list->silent)
		return;
	if (list->max && list->count == list->max) {
		list->more = true;
		return;
	}
	if (list->ctl->json) {
		add_json(list, row);
		return;
	}
	line = list->failed ? NULL : scols_table_new_line(list->lines, NULL);
	if (!line) {
		list->failed = true;
		return;
	}
	times_select(list->ctl, list->table, row);
	times_in_table(true);
	for (size_t i = 0; list->columns[i].heading; i++) {
		const struct output_column *column = &list->columns[i];
		const struct field *field = field_find(list->table, column->field);

		output_value(field, column->format, row, text);
		if (!set_cell(line, i, text))
			list->failed = true;
		else
			fit_color(scols_line_get_cell(line, i), field, text);
		if (i == list->after_column)
			text_copy(list->after, sizeof(list->after), text);
	}
	if (list->walked &&
		!set_cell(line, scols_table_get_ncols(list->lines) - 1, list->ctl->cell))
		list->failed = true;
	times_in_table(false);
	if (++list->count % PART_LINES == 0)
		print_part(list);
}

/* Informs the operator that rows follow. Their number is seldom known: counting would read them all. */
static void note_cut(const struct output_list *list)
{
	char shown[OUTPUT_SHOWN_MAX];

	fflush(stdout);
	if (list->total)
		fprintf(stderr, "%lu of %" PRIu64 " shown: ", list->count, list->total);
	else
		fprintf(stderr, "%lu shown, more follow: ", list->count);
	if (list->ctl->walk)
		fprintf(stderr, "--cell NAME, or ");
	else if (list->after[0] && ctl_has_option(list->ctl, OPTION_AFTER))
		fprintf(stderr, "--after %s, or ", output_shown(list->after, shown));
	fprintf(stderr, "--limit N (0: all)\n");
}

/* Leaves the list to the next cell. */
static enum outcome leave_list(struct output_list *list, enum outcome code)
{
	struct output_walk *walk = list->ctl->walk;

	walk->cut |= list->more;
	list->more = false;
	walk->list = *list;
	walk->listing = true;
	return code;
}

enum outcome output_list_close(struct output_list *list, enum outcome code)
{
	if (list->walked)
		return leave_list(list, code);
	if (code == OUTCOME_DONE && list->failed)
		code = ctl_no_memory(list->ctl);
	if (list->ctl->json && !list->silent && code == OUTCOME_DONE) {
		print_buffered(list);
		printf("]%s", list->more ? ",\"more\":true" : "");
		if (list->more && list->total)
			printf(",\"total\":%" PRIu64, list->total);
		if (list->ctl->walk && list->ctl->walk->errors.comma) {
			printf(",\"not_asked\":[");
			output_walk_errors(list->ctl->walk);
			printf("]");
		}
		printf("}\n");
	} else if (!list->ctl->json && list->count % PART_LINES) {
		print_part(list);
	} else if (!list->ctl->json && code == OUTCOME_DONE && !list->count && list->what) {
		fprintf(stderr, "no %s\n", list->what);
	}
	if (code == OUTCOME_DONE && list->more && !list->ctl->json)
		note_cut(list);
	scols_unref_table(list->lines);
	buffer_free(&list->text);
	return code;
}
