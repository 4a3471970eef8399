#include "ledger/desk/desk.h"

#include "base/log.h"
#include "base/text.h"
#include "link/roles.h"

#include <stdio.h>
#include <string.h>

/* Returns true if desk.sock carries the command with this content. */
static bool is_carried(enum command command, const void *arg)
{
	switch (command) {
#define DESK(name, lower, permitted, fresh)                                                        \
	case COMMAND_##name: {                                                                     \
		const struct lower##_cmd *cmd = arg;                                               \
		(void)cmd;                                                                         \
		return (permitted);                                                                \
	}
#include "link/desk.def"
#undef DESK
	default:
		return false;
	}
}

/* Returns true if the command needs a fresh code. */
static bool needs_fresh(enum command command, const void *arg)
{
	switch (command) {
#define DESK(name, lower, permitted, fresh)                                                        \
	case COMMAND_##name: {                                                                     \
		const struct lower##_cmd *cmd = arg;                                               \
		(void)cmd;                                                                         \
		return (fresh);                                                                    \
	}
#include "link/desk.def"
#undef DESK
	default:
		return true;
	}
}

static enum desk_admission refuse_slot(struct slot *slot, enum refusal refusal)
{
	memset(&slot->result, 0, command_infos[slot->command].result_size);
	slot->result.verdict.refusal = refusal;
	slot->outcome = FRAME_DONE;
	return DESK_ANSWERED;
}

/* Rounded up: a code that is fresh has a second left. */
static uint32_t seconds_left(int64_t ms)
{
	return ms > 0 ? (uint32_t)((ms + 999) / 1000) : 0;
}

static uint32_t whole_seconds(int64_t ms)
{
	return ms > 0 ? (uint32_t)(ms / 1000) : 0;
}

static struct session_who describe_session(const struct desk *desk,
	const struct desk_session *session, int64_t now_ms)
{
	const struct session_limits *limits = &desk->limits;
	struct session_who who = {.role = session->role};

	text_copy(who.name, sizeof(who.name), session->name);
	who.code_age_s = whole_seconds(now_ms - session->code_ms);
	who.code_left_s = seconds_left(session->code_ms + limits->fresh_ms - now_ms);
	who.idle_s = whole_seconds(limits->idle_ms);
	who.left_s = whole_seconds(session->opened_ms + limits->whole_ms - now_ms);
	return who;
}

/*
 * Returns the session of the frame, or NULL. A suspension, another role and a sign-out by an administrator
 * changed the epoch of the operator.
 */
static struct desk_session *find_session(struct desk *desk, const char *secret, int64_t now_ms)
{
	const struct desk_operator *row;
	struct desk_session *session;
	char digest[FRAME_VOUCH_SIZE];

	if (!secret[0] || !session_digest(secret, digest))
		return NULL;
	session = sessions_find(desk->sessions, digest, &desk->limits, now_ms);
	if (!session || !desk->operators)
		return session;
	row = operators_named(desk->operators, session->name);
	if (!row || row->suspended || row->epoch != session->epoch) {
		sessions_close(session);
		return NULL;
	}
	session->role = row->role;
	return session;
}

/* Finds the operator of the login. An unknown one is refused as a wrong code is. */
static enum desk_admission admit_sign_in(const struct desk *desk, struct slot *slot)
{
	struct session_open_cmd *cmd = &slot->cmd.session_open;
	const struct desk_operator *row =
		desk->operators ? operators_of_login(desk->operators, cmd->login) : NULL;
	char login[LOG_QUOTED_MAX];

