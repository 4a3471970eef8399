/*
 * roles - the roles of people, and the least role of each command (roles.def).
 *
 * Each role may do what the role before it may. On admin.sock the Unix groups of the peer decide:
 * read_group and support_group (ledger/daemon/identity.h). Root and the ledger's user have ROLE_ADMIN.
 * The ledger compares the role with each command before it executes anything.
 */
#ifndef LINK_ROLES_H
#define LINK_ROLES_H

#include "domain/role.h"
#include "link/commands.h"

/*
 * Returns the least role for @command with the content @cmd, its struct NAME_cmd. A number that is
 * no command, and a command that the table does not list, need ROLE_ADMIN.
 */
enum role role_needed(unsigned int command, const void *cmd);

/* Returns true if a peer of @role may execute the command. */
bool role_may(enum role role, unsigned int command, const void *cmd);

#endif
