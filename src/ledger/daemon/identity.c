#include "ledger/daemon/identity.h"

#include "base/pack.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static enum role role_of_group(gid_t gid, const struct role_groups *groups)
{
	if (gid == (gid_t)-1)
		return ROLE_NONE;
	if (gid == groups->support)
		return ROLE_SUPPORT;
	return gid == groups->read ? ROLE_READ : ROLE_NONE;
}

/* Returns the highest role of the supplementary groups. */
static enum role role_of_others(int fd, const struct role_groups *groups)
{
	gid_t gids[IDENTITY_GROUPS_MAX];
	socklen_t len = sizeof(gids);
	enum role best = ROLE_NONE;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, gids, &len) < 0)
		return ROLE_NONE;
	for (size_t i = 0; i < len / sizeof(gids[0]); i++) {
		enum role role = role_of_group(gids[i], groups);

		if (role > best)
			best = role;
	}
	return best;
}

struct client_identity identity_of(int fd, const struct role_groups *groups)
{
	struct client_identity identity = {.uid = UINT32_MAX, .role = ROLE_NONE};
	struct ucred credentials;
	socklen_t len = sizeof(credentials);
	enum role others;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &len) < 0)
		return identity;
	identity.uid = credentials.uid;
	if (credentials.uid == 0 || credentials.uid == geteuid()) {
		identity.role = ROLE_ADMIN;
		return identity;
	}
	identity.role = role_of_group(credentials.gid, groups);
	others = role_of_others(fd, groups);
	if (others > identity.role)
		identity.role = others;
	return identity;
}

void identity_sign(const struct client_identity *identity, unsigned int command, void *cmd)
{
	if (identity->role == ROLE_ADMIN)
		return;
	for (const struct field *field = command_infos[command].cmd_fields; field->type; field++) {
		struct operator* operator;

		if (field->sub != operator_fields)
			continue;
		operator=(struct operator*)(void *)((char *)cmd + field->offset);
		operator->uid = identity->uid;
		operator->login_uid = UINT32_MAX;
		memset(operator->sudo_user, 0, sizeof(operator->sudo_user));
	}
}

void identity_refuse(const struct client_identity *identity, const struct frame_request *request,
	const void *cmd, uint64_t generation, struct buffer *out)
{
	static union any_result result;
	const enum role needed = role_needed(request->command, cmd);
	const struct frame_answer answer = {.command = request->command,
		.outcome = FRAME_DONE,
		.tag = request->tag,
		.generation = generation};
	size_t start = frame_open_answer(out, &answer);

	memset(&result, 0, command_infos[request->command].result_size);
	result.verdict.refusal = REFUSAL_ROLE_NEEDED;
	snprintf(result.verdict.detail, sizeof(result.verdict.detail),
		"this needs the role %s, and user %u has the role %s; see ROLES in creditbridgectl(8)",
		role_names[needed], identity->uid, role_names[identity->role]);
	pack_record(out, command_infos[request->command].result_fields, &result);
	frame_close(out, start);
}
