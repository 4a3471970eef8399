#include "base/acl.h"

#include <endian.h>
#include <errno.h>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#define NO_ID   ((uint32_t)ACL_UNDEFINED_ID)
#define NAME    "system.posix_acl_access"
#define MAY_USE (ACL_READ | ACL_WRITE)
/* The owner, the file's group, the mask, all others; and the groups. */
#define ENTRIES_MAX (4 + ACL_GROUPS_MAX)

struct acl {
	struct posix_acl_xattr_header header;
	struct posix_acl_xattr_entry entries[ENTRIES_MAX];
};

static void add_entry(struct acl *acl, size_t *count, uint16_t tag, uint16_t may, uint32_t id)
{
	acl->entries[(*count)++] = (struct posix_acl_xattr_entry){.e_tag = htole16(tag),
		.e_perm = htole16(may),
		.e_id = htole32(id)};
}

/* The mode goes first: without its list, the file's group would have what the mask allowed. */
static bool remove_acl(const char *path)
{
	if (chmod(path, S_IRUSR | S_IWUSR) < 0)
		return false;
	return removexattr(path, NAME) == 0 || errno == ENODATA || errno == EOPNOTSUPP;
}

bool acl_set_groups(const char *path, const gid_t *gids, size_t count, char *why, size_t why_size)
{
	struct acl acl = {.header = {.a_version = htole32(POSIX_ACL_XATTR_VERSION)}};
	size_t entries = 0;
	bool made;
	int error;

	add_entry(&acl, &entries, ACL_USER_OBJ, MAY_USE, NO_ID);
	add_entry(&acl, &entries, ACL_GROUP_OBJ, 0, NO_ID);
	for (size_t i = 0; i < count; i++)
		add_entry(&acl, &entries, ACL_GROUP, MAY_USE, gids[i]);
	add_entry(&acl, &entries, ACL_MASK, MAY_USE, NO_ID);
	add_entry(&acl, &entries, ACL_OTHER, 0, NO_ID);
	made = count ? setxattr(path, NAME, &acl,
			       sizeof(acl.header) + entries * sizeof(acl.entries[0]), 0) == 0
		     : remove_acl(path);
	if (made)
		return true;
	error = errno;
	snprintf(why, why_size, "%s: %s", path,
		error == EOPNOTSUPP ? "its file system has no access control lists (acl)"
				    : strerror(error));
	remove_acl(path);
	return false;
}

/* Takes one entry. Returns false if it gives rights to others than the owner and groups. */
static bool take_entry(const struct posix_acl_xattr_entry *entry, struct acl_groups *groups)
{
	switch (le16toh(entry->e_tag)) {
	case ACL_USER_OBJ:
	case ACL_MASK:
		return true;
	case ACL_GROUP_OBJ:
	case ACL_OTHER:
		return entry->e_perm == 0;
	case ACL_GROUP:
		if (groups->count == ACL_GROUPS_MAX)
			return false;
		groups->gids[groups->count++] = (gid_t)le32toh(entry->e_id);
		return true;
	default:
		return false;
	}
}

struct acl_groups acl_get_groups(const char *path)
{
	struct acl_groups groups = {.known = true};
	struct acl acl;
	ssize_t len = getxattr(path, NAME, &acl, sizeof(acl));
	size_t entries;

	if (len < 0) {
		groups.known = errno == ENODATA || errno == EOPNOTSUPP;
		return groups;
	}
	if ((size_t)len < sizeof(acl.header)) {
		groups.known = false;
		return groups;
	}
	entries = ((size_t)len - sizeof(acl.header)) / sizeof(acl.entries[0]);
	for (size_t i = 0; i < entries; i++)
		groups.known &= take_entry(&acl.entries[i], &groups);
	return groups;
}
