/*
 * operation - the random id that comes with a form, so that a form that is sent twice acts once.
 */
#ifndef CONSOLE_COMMON_OPERATION_H
#define CONSOLE_COMMON_OPERATION_H

#include "console/common/page.h"

/* Writes a hidden input @name with a new id into the form. Returns false if there is no randomness. */
bool operation_input(struct page *page, const char *name);

/* Copies the id @name of the form. Returns false if it is absent or malformed. */
bool operation_id_read(const struct page *page, const char *name, char id[OPERATION_ID_SIZE]);

/* Sets the operator's operation id from the form, and the reason. Returns false if one is unusable. */
bool operation_read(const struct page *page, const char *name, struct operator* operator);

#endif
