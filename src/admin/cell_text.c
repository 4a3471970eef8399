#include "admin/cell_text.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define PROGRAM "creditbridgectl "

/* The units that each cell has. */
static const char *const units[] = {
	"creditbridge-console",
	"creditbridge-job",
	"creditbridge-ledger",
	"creditbridge-ping",
	"creditbridge-sweep",
};

const char *cell_text_other(const char *path, const char *cell)
{
	const char *slash = path ? strrchr(path, '/') : NULL;
	char file[SETTINGS_CELL_NAME_SIZE + 16];

	if (!path || !cell[0])
		return "";
	snprintf(file, sizeof(file), "cell-%s.conf", cell);
	return strcmp(slash ? slash + 1 : path, file) == 0 ? cell : "";
}

/* Returns true if @text begins with @start. */
static bool begins_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

/* Returns true if @c is part of a name or a path. */
static bool is_of_name(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("_/-@*.", c));
}

/* Returns true if the name of a unit ends before @rest. A program has the same name, and options. */
static bool ends_unit(const char *rest)
{
	if (begins_with(rest, ".service") || begins_with(rest, ".socket") ||
		begins_with(rest, ".timer"))
		return true;
	if (*rest == '.')
		return !is_of_name(rest[1]);
	return !is_of_name(*rest) && !begins_with(rest, " --");
}

/* Returns the length of the unit's name at @text; 0: there is none. creditbridge-ledger-edge is another name. */
static size_t unit_length(const char *text)
{
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (begins_with(text, units[i]))
			return ends_unit(text + strlen(units[i])) ? strlen(units[i]) : 0;
	}
	return 0;
}

/*
 * Returns the length of the program's name and a blank at @text, if --cell belongs after them; otherwise 0. A change
 * of a game server acts in all cells, and a move of a dealer finds its cell.
 */
static size_t command_length(const char *text)
{
	const char *words = text + strlen(PROGRAM), *cell;

	if (!begins_with(text, PROGRAM) || begins_with(words, "client ") ||
		begins_with(words, "dealer move "))
		return 0;
	cell = strstr(words, "--cell");
	return cell && cell < words + strcspn(words, "`;\n") ? 0 : strlen(PROGRAM);
}

void cell_text_write(const char *cell, const char *text, char *to, size_t size)
{
	const char *const begin = text;
	size_t len = 0;

	if (!cell[0]) {
		snprintf(to, size, "%s", text);
		return;
	}
	to[0] = '\0';
	while (*text && len < size - 1) {
		const bool within = text > begin && is_of_name(text[-1]);
		const size_t command = within ? 0 : command_length(text);
		const size_t unit = within || command ? 0 : unit_length(text);
		const size_t taken = command + unit;
		const int put = command ? snprintf(to + len, size - len, PROGRAM "--cell %s ", cell)
			: unit ? snprintf(to + len, size - len, "%.*s@%s", (int)taken, text, cell)
			       : snprintf(to + len, size - len, "%c", *text);

		len += put > 0 ? (size_t)put : 0;
		text += taken ? taken : 1;
	}
}
