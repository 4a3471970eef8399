#include "admin/requests/refused.h"

#include "admin/list.h"
#include "base/pack.h"
#include "base/text.h"
#include "link/frame.h"

#include <stdlib.h>
#include <string.h>

void refused_open(struct refused_calls *calls, struct session *session,
	const struct refused_list_cmd *filter)
{
	memset(calls, 0, sizeof(*calls));
	calls->session = session;
	calls->cmd = *filter;
	calls->cmd.before = 0;
	calls->cmd.limit = 0;
	calls->cmd.count_only = false;
	calls->code = OUTCOME_DONE;
	buffer_init(&calls->rows, FRAME_MAX);
}

/* Fetches the next page. Returns false after the last one, or after a failure. */
static bool fetch_page(struct refused_calls *calls)
{
	if (calls->code != OUTCOME_DONE || (calls->started && !calls->cmd.before))
		return false;
	calls->code =
		session_do(calls->session, COMMAND_REFUSED_LIST, &calls->cmd, &calls->last, NULL);
	calls->started = true;
	if (calls->code != OUTCOME_DONE)
		return false;
	calls->cmd.before = calls->last.next;
	buffer_reset(&calls->rows);
	if (!buffer_append(&calls->rows, calls->last.calls.data, calls->last.calls.len)) {
		calls->code = session_no_memory(calls->session);
		return false;
	}
	calls->rest = (struct bytes){calls->rows.data, (uint32_t)calls->rows.len};
	return true;
}

bool refused_next(struct refused_calls *calls, struct refused_call *call)
{
	while (!calls->rest.len) {
		if (!fetch_page(calls))
			return false;
	}
	if (!unpack_record(&calls->rest, refused_call_fields, call)) {
		calls->code = session_fail(calls->session, OUTCOME_FAILED, "failed",
			"the ledger sent a refused call that cannot be read");
		return false;
	}
	calls->taken++;
	return true;
}

enum outcome refused_count_rest(struct refused_calls *calls, struct refused_count *count)
{
	struct refused_call call;

	count->count = 0;
	while (calls->rest.len && unpack_record(&calls->rest, refused_call_fields, &call))
		count->count++;
	calls->cmd.count_only = true;
	for (unsigned int i = 0; i < REFUSED_COUNT_PAGES && fetch_page(calls); i++)
		count->count += calls->last.matches;
	count->more = calls->cmd.before != 0;
	return calls->code;
}

/* Returns the entry of the cause, which is added if it is new; NULL: there is no room. */
static struct refused_cause *find_cause(struct refused_causes *causes,
	const struct refused_cause *wanted)
{
	for (uint32_t i = 0; i < causes->count; i++) {
		if (causes->list[i].refusal == wanted->refusal &&
			causes->list[i].why == wanted->why && causes->list[i].form == wanted->form)
			return &causes->list[i];
	}
	if (causes->count == REFUSED_CAUSES_MAX)
		return NULL;
	causes->list[causes->count] = (struct refused_cause){.refusal = wanted->refusal,
		.why = wanted->why,
		.form = wanted->form};
	return &causes->list[causes->count++];
}

static void add_causes(struct refused_causes *causes, struct bytes packed)
{
	struct refused_cause row, *cause;

	while (packed.len && unpack_record(&packed, refused_cause_fields, &row)) {
		cause = find_cause(causes, &row);
		if (!cause)
			continue;
		cause->calls += row.calls;
		cause->proved += row.proved;
		if (row.newest_ms > cause->newest_ms)
			cause->newest_ms = row.newest_ms;
		causes->calls += row.calls;
	}
}

static int compare_causes(const void *a, const void *b)
{
	const struct refused_cause *left = a, *right = b;

	if (left->calls != right->calls)
		return left->calls < right->calls ? 1 : -1;
	if (left->refusal != right->refusal)
		return left->refusal < right->refusal ? -1 : 1;
	if (left->why != right->why)
		return left->why < right->why ? -1 : 1;
	return (left->form > right->form) - (left->form < right->form);
}

