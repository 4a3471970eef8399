#include "link/roles.h"

/* ROLE_NONE, which is 0: the table does not list the command. */
static const enum role least_roles[COMMAND_COUNT] = {
#define ROLE_IF(command, lower, role, condition)
#define ROLE(command, lower, role) [COMMAND_##command] = ROLE_##role,
#include "link/roles.def"
#undef ROLE
#undef ROLE_IF
};

/* Returns the highest role that a ROLE_IF line needs for this content, or ROLE_NONE. */
static enum role raised_role(unsigned int command, const void *arg)
{
	enum role raised = ROLE_NONE;

#define ROLE(command_, lower, role)
#define ROLE_IF(command_, lower, role, condition)                                                  \
	if (command == COMMAND_##command_) {                                                       \
		const struct lower##_cmd *cmd = arg;                                               \
		if ((condition) && raised < ROLE_##role)                                           \
			raised = ROLE_##role;                                                      \
	}
#include "link/roles.def"
#undef ROLE
#undef ROLE_IF
	return raised;
}

enum role role_needed(unsigned int command, const void *cmd)
{
	enum role raised;

	if (command >= COMMAND_COUNT || least_roles[command] == ROLE_NONE)
		return ROLE_ADMIN;
	raised = raised_role(command, cmd);
	return raised > least_roles[command] ? raised : least_roles[command];
}

bool role_may(enum role role, unsigned int command, const void *cmd)
{
	return role >= role_needed(command, cmd);
}
