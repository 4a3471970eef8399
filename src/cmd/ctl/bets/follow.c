/*
 * follow - implements `follow`: prints the transactions of all dealers, or of one, as lines of
 * JSON, and then the new ones as they are made.
 */
#include "cmd/ctl/common/ctl.h"

#include "admin/names.h"
#include "base/pack.h"
#include "base/text.h"
#include "wire/feed_json.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* Pauses when no transaction is new, and when the ledger does not answer. */
#define FOLLOW_LOOK_MS  250
#define FOLLOW_AGAIN_MS 1000
/* The items of one command, as JSON. */
#define FOLLOW_BYTES_MAX (4 * 1024 * 1024)

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
	(void)number;
	interrupted = 1;
}

static void stop_at_signals(void)
{
	struct sigaction action = {.sa_handler = on_signal};

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	/* write() then reports that the reader of the pipe is gone. */
	signal(SIGPIPE, SIG_IGN);
}

/* Waits. Returns false if a signal came, or the reader of the output is gone. */
static bool pause_following(int ms)
{
	struct pollfd reader = {.fd = STDOUT_FILENO};

	if (!interrupted)
		poll(&reader, 1, ms);
	return !interrupted && !(reader.revents & (POLLERR | POLLHUP | POLLNVAL));
}

/*
 * Writes the lines without stdio, which would keep what it could not write. Returns false at a
 * signal, or at a failure in errno.
 */
static bool write_lines(const struct buffer *lines)
{
	size_t done = 0;
	ssize_t written;

	errno = 0;
	while (done < lines->len) {
		written = write(STDOUT_FILENO, lines->data + done, lines->len - done);
		if (written > 0)
			done += (size_t)written;
		else if (errno != EINTR || interrupted)
			return false;
	}
	return true;
}

static bool render_lines(struct buffer *lines, const struct feed_result *page)
{
	struct bytes rows = page->items;
	struct feed_item item;

	buffer_reset(lines);
	for (uint32_t i = 0; i < page->count; i++) {
		if (!unpack_record(&rows, feed_item_fields, &item) ||
			!feed_json_render(lines, &item, true) || !buffer_append_str(lines, "\n"))
			return false;
	}
	return true;
}

/* Returns true if the command may be answered later: a read changes nothing, whatever its outcome. */
static bool may_be_repeated(enum outcome code)
{
	return code == OUTCOME_UNREACHABLE || code == OUTCOME_BUSY;
}

/* Prints one page. Returns false if it is the last: *code is the outcome. */
static bool follow_page(struct ctl *ctl, struct feed_cmd *cmd, struct buffer *lines,
	bool *is_silent, enum outcome *code)
{
	struct feed_result page;
	struct failure failure;

	memset(&page, 0, sizeof(page));
	*code = session_try(&ctl->session, COMMAND_FEED, cmd, &page, &failure);
	if (may_be_repeated(*code)) {
		if (!*is_silent)
			ctl_tell(failure.id[0] ? failure.id : "ledger_unreachable",
				"the ledger does not answer; waiting for it");
		*is_silent = true;
		*code = OUTCOME_DONE;
		return pause_following(FOLLOW_AGAIN_MS);
	}
	*is_silent = false;
	if (*code != OUTCOME_DONE) {
		if (failure.id[0])
			ctl_fail(ctl, *code, failure.id, "%s", failure.detail);
		return false;
	}
	if (!render_lines(lines, &page)) {
		*code = ctl_no_memory(ctl);
		return false;
	}
	if (!write_lines(lines)) {
		if (!interrupted && errno != EPIPE)
			*code = ctl_fail(ctl, OUTCOME_FAILED, "failed",
				"cannot write the output: %s", strerror(errno));
		return false;
	}
	cmd->after = page.next;
	return pause_following(page.complete ? FOLLOW_LOOK_MS : 0);
}

enum outcome ctl_follow(struct ctl *ctl)
{
	const char *casino = ctl->options[OPTION_CASINO], *after = ctl->options[OPTION_AFTER];
	struct feed_cmd cmd = {.after = 0};
	struct dealer dealer;
	struct buffer lines;
	bool is_silent = false;
	enum outcome code = OUTCOME_DONE;

	if (after && !text_unsigned(after, TRANSACTION_ID_MAX, &cmd.after))
		return ctl_usage(ctl, "--after takes a transaction id; 0 is the first");
	if (casino)
		code = names_dealer(&ctl->session, casino, &dealer);
	if (code != OUTCOME_DONE)
		return code;
	if (casino)
		memcpy(cmd.casino_id, dealer.casino_id, sizeof(cmd.casino_id));
	stop_at_signals();
	buffer_init(&lines, FOLLOW_BYTES_MAX);
	while (follow_page(ctl, &cmd, &lines, &is_silent, &code))
		continue;
	buffer_free(&lines);
	return code;
}
