#include "admin/cell_text.h"

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

bool cell_text_is_other(const char *path, const char *cell)
{
	const char *slash = path ? strrchr(path, '/') : NULL;
	char file[SETTINGS_CELL_NAME_SIZE + 16];

	if (!path || !cell[0])
		return false;
	snprintf(file, sizeof(file), "cell-%s.conf", cell);
	return strcmp(slash ? slash + 1 : path, file) == 0;
}

/* Returns the length of the unit's name at @text; 0: there is none. creditbridge-ledger-edge is another name. */
static size_t unit_length(const char *text)
{
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		const size_t len = strlen(units[i]);

		if (strncmp(text, units[i], len) == 0)
			return strchr("-@*", text[len]) && text[len] ? 0 : len;
	}
	return 0;
}

void cell_text_write(const char *cell, const char *text, char *to, size_t size)
{
	size_t len = 0;

	if (!cell[0]) {
		snprintf(to, size, "%s", text);
		return;
	}
	to[0] = '\0';
	while (*text && len < size - 1) {
		const bool command = strncmp(text, PROGRAM, strlen(PROGRAM)) == 0;
		const size_t taken = command ? strlen(PROGRAM) : unit_length(text);
		const int put = command ? snprintf(to + len, size - len, PROGRAM "--cell %s ", cell)
			: taken ? snprintf(to + len, size - len, "%.*s@%s", (int)taken, text, cell)
				: snprintf(to + len, size - len, "%c", *text);

		len += put > 0 ? (size_t)put : 0;
		text += taken ? taken : 1;
	}
}
