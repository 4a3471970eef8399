/*
 * ctl - creditbridgectl's main(), its link to the ledger and its ways to fail.
 */
#include "cmd/ctl/ctl.h"

#include "base/clock.h"
#include "base/secrecy.h"
#include "base/text.h"
#include "cmd/ctl/operator.h"
#include "cmd/ctl/output.h"

#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
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

/* On standard error, behind what was printed before. */
static void tell(const char *id, const char *detail)
{
	char shown[OUTPUT_SHOWN_MAX];

	fflush(stdout);
	detail = output_shown(detail, shown);
	if (id)
		fprintf(stderr, "creditbridgectl: %s: %s\n", id, detail);
	else
		fprintf(stderr, "creditbridgectl: %s\n", detail);
}

void ctl_tell(const char *id, const char *format, ...)
{
	char detail[1024];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(detail, sizeof(detail), format, arguments);
	va_end(arguments);
	tell(id, detail);
}

enum ctl_exit ctl_fail(struct ctl *ctl, enum ctl_exit code, const char *id, const char *format, ...)
{
	char detail[1024];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(detail, sizeof(detail), format, arguments);
	va_end(arguments);
	tell(code == CTL_USAGE || strcmp(id, "failed") == 0 ? NULL : id, detail);
	ctl_fail_json(ctl, id, detail);
	return code;
}

enum ctl_exit ctl_no_memory(struct ctl *ctl)
{
	return ctl_fail(ctl, CTL_FAILED, "failed", "out of memory");
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

/* What to do about a refusal of the ledger; %s is the command's noun. */
static const struct advice {
	enum refusal refusal;
	const char *text;
} advices[] = {
	{REFUSAL_ALREADY_EXISTS, "; see `creditbridgectl %s list`"},
	{REFUSAL_DEALER_NOT_FOUND, "; see `creditbridgectl dealer list`"},
	{REFUSAL_USER_NOT_FOUND, "; see `creditbridgectl player list CASINO`"},
	{REFUSAL_CLIENT_NOT_FOUND, "; see `creditbridgectl client list`"},
	{REFUSAL_KEY_NOT_FOUND, "; see the keys with `creditbridgectl %s list`"},
	{REFUSAL_KEY_IN_USE, "; `creditbridgectl %s key-add`, then key-use the new key, comes first"},
	{REFUSAL_CALLBACK_NOT_FOUND, "; see `creditbridgectl callback list`"},
	{REFUSAL_GAME_NOT_FOUND, "; see `creditbridgectl bet list`"},
	{REFUSAL_BET_NOT_FOUND, "; see `creditbridgectl bet list`"},
	{REFUSAL_STORAGE_FULL, "; free or add space below state_directory"},
	{REFUSAL_SERVICE_UNAVAILABLE, "; see `creditbridgectl doctor`"},
};

/* Writes "dealer demo: ", the object of the command, to @text; "" without an argument. */
static void object_of(const struct ctl *ctl, char *text, size_t size)
{
	size_t noun = strcspn(ctl->command->name, " ");

	text[0] = '\0';
	if (ctl->arg_count)
		snprintf(text, size, "%.*s %.160s%s%.160s: ", (int)noun, ctl->command->name,
			ctl->args[0], ctl->arg_count > 1 ? " " : "",
			ctl->arg_count > 1 ? ctl->args[1] : "");
}

/* Writes what to do about @refusal, after "; ". */
static void advise(const struct ctl *ctl, enum refusal refusal, char *text, size_t size)
{
	const char *mark;

	text[0] = '\0';
	for (size_t i = 0; i < sizeof(advices) / sizeof(advices[0]); i++) {
		if (advices[i].refusal != refusal)
			continue;
		mark = strstr(advices[i].text, "%s");
		if (mark)
			snprintf(text, size, "%.*s%.*s%s", (int)(mark - advices[i].text),
				advices[i].text, (int)strcspn(ctl->command->name, " "),
				ctl->command->name, mark + 2);
		else
			snprintf(text, size, "%s", advices[i].text);
	}
}

/* @verdict in words, as @failure. */
static void describe_refusal(
	const struct ctl *ctl, const struct verdict *verdict, struct ctl_failure *failure)
{
	char object[384], advice[128];
	const struct refusal_info *info = refusal_info(verdict->refusal);
	const char *detail = verdict->detail[0] ? verdict->detail : info->detail;
	char balance[MONEY_TEXT_MAX];

	object_of(ctl, object, sizeof(object));
	advise(ctl, verdict->refusal, advice, sizeof(advice));
	failure->id = info->id;
	money_format(verdict->current_balance, 2, balance);
	if (verdict->refusal == REFUSAL_INSUFFICIENT_BALANCE)
		snprintf(failure->detail, sizeof(failure->detail), "%s (balance %s)", detail,
			balance);
	else if (verdict->field[0])
		snprintf(failure->detail, sizeof(failure->detail), "%s (%s differs)", detail,
			verdict->field);
	else if (verdict->detail[0])
		snprintf(failure->detail, sizeof(failure->detail), "%s", detail);
	else
		snprintf(failure->detail, sizeof(failure->detail), "%s%s%s", object, detail, advice);
}

enum status ctl_settings_load(struct settings *settings, const char *path,
	char why[CTL_SETTINGS_WHY])
{
	FILE *errors = fmemopen(why, CTL_SETTINGS_WHY, "w");
	enum status status;

	why[0] = '\0';
	if (!errors) {
		snprintf(why, CTL_SETTINGS_WHY, "out of memory");
		return STATUS_NOMEM;
	}
	status = settings_load(settings, path, errors);
	fclose(errors);
	why[CTL_SETTINGS_WHY - 1] = '\0';
	why[strcspn(why, "\n")] = '\0';
	return status;
}

enum ctl_exit ctl_settings(struct ctl *ctl)
{
	const char *path = ctl->options[OPTION_CONFIG];
	char why[CTL_SETTINGS_WHY];
	enum status status = STATUS_OK;

