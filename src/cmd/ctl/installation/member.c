/*
 * member - implements `member add`, `list`, `renew`, `remove`: the certificates of the hosts of a cell. They
 * work on the files of cell_tls_directory and need no ledger.
 */
#include "cmd/ctl/common/ctl.h"

#include "base/clock.h"
#include "base/text.h"
#include "cmd/ctl/common/output.h"
#include "cmd/ctl/data/offline.h"
#include "peer/members.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A certificate as it is printed. */
struct member_row {
	char member[HELLO_MEMBER_SIZE];
	char address[RELAY_ADDRESS_SIZE];
	int64_t expires_ms;
	char serial[TLS_SERIAL_SIZE];
	char state[16];
};
static const struct field member_row_fields[] = {
	FIELD(FIELD_STR, member_row, member),
	FIELD(FIELD_STR, member_row, address),
	FIELD(FIELD_TIME_MS, member_row, expires_ms),
	FIELD(FIELD_STR, member_row, serial),
	FIELD(FIELD_STR, member_row, state),
	FIELD_END,
};
static const struct output_column list_columns[] = {
	{"MEMBER", "member", OUTPUT_PLAIN},
	{"ADDRESS", "address", OUTPUT_PLAIN},
	{"EXPIRES", "expires_ms", OUTPUT_PLAIN},
	{"STATE", "state", OUTPUT_PLAIN},
	{"SERIAL", "serial", OUTPUT_PLAIN},
	{NULL, NULL, OUTPUT_PLAIN},
};

/* Run as root: makes the directory for the ledger's user, because only root may write beside it. */
static enum outcome give_to_owner(struct ctl *ctl, const char *path, const struct stat *owner)
{
	enum outcome code = OUTCOME_DONE;
	struct stat info;
	int fd;

	if (mkdir(path, 0700) < 0)
		return errno == EEXIST ? OUTCOME_DONE
				       : ctl_fail(ctl, OUTCOME_CONFIG, "configuration",
						 "cannot create %s: %s", path, strerror(errno));
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &info) < 0 || info.st_uid != 0 ||
		fchown(fd, owner->st_uid, owner->st_gid) < 0)
		code = ctl_fail(ctl, OUTCOME_FAILED, "failed", "cannot change the owner of %s: %s",
			path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return code;
}

/* Reads the configuration and becomes the ledger's user. Sets *directory. */
static enum outcome open_cell(struct ctl *ctl, bool change, const char **directory)
{
	enum outcome code = session_settings(&ctl->session);
	struct stat owner;

	*directory = ctl->session.settings.cell_tls_directory;
	if (code == OUTCOME_DONE && change && geteuid() == 0 &&
		stat(ctl->session.settings.state_directory, &owner) == 0)
		code = give_to_owner(ctl, *directory, &owner);
	return code == OUTCOME_DONE ? offline_become_owner(ctl, false, NULL) : code;
}

static struct member_row member_row_of(const struct cell_member *member, int64_t now_s)
{
	struct member_row row = {.expires_ms = member->expires_s * 1000};
	const char *state = member->removed  ? "removed"
		: member->expires_s <= now_s ? "expired"
		: member->replaced           ? "replaced"
					     : "valid";

	text_copy(row.member, sizeof(row.member), member->name);
	text_copy(row.address, sizeof(row.address), member->address);
	text_copy(row.serial, sizeof(row.serial), member->serial);
	text_copy(row.state, sizeof(row.state), state);
	return row;
}

static enum outcome issue_for(struct ctl *ctl, bool renew)
{
	const char *directory, *name = ctl->args[0];
	struct cell_member made;
	struct member_row row;
	struct output_json json;
	char why[512] = "", expires[TEXT_TIME_SIZE];
	const int64_t now_s = clock_wall_ms() / 1000;
	enum outcome code = open_cell(ctl, true, &directory);
	enum status status;

	if (code != OUTCOME_DONE)
		return code;
	status = members_issue(directory, name, ctl->options[OPTION_ADDRESS], renew, now_s, &made,
		why, sizeof(why));
	if (status)
		return offline_fail(ctl, status, why);
	row = member_row_of(&made, now_s);
	text_time(row.expires_ms, expires);
	if (!ctl->json)
		printf("member %s has a certificate until %s\n"
		       "copy %s, %s.pem and %s-key.pem of %s\n"
		       "to this directory of that host, mode 0600, owner the ledger's user; the key "
		       "goes to no other host\n",
			name, expires, TLS_CA, name, name, directory);
	output_json_open(&json, ctl);
	output_json_fields(&json, member_row_fields, &row);
	output_json_string(&json, "directory", directory);
	return output_json_close(&json);
}

enum outcome ctl_member_add(struct ctl *ctl)
{
	return issue_for(ctl, false);
}

enum outcome ctl_member_renew(struct ctl *ctl)
{
	return issue_for(ctl, true);
}

enum outcome ctl_member_list(struct ctl *ctl)
{
	const bool all = ctl->options[OPTION_ALL] != NULL;
	struct cell_member *members = calloc(MEMBERS_MAX, sizeof(*members));
	const int64_t now_s = clock_wall_ms() / 1000;
	const char *directory = "";
	struct output_list out;
	unsigned int count = 0;
	char why[512] = "";
	enum outcome code = members ? open_cell(ctl, false, &directory) : ctl_no_memory(ctl);
	enum status status = STATUS_OK;

	if (code == OUTCOME_DONE)
		status = members_read(directory, members, &count, why, sizeof(why));
	if (status && status != STATUS_NOT_FOUND)
		code = offline_fail(ctl, status, why);
	if (code == OUTCOME_DONE) {
		output_list_open(&out, ctl, "members", "members", member_row_fields, list_columns);
		for (unsigned int i = 0; members && i < count; i++) {
			const struct member_row row = member_row_of(&members[i], now_s);

			if (all || (!members[i].removed && !members[i].replaced))
				output_list_add(&out, &row);
		}
		code = output_list_close(&out, OUTCOME_DONE);
	}
	free(members);
	return code;
}

enum outcome ctl_member_remove(struct ctl *ctl)
{
	const char *directory, *name = ctl->args[0];
	struct output_json json;
	char why[512] = "";
	enum outcome code = open_cell(ctl, true, &directory);
	enum status status;

	if (code != OUTCOME_DONE)
		return code;
	status = members_remove(directory, name, why, sizeof(why));
	if (status == STATUS_NOT_FOUND)
		return ctl_fail(ctl, OUTCOME_FAILED, "member_not_found",
			"there is no member '%s'; see `creditbridgectl member list`", name);
	if (status)
		return offline_fail(ctl, status, why);
	if (!ctl->json)
		printf("member %s is removed: this host refuses it within a second\n"
		       "copy %s/%s to the same directory of each other host\n",
			name, directory, TLS_REMOVED);
	output_json_open(&json, ctl);
	output_json_string(&json, "member", name);
	output_json_bool(&json, "removed", true);
	return output_json_close(&json);
}
