/*
 * acl - lets Unix groups use a file, by a POSIX access control list (acl(5)).
 *
 * A mode knows one group. The ledger gives two groups access to admin.sock.
 */
#ifndef BASE_ACL_H
#define BASE_ACL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define ACL_GROUPS_MAX 2

/*
 * Lets the owner and the members of @gids read and write @path, and no other user but root. @count is
 * at most ACL_GROUPS_MAX; with 0 the file gets mode 0600 without a list. On failure it gets mode 0600,
 * if that is possible. Returns false and writes a reason to @why then, for example if the file system has
 * no such lists.
 */
bool acl_set_groups(const char *path, const gid_t *gids, size_t count, char *why, size_t why_size);

/* The groups that a list names. */
struct acl_groups {
	bool known; /* false: the list could not be read, or it gives rights to others, too */
	size_t count;
	gid_t gids[ACL_GROUPS_MAX];
};

/* Returns the groups that may use @path by its list; none if it has no list. */
struct acl_groups acl_get_groups(const char *path);

#endif
