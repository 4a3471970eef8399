/*
 * output_fit - fits a table to the width of the terminal, and colours it.
 *
 * A table that is too wide for the terminal is never wrapped by it. Ids are shortened in their
 * middle, sentences are folded within their column, and if that does not suffice, columns are left
 * out; the operator is informed. Nothing is changed if standard output is no terminal.
 */
#ifndef CMD_CTL_COMMON_OUTPUT_FIT_H
#define CMD_CTL_COMMON_OUTPUT_FIT_H

#include "cmd/ctl/common/output_table.h"
#include "cmd/ctl/common/output_text.h"

#include <libsmartcols/libsmartcols.h>

/* Returns the columns of the terminal on standard output; 0 if it is none. */
size_t fit_width(void);

/* Shortens, folds and hides until the lines of @list fit. */
void fit_list(struct output_list *list);

/* Folds the values of @lines, which are pairs. */
void fit_pairs(struct libscols_table *lines);

/* Returns true if the text of the field is a sentence, which is folded. */
bool fit_folds(const struct field *field);

/* Makes the column one whose text may be folded. */
void fit_folding(struct libscols_column *column);

/*
 * Prints @before and a sentence with foreign text, such as a user id, so that it cannot control the
 * terminal. Lines are folded to its width.
 */
void fit_print(const char *before, const char *text);

/* Prints on standard error, once, what was shortened or left out. */
void fit_close(void);

/*
 * Colours the cell of @field if its text is a state or a verdict that has a colour. A state with
 * what is not delivered, such as "settled, 25.00 not delivered", is yellow.
 */
void fit_color(struct libscols_cell *cell, const struct field *field, const char *text);

#endif
