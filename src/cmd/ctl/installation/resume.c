/*
 * resume - implements `resume`: restarts the ledger's engine after a disk error halted it.
 *
 * A halted ledger has no store for the audit, so the audit row is written when the ledger serves
 * again. Its commit also proves that the disk accepts writes.
 */
#include "cmd/ctl/common/ctl.h"

#include "admin/audit_note.h"
#include "base/clock.h"
#include "cmd/ctl/common/output.h"

/* Maximum time to wait for the ledger: recovery reads the log since the last checkpoint. */
#define PATIENCE_MS 60000
#define LOOK_MS     50

/* Asks for the ledger's status. Returns false if it cannot be asked now. */
static bool ask_status(struct ctl *ctl, struct status_result *status)
{
	const struct status_cmd cmd = {.unused = false};
	struct failure failure;

	return session_try(&ctl->session, COMMAND_STATUS, &cmd, status, &failure) == OUTCOME_DONE;
}

/*
 * Waits until the ledger, whose halted engine was @pid, has committed the audit row or halted
 * again.
 */
static enum outcome await_resumed(struct ctl *ctl, uint32_t pid)
{
	int64_t until_ms = clock_boot_ms() + PATIENCE_MS;
	struct failure failure;
	struct status_result status;
	enum outcome code;

	do {
		clock_sleep_ms(LOOK_MS);
		if (!ask_status(ctl, &status) || status.pid == pid)
			continue;
		if (status.halted)
			return ctl_fail(ctl, OUTCOME_FAILED, "halted_again",
				"the disk failed again, and the ledger is halted: see the "
				"kernel's log, and replace the disk");
		code = audit_note_try(&ctl->session, NOTE_RESUME, "ledger", "", &failure);
		if (code == OUTCOME_DONE)
			return OUTCOME_DONE;
		/* The ledger is unreachable or busy: it may be halting. */
		if (code == OUTCOME_FAILED)
			return ctl_fail(ctl, code, failure.id,
				"the ledger serves again, but the audit has no row of it: %s",
				failure.detail);
	} while (clock_boot_ms() < until_ms);
	return ctl_fail(ctl, OUTCOME_BUSY, "ledger_busy",
		"the ledger was asked to go on, and does not serve yet: see `creditbridgectl "
		"status` and its log");
}

enum outcome ctl_resume(struct ctl *ctl)
{
	const struct status_cmd status_cmd = {.unused = false};
	struct resume_cmd cmd = {.operator= ctl->session.operator};
	struct resume_result result;
	struct status_result before;
	struct output_json json;
	enum outcome code = session_do(&ctl->session, COMMAND_STATUS, &status_cmd, &before, NULL);

	if (code == OUTCOME_DONE)
		code = session_do(&ctl->session, COMMAND_RESUME, &cmd, &result, NULL);
	if (code == OUTCOME_DONE)
		code = await_resumed(ctl, before.pid);
	if (code != OUTCOME_DONE)
		return code;
	if (!ctl->json)
		printf("the ledger serves again\n");
	output_json_open(&json, ctl);
	output_json_bool(&json, "resumed", true);
	return output_json_close(&json);
}
