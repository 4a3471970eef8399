/*
 * doctor_sockets - checks the ledger's sockets: which users may connect, and which could replace
 * them.
 */
#include "doctor/doctor.h"

#include "admin/operator.h"
#include "base/acl.h"
#include "doctor/process.h"

#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define GROUP_NAME_MAX 64

void doctor_socket_directory(struct doctor *doctor)
{
	const char *path = doctor->settings->socket_directory;
	struct stat st, state;
	char owner[64];

	if (stat(path, &st) < 0) {
		doctor_unseen(doctor, path, errno,
			"make it, for the ledger's user, before the ledger "
			"is started");
		return;
	}
	operator_user_name(st.st_uid, owner, sizeof(owner));
	if (!S_ISDIR(st.st_mode)) {
		doctor_fail(doctor, "%s is no directory", path);
		doctor_remedy(doctor, "move it away, or set socket_directory");
	} else if (st.st_mode & S_IWOTH || (st.st_mode & S_IWGRP && st.st_gid != 0)) {
		doctor_fail(doctor,
			"%s has mode %04o: others may put a socket of theirs in place of "
			"the ledger's",
			path, (unsigned int)st.st_mode & 07777);
		doctor_remedy(doctor, "chmod go-w %s", path);
	} else if (stat(doctor->settings->state_directory, &state) == 0 && st.st_uid != 0 &&
		st.st_uid != state.st_uid) {
		doctor_fail(doctor, "%s belongs to user %s, not to the ledger's", path, owner);
		operator_user_name(state.st_uid, owner, sizeof(owner));
		doctor_remedy(doctor, "chown %s: %s, then restart the ledger", owner, path);
	} else {
		doctor_pass(doctor, "only user %s may put sockets into %s", owner, path);
	}
}

/* The owner and mode with which the ledger creates each socket (ledger/daemon/sockets.h). */
struct socket_rule {
	const char *name;
	mode_t wanted;    /* bits that must be set */
	mode_t forbidden; /* bits that must not be set */
	const char *whom; /* the users that may connect */
};
static const struct socket_rule edge_rule = {"edge.sock", 0660, 0007, "the workers' group"};
static const struct socket_rule admin_rule = {"admin.sock", 0600, 0007, "the ledger's user only"};

static void group_name(gid_t gid, char name[GROUP_NAME_MAX])
{
	const struct group *group = getgrgid(gid);

	if (group)
		snprintf(name, GROUP_NAME_MAX, "%s", group->gr_name);
	else
		snprintf(name, GROUP_NAME_MAX, "%lu", (unsigned long)gid);
}

static void judge_group(struct doctor *doctor, const struct stat *st)
{
	const char *wanted = doctor->settings->socket_group;
	const struct group *group = getgrnam(wanted);
	char name[GROUP_NAME_MAX];

	if (!group) {
		doctor_fail(doctor, "socket_group %s is no group of this machine", wanted);
		doctor_remedy(doctor,
			"leave socket_group empty, or set it to the group of the "
			"setgid program creditbridge.fcgi");
	} else if (st->st_gid != group->gr_gid) {
		group_name(st->st_gid, name);
		doctor_fail(doctor, "its group is %s, socket_group is %s", name, wanted);
		doctor_remedy(doctor,
			"restart creditbridge-ledger, which makes the socket anew; where systemd "
			"makes it, leave socket_group empty");
	}
}

/* Finds a group of read_group or support_group. Returns false if there is none, and so no member. */
static bool find_role_group(const char *name, gid_t *gid)
{
	const struct group *group = name[0] ? getgrnam(name) : NULL;

	if (name[0] && strspn(name, "0123456789") == strlen(name))
		*gid = (gid_t)strtoul(name, NULL, 10);
	else if (group)
		*gid = group->gr_gid;
	else
		return false;
	return true;
}

static bool has_group(const struct acl_groups *groups, gid_t gid)
{
	for (size_t i = 0; i < groups->count; i++) {
		if (groups->gids[i] == gid)
			return true;
	}
	return false;
}

/* Compares the list of admin.sock with read_group and support_group. Its mode shows only the mask. */
static void judge_role_groups(struct doctor *doctor, const char *path, const struct stat *st)
{
	const char *const names[] = {doctor->settings->read_group, doctor->settings->support_group};
	const struct acl_groups listed = acl_get_groups(path);
	size_t expected = 0;
	gid_t wanted[ACL_GROUPS_MAX] = {0};

	for (size_t i = 0; i < ACL_GROUPS_MAX; i++) {
		if (!find_role_group(names[i], &wanted[expected]))
			continue;
		if (!has_group(&listed, wanted[expected])) {
			doctor_warn(doctor, "members of group %s cannot use it", names[i]);
			doctor_remedy(doctor,
				"restart creditbridge-ledger; if its log then says no_roles, "
				"socket_directory must be on a file system with access control "
				"lists");
		}
		expected++;
	}
	for (size_t i = 0; i < listed.count; i++) {
		char name[GROUP_NAME_MAX];

		if (expected &&
			(listed.gids[i] == wanted[0] || listed.gids[i] == wanted[expected - 1]))
			continue;
		group_name(listed.gids[i], name);
		doctor_fail(doctor,
			"group %s may use it, and is neither read_group nor support_group", name);
		doctor_remedy(doctor, "restart creditbridge-ledger");
	}
	if (!listed.known || (!listed.count && st->st_mode & S_IRWXG)) {
		doctor_fail(doctor,
			"it has mode %04o; it is for the ledger's user and the groups of "
			"read_group and support_group",
			(unsigned int)st->st_mode & 07777);
		doctor_remedy(doctor, "chmod 0600 %s, then restart creditbridge-ledger", path);
	}
}

