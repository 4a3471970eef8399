#include "cmd/ctl/common/output_fit.h"

#include "base/columns.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define COLUMNS_MAX  32
#define CELL_COLUMNS SETTINGS_CELL_NAME_SIZE /* a name of a cell, and a space */
#define SHORT_MIN    8                       /* columns that a shortened text keeps */
#define FOLDED_MIN   24                      /* columns that a folded sentence keeps */
#define STANDING_MIN 15                      /* of "settled, 25.00 not delivered" */

static struct {
	bool shortened;
	char hidden[256]; /* headings of the columns that were left out, with ", " */
} fitted;

size_t fit_width(void)
{
	struct winsize size;

	if (!isatty(STDOUT_FILENO))
		return 0;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < SHORT_MIN)
		return 80;
	return size.ws_col;
}

static bool is_among(const char *name, const char *const *names)
{
	while (*names && strcmp(*names, name) != 0)
		names++;
	return *names != NULL;
}

/* How a column gives way. */
enum give { GIVE_NOTHING, GIVE_SHORT, GIVE_FOLD };

static enum give column_gives(const struct field *field)
{
	static const char *const sentences[] = {"found", "remedy", "reason", "detail", "why",
		"expected", "came", "command", "last_note", "note", "standing", NULL};
	static const char *const words[] = {"state", "action", "currency", "key_id",
		"signing_key_id", NULL};

	if (is_among(field->name, sentences))
		return GIVE_FOLD;
	/* Numbers, amounts, times, states and our own words are always whole. */
	if ((field->type == FIELD_STR && !is_among(field->name, words)) ||
		field->type == FIELD_JSON || field->type == FIELD_GROUP)
		return GIVE_SHORT;
	return GIVE_NOTHING;
}

bool fit_folds(const struct field *field)
{
	return fit_width() && column_gives(field) == GIVE_FOLD;
}

/* The columns of a table, for the calculation. */
struct fit {
	struct output_list *list;
	size_t count;
	size_t width[COLUMNS_MAX];
	size_t least[COLUMNS_MAX];
	enum give gives[COLUMNS_MAX];
	bool hidden[COLUMNS_MAX];
	bool filled[COLUMNS_MAX]; /* a line has text in it */
};

static const char *cell_text(struct libscols_table *table, size_t line, size_t column)
{
	const char *text =
		scols_cell_get_data(scols_line_get_cell(scols_table_get_line(table, line), column));

	return text ? text : "";
}

static bool is_hidden(struct output_list *list, size_t column)
{
	return scols_column_is_hidden(scols_table_get_column(list->lines, column));
}

/* Returns true for the state of a bet with what is not delivered. */
static bool is_standing(const struct output_list *list, size_t column)
{
	return strcmp(list->columns[column].field, "standing") == 0;
}

static void measure_columns(struct fit *fit)
{
	struct output_list *list = fit->list;
	size_t width;

	for (size_t i = 0; i < COLUMNS_MAX && list->columns[i].heading; i++, fit->count++) {
		fit->gives[i] = column_gives(field_find(list->table, list->columns[i].field));
		fit->hidden[i] = is_hidden(list, i);
		fit->width[i] = fit->least[i] = columns_width(list->columns[i].heading);
		for (size_t n = 0; n < scols_table_get_nlines(list->lines); n++) {
			width = columns_width(cell_text(list->lines, n, i));
			fit->filled[i] |= width > 0;
			if (width > fit->width[i])
				fit->width[i] = width;
		}
		width = fit->gives[i] == GIVE_FOLD
			? is_standing(list, i) ? STANDING_MIN : FOLDED_MIN
			: fit->gives[i] == GIVE_SHORT ? SHORT_MIN
						      : fit->width[i];
		if (width > fit->least[i])
			fit->least[i] = width;
		if (fit->least[i] > fit->width[i])
			fit->least[i] = fit->width[i];
	}
}

