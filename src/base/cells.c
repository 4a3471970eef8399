#include "base/cells.h"

#include "base/text.h"

#include <inttypes.h>
#include <string.h>

static enum status cell_fill(struct cell_file *cell, const struct settings *settings,
	const char *path, FILE *errors)
{
	cell->ledger_number = settings->ledger_number;
	text_copy(cell->name, sizeof(cell->name), settings->cell_name);
	text_copy(cell->socket_directory, sizeof(cell->socket_directory),
		settings->socket_directory);
	if (text_copy(cell->path, sizeof(cell->path), path))
		return STATUS_OK;
	fprintf(errors, "%.64s...: the path of the configuration file is too long\n", path);
	return STATUS_CONFIG;
}

/* Checks that @cell, the last one of @list, differs from those before it. */
static enum status cell_differs(const struct cell_list *list, const struct cell_file *cell,
	FILE *errors)
{
	for (const struct cell_file *other = list->cells; other < cell; other++) {
		if (strcmp(cell->name, other->name) == 0) {
			fprintf(errors,
				"%s: cell_name \"%s\" is that of %s, too: give each cell a name of "
				"its own\n",
				cell->path, cell->name, other->path);
			return STATUS_CONFIG;
		}
		if (cell->ledger_number == other->ledger_number) {
			fprintf(errors,
				"%s: ledger_number %" PRIu32
				" is that of cell \"%s\" (%s), too: ids of the two cells would be "
				"equal; set another one from 0 to 15 before the cell's first start, "
				"or after it with creditbridgectl adopt --moved\n",
				cell->path, cell->ledger_number, other->name, other->path);
			return STATUS_CONFIG;
		}
		if (strcmp(cell->socket_directory, other->socket_directory) == 0) {
			fprintf(errors,
				"%s: socket_directory \"%s\" is that of cell \"%s\" (%s), too: give "
				"each cell a directory of its own\n",
				cell->path, cell->socket_directory, other->name, other->path);
			return STATUS_CONFIG;
		}
	}
	return STATUS_OK;
}

/* Reads @path and adds its cell. */
static enum status cell_add(struct cell_list *list, const char *path, struct settings *settings,
	FILE *errors)
{
	struct cell_file *cell = &list->cells[list->count];
	enum status status = settings_load(settings, path, errors);

	if (!status)
		status = cell_fill(cell, settings, path, errors);
	if (!status && !cell->name[0]) {
		fprintf(errors, "%s: cell_name is not set: %s lists this file in cells\n", path,
			list->cells[0].path);
		status = STATUS_CONFIG;
	}
	if (!status)
		status = cell_differs(list, cell, errors);
	list->count++;
	return status;
}

enum status cells_load(const struct settings *own, const char *path, struct cell_list *list,
	struct settings *settings, FILE *errors)
{
	struct settings other;
	enum status status = cell_fill(&list->cells[0], own, path, errors);

	list->count = 1;
	if (settings)
		settings[0] = *own;
	for (uint32_t i = 0; !status && i < own->cell_count; i++)
		status =
			cell_add(list, own->cells[i], settings ? &settings[i + 1] : &other, errors);
	return status;
}

const struct cell_file *cells_named(const struct cell_list *list, const char *name)
{
	for (unsigned int i = 0; name && name[0] && i < list->count; i++) {
		if (strcmp(list->cells[i].name, name) == 0)
			return &list->cells[i];
	}
	return NULL;
}

const struct cell_file *cells_of_id(const struct cell_list *list, uint64_t id)
{
	for (unsigned int i = 0; i < list->count; i++) {
		if (list->cells[i].ledger_number == id % CELLS_MAX)
			return &list->cells[i];
	}
	return NULL;
}
