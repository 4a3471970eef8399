#include "admin/breaker.h"

#include "admin/list.h"
#include "base/text.h"

#include <string.h>

/* Attempts of a callback that are read to find the failed one. */
#define ATTEMPTS_READ 8

enum outcome breaker_fetch(struct session *session, const char *casino_id,
	struct dealer_state_result *state)
{
	struct dealer_state_cmd cmd;

	memset(&cmd, 0, sizeof(cmd));
	text_copy(cmd.casino_id, sizeof(cmd.casino_id), casino_id);
	return session_do(session, COMMAND_DEALER_STATE, &cmd, state, NULL);
}

unsigned int breaker_openings_since(const struct dealer_state_result *state, int64_t since_ms,
	bool *more)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < BREAKER_OPENINGS; i++)
		count += state->openings[i].opened_ms > since_ms;
	*more = count == BREAKER_OPENINGS && state->opened > count;
	return count;
}

enum outcome breaker_last_error(struct session *session, const struct dealer_state_result *state,
	struct attempt *attempt, bool *found)
{
	struct list list;

	memset(attempt, 0, sizeof(*attempt));
	attempt->event = state->bad_event;
	*found = false;
	list_open(&list, session, RECORD_ATTEMPT, true, 1, attempt);
	list.page = ATTEMPTS_READ;
	while (!*found && list.taken < ATTEMPTS_READ && list_next(&list, attempt))
		*found = attempt->ended && attempt->class == state->bad_class;
	return list_end(&list, OUTCOME_DONE);
}