/* Returns the columns of a line, with a space between them. */
static size_t sum_of(const struct fit *fit, const size_t *widths)
{
	size_t sum = 0;

	for (size_t i = 0; i < fit->count; i++)
		sum += fit->hidden[i] ? 0 : widths[i] + 1;
	return sum ? sum - 1 : 0;
}

/* Returns the column to leave out next: an empty one, one that says least, or the last one. */
static size_t least_wanted(const struct fit *fit)
{
	static const char *const spare[] = {"decimals", "currency", "before_balance", "sudo_user",
		"login_uid", "changed_ms", "dealer_error_id", "entry_seq", "player_id",
		"signing_key_id", "last", "seq", NULL};
	const struct output_column *columns = fit->list->columns;
	size_t last = 0;

	for (size_t i = fit->count; i-- > 1;) {
		if (!fit->hidden[i] && !fit->filled[i])
			return i;
	}
	for (size_t n = 0; spare[n]; n++) {
		for (size_t i = 1; i < fit->count; i++) {
			if (!fit->hidden[i] && strcmp(columns[i].field, spare[n]) == 0)
				return i;
		}
	}
	for (size_t i = 1; i < fit->count; i++) {
		if (!fit->hidden[i] && strcmp(columns[i].field, "state") != 0 &&
			!is_standing(fit->list, i))
			last = i;
	}
	return last;
}

static void hide_column(struct fit *fit, size_t at)
{
	const char *heading = fit->list->columns[at].heading;
	size_t used = strlen(fitted.hidden);

	fit->hidden[at] = true;
	scols_column_set_flags(scols_table_get_column(fit->list->lines, at), SCOLS_FL_HIDDEN);
	if (fit->filled[at] && !strstr(fitted.hidden, heading) &&
		used + strlen(heading) + 2 < sizeof(fitted.hidden))
		snprintf(&fitted.hidden[used], sizeof(fitted.hidden) - used, "%s%s",
			used ? ", " : "", heading);
}

/* Takes one column at a time from the widest text that gives way, until the line has @width. */
static void narrow_columns(struct fit *fit, size_t width)
{
	size_t widest;

	while (sum_of(fit, fit->width) > width) {
		widest = fit->count;
		for (size_t i = 0; i < fit->count; i++) {
			if (!fit->hidden[i] && fit->width[i] > fit->least[i] &&
				(widest == fit->count || fit->width[i] > fit->width[widest]))
				widest = i;
		}
		if (widest == fit->count)
			return;
		fit->width[widest]--;
	}
}

static void rewrite_column(struct fit *fit, size_t column)
{
	char text[OUTPUT_SHOWN_MAX];

	for (size_t n = 0; n < scols_table_get_nlines(fit->list->lines); n++) {
		struct libscols_line *line = scols_table_get_line(fit->list->lines, n);
		const char *whole = cell_text(fit->list->lines, n, column);

		if (columns_width(whole) <= fit->width[column])
			continue;
		if (fit->gives[column] == GIVE_FOLD) {
			columns_fold(whole, fit->width[column], text, sizeof(text));
		} else {
			columns_shorten(whole, fit->width[column], text, sizeof(text));
			fitted.shortened = true;
		}
		if (scols_line_set_data(line, column, text) != 0)
			fit->list->failed = true;
	}
}

void fit_list(struct output_list *list)
{
	struct fit fit = {.list = list};
	const size_t all = fit_width();
	size_t width = all;

	if (!width)
		return;
	measure_columns(&fit);
	/* The column CELL comes after them, and is always whole. */
	if (scols_table_get_ncols(list->lines) > fit.count && width > CELL_COLUMNS)
		width -= CELL_COLUMNS;
	for (size_t at = 1;
		at && sum_of(&fit, fit.least) > width && sum_of(&fit, fit.width) > width;) {
		at = least_wanted(&fit);
		if (at)
			hide_column(&fit, at);
	}
	narrow_columns(&fit, width);
	for (size_t i = 0; i < fit.count; i++) {
		if (!fit.hidden[i])
			rewrite_column(&fit, i);
	}
	scols_table_set_termwidth(list->lines, all);
}