	if (ctl->settings_loaded)
		return CTL_DONE;
	settings_defaults(&ctl->settings);
	if (!path && access(SETTINGS_DEFAULT_FILE, F_OK) == 0)
		path = SETTINGS_DEFAULT_FILE;
	if (path)
		status = ctl_settings_load(&ctl->settings, path, why);
	if (status == STATUS_NOMEM)
		return ctl_fail(ctl, CTL_FAILED, "failed", "%s", why);
	if (status != STATUS_OK)
		return ctl_fail(ctl, CTL_CONFIG, "configuration", "%s", why);
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
		"not permitted to use %s: run this as user %s%s", path, user,
		strcmp(user, "root") == 0 ? "" : " (or root)");
}

enum ctl_exit ctl_drop_root(struct ctl *ctl)
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
		code = ctl_drop_root(ctl);
	if (code != CTL_DONE)
		return code;
	snprintf(path, sizeof(path), "%s/admin.sock", ctl->settings.socket_directory);
	if (access(path, R_OK | W_OK) < 0 && (errno == EACCES || errno == EPERM))
		return not_permitted(ctl, path);
	if (access(path, F_OK) < 0)
		return ctl_fail(ctl, CTL_UNREACHABLE, "ledger_unreachable",
			"no ledger at %s: %s; start it (systemctl start creditbridge-ledger), "
			"and see `creditbridgectl doctor`", path, strerror(errno));
	if (!link_init(&ctl->link, path))
		return ctl_fail(ctl, CTL_CONFIG, "configuration", "%s is longer than a "
			"socket's path may be: shorten socket_directory",
			path);
	ctl->connected = true;
	return CTL_DONE;
}

#define OUTCOME_UNKNOWN "outcome_unknown"
static const struct failure {
	enum status status;
	enum ctl_exit code;
	const char *id;
} failures[] = {
	{STATUS_NOT_SENT, CTL_UNREACHABLE, "ledger_unreachable"},
	{STATUS_UNKNOWN, CTL_UNREACHABLE, OUTCOME_UNKNOWN},
	{STATUS_BUSY, CTL_BUSY, "ledger_busy"},
	{STATUS_FORBIDDEN, CTL_NOT_PERMITTED, "not_permitted"},
	{STATUS_OK, CTL_FAILED, "failed"}, /* every other */
};

enum ctl_exit ctl_try(struct ctl *ctl, enum command command, const void *cmd, void *result,
	struct ctl_failure *told)
{
	const struct failure *failure = failures;
	/* Every result begins with its verdict. */
	const struct verdict *verdict = result;
	enum ctl_exit code = ctl->ask ? CTL_DONE : connect_ledger(ctl);
	enum status status;

	told->id = "";
	told->detail[0] = '\0';
	if (code != CTL_DONE)
		return code;
	status = ctl->ask ? ctl->ask(ctl->ask_closure, command, cmd, result)
			  : link_call(&ctl->link, command, cmd, result,
				    clock_boot_ms() + ctl->settings.ledger_deadline_ms);
	if (status == STATUS_OK && verdict->refusal == REFUSAL_NONE)
		return CTL_DONE;
	if (status == STATUS_OK) {
		describe_refusal(ctl, verdict, told);
		return CTL_FAILED;
	}
	while (failure->status != status && failure->status != STATUS_OK)
		failure++;
	told->id = failure->id;
	if (status == STATUS_NOT_SENT) /* a socket's path is shorter: link_init() took it */
		snprintf(told->detail, sizeof(told->detail),
			"%s at %.120s/admin.sock; see `creditbridgectl doctor`",
			status_text(status), ctl->settings.socket_directory);
	else
		snprintf(told->detail, sizeof(told->detail), "%s", status_text(status));
	return failure->code;
}

enum ctl_exit ctl_do(struct ctl *ctl, enum command command, const void *cmd, void *result,
	bool *unknown)
{
	struct ctl_failure failure;
	enum ctl_exit code = ctl_try(ctl, command, cmd, result, &failure);

	if (unknown && strcmp(failure.id, OUTCOME_UNKNOWN) == 0)
		*unknown = true;
	else if (failure.id[0])
		ctl_fail(ctl, code, failure.id, "%s", failure.detail);
	return code;
}

int main(int argc, char **argv)
{
	static struct ctl ctl;
	const char *reason;
	enum ctl_exit code;

	secrecy_begin();
	/* Whoever started this may have ignored it, and of no child's end would be heard. */
	signal(SIGCHLD, SIG_DFL);
	setlocale(LC_CTYPE, "");
	ctl_parse(&ctl, argc, argv);
	if (!operator_identify(&ctl.operator))
		return (int)ctl_fail(&ctl, CTL_FAILED, "failed", "the kernel gives no random "
			"numbers: allow the system call getrandom, and repeat this");
	reason = ctl.options[OPTION_REASON];
	if (reason && (!text_is_utf8_clean(reason, strlen(reason)) ||
			      !text_copy(ctl.operator.reason, REASON_SIZE, reason)))
		code = ctl_usage(&ctl, "--reason takes at most %d bytes of UTF-8 without "
			"control characters", REASON_SIZE - 1);
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
