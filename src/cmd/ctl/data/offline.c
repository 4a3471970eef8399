#include "cmd/ctl/data/offline.h"

#include "admin/operator.h"
#include "admin/place.h"
#include "base/text.h"
#include "cmd/ctl/common/output.h"
#include "cmd/ctl/common/times.h"
#include "ledger/rows/life.h"
#include "state/lock.h"
#include "store/exit.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define GREETING_WAIT_MS 1000

static volatile sig_atomic_t child;

static bool ledger_answers(const struct ctl *ctl)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct pollfd waiting = {.events = POLLIN};
	bool answers = false;
	char byte;

	if ((size_t)snprintf(address.sun_path, sizeof(address.sun_path), "%s/admin.sock",
		    ctl->session.settings.socket_directory) >= sizeof(address.sun_path))
		return false;
	waiting.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (waiting.fd < 0)
		return false;
	if (connect(waiting.fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		answers = poll(&waiting, 1, GREETING_WAIT_MS) == 1 &&
			recv(waiting.fd, &byte, 1, 0) == 1;
	close(waiting.fd);
	return answers;
}

enum outcome offline_check_stopped(struct ctl *ctl)
{
	if (!ledger_answers(ctl))
		return offline_check_unheld(ctl);
	return ctl_fail(ctl, OUTCOME_BUSY, "busy",
		"a ledger runs, and answers at %s: stop it "
		"first (systemctl stop 'creditbridge-ledger*')",
		ctl->session.settings.socket_directory);
}

enum outcome offline_check_unheld(struct ctl *ctl)
{
	const char *directory = ctl->session.settings.socket_directory;

	if (state_hold_is_running(ctl->session.settings.state_directory, directory))
		return ctl_fail(ctl, OUTCOME_BUSY, "busy",
			"a ledger of %s runs: it holds"
			" %s/" STATE_HOLD_PLACE "; stop it first",
			ctl->session.settings.state_directory, directory);
	return OUTCOME_DONE;
}

enum outcome offline_become_owner(struct ctl *ctl, bool make, const char *backup)
{
	const char *name = ctl->options[OPTION_USER],
		   *state = ctl->session.settings.state_directory;
	uid_t uid = geteuid();
	struct stat st;
	char why[256];
	gid_t gid;
	enum outcome code = OUTCOME_DONE;

	if (name && !operator_find_user(name, &uid, &gid))
		return ctl_usage(ctl, "there is no user '%s'", name);
	if (geteuid() != 0 && uid != geteuid())
		return ctl_fail(ctl, OUTCOME_NOT_PERMITTED, "not_permitted",
			"not permitted: run this as user %s or as root", name);
	if (!name && geteuid() == 0 &&
		(stat(state, &st) == 0 || (backup && stat(backup, &st) == 0)))
		uid = st.st_uid;
	if (make)
		code = place_give(&ctl->session, state, uid);
	if (code == OUTCOME_DONE && !operator_become(uid, why, sizeof(why)))
		code = ctl_fail(ctl, OUTCOME_NOT_PERMITTED, "not_permitted", "%s", why);
	return code;
}

static void pass_signal_on(int number)
{
	if (child > 0)
		kill((pid_t)child, number);
}

static void forward_signals(struct sigaction before[3], bool ours)
{
	static const int numbers[3] = {SIGINT, SIGTERM, SIGHUP};
	const struct sigaction action = {.sa_handler = pass_signal_on};

	for (int i = 0; i < 3; i++)
		sigaction(numbers[i], ours ? &action : &before[i], ours ? &before[i] : NULL);
}

static enum outcome report_child_end(struct ctl *ctl, int status, const char *outcome)
{
	const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;

	if (code == STORE_EXIT_FULL)
		return ctl_fail(ctl, OUTCOME_FAILED, "storage_full",
			"%s: %s. Free space there, "
			"then repeat this",
			store_exit_text(code), outcome);
	if (code == STORE_EXIT_IO)
		return ctl_fail(ctl, OUTCOME_FAILED, "failed",
			"%s: %s. See the kernel's log, and "
			"replace the disk",
			store_exit_text(code), outcome);
	return ctl_fail(ctl, OUTCOME_FAILED, "failed",
		"the process of `creditbridgectl %s` was "
		"killed by signal %d: %s",
		ctl->command->name, WIFSIGNALED(status) ? WTERMSIG(status) : 0, outcome);
}

enum outcome offline_run(struct ctl *ctl, enum outcome (*work)(void *context), void *context,
	const char *outcome, bool *ended)
{
	struct sigaction before[3];
	int status = -1, code; /* -1: ended neither by exit nor by a signal */
	pid_t pid;

	fflush(NULL);
	forward_signals(before, true);
	pid = fork();
	if (pid == 0) {
		forward_signals(before, false);
		code = (int)work(context);
		/* Output that could not be written is a failure. */
		if (fflush(stdout) != 0 && code == OUTCOME_DONE) {
			ctl_tell(NULL,
				"cannot write standard output: see that its disk has "
				"room and its reader runs");
			code = OUTCOME_FAILED;
		}
		_exit(code);
	}
	child = pid;
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	child = 0;
	forward_signals(before, false);
	code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	if (ended)
		*ended = pid < 0 || code < 0 || code == STORE_EXIT_FULL || code == STORE_EXIT_IO;
	if (pid < 0)
		return ctl_no_memory(ctl);
	if (code < 0 || code == STORE_EXIT_FULL || code == STORE_EXIT_IO)
		return report_child_end(ctl, status, outcome);
	return (enum outcome)code;
}

enum outcome offline_fail(struct ctl *ctl, enum status status, const char *why)
{
	return session_fail_status(&ctl->session, FAILURE_OF_DATA, status, why);
}

void offline_print_last(uint64_t transaction_id, int64_t ms, uint64_t first_id)
{
	char time[32];

	times_text(ms, time);
	if (transaction_id)
		printf("The last movement that it holds is transaction %" PRIu64 " at %s.\n",
			transaction_id, time);
	else
		printf("It holds no movement.\n");
	if (!first_id)
		return;
	printf("Later ones must be reconciled with the dealers. New ids of transactions and events begin\n"
	       "at %" PRIu64
	       ", above every id that was given out before. Divided by %d they leave %" PRIu64
	       ", the ledger_number\nof this host's configuration.\n",
		first_id, LIFE_STRIDE, first_id % LIFE_STRIDE);
}

void offline_json_number(struct output_json *json, uint64_t first_id)
{
	if (first_id)
		output_json_number(json, "ledger_number", first_id % LIFE_STRIDE);
}

void offline_print_steps(void)
{
	printf("\nNo callback is sent to any dealer until you release it. Next:\n"
	       "  1. Start the ledger, and run `creditbridgectl check`.\n"
	       "  2. For each dealer: `creditbridgectl dealer show CASINO` lists the keys that are valid\n"
	       "     now, and whether it is suspended. Retire what should not be valid, suspend what should\n"
	       "     be, then `creditbridgectl dealer key-confirm CASINO`.\n"
	       "  3. Likewise each game server: `creditbridgectl client list`, `client remove`,\n"
	       "     `client key-confirm CLIENT`.\n"
	       "  4. Let the game servers repeat, with the same ids, the results that they sent since the\n"
	       "     backup: step 5 names those that are missing.\n"
	       "  5. Get each dealer's file of what it did since the backup, and run\n"
	       "     `creditbridgectl reconcile CASINO FILE`: it proposes what puts the difference right.\n"
	       "     Repeat it until it exits with 0; the release is refused before.\n"
	       "  6. `creditbridgectl release CASINO` shows what would be sent; with --yes it is sent.\n");
}
