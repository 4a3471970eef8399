/*
 * ctl - creditbridgectl's main(), its link to the ledger and its ways to fail.
 */
#include "cmd/ctl.h"

#include "base/clock.h"
#include "base/text.h"
#include "cmd/ctl_operator.h"
#include "cmd/ctl_output.h"

#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

void ctl_fail_json(struct ctl *ctl, const char *id, const char *detail)
{
	struct output_json json, error;

	output_json_open(&error, ctl);
	output_json_string(&error, "id", id);
	output_json_string(&error, "detail", detail);
	output_json_open(&json, ctl);
	output_json_object(&json, "error", &error);
	/* Out of memory here would end in here again: the line on standard error has to do. */
	if (ctl->json && !json.text.failed)
		printf("%.*s}\n", (int)json.text.len, (const char *)json.text.data);
	buffer_free(&json.text);
}

enum ctl_exit ctl_fail(struct ctl *ctl, enum ctl_exit code, const char *id, const char *format, ...)
{
	char detail[1024];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(detail, sizeof(detail), format, arguments);
	va_end(arguments);
	fflush(stdout);
	if (code == CTL_USAGE || strcmp(id, "failed") == 0)
		fprintf(stderr, "creditbridgectl: %s\n", detail);
	else
		fprintf(stderr, "creditbridgectl: %s: %s\n", id, detail);
	ctl_fail_json(ctl, id, detail);
	return code;
}

enum ctl_exit ctl_usage(struct ctl *ctl, const char *format, ...)
{
	char detail[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(detail, sizeof(detail), format, arguments);
	va_end(arguments);
	ctl_fail(ctl, CTL_USAGE, "usage", "%s", detail);
	fprintf(stderr, "Try 'creditbridgectl %s --help' for more information.\n",
		ctl->command->name);
	return CTL_USAGE;
}

enum ctl_exit ctl_refused(struct ctl *ctl, const struct verdict *verdict)
{
	const struct refusal_info *info = refusal_info(verdict->refusal);
	const char *detail = verdict->detail[0] ? verdict->detail : info->detail;

	char balance[MONEY_TEXT_MAX];

	if (verdict->refusal == REFUSAL_INSUFFICIENT_BALANCE) {
		money_format(verdict->current_balance, 2, balance);
		return ctl_fail(ctl, CTL_FAILED, info->id, "%s (balance %s)", detail, balance);
	}
	if (verdict->field[0])
		return ctl_fail(ctl, CTL_FAILED, info->id, "%s (%s differs)", detail,
			verdict->field);
	return ctl_fail(ctl, CTL_FAILED, info->id, "%s", detail);
}

enum ctl_exit ctl_settings(struct ctl *ctl)
{
	const char *path = ctl->options[OPTION_CONFIG];
	enum status status;

	if (ctl->settings_loaded)
		return CTL_DONE;
	settings_defaults(&ctl->settings);
	if (path || access(SETTINGS_DEFAULT_FILE, F_OK) == 0) {
		/* settings_load() told on standard error what is wrong where. */
		status = settings_load(&ctl->settings, path ? path : SETTINGS_DEFAULT_FILE, stderr);
		if (status != STATUS_OK)
			return ctl_fail(ctl, CTL_CONFIG, "configuration", "%s",
				status_text(status));
	}
	ctl->settings_loaded = true;
	return CTL_DONE;
}

static enum ctl_exit not_permitted(struct ctl *ctl, const char *path)
{
	char user[128] = "root";
	struct stat st;

	/* The socket may be hidden by its directory: whoever owns that owns the socket. */
	if (stat(path, &st) == 0 || stat(ctl->settings.socket_directory, &st) == 0)
		operator_user_name(st.st_uid, user, sizeof(user));
	return ctl_fail(ctl, CTL_NOT_PERMITTED, "not_permitted",
		"not permitted to use %s: be user %s%s", path, user,
		strcmp(user, "root") == 0 ? "" : " (or root)");
}

/* Becomes the owner of the data, which is the user that the ledger runs as. */
static enum ctl_exit drop_root(struct ctl *ctl)
{
	struct stat st;
	char why[256];

	if (geteuid() != 0)
		return CTL_DONE;
	if (stat(ctl->settings.state_directory, &st) < 0 &&
		stat(ctl->settings.socket_directory, &st) < 0)
		return CTL_DONE;
	if (!operator_become(st.st_uid, why, sizeof(why)))
		return ctl_fail(ctl, CTL_NOT_PERMITTED, "not_permitted", "%s", why);
	return CTL_DONE;
}

static enum ctl_exit connect_ledger(struct ctl *ctl)
{
	char path[SETTINGS_PATH_MAX + 16];
	enum ctl_exit code;

