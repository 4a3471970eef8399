/*
 * near_id - ids that differ in case (ASCII), in white space around them, or by one edit.
 *
 * Pure. A caller that sends "Ann" or "ann " for the player "ann" gets user_not_found. The log and
 * `creditbridgectl explain` name the intended player.
 */
#ifndef DOMAIN_NEAR_ID_H
#define DOMAIN_NEAR_ID_H

#include "base/field.h"
#include "domain/records.h"

/* Returns @id without the white space around it. */
struct bytes near_id_trim(const char *id);

/* Returns true if two ids are equal or differ only in that way. */
bool near_id_is(const char *one, const char *other);

/*
 * Writes the ids that @sent may stand for: without the white space around it, and also in lower
 * case.
 */
#define NEAR_ID_FORMS 2
void near_id_forms(const char *sent, char ids[NEAR_ID_FORMS][EXTERNAL_ID_SIZE]);

/*
 * Describes the edit that turns @one into @other: one character changed, added or omitted, or two
 * neighbours exchanged. Returns NULL if more than one edit is needed, or none. Characters are bytes.
 * Ids of fewer than NEAR_ID_EDIT_MIN bytes are never near, because most of them are one edit apart.
 */
#define NEAR_ID_EDIT_MIN 3
const char *near_id_edit(const char *one, const char *other);

#endif
