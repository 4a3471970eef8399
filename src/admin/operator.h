/*
 * operator - who calls creditbridgectl, and as whom it works.
 */
#ifndef ADMIN_OPERATOR_H
#define ADMIN_OPERATOR_H

#include "link/commands.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Fills @operator: real uid, login uid, SUDO_USER (believed of root alone: anybody else could set
 * it), a random operation_id. To be called before anything is dropped. False: no randomness.
 */
bool operator_identify(struct operator *operator);

/*
 * Becomes @uid with its groups, for good, when this process is root; else does nothing. False with
 * a sentence in @why.
 */
bool operator_become(uid_t uid, char *why, size_t why_size);

/* The user called @name, or numbered so. False: there is none. */
bool operator_find_user(const char *name, uid_t *uid, gid_t *gid);

/* The name of @uid, or its number. */
void operator_user_name(uid_t uid, char *name, size_t size);

#endif
