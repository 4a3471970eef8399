#include "desk_admin.h"

#include "base/clock.h"
#include "base/text.h"
#include "link/client.h"
#include "wire/signature.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define SESSIONS 64

/* The operators: login, role. Every one has the code DESK_ADMIN_CODE. */
static const struct {
	const char *login;
	enum role role;
} operators[] = {
	{"rita", ROLE_READ},
	{"nok", ROLE_SUPPORT},
	{"kim", ROLE_FINANCE},
	{"ann", ROLE_ADMIN},
};

static struct {
	char token[DESK_SESSION_SIZE];
	unsigned int who;
} sessions[SESSIONS];
static unsigned int session_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Returns the session of the caller; SESSIONS: there is none. */
static unsigned int find_session(const struct desk_caller *caller)
{
	for (unsigned int i = 0; i < SESSIONS; i++) {
		if (caller->token[0] && strcmp(sessions[i].token, caller->token) == 0 &&
			strcmp(operators[sessions[i].who].login, caller->login) == 0)
			return i;
	}
	return SESSIONS;
}

static bool front_ok(const struct desk_caller *caller)
{
	return strcmp(caller->front, DESK_ADMIN_FRONT) == 0;
}

static enum desk_answer admin_look(void *context, const struct desk_caller *caller,
	struct desk_identity *who)
{
	unsigned int at;

	(void)context;
	if (!front_ok(caller))
		return DESK_NO_FRONT;
	pthread_mutex_lock(&lock);
	at = find_session(caller);
	if (at < SESSIONS) {
		text_copy(who->name, sizeof(who->name), operators[sessions[at].who].login);
		who->role = operators[sessions[at].who].role;
	}
	pthread_mutex_unlock(&lock);
	return at < SESSIONS ? DESK_DONE : DESK_SIGNED_OUT;
}

static enum desk_answer admin_enter(void *context, struct desk_caller *caller, const char *code)
{
	(void)context;
	for (unsigned int i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
		if (!front_ok(caller) || strcmp(operators[i].login, caller->login) != 0 ||
			strcmp(code, DESK_ADMIN_CODE) != 0 || !signature_new_secret(caller->token))
			continue;
		pthread_mutex_lock(&lock);
		text_copy(sessions[session_count % SESSIONS].token, DESK_SESSION_SIZE,
			caller->token);
		sessions[session_count++ % SESSIONS].who = i;
		pthread_mutex_unlock(&lock);
		return DESK_DONE;
	}
	return DESK_WRONG_CODE;
}

static enum desk_answer admin_leave(void *context, const struct desk_caller *caller)
{
	unsigned int at;

	(void)context;
	pthread_mutex_lock(&lock);
	at = find_session(caller);
	if (at < SESSIONS)
		sessions[at].token[0] = '\0';
	pthread_mutex_unlock(&lock);
	return DESK_DONE;
}

/* A session of this way has no times. */
static void count_sessions(const struct session_count_cmd *cmd, struct session_count_result *result)
{
	memset(result, 0, sizeof(*result));
	pthread_mutex_lock(&lock);
	for (unsigned int i = 0; i < SESSIONS; i++)
		result->sessions += sessions[i].token[0] &&
			strcmp(operators[sessions[i].who].login, cmd->name) == 0;
	pthread_mutex_unlock(&lock);
}

static enum status admin_ask(void *context, const struct desk_caller *caller, enum command command,
	const void *cmd, void *result)
{
	static const enum command allowed[] = {COMMAND_LIST, COMMAND_METRICS, COMMAND_ACTIVITY,
		COMMAND_CALLBACK_AGES, COMMAND_STATUS, COMMAND_REFUSED_LIST, COMMAND_REFUSED_FIND,
		COMMAND_DEALER_STATE, COMMAND_CALLBACK_OPERATE, COMMAND_FIND,
		COMMAND_REPLAY_PREVIEW, COMMAND_REPLAY_START, COMMAND_REPLAY_STOP};

	(void)caller;
	if (command == COMMAND_SESSION_COUNT) {
		count_sessions(cmd, result);
		return STATUS_OK;
	}
	/* The ledger takes the console's notes over desk.sock only. */
	if (command == COMMAND_NOTE) {
		memset(result, 0, sizeof(struct note_result));
		return STATUS_OK;
	}
	for (size_t i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++) {
		if (allowed[i] == command)
			return link_call(context, command, cmd, result, clock_boot_ms() + 2000);
	}
	return STATUS_FORBIDDEN;
}

const struct desk_way desk_admin = {admin_look, admin_enter, admin_leave, admin_ask, NULL};

void *desk_admin_open(void *path)
{
	struct link *link = malloc(sizeof(*link));

	if (link && link_init(link, path))
		return link;
	free(link);
	return NULL;
}

void desk_admin_close(void *link)
{
	link_close(link);
	free(link);
}
