/* role - the roles of people. Each role may do what the role before it may (link/roles.h). */
#ifndef DOMAIN_ROLE_H
#define DOMAIN_ROLE_H

/* The order is stored: append only. */
enum role {
	ROLE_NONE,    /* no command */
	ROLE_READ,    /* lists and shows */
	ROLE_SUPPORT, /* sends callbacks again, holds and releases them, explains refused calls */
	ROLE_FINANCE, /* decides what one side owes the other; sees the audit */
	ROLE_ADMIN,   /* everything */
	ROLE_COUNT
};

/* "none", "read", "support", "finance", "admin" */
extern const char *const role_names[ROLE_COUNT];

#endif
