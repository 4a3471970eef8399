#include "admin/session.h"

#include "admin/operator.h"
#include "base/clock.h"
#include "domain/refusal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static enum outcome report_failure(struct session *session, enum outcome outcome,
	const struct failure *failure)
{
	session->failure = *failure;
	if (session->report)
		session->report(session->report_closure, outcome, &session->failure);
	return outcome;
}

enum outcome session_fail_list(struct session *session, enum outcome outcome, const char *id,
	const char *format, va_list arguments)
{
	struct failure failure = {.id = id};

	vsnprintf(failure.detail, sizeof(failure.detail), format, arguments);
	return report_failure(session, outcome, &failure);
}

enum outcome session_fail(struct session *session, enum outcome outcome, const char *id,
	const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	session_fail_list(session, outcome, id, format, arguments);
	va_end(arguments);
	return outcome;
}

enum outcome session_fail_status(struct session *session, enum failure_source source,
	enum status status, const char *why)
{
	const char *id;
	enum outcome code = outcome_of_status(source, status, &id);

	return session_fail(session, code, id, "%s", why && why[0] ? why : status_text(status));
}

enum outcome session_no_memory(struct session *session)
{
	return session_fail(session, OUTCOME_FAILED, "failed", "out of memory");
}

enum outcome session_no_random(struct session *session)
{
	return session_fail(session, OUTCOME_FAILED, "failed",
		"the kernel gives no random numbers: "
		"allow the system call getrandom, and repeat this");
}

enum outcome session_usage(struct session *session, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	session_fail_list(session, OUTCOME_USAGE, "usage", format, arguments);
	va_end(arguments);
	return OUTCOME_USAGE;
}

/* The advice for a refusal of the ledger; %s is the command's noun. */
static const struct advice {
	enum refusal refusal;
	const char *text;
} advices[] = {
	{REFUSAL_ALREADY_EXISTS, "; see `creditbridgectl %s list`"},
	{REFUSAL_DEALER_NOT_FOUND, "; see `creditbridgectl dealer list`"},
	{REFUSAL_USER_NOT_FOUND, "; see `creditbridgectl player list CASINO`"},
	{REFUSAL_CLIENT_NOT_FOUND, "; see `creditbridgectl client list`"},
	{REFUSAL_KEY_NOT_FOUND, "; see the keys with `creditbridgectl %s list`"},
	{REFUSAL_KEY_IN_USE,
		"; `creditbridgectl %s key-add`, then key-use the new key, comes first"},
	{REFUSAL_CALLBACK_NOT_FOUND, "; see `creditbridgectl callback list`"},
	{REFUSAL_GAME_NOT_FOUND, "; see `creditbridgectl bet list`"},
	{REFUSAL_BET_NOT_FOUND, "; see `creditbridgectl bet list`"},
	{REFUSAL_STORAGE_FULL, "; free or add space below state_directory"},
	{REFUSAL_SERVICE_UNAVAILABLE, "; see `creditbridgectl doctor`"},
};

/* Writes the advice for @refusal, preceded by "; ". */
static void describe_remedy(const struct session *session, enum refusal refusal, char *text,
	size_t size)
{
	const char *mark;

	text[0] = '\0';
	for (size_t i = 0; i < sizeof(advices) / sizeof(advices[0]); i++) {
		if (advices[i].refusal != refusal)
			continue;
		mark = strstr(advices[i].text, "%s");
		if (mark)
			snprintf(text, size, "%.*s%.*s%s", (int)(mark - advices[i].text),
				advices[i].text, (int)strlen(session->noun), session->noun,
				mark + 2);
		else
			snprintf(text, size, "%s", advices[i].text);
	}
}

/* Describes @verdict in words, as @failure. */
static void describe_refusal(const struct session *session, const struct verdict *verdict,
	struct failure *failure)
{
	char advice[128];
	const struct refusal_info *info = refusal_info(verdict->refusal);
	const char *detail = verdict->detail[0] ? verdict->detail : info->detail;
	char balance[MONEY_TEXT_MAX];

	describe_remedy(session, verdict->refusal, advice, sizeof(advice));
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
		snprintf(failure->detail, sizeof(failure->detail), "%s%s%s", session->object,
			detail, advice);
}

session_report *session_quiet(struct session *session)
{
	session_report *const report = session->report;

	session->report = NULL;
	return report;
}

/* Opens a stream that writes to @why. Returns NULL, with a reason in @why, if memory is exhausted. */
static FILE *open_why(char why[SESSION_WHY])
{
	FILE *errors = fmemopen(why, SESSION_WHY, "w");

	why[0] = '\0';
	if (!errors)
		snprintf(why, SESSION_WHY, "out of memory");
	return errors;
}

/* Leaves one line in @why. */
static void close_why(FILE *errors, char why[SESSION_WHY])
{
	fclose(errors);
	why[SESSION_WHY - 1] = '\0';
	why[strcspn(why, "\n")] = '\0';
}

enum status session_settings_load(struct settings *settings, const char *path,
	char why[SESSION_WHY])
{
	FILE *errors = open_why(why);
	enum status status;

	if (!errors)
		return STATUS_NOMEM;
	status = settings_load(settings, path, errors);
	close_why(errors, why);
	return status;
}

enum status session_cells_load(const struct settings *own, const char *path, struct cell_list *list,
	struct settings *settings, char why[SESSION_WHY])
{
	FILE *errors = open_why(why);
	enum status status;