	if (strlen(cmd->session) != FRAME_VOUCH_SIZE - 1)
		return refuse_slot(slot, REFUSAL_BAD_REQUEST);
	if (!desk->operators) {
		slot->outcome = FRAME_BUSY;
		return DESK_RUN;
	}
	if (!row) {
		log_line(LOG_LEVEL_WARNING, "sign_in_refused", "login=\"%s\" reason=unknown",
			log_quote(login, cmd->login));
		return refuse_slot(slot, REFUSAL_SIGN_IN_REFUSED);
	}
	text_copy(cmd->name, sizeof(cmd->name), row->name);
	text_copy(slot->desk.name, sizeof(slot->desk.name), row->name);
	return DESK_RUN;
}

static enum desk_admission refuse_role(struct slot *slot)
{
	struct verdict *verdict = &slot->result.verdict;

	refuse_slot(slot, REFUSAL_ROLE_NEEDED);
	snprintf(verdict->detail, sizeof(verdict->detail),
		"this needs the role %s, and %s has the role %s",
		role_names[role_needed(slot->command, &slot->cmd)], slot->desk.name,
		role_names[slot->role]);
	return DESK_ANSWERED;
}

/* Executes what concerns only the session. */
static enum desk_admission serve_session(const struct desk *desk, struct slot *slot,
	struct desk_session *session, int64_t now_ms)
{
	if (slot->command == COMMAND_SESSION_STEP) {
		text_copy(slot->cmd.session_step.name, DESK_NAME_SIZE, session->name);
		return DESK_RUN;
	}
	refuse_slot(slot, REFUSAL_NONE);
	if (slot->command == COMMAND_SESSION_SHOW)
		slot->result.session_show.who = describe_session(desk, session, now_ms);
	else
		sessions_close(session);
	return DESK_ANSWERED;
}

/* Returns true for commands that concern only the session: they need no role. */
static bool is_of_session(enum command command)
{
	return command == COMMAND_SESSION_STEP || command == COMMAND_SESSION_SHOW ||
		command == COMMAND_SESSION_CLOSE;
}

static enum desk_admission count_sessions(const struct desk *desk, struct slot *slot,
	int64_t now_ms)
{
	struct session_count_result *result = &slot->result.session_count;
	const struct desk_operator *row = desk->operators
		? operators_named(desk->operators, slot->cmd.session_count.name)
		: NULL;
	struct session_tally tally;

	refuse_slot(slot, row ? REFUSAL_NONE : REFUSAL_OPERATOR_NOT_FOUND);
	if (!row)
		return DESK_ANSWERED;
	tally = sessions_tally(desk->sessions, row, &desk->limits, now_ms);
	result->sessions = tally.count;
	result->oldest_s = tally.count ? whole_seconds(now_ms - tally.opened_ms) : 0;
	result->seen_s = tally.count ? whole_seconds(now_ms - tally.seen_ms) : 0;
	text_copy(result->address, sizeof(result->address), tally.address);
	return DESK_ANSWERED;
}

enum desk_admission desk_admit(struct desk *desk, const struct frame_request *request,
	struct slot *slot, const struct moment *now)
{
	struct desk_session *session;

	memset(&slot->desk, 0, sizeof(slot->desk));
	slot->desk.is_set = true;
	slot->role = ROLE_NONE;
	if (!front_check(&desk->front, request->vouch.front))
		return DESK_FORBIDDEN;
	if (slot->command == COMMAND_SESSION_OPEN)
		return admit_sign_in(desk, slot);
	if (!is_carried(slot->command, &slot->cmd))
		return DESK_FORBIDDEN;
	session = find_session(desk, request->vouch.session, now->boot_ms);
	if (!session)
		return refuse_slot(slot, REFUSAL_SESSION_NEEDED);
	session->seen_ms = now->boot_ms;
	slot->role = session->role;
	text_copy(slot->desk.name, sizeof(slot->desk.name), session->name);
	text_copy(slot->desk.digest, sizeof(slot->desk.digest), session->digest);
	if (is_of_session(slot->command))
		return serve_session(desk, slot, session, now->boot_ms);
	if (!role_may(slot->role, slot->command, &slot->cmd))
		return refuse_role(slot);
	if (slot->command == COMMAND_SESSION_COUNT)
		return count_sessions(desk, slot, now->boot_ms);
	if (needs_fresh(slot->command, &slot->cmd) &&
		now->boot_ms - session->code_ms >= desk->limits.fresh_ms)
		return refuse_slot(slot, REFUSAL_CODE_NEEDED);
	return DESK_RUN;
}

