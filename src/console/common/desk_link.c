/*
 * desk_link - the way to the ledger over desk.sock (link/desk_commands.h).
 *
 * The browser has a random text. The session that the ledger knows is the digest of that text and of the
 * login, so a session cannot be used under another login.
 */
#include "console/common/desk_link.h"

#include "base/clock.h"
#include "base/text.h"
#include "link/client.h"
#include "wire/digest.h"
#include "wire/signature.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct desk_link {
	struct link link;
	struct frame_vouch vouch;
	uint32_t deadline_ms;
};

/* Makes the session that the ledger knows from what the browser has. "" if there is none. */
static bool session_of(const struct desk_caller *caller, char session[FRAME_VOUCH_SIZE])
{
	static const char purpose[] = "creditbridge console session";
	struct digest digest;
	bool done;

	session[0] = '\0';
	if (!caller->token[0])
		return true;
	digest_begin(&digest);
	digest_add(&digest, purpose, sizeof(purpose));
	digest_add(&digest, caller->token, sizeof(caller->token));
	digest_add(&digest, caller->login, strlen(caller->login));
	done = digest_text(&digest, session);
	digest_end(&digest);
	return done;
}

static bool link_vouch(const struct desk_caller *caller, struct frame_vouch *vouch)
{
	if (!text_copy(vouch->front, sizeof(vouch->front), caller->front))
		vouch->front[0] = '\0';
	return session_of(caller, vouch->session);
}

/* Sends a command with what proves its sender. */
static enum status call_desk(struct desk_link *desk, const struct desk_caller *caller,
	enum command command, const void *cmd, void *result)
{
	if (!link_vouch(caller, &desk->vouch))
		return STATUS_NOMEM;
	desk->link.vouch = &desk->vouch;
	desk->link.request_id = caller->request_id;
	return link_call(&desk->link, command, cmd, result, clock_boot_ms() + desk->deadline_ms);
}

/* Returns what @status and the verdict of an answered command mean. */
static enum desk_answer answer_of(enum status status, const struct verdict *verdict)
{
	if (status == STATUS_FORBIDDEN)
		return DESK_NO_FRONT;
	if (status != STATUS_OK)
		return DESK_UNREACHABLE;
	if (verdict->refusal == REFUSAL_NONE)
		return DESK_DONE;
	return verdict->refusal == REFUSAL_SIGN_IN_REFUSED ? DESK_WRONG_CODE : DESK_SIGNED_OUT;
}

static enum desk_answer link_look(void *context, const struct desk_caller *caller,
	struct desk_identity *who)
{
	const struct session_show_cmd cmd = {.unused = false};
	struct session_show_result result;
	const struct desk_link *desk = context;
	enum desk_answer answer;

	/* A ledger without this socket has no console. A call would wait for it. */
	if (access(desk->link.path, F_OK) < 0 && errno == ENOENT)
		return DESK_NOT_CONFIGURED;
	answer = answer_of(call_desk(context, caller, COMMAND_SESSION_SHOW, &cmd, &result),
		&result.verdict);

	if (answer != DESK_DONE)
		return answer;
	text_copy(who->name, sizeof(who->name), result.who.name);
	who->role = result.who.role;
	who->code_left_s = result.who.code_left_s;
	return DESK_DONE;
}

static enum desk_answer link_enter(void *context, struct desk_caller *caller, const char *code)
{
	struct session_open_cmd cmd;
	struct session_open_result result;
	struct desk_caller sender = *caller;
	enum desk_answer answer;

	memset(&cmd, 0, sizeof(cmd));
	if (!signature_new_secret(caller->token) || !session_of(caller, cmd.session))
		return DESK_UNREACHABLE;
	sender.token[0] = '\0';
	text_copy(cmd.address, sizeof(cmd.address), caller->address);
	if (!text_copy(cmd.login, sizeof(cmd.login), caller->login) ||
		!text_copy(cmd.code, sizeof(cmd.code), code))
		return DESK_WRONG_CODE;
	answer = answer_of(call_desk(context, &sender, COMMAND_SESSION_OPEN, &cmd, &result),
		&result.verdict);
	return answer == DESK_SIGNED_OUT ? DESK_WRONG_CODE : answer;
}

static enum desk_answer link_leave(void *context, const struct desk_caller *caller)
{
	const struct session_close_cmd cmd = {.unused = false};
	struct session_close_result result;

	return answer_of(call_desk(context, caller, COMMAND_SESSION_CLOSE, &cmd, &result),
		&result.verdict);
}

static enum status link_ask(void *context, const struct desk_caller *caller, enum command command,
	const void *cmd, void *result)
{
	return call_desk(context, caller, command, cmd, result);
}

const struct desk_way desk_link = {link_look, link_enter, link_leave, link_ask, link_vouch};

void *desk_link_open(void *closure)
{
	const struct desk_link_options *options = closure;
	struct desk_link *desk = calloc(1, sizeof(*desk));

	if (desk && link_init(&desk->link, options->path)) {
		desk->deadline_ms = options->deadline_ms;
		return desk;
	}
	free(desk);
	return NULL;
}

void desk_link_close(void *context)
{
	struct desk_link *desk = context;

	link_close(&desk->link);
	free(desk);
}