	if (ctl->connected)
		return CTL_DONE;
	code = ctl_settings(ctl);
	if (code == CTL_DONE)
		code = drop_root(ctl);
	if (code != CTL_DONE)
		return code;
	snprintf(path, sizeof(path), "%s/admin.sock", ctl->settings.socket_directory);
	if (access(path, R_OK | W_OK) < 0 && (errno == EACCES || errno == EPERM))
		return not_permitted(ctl, path);
	if (access(path, F_OK) < 0)
		return ctl_fail(ctl, CTL_UNREACHABLE, "ledger_unreachable",
			"no ledger at %s: %s", path, strerror(errno));
	if (!link_init(&ctl->link, path))
		return ctl_fail(ctl, CTL_CONFIG, "configuration", "%s is too long for a socket",
			path);
	ctl->connected = true;
	return CTL_DONE;
}

static const struct failure {
	enum status status;
	enum ctl_exit code;
	const char *id;
} failures[] = {
	{STATUS_NOT_SENT, CTL_UNREACHABLE, "ledger_unreachable"},
	{STATUS_UNKNOWN, CTL_UNREACHABLE, "outcome_unknown"},
	{STATUS_BUSY, CTL_BUSY, "ledger_busy"},
	{STATUS_FORBIDDEN, CTL_NOT_PERMITTED, "not_permitted"},
	{STATUS_OK, CTL_FAILED, "failed"}, /* every other */
};

static enum ctl_exit ask(struct ctl *ctl, enum command command, const void *cmd, void *result,
	bool *unknown)
{
	const struct failure *failure = failures;
	enum ctl_exit code = connect_ledger(ctl);
	enum status status;

	if (code != CTL_DONE)
		return code;
	status = link_call(&ctl->link, command, cmd, result,
		clock_boot_ms() + ctl->settings.ledger_deadline_ms);
	if (status == STATUS_OK)
		return CTL_DONE;
	if (unknown && status == STATUS_UNKNOWN) {
		*unknown = true;
		return CTL_UNREACHABLE;
	}
	while (failure->status != status && failure->status != STATUS_OK)
		failure++;
	return ctl_fail(ctl, failure->code, failure->id, "%s", status_text(status));
}

enum ctl_exit ctl_ask(struct ctl *ctl, enum command command, const void *cmd, void *result)
{
	return ask(ctl, command, cmd, result, NULL);
}

enum ctl_exit ctl_do(struct ctl *ctl, enum command command, const void *cmd, void *result,
	bool *unknown)
{
	enum ctl_exit code = ask(ctl, command, cmd, result, unknown);
	/* Every result begins with its verdict. */
	const struct verdict *verdict = result;

	if (code == CTL_DONE && verdict->refusal != REFUSAL_NONE)
		return ctl_refused(ctl, verdict);
	return code;
}

enum ctl_exit ctl_casino_id(struct ctl *ctl, const char *text, char casino_id[CASINO_ID_SIZE])
{
	memset(casino_id, 0, CASINO_ID_SIZE);
	if (text_is_name(text, CASINO_ID_SIZE - 1) && text_copy(casino_id, CASINO_ID_SIZE, text))
		return CTL_DONE;
	return ctl_usage(ctl, "'%s' is not a casino id: 1 to 64 of [A-Za-z0-9_.-]", text);
}

enum ctl_exit ctl_external_id(struct ctl *ctl, const char *what, const char *text,
	char id[EXTERNAL_ID_SIZE])
{
	memset(id, 0, EXTERNAL_ID_SIZE);
	if (text[0] && text_is_utf8_clean(text, strlen(text)) &&
		text_copy(id, EXTERNAL_ID_SIZE, text))
		return CTL_DONE;
	return ctl_usage(ctl, "%s must be 1 to 128 bytes of UTF-8 without control characters",
		what);
}

bool ctl_number(const char *text, uint64_t max, uint64_t *number)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*number = strtoull(text, &end, 10);
	return !errno && !*end && *number <= max;
}

enum ctl_exit ctl_limit(struct ctl *ctl, uint64_t standard, uint64_t *limit)
{
	const char *text = ctl->options[OPTION_LIMIT];

	*limit = standard;
	if (text && !ctl_number(text, UINT32_MAX, limit))
		return ctl_usage(ctl, "--limit takes a number; 0 is without limit");
	if (*limit == 0)
		*limit = UINT64_MAX;
	return CTL_DONE;
}

bool ctl_time(const char *text, int64_t *time_ms)
{
	static const char *const forms[] = {"%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"};
	uint64_t number;

	for (unsigned int i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		struct tm tm = {0}, back;
		const char *end = strptime(text, forms[i], &tm);
		time_t seconds;

		if (!end || (*end && strcmp(end, "Z") != 0))
			continue;
		back = tm;
		seconds = timegm(&back);
		/* timegm() turns 31 February into a day of March: that is no date. */
		if (back.tm_mday != tm.tm_mday || back.tm_sec != tm.tm_sec)
			return false;
		*time_ms = (int64_t)seconds * 1000;
		return true;
	}
	if (!ctl_number(text, INT64_MAX, &number))
		return false;
	*time_ms = (int64_t)number;
	return true;
}

int main(int argc, char **argv)
{
	static struct ctl ctl;
	const char *reason;
	enum ctl_exit code;

	setlocale(LC_CTYPE, "");
	ctl_parse(&ctl, argc, argv);
	if (!operator_identify(&ctl.operator))
		return (int)ctl_fail(&ctl, CTL_FAILED, "failed", "no random numbers");
	reason = ctl.options[OPTION_REASON];
	if (reason && (!text_is_utf8_clean(reason, strlen(reason)) ||
			      !text_copy(ctl.operator.reason, REASON_SIZE, reason)))
		code = ctl_usage(&ctl, "--reason takes at most %d bytes of UTF-8",
			REASON_SIZE - 1);
	else
		code = ctl.command->run(&ctl);
	if (ctl.connected)
		link_close(&ctl.link);
	/* What was not written was not told: never report that as success. */
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "creditbridgectl: cannot write the output: %s\n", strerror(errno));
		if (code == CTL_DONE)
			code = CTL_FAILED;
	}
	return (int)code;
}
