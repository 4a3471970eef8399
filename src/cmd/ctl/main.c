/*
 * main - creditbridgectl: parses the command line, runs the command and exits with its outcome.
 */
#include "admin/operator.h"
#include "base/no_dump.h"
#include "base/text.h"
#include "cmd/ctl/cells/cells.h"
#include "cmd/ctl/commands.h"
#include "cmd/ctl/common/output_fit.h"
#include "cmd/ctl/common/times.h"

#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

/* Sets the object that refusals name: "dealer", and "dealer demo: " if the arguments name one. */
static void describe_object(struct ctl *ctl)
{
	struct session *session = &ctl->session;

	session->config = ctl->options[OPTION_CONFIG];
	snprintf(session->noun, sizeof(session->noun), "%.*s",
		(int)strcspn(ctl->command->name, " "), ctl->command->name);
	if (ctl->arg_count)
		snprintf(session->object, sizeof(session->object),
			"%s %.160s%s%.160s: ", session->noun, ctl->args[0],
			ctl->arg_count > 1 ? " " : "", ctl->arg_count > 1 ? ctl->args[1] : "");
}

int main(int argc, char **argv)
{
	static struct ctl ctl;
	const char *reason;
	enum outcome code;

	no_dump_begin();
	/*
	 * The parent process may have ignored SIGCHLD; wait() would then report no child's
	 * status.
	 */
	signal(SIGCHLD, SIG_DFL);
	setlocale(LC_CTYPE, "");
	ctl.session.report = ctl_report;
	ctl.session.report_closure = &ctl;
	ctl.session.prepare = session_drop_root;
	ctl_parse(&ctl, argc, argv);
	describe_object(&ctl);
	if (!operator_identify(&ctl.session.operator))
		return (int)session_no_random(&ctl.session);
	reason = ctl.options[OPTION_REASON];
	if (reason &&
		(!text_is_utf8_clean(reason, strlen(reason)) ||
			!text_copy(ctl.session.operator.reason, REASON_SIZE, reason)))
		code = ctl_usage(&ctl,
			"--reason takes at most %d bytes of UTF-8 without "
			"control characters",
			REASON_SIZE - 1);
	else
		code = times_open(&ctl);
	if (code == OUTCOME_DONE)
		code = cells_run(&ctl);
	if (code == OUTCOME_DONE && ctl.session.lacked_role)
		ctl_tell("left_out",
			"keys that two owners have, retired keys and the operators of the console were not looked at: that "
			"needs the role admin");
	fit_close();
	times_close(&ctl);
	session_close(&ctl.session);
	/* Output that could not be written must never be reported as success. */
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "creditbridgectl: cannot write the output: %s\n", strerror(errno));
		if (code == OUTCOME_DONE)
			code = OUTCOME_FAILED;
	}
	return (int)code;
}
