/*
 * resume - resume: the ledger goes on after it halted on a disk error.
 *
 * A halted ledger has no store to keep an audit in, so the trail is written when it serves again:
 * its commit is at once the proof that the disk takes one.
 */
#include "cmd/ctl/ctl.h"

#include "base/clock.h"
#include "cmd/ctl/note.h"
#include "cmd/ctl/output.h"

/* So long the ledger is waited for: recovery reads the log since the last checkpoint. */
#define PATIENCE_MS 60000
#define LOOK_MS     50

/* Asks how the ledger is. False: it cannot be asked now. */
static bool look(struct ctl *ctl, struct status_result *status)
{
	const struct status_cmd cmd = {.unused = false};
	struct ctl_failure failure;

	return ctl_try(ctl, COMMAND_STATUS, &cmd, status, &failure) == CTL_DONE;
}

/* Waits until the ledger, whose halted engine was @pid, took the trail or halted again. */
static enum ctl_exit await(struct ctl *ctl, uint32_t pid)
{
	int64_t until_ms = clock_boot_ms() + PATIENCE_MS;
	struct ctl_failure failure;
	struct status_result status;
	enum ctl_exit code;

	do {
		clock_sleep_ms(LOOK_MS);
		if (!look(ctl, &status) || status.pid == pid)
			continue;
		if (status.halted)
			return ctl_fail(ctl, CTL_FAILED, "halted_again",
				"the disk failed again, and the ledger is halted: see the "
				"kernel's log, and replace the disk");
		code = ctl_note_try(ctl, NOTE_RESUME, "ledger", "", &failure);
		if (code == CTL_DONE)
			return CTL_DONE;
		/* Unreachable or busy: it may be halting. */
		if (code == CTL_FAILED)
			return ctl_fail(ctl, code, failure.id,
				"the ledger serves again, but the audit has no row of it: %s",
				failure.detail);
	} while (clock_boot_ms() < until_ms);
	return ctl_fail(ctl, CTL_BUSY, "ledger_busy",
		"the ledger was asked to go on, and does not serve yet: see `creditbridgectl "
		"status` and its log");
}

enum ctl_exit ctl_resume(struct ctl *ctl)
{
	const struct status_cmd status_cmd = {.unused = false};
	struct resume_cmd cmd = {.operator = ctl->operator};
	struct resume_result result;
	struct status_result before;
	struct output_json json;
	enum ctl_exit code = ctl_do(ctl, COMMAND_STATUS, &status_cmd, &before, NULL);

	if (code == CTL_DONE)
		code = ctl_do(ctl, COMMAND_RESUME, &cmd, &result, NULL);
	if (code == CTL_DONE)
		code = await(ctl, before.pid);
	if (code != CTL_DONE)
		return code;
	if (!ctl->json)
		printf("the ledger serves again\n");
	output_json_open(&json, ctl);
	output_json_bool(&json, "resumed", true);
	return output_json_close(&json);
}