	if (!errors)
		return STATUS_NOMEM;
	status = cells_load(own, path, list, settings, errors);
	close_why(errors, why);
	return status;
}

enum outcome session_settings(struct session *session)
{
	const char *path = session->config;
	char why[SESSION_WHY];
	enum status status = STATUS_OK;

	if (session->settings_loaded)
		return OUTCOME_DONE;
	settings_defaults(&session->settings);
	if (!path && access(SETTINGS_DEFAULT_FILE, F_OK) == 0)
		path = SETTINGS_DEFAULT_FILE;
	if (path)
		status = session_settings_load(&session->settings, path, why);
	if (status == STATUS_NOMEM)
		return session_fail(session, OUTCOME_FAILED, "failed", "%s", why);
	if (status != STATUS_OK)
		return session_fail(session, OUTCOME_CONFIG, "configuration", "%s", why);
	session->settings_loaded = true;
	return OUTCOME_DONE;
}

static enum outcome not_permitted(struct session *session, const char *path)
{
	char user[128] = "root";
	struct stat st;

	/* The directory may hide the socket. Its owner then also owns the socket. */
	if (stat(path, &st) == 0 || stat(session->settings.socket_directory, &st) == 0)
		operator_user_name(st.st_uid, user, sizeof(user));
	return session_fail(session, OUTCOME_NOT_PERMITTED, "not_permitted",
		"not permitted to use %s: run this as user %s%s, or as a member of a group that "
		"creditbridgectl(8) names in ROLES",
		path, user, strcmp(user, "root") == 0 ? "" : " or root");
}

enum outcome session_drop_root(struct session *session)
{
	struct stat st;
	char why[256];

	if (geteuid() != 0)
		return OUTCOME_DONE;
	if (stat(session->settings.state_directory, &st) < 0 &&
		stat(session->settings.socket_directory, &st) < 0)
		return OUTCOME_DONE;
	if (!operator_become(st.st_uid, why, sizeof(why)))
		return session_fail(session, OUTCOME_NOT_PERMITTED, "not_permitted", "%s", why);
	return OUTCOME_DONE;
}

static enum outcome connect_ledger(struct session *session)
{
	char path[SETTINGS_PATH_MAX + 16];
	enum outcome code;

	if (session->connected)
		return OUTCOME_DONE;
	code = session_settings(session);
	if (code == OUTCOME_DONE && session->prepare)
		code = session->prepare(session);
	if (code != OUTCOME_DONE)
		return code;
	snprintf(path, sizeof(path), "%s/admin.sock", session->settings.socket_directory);
	if (access(path, R_OK | W_OK) < 0 && (errno == EACCES || errno == EPERM))
		return not_permitted(session, path);
	if (access(path, F_OK) < 0)
		return session_fail(session, OUTCOME_UNREACHABLE, "ledger_unreachable",
			"no ledger at %s: %s; start it (systemctl start creditbridge-ledger), "
			"and see `creditbridgectl doctor`",
			path, strerror(errno));
	if (!link_init(&session->link, path))
		return session_fail(session, OUTCOME_CONFIG, "configuration",
			"%s is longer than a "
			"socket's path may be: shorten socket_directory",
			path);
	session->connected = true;
	return OUTCOME_DONE;
}

enum outcome session_try(struct session *session, enum command command, const void *cmd,
	void *result, struct failure *failure)
{
	/* Every result begins with its verdict. */
	const struct verdict *verdict = result;
	enum outcome code = session->ask ? OUTCOME_DONE : connect_ledger(session);
	enum status status;

	failure->id = "";
	failure->detail[0] = '\0';
	if (code != OUTCOME_DONE)
		return code;
	status = session->ask ? session->ask(session->ask_closure, command, cmd, result)
			      : link_call(&session->link, command, cmd, result,
					clock_boot_ms() + session->settings.ledger_deadline_ms);
	if (status == STATUS_OK && verdict->refusal == REFUSAL_NONE)
		return OUTCOME_DONE;
	if (status == STATUS_OK) {
		describe_refusal(session, verdict, failure);
		session->lacked_role |= verdict->refusal == REFUSAL_ROLE_NEEDED;
		return verdict->refusal == REFUSAL_ROLE_NEEDED ? OUTCOME_NOT_PERMITTED
							       : OUTCOME_FAILED;
	}
	code = outcome_of_status(FAILURE_OF_LEDGER, status, &failure->id);
	if (status == STATUS_NOT_SENT) /* fits: link_init() accepted it */
		snprintf(failure->detail, sizeof(failure->detail),
			"%s at %.120s/admin.sock; see `creditbridgectl doctor`",
			status_text(status), session->settings.socket_directory);
	else
		snprintf(failure->detail, sizeof(failure->detail), "%s", status_text(status));
	return code;
}

enum outcome session_do(struct session *session, enum command command, const void *cmd,
	void *result, bool *unknown)
{
	struct failure failure;
	enum outcome code = session_try(session, command, cmd, result, &failure);

	if (unknown && strcmp(failure.id, OUTCOME_UNKNOWN_ID) == 0)
		*unknown = true;
	else if (failure.id[0])
		report_failure(session, code, &failure);
	return code;
}

void session_close(struct session *session)
{
	if (session->connected)
		link_close(&session->link);
	session->connected = false;
}