enum outcome refused_count_causes(struct session *session, const struct refused_list_cmd *filter,
	unsigned int steps, struct refused_causes *causes)
{
	struct refused_list_cmd cmd = *filter;
	enum outcome code = OUTCOME_DONE;

	memset(causes, 0, sizeof(*causes));
	cmd.before = 0;
	cmd.count_only = true;
	cmd.by_cause = true;
	for (unsigned int step = 0; step < steps && code == OUTCOME_DONE; step++) {
		code = session_do(session, COMMAND_REFUSED_LIST, &cmd, &causes->last, NULL);
		if (code != OUTCOME_DONE)
			break;
		add_causes(causes, causes->last.causes);
		if (causes->last.looked_ms &&
			(!causes->looked_ms || causes->last.looked_ms < causes->looked_ms))
			causes->looked_ms = causes->last.looked_ms;
		cmd.before = causes->last.next;
		if (!cmd.before)
			break;
	}
	causes->more = cmd.before != 0;
	qsort(causes->list, causes->count, sizeof(causes->list[0]), compare_causes);
	return code;
}

enum outcome refused_end(struct refused_calls *calls, enum outcome code)
{
	buffer_free(&calls->rows);
	return code == OUTCOME_DONE ? calls->code : code;
}

/* Returns the index of @text in @names; @count if it is not there. */
static unsigned int find_name(const char *text, const char *const *names, unsigned int count)
{
	unsigned int i = 0;

	while (i < count && strcmp(names[i], text) != 0)
		i++;
	return i;
}

void refused_why_words(const char *words[REFUSED_WHY_COUNT])
{
	for (unsigned int i = 0; i < REFUSED_WHY_COUNT; i++)
		words[i] = i == REFUSED_WHY_NONE ? REFUSED_WHY_IS_NONE : refused_why_names[i];
}

bool refused_read_error(const char *text, struct refused_list_cmd *filter)
{
	unsigned int found = find_name(text, refusal_ids, REFUSAL_COUNT);

	if (text[0] && found == REFUSAL_COUNT)
		return false;
	filter->of_refusal = text[0] != '\0';
	filter->refusal = text[0] ? (enum refusal)found : (enum refusal)0;
	return true;
}

bool refused_read_why(const char *text, struct refused_list_cmd *filter)
{
	const char *words[REFUSED_WHY_COUNT];
	unsigned int found;

	refused_why_words(words);
	found = find_name(text, words, REFUSED_WHY_COUNT);
	if (text[0] && found == REFUSED_WHY_COUNT)
		return false;
	filter->of_why = text[0] != '\0';
	filter->why = text[0] ? (enum refused_why)found : REFUSED_WHY_NONE;
	return true;
}

enum outcome refused_add_player(struct session *session, struct refused_list_cmd *filter)
{
	struct player player;
	enum outcome code;
	bool found;

	if (!filter->casino_id[0] || !filter->user_id[0])
		return OUTCOME_DONE;
	memset(&player, 0, sizeof(player));
	text_copy(player.casino_id, sizeof(player.casino_id), filter->casino_id);
	text_copy(player.user_id, sizeof(player.user_id), filter->user_id);
	code = list_fetch(session, RECORD_PLAYER, &player, &found, NULL);
	if (code == OUTCOME_DONE && found)
		text_copy(filter->player_id, sizeof(filter->player_id), player.player_id);
	return code;
}

enum outcome refused_is_newer(struct session *session, const char *id, int64_t time_ms,
	unsigned int steps, bool *newer)
{
	struct refused_list_cmd cmd = {.since_ms = time_ms + 1, .count_only = true};
	struct refused_list_result result;
	enum outcome code = OUTCOME_DONE;

	*newer = true;
	text_copy(cmd.request_id, sizeof(cmd.request_id), id);
	for (unsigned int step = 0; step < steps; step++) {
		code = session_do(session, COMMAND_REFUSED_LIST, &cmd, &result, NULL);
		if (code != OUTCOME_DONE || result.matches)
			return code;
		cmd.before = result.next;
		if (!cmd.before) {
			*newer = false;
			break;
		}
	}
	return code;
}

enum outcome refused_newest(struct session *session, const struct refused_list_cmd *filter,
	struct refused_call *call, bool *found, struct refused_count *count)
{
	struct refused_calls calls;
	enum outcome code = OUTCOME_DONE;

	memset(count, 0, sizeof(*count));
	refused_open(&calls, session, filter);
	*found = refused_next(&calls, call);
	if (*found) {
		code = refused_count_rest(&calls, count);
		count->count++;
	}
	return refused_end(&calls, code);
}
