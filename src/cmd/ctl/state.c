/*
 * state - init, status, resume, audit.
 */
#include "cmd/ctl/ctl.h"

#include "base/state_dir.h"
#include "base/text.h"
#include "cmd/ctl/list.h"
#include "cmd/ctl/operator.h"
#include "cmd/ctl/output.h"
#include "wire/signature.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * As root: makes the directory and gives it to @uid, since its parent may be root's alone. What is
 * there already must be empty-handed: root's own or @uid's.
 */
static enum ctl_exit give_directory(struct ctl *ctl, const char *path, uid_t uid, gid_t gid)
{
	enum ctl_exit code = CTL_DONE;
	struct stat st;
	int fd;

	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return ctl_fail(ctl, CTL_CONFIG, "configuration", "cannot create %s: %s", path,
			strerror(errno));
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		code = ctl_fail(ctl, CTL_CONFIG, "configuration", "cannot open %s: %s", path,
			strerror(errno));
	else if (st.st_uid != 0 && st.st_uid != uid)
		code = ctl_fail(ctl, CTL_CONFIG, "configuration", "%s belongs to another user",
			path);
	else if (st.st_uid != uid && fchown(fd, uid, gid) < 0)
		code = ctl_fail(ctl, CTL_FAILED, "failed", "cannot give %s away: %s", path,
			strerror(errno));
	if (fd >= 0)
		close(fd);
	return code;
}

/* Root may create for another user, and becomes that user. */
static enum ctl_exit become_user(struct ctl *ctl, const char *path)
{
	const char *name = ctl->options[OPTION_USER];
	enum ctl_exit code;
	char why[256];
	uid_t uid;
	gid_t gid;

	if (!name)
		return CTL_DONE;
	if (!operator_find_user(name, &uid, &gid))
		return ctl_usage(ctl, "there is no user '%s'", name);
	if (uid == geteuid())
		return CTL_DONE;
	if (geteuid() != 0)
		return ctl_fail(ctl, CTL_NOT_PERMITTED, "not_permitted",
			"not permitted: be user %s (or root)", name);
	code = give_directory(ctl, path, uid, gid);
	if (code == CTL_DONE && !operator_become(uid, why, sizeof(why)))
		return ctl_fail(ctl, CTL_NOT_PERMITTED, "not_permitted", "%s", why);
	return code;
}

enum ctl_exit ctl_init(struct ctl *ctl)
{
	enum ctl_exit code = ctl_settings(ctl);
	const char *path = ctl->settings.state_directory;
	char random[KEY_SECRET_SIZE], installation[STATE_INSTALLATION_MAX];
	char mark[SETTINGS_PATH_MAX + 16], why[512] = "";
	struct output_json json;
	enum status status;

	if (code != CTL_DONE)
		return code;
	/* Before anything is touched. Unreadable: state_dir_create() tells. */
	snprintf(mark, sizeof(mark), "%s/installation", path);
	if (access(mark, F_OK) == 0)
		return ctl_fail(ctl, CTL_FAILED, "already_exists",
			"%s is initialised already; nothing was changed", path);
	code = become_user(ctl, path);
	if (code != CTL_DONE)
		return code;
	if (!signature_new_secret(random))
		return ctl_fail(ctl, CTL_FAILED, "failed", "no random numbers");
	text_copy_len(installation, sizeof(installation), random, sizeof(installation) - 1);
	status = state_dir_create(path, installation, why, sizeof(why));
	if (status != STATUS_OK)
		return ctl_fail(ctl, status == STATUS_CONFIG ? CTL_CONFIG : CTL_FAILED,
			status == STATUS_CONFIG ? "configuration" : "failed", "%s",
			why[0] ? why : status_text(status));
	if (!ctl->json)
		printf("%s is ready, installation %s\n", path, installation);
	output_json_open(&json, ctl);
	output_json_string(&json, "state_directory", path);
	output_json_string(&json, "installation", installation);
	return output_json_close(&json);
}