static void judge_socket(struct doctor *doctor, const struct socket_rule *rule)
{
	char path[DOCTOR_PATH_MAX];
	uint32_t before = doctor->sheet->count;
	struct stat st;

	doctor_about(doctor, "%s", rule->name);
	doctor_path(path, doctor->settings->socket_directory, rule->name);
	if (lstat(path, &st) < 0 && errno == ENOENT) {
		doctor_skip(doctor, "it is not there (see ledger)");
		return;
	}
	if (lstat(path, &st) < 0) {
		doctor_unseen(doctor, path, errno, "restart creditbridge-ledger");
		return;
	}
	if (!S_ISSOCK(st.st_mode)) {
		doctor_fail(doctor, "%s is no socket", path);
		doctor_remedy(doctor, "move it away and restart creditbridge-ledger");
		return;
	}
	if ((st.st_mode & rule->wanted) != rule->wanted || st.st_mode & rule->forbidden) {
		doctor_fail(doctor, "it has mode %04o; it is for %s",
			(unsigned int)st.st_mode & 07777, rule->whom);
		doctor_remedy(doctor, "chmod %04o %s", (unsigned int)rule->wanted, path);
	}
	if (rule == &edge_rule && doctor->settings->socket_group[0])
		judge_group(doctor, &st);
	if (rule == &admin_rule && doctor->sheet->count == before)
		judge_role_groups(doctor, path, &st);
	if (doctor->sheet->count == before)
		doctor_pass(doctor, "it is for %s",
			st.st_mode & S_IRWXG && rule == &admin_rule
				? "the ledger's user and the groups of read_group and support_group"
				: rule->whom);
}

void doctor_sockets(struct doctor *doctor)
{
	judge_socket(doctor, &edge_rule);
	judge_socket(doctor, &admin_rule);
}

static int try_connect(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), error = 0;

	snprintf(address.sun_path, sizeof(address.sun_path), "%.*s",
		(int)sizeof(address.sun_path) - 1, path);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		error = errno;
	if (fd >= 0)
		close(fd);
	return error;
}

/*
 * Only the worker, of the web server user's programs, may reach edge.sock. The remedy therefore
 * gives the group to the program.
 */
static void explain_no_access(struct doctor *doctor, const struct process_identity *identity,
	const char *path, int error)
{
	const char *directory = doctor->settings->socket_directory;
	char has[GROUP_NAME_MAX], needs[GROUP_NAME_MAX];
	struct stat st;

	group_name(identity->gid, has);
	doctor_fail(doctor, "user %s with group %s, as which workers run, cannot connect to %s: %s",
		identity->name, has, path, strerror(error));
	if (stat(directory, &st) == 0 && !(st.st_mode & S_IXOTH)) {
		doctor_remedy(doctor,
			"chmod 0711 %s: it holds only sockets, each with a mode of its own",
			directory);
	} else if (stat(path, &st) == 0) {
		group_name(st.st_gid, needs);
		doctor_remedy(doctor,
			"give the program creditbridge.fcgi, not the user, the group %s: chgrp %s "
			"and chmod 2755 it, on a file system without nosuid; or Group=%s in the "
			"worker's own unit",
			needs, needs, needs);
	} else {
		doctor_remedy(doctor, "restart creditbridge-ledger, which makes the socket");
	}
}

void doctor_socket_access(struct doctor *doctor)
{
	char path[DOCTOR_PATH_MAX];
	struct process_identity identity;
	int error;

	if (!identity_worker(doctor, &identity))
		return;
	doctor_path(path, doctor->settings->socket_directory, edge_rule.name);
	error = identity_try_as(&identity, try_connect, path);
	switch (error) {
	case 0:
	case EAGAIN: /* the ledger's backlog is full */
		doctor_pass(doctor, "user %s may connect to edge.sock", identity.name);
		return;
	case -1:
		doctor_skip(doctor, "only root can try as user %s", identity.name);
		doctor_remedy(doctor, "call doctor as root");
		return;
	case ENOENT:
	case ECONNREFUSED:
		doctor_skip(doctor, "no ledger listens there (see ledger)");
		return;
	default:
		explain_no_access(doctor, &identity, path, error);
	}
}
