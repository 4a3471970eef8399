/*
 * operator - identifies the user that runs creditbridgectl, and changes the process's user.
 */
#ifndef ADMIN_OPERATOR_H
#define ADMIN_OPERATOR_H

#include "link/commands.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Fills @operator: real uid, login uid, SUDO_USER (only if the caller is root, because any other
 * user could set it), and a random operation_id. Call it before any privilege is dropped. Returns
 * false if no random bytes are available.
 */
bool operator_identify(struct operator* operator);

/*
 * If this process is root, changes permanently to @uid and its groups; otherwise does nothing.
 * Returns false with the reason in @why.
 */
bool operator_become(uid_t uid, char *why, size_t why_size);

/* Finds a user by name or number. Returns false if there is none. */
bool operator_find_user(const char *name, uid_t *uid, gid_t *gid);

/* Writes the name of @uid, or its number, to @name. */
void operator_user_name(uid_t uid, char *name, size_t size);

#endif
