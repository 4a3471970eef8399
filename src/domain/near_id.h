/*
 * near_id - ids that differ in little: in upper and lower case (ASCII) and in white space around them.
 *
 * Pure. A caller that sends "Ann" or "ann " for the player "ann" is answered user_not_found; log and
 * `creditbridgectl explain` name the player that was meant.
 */
#ifndef DOMAIN_NEAR_ID_H
#define DOMAIN_NEAR_ID_H

#include "base/field.h"
#include "domain/records.h"

/* @id without the white space around it. */
struct bytes near_id_trim(const char *id);

/* Whether two ids differ in nothing else. An id is near to itself. */
bool near_id_is(const char *one, const char *other);

/* Writes ids that @sent may have been meant for: without white space around it, and in lower case as well. */
#define NEAR_ID_FORMS 2
void near_id_forms(const char *sent, char ids[NEAR_ID_FORMS][EXTERNAL_ID_SIZE]);

#endif
