/*
 * cell_text - makes a sentence of remedies fit another cell than the default one.
 *
 * The sentences of the programs name the commands and units of the default cell. In another cell the command
 * `creditbridgectl resume` would act on the wrong data.
 */
#ifndef ADMIN_CELL_TEXT_H
#define ADMIN_CELL_TEXT_H

#include "base/settings.h"

#include <stddef.h>

/*
 * Returns @cell if @path is the configuration file of another cell than the default one, otherwise "". Such a file is
 * named cell-NAME.conf, as the units creditbridge-ledger@NAME and so on want it, and NAME is @cell. @path may be NULL:
 * the default file.
 */
const char *cell_text_other(const char *path, const char *cell);

/*
 * Writes @text to @to, of @size bytes, for @cell: `creditbridgectl --cell NAME COMMAND` in place of
 * `creditbridgectl COMMAND`, and creditbridge-ledger@NAME in place of creditbridge-ledger; the same with the other
 * units that a cell has. Names of users, programs and files stay, and so do commands that find their cell or act in all.
 * @cell "": the default cell, whose text is the same. A text that does not fit is cut.
 */
void cell_text_write(const char *cell, const char *text, char *to, size_t size);

#endif
