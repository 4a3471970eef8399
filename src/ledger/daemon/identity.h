/*
 * identity - the person at the other end of admin.sock: the user, and the role of its groups.
 *
 * The kernel reports user and groups as they were when the peer connected. A change of the groups
 * takes effect at the person's next login, as everywhere else.
 */
#ifndef LEDGER_DAEMON_IDENTITY_H
#define LEDGER_DAEMON_IDENTITY_H

#include "base/buffer.h"
#include "link/frame.h"
#include "link/roles.h"

#include <stdint.h>
#include <sys/types.h>

/* (gid_t)-1: there is no such group, and so no peer has its role. */
struct role_groups {
	gid_t read;
	gid_t support;
};

/*
 * A peer in more groups has the role of its primary group only. The kernel allows 65536; NFS allows
 * 16.
 */
#define IDENTITY_GROUPS_MAX 1024

struct client_identity {
	uint32_t uid; /* UINT32_MAX: unknown */
	enum role
		role; /* ROLE_NONE: neither root nor the ledger's user nor in a group of @groups */
};

/* Returns the peer of the connected Unix socket @fd. */
struct client_identity identity_of(int fd, const struct role_groups *groups);

/*
 * Makes the peer the operator of the decoded command @cmd if it is below ROLE_ADMIN: replaces the
 * user, login and sudo user that the peer sent. So the audit has the user that the kernel named.
 */
void identity_sign(const struct client_identity *identity, unsigned int command, void *cmd);

/* Answers @request with REFUSAL_ROLE_NEEDED. The peer's role does not allow it with the content @cmd. */
void identity_refuse(const struct client_identity *identity, const struct frame_request *request,
	const void *cmd, uint64_t generation, struct buffer *out);

#endif