/* Opens the session, once: a command that is sent again finds it. */
static void open_session(struct desk *desk, struct slot *slot, const struct moment *now)
{
	const struct session_open_cmd *cmd = &slot->cmd.session_open;
	struct session_open_result *result = &slot->result.session_open;
	const struct desk_operator *row = operators_named(desk->operators, cmd->name);
	struct desk_session *session;
	char digest[FRAME_VOUCH_SIZE];

	if (row && session_digest(cmd->session, digest) && !result->verdict.replay)
		sessions_open(desk->sessions, digest, row, cmd->address, now->boot_ms);
	session = find_session(desk, cmd->session, now->boot_ms);
	if (!session || strcmp(session->name, cmd->name) != 0)
		refuse_slot(slot, REFUSAL_SIGN_IN_REFUSED);
	else
		result->who = describe_session(desk, session, now->boot_ms);
}

/* Logs a code that was refused, by the name of the operator. The code itself is never logged. */
static void log_refused_code(const struct desk *desk, struct slot *slot, int64_t wall_ms)
{
	const struct desk_operator *row = operators_named(desk->operators, slot->desk.name);
	bool *flag = slot->command == COMMAND_SESSION_OPEN ? &slot->result.session_open.locks
							   : &slot->result.session_step.locks;
	const bool locks = *flag;
	const char *reason = "wrong";
	char address[LOG_QUOTED_MAX];

	if (!row)
		reason = "unknown";
	else if (row->suspended)
		reason = "suspended";
	else if (row->locked_until_ms > wall_ms && !locks)
		reason = "locked";
	/* The answer does not show whether the name exists. */
	*flag = false;
	log_line(LOG_LEVEL_WARNING, "code_refused",
		"operator=%s action=%s reason=%s address=\"%s\" request_id=%s", slot->desk.name,
		slot->command == COMMAND_SESSION_OPEN ? "sign-in" : "step-up", reason,
		log_quote(address,
			slot->command == COMMAND_SESSION_OPEN ? slot->cmd.session_open.address
							      : ""),
		slot->request_id[0] ? slot->request_id : "-");
}

void desk_executed(struct desk *desk, struct slot *slot, const struct moment *now)
{
	struct desk_session *session;

	/* No key comes over desk.sock (LIST blanks its rows, too). */
	if (slot->command == COMMAND_DEALER_PUT) {
		struct dealer *dealer = &slot->result.dealer_put.dealer;

		for (size_t i = 0; i < sizeof(dealer->keys) / sizeof(dealer->keys[0]); i++)
			explicit_bzero(dealer->keys[i].secret, sizeof(dealer->keys[i].secret));
	}
	if (slot->outcome != FRAME_DONE || !desk->operators)
		return;
	if (slot->result.verdict.refusal == REFUSAL_SIGN_IN_REFUSED)
		log_refused_code(desk, slot, now->wall_ms);
	if (slot->result.verdict.refusal != REFUSAL_NONE)
		return;
	if (slot->command == COMMAND_SESSION_OPEN) {
		open_session(desk, slot, now);
	} else if (slot->command == COMMAND_SESSION_STEP) {
		session = sessions_find(desk->sessions, slot->desk.digest, &desk->limits,
			now->boot_ms);
		if (!session) {
			refuse_slot(slot, REFUSAL_SESSION_NEEDED);
			return;
		}
		if (!slot->result.verdict.replay)
			session->code_ms = now->boot_ms;
		slot->result.session_step.who = describe_session(desk, session, now->boot_ms);
	}
}