void fit_folding(struct libscols_column *column)
{
	scols_column_set_flags(column, SCOLS_FL_WRAP);
	scols_column_set_safechars(column, "\n");
	scols_column_set_wrapfunc(column, scols_wrapnl_chunksize, scols_wrapnl_nextchunk, NULL);
}

void fit_pairs(struct libscols_table *lines)
{
	const size_t width = fit_width(), count = scols_table_get_nlines(lines);
	size_t headings = 0, one;
	char text[OUTPUT_SHOWN_MAX];

	for (size_t n = 0; n < count; n++) {
		one = columns_width(cell_text(lines, n, 0));
		if (one > headings)
			headings = one;
	}
	if (!width || headings + 1 + FOLDED_MIN > width)
		return;
	for (size_t n = 0; n < count; n++) {
		columns_fold(cell_text(lines, n, 1), width - headings - 1, text, sizeof(text));
		scols_line_set_data(scols_table_get_line(lines, n), 1, text);
	}
	fit_folding(scols_table_get_column(lines, 1));
	scols_table_set_termwidth(lines, width);
}

void fit_print(const char *before, const char *text)
{
	const size_t width = fit_width(), margin = strlen(before);
	char folded[2 * OUTPUT_TEXT_MAX];

	if (width > margin + 3)
		columns_fold(text, width - margin, folded, sizeof(folded));
	else
		snprintf(folded, sizeof(folded), "%s", text);
	for (char *line = folded, *end; line; line = end) {
		end = strchr(line, '\n');
		if (end)
			*end++ = '\0';
		printf("%s", line == folded ? before : "");
		output_foreign(line, strlen(line));
		printf("\n");
	}
}

/* Prints @text on standard error, in lines that fit. */
static void print_folded(const char *text)
{
	char lines[OUTPUT_TEXT_MAX];

	columns_fold(text, fit_width(), lines, sizeof(lines));
	fprintf(stderr, "%s\n", lines);
}

void fit_close(void)
{
	char text[OUTPUT_TEXT_MAX / 2];

	if (!fitted.shortened && !fitted.hidden[0])
		return;
	fflush(stdout);
	snprintf(text, sizeof(text),
		"Columns left out: %s. A wider terminal, a pipe or --json has them.",
		fitted.hidden);
	if (fitted.hidden[0])
		print_folded(text);
	if (fitted.shortened)
		print_folded("Texts with ~ are shortened. A pipe or --json has them whole.");
}

void fit_color(struct libscols_cell *cell, const struct field *field, const char *text)
{
	static const struct {
		const char *word, *color;
	} colors[] = {
		{"PASS", "green"},
		{"WARN", "yellow"},
		{"FAIL", "red"},
		{"SKIP", "cyan"},
		{"passed", "green"},
		{"failed", "red"},
		{"skipped", "cyan"},
		{"not_run", "yellow"},
		{"accepted", "green"},
		{"settled", "green"},
		{"delivered", "green"},
		{"pending", "yellow"},
		{"refunding", "yellow"},
		{"due", "yellow"},
		{"sending", "yellow"},
		{"parked", "red"},
		{"held", "red"},
		{"rejected", "magenta"},
	};
	static const char *const fields[] = {"state", "result", "standing", NULL};

	if (!cell || !is_among(field->name, fields))
		return;
	if (strchr(text, ','))
		scols_cell_set_color(cell, "yellow");
	for (size_t i = 0; i < sizeof(colors) / sizeof(colors[0]); i++) {
		if (strcmp(colors[i].word, text) == 0)
			scols_cell_set_color(cell, colors[i].color);
	}
}