static const struct output_column status_columns[] = {
	{"version", "version", OUTPUT_PLAIN},
	{"installation", "installation", OUTPUT_PLAIN},
	{"process", "pid", OUTPUT_PLAIN},
	{"parent process", "parent_pid", OUTPUT_PLAIN},
	{"up for", "uptime_ms", OUTPUT_DURATION_MS},
	{"halted", "halted", OUTPUT_PLAIN},
	{"storage low", "storage_low", OUTPUT_PLAIN},
	{"disk free", "disk_free_bytes", OUTPUT_BYTES},
	{"database log", "log_bytes", OUTPUT_BYTES},
	{"schema", "schema", OUTPUT_PLAIN},
	{"last transaction id", "last_transaction_id", OUTPUT_PLAIN},
	{"dealers", "dealers", OUTPUT_PLAIN},
	{"connections", "connections", OUTPUT_PLAIN},
	{"commands", "commands", OUTPUT_PLAIN},
	{"batches", "batches", OUTPUT_PLAIN},
	{"commits", "commits", OUTPUT_PLAIN},
	{"checkpoints", "checkpoints", OUTPUT_PLAIN},
	{"refused as busy", "refused_busy", OUTPUT_PLAIN},
	{"clients cut off", "clients_cut", OUTPUT_PLAIN},
	{NULL, NULL, OUTPUT_PLAIN},
};

enum ctl_exit ctl_status(struct ctl *ctl)
{
	const struct status_cmd cmd = {.unused = false};
	struct status_result result;
	const struct field *fields = output_result(COMMAND_STATUS);
	struct output_json json;
	enum ctl_exit code = ctl_do(ctl, COMMAND_STATUS, &cmd, &result, NULL);

	if (code != CTL_DONE)
		return code;
	output_json_open(&json, ctl);
	output_json_fields(&json, fields, &result);
	code = output_record(ctl, fields, status_columns, &result);
	if (code == CTL_DONE)
		code = output_json_close(&json);
	return code;
}

enum ctl_exit ctl_resume(struct ctl *ctl)
{
	struct resume_cmd cmd = {.operator = ctl->operator};
	struct resume_result result;
	struct output_json json;
	enum ctl_exit code = ctl_do(ctl, COMMAND_RESUME, &cmd, &result, NULL);

	if (code != CTL_DONE)
		return code;
	if (!ctl->json)
		printf("the ledger is being started again\n");
	output_json_open(&json, ctl);
	output_json_bool(&json, "resumed", true);
	return output_json_close(&json);
}

static const struct output_column audit_columns[] = {
	{"SEQ", "seq", OUTPUT_PLAIN},
	{"TIME", "time_ms", OUTPUT_PLAIN},
	{"USER", "uid", OUTPUT_UID},
	{"LOGIN", "login_uid", OUTPUT_UID},
	{"SUDO", "sudo_user", OUTPUT_PLAIN},
	{"ACTION", "action", OUTPUT_PLAIN},
	{"OBJECT", "object", OUTPUT_PLAIN},
	{"REASON", "reason", OUTPUT_PLAIN},
	{"DETAIL", "detail", OUTPUT_PLAIN},
	{NULL, NULL, OUTPUT_PLAIN},
};

enum ctl_exit ctl_audit(struct ctl *ctl)
{
	struct output_list out;
	struct list list;
	struct audit row;
	uint64_t limit;
	enum ctl_exit code = ctl_limit(ctl, 50, &limit);

	if (code != CTL_DONE)
		return code;
	list_open(&list, ctl, RECORD_AUDIT, true, 0, NULL);
	output_list_open(&out, ctl, "audit", "deeds", audit_fields, audit_columns);
	for (; limit && list_next(&list, &row); limit--)
		output_list_add(&out, &row);
	code = list.code;
	list_close(&list);
	return output_list_close(&out, code);
}
