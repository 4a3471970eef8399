/*
 * refused - implements `refused list`: the calls that were answered 4xx, as the ledger keeps them
 * on disk.
 */
#include "cmd/ctl/reports/refused.h"

#include "admin/keys.h"
#include "admin/list.h"
#include "admin/names.h"
#include "admin/requests/near.h"
#include "base/near.h"
#include "base/text.h"
#include "cmd/ctl/common/output.h"
#include "cmd/ctl/common/times.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A row. The members that --json shows come from struct refused_call. */
struct refused_row {
	struct refused_call call;
	uint32_t code;
	char casino[CASINO_ID_SIZE + 1]; /* the dealer; '?' after it: no key was proved */
};

static const struct field refused_row_fields[] = {
	FIELD_AS("time_ms", FIELD_TIME_MS, refused_row, call.time_ms),
	FIELD(FIELD_U32, refused_row, code),
	FIELD_NAMED_AS("error", refused_row, call.refusal, refusal_ids, REFUSAL_COUNT),
	FIELD(FIELD_STR, refused_row, casino),
	FIELD_AS("user_id", FIELD_STR, refused_row, call.user_id),
	FIELD_AS("request_transaction_id", FIELD_STR, refused_row, call.request_transaction_id),
	FIELD_AS("amount", FIELD_STR, refused_row, call.amount),
	FIELD_AS("request_id", FIELD_STR, refused_row, call.request_id),
	FIELD_AS("address", FIELD_STR, refused_row, call.address),
	FIELD_END,
};
static const struct field refused_json_fields[] = {
	FIELD_AS("time_ms", FIELD_TIME_MS, refused_row, call.time_ms),
	FIELD(FIELD_U32, refused_row, code),
	FIELD_NAMED_AS("id", refused_row, call.refusal, refusal_ids, REFUSAL_COUNT),
	FIELD_AS("detail", FIELD_STR, refused_row, call.detail),
	FIELD_NAMED_AS("why", refused_row, call.why, refused_why_names, REFUSED_WHY_COUNT),
	FIELD_NAMED_AS("of", refused_row, call.of, keyring_of_names, KEYRING_OF_COUNT),
	FIELD_AS("operation", FIELD_STR, refused_row, call.operation),
	FIELD_AS("method", FIELD_STR, refused_row, call.method),
	FIELD_AS("path", FIELD_STR, refused_row, call.path),
	FIELD_AS("proved", FIELD_BOOL, refused_row, call.proved),
	FIELD_AS("caller_id", FIELD_STR, refused_row, call.caller),
	FIELD_AS("casino_id", FIELD_STR, refused_row, call.casino_id),
	FIELD_AS("user_id", FIELD_STR, refused_row, call.user_id),
	FIELD_AS("player_id", FIELD_STR, refused_row, call.player_id),
	FIELD_AS("game_id", FIELD_STR, refused_row, call.game_id),
	FIELD_AS("request_transaction_id", FIELD_STR, refused_row, call.request_transaction_id),
	FIELD_AS("amount", FIELD_STR, refused_row, call.amount),
	FIELD_AS("request_id", FIELD_STR, refused_row, call.request_id),
	FIELD_AS("address", FIELD_STR, refused_row, call.address),
	FIELD_AS("body_bytes", FIELD_U32, refused_row, call.body_len),
	FIELD_END,
};
static const struct output_column refused_columns[] = {
	{"TIME", "time_ms", OUTPUT_PLAIN},
	{"CODE", "code", OUTPUT_PLAIN},
	{"ERROR", "error", OUTPUT_PLAIN},
	{"CASINO", "casino", OUTPUT_PLAIN},
	{"USER", "user_id", OUTPUT_PLAIN},
	{"REFERENCE", "request_transaction_id", OUTPUT_PLAIN},
	{"AMOUNT", "amount", OUTPUT_PLAIN},
	{"REQUEST", "request_id", OUTPUT_PLAIN},
	{"ADDRESS", "address", OUTPUT_PLAIN},
	{NULL, NULL, OUTPUT_PLAIN},
};

/*
 * Refuses --user CASINO/USER beside the --casino of another dealer, as other lists do. Another text
 * with a slash may be the user_id of a call.
 */
static enum outcome refuse_two_dealers(struct ctl *ctl, const struct refused_list_cmd *filter)
{
	const char *slash = ctl->options[OPTION_CASINO] ? strchr(filter->user_id, '/') : NULL;
	struct dealer dealer = {.casino_id = ""};
	struct player player;
	enum outcome code;
	bool found;

	/* A player_id: the dealer of --casino has a player whose user_id is the whole text. */
	if (!slash || filter->player_id[0] ||
		!text_copy_len(dealer.casino_id, sizeof(dealer.casino_id), filter->user_id,
			(size_t)(slash - filter->user_id)))
		return OUTCOME_DONE;
	code = list_fetch(&ctl->session, RECORD_DEALER, &dealer, &found, NULL);
	if (code != OUTCOME_DONE || !found)
		return code;
	return names_player(&ctl->session, filter->casino_id, filter->user_id, &player);
}

/* Reads --casino, --user and --reference. */
static enum outcome read_names(struct ctl *ctl, struct refused_list_cmd *filter)
{
	const char *reference = ctl->options[OPTION_REFERENCE], *casino, *user;
	char word[CASINO_ID_SIZE];
	enum outcome code = OUTCOME_DONE;

	ctl_casino_user(ctl, word, &casino, &user);
	if (casino)
		code = names_read_casino_id(&ctl->session, casino, filter->casino_id);
	if (code == OUTCOME_DONE && user)
		code = names_read_external_id(&ctl->session, "a user id", user, filter->user_id);
	if (code == OUTCOME_DONE && reference)
		code = names_read_external_id(&ctl->session, "a reference", reference,
			filter->request_transaction_id);
	if (code == OUTCOME_DONE)
		code = refused_add_player(&ctl->session, filter);
	return code == OUTCOME_DONE ? refuse_two_dealers(ctl, filter) : code;
}

static enum outcome read_times(struct ctl *ctl, struct refused_list_cmd *filter)
{
	enum outcome code = times_read(ctl, OPTION_SINCE, NULL, false, &filter->since_ms);

	return code == OUTCOME_DONE ? times_read(ctl, OPTION_UNTIL, NULL, true, &filter->until_ms)
				    : code;
}

/* Reads --error and --why. */
static enum outcome read_cause(struct ctl *ctl, struct refused_list_cmd *filter)
{
	const char *error = ctl->options[OPTION_ERROR], *why = ctl->options[OPTION_WHY];
	const char *words[REFUSED_WHY_COUNT];
	struct near near;

	if (error && (!error[0] || !refused_read_error(error, filter))) {
		near_begin(&near, error);
		for (unsigned int i = REFUSAL_NONE + 1; i < REFUSAL_COUNT; i++)
			near_offer(&near, refusal_ids[i]);
		return ctl_usage(ctl, "'%s' is no error id%s%s%s; see creditbridge-protocol(7)",
			error, near.best[0] ? " (did you mean '" : "", near.best,
			near.best[0] ? "'?)" : "");
	}
	if (!why || (why[0] && refused_read_why(why, filter)))
		return OUTCOME_DONE;
	refused_why_words(words);
	return ctl_usage(ctl, "--why takes one of %s, %s, %s, %s, %s, %s; not '%s'", words[0],
		words[1], words[2], words[3], words[4], words[5], why);
}

enum outcome refused_filter(struct ctl *ctl, struct refused_list_cmd *filter)
{
	const char *id = ctl->options[OPTION_ID], *client = ctl->options[OPTION_CLIENT];
	enum outcome code;

	memset(filter, 0, sizeof(*filter));
	if (id &&
		(!text_is_name(id, FRAME_REQUEST_ID_SIZE - 1) ||
			!text_copy(filter->request_id, sizeof(filter->request_id), id)))
		return ctl_usage(ctl, "'%s' is no request id", id);
	code = read_cause(ctl, filter);
	if (code == OUTCOME_DONE)
		code = read_times(ctl, filter);
	if (code == OUTCOME_DONE && client)
		code = names_read_client_id(&ctl->session, client, filter->client_id);
	return code == OUTCOME_DONE ? read_names(ctl, filter) : code;
}

void refused_filter_text(const struct refused_list_cmd *filter, char text[REFUSED_FILTER_TEXT])
{
	const struct {
		const char *what, *value;
	} parts[] = {
		{"dealer", filter->casino_id},
		{"game server", filter->client_id},
		{"player", filter->user_id},
		{"reference", filter->request_transaction_id},
		{"request", filter->request_id},
	};
	size_t len = 0;

	text[0] = '\0';
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (parts[i].value[0] && len < REFUSED_FILTER_TEXT)
			len += (size_t)snprintf(text + len, REFUSED_FILTER_TEXT - len, "%s%s '%s'",
				len ? ", " : "", parts[i].what, parts[i].value);
	}
}

static void add_row(struct output_list *out, const struct refused_call *call)
{
	struct refused_row row = {.call = *call};

	row.code = (uint32_t)refusal_info(call->refusal)->code;
	snprintf(row.casino, sizeof(row.casino), "%s%s", call->casino_id,
		call->proved || !call->casino_id[0] ? "" : "?");
	output_list_add(out, &row);
}

/* After an empty list: names what is similar to the filter. */
static enum outcome suggest_near(struct ctl *ctl, const struct refused_list_cmd *filter)
{
	struct keyring callers[KEYRING_OF_COUNT];
	struct near_refused near;
	char text[NEAR_TEXT_MAX];
	enum outcome code = OUTCOME_DONE;

	memset(callers, 0, sizeof(callers));
	for (unsigned int of = 0; of < KEYRING_OF_COUNT && code == OUTCOME_DONE; of++)
		code = keys_fetch_callers(&ctl->session, (enum keyring_of)of, &callers[of]);
	if (code == OUTCOME_DONE)
		code = near_refused(&ctl->session, callers, filter, &near);
	for (unsigned int of = 0; of < KEYRING_OF_COUNT; of++)
		keyring_free(&callers[of]);
	if (code == OUTCOME_DONE) {
		near_text(&near, text);
		if (text[0])
			ctl_tell("near", "%s", text);
	}
	return code;
}

/* Reports how many calls the list does not show, and how many were never kept. */
static enum outcome tell_rest(struct refused_calls *calls)
{
	struct refused_count rest;
	enum outcome code = refused_count_rest(calls, &rest);

	if (code == OUTCOME_DONE && rest.count)
		ctl_tell("cut", "%" PRIu64 " of %s%" PRIu64 "; --limit", calls->taken,
			rest.more ? "more than " : "", calls->taken + rest.count);
	if (code == OUTCOME_DONE && !calls->last.keeps)
		ctl_tell("not_kept", "refused_keep_mib is 0: no refused call is kept on disk");
	return code;
}

enum outcome ctl_refused_list(struct ctl *ctl)
{
	struct refused_list_cmd filter;
	struct refused_calls calls;
	struct refused_call call;
	struct output_list out;
	uint64_t limit;
	enum outcome code = ctl_limit(ctl, 50, &limit);

	if (code == OUTCOME_DONE)
		code = refused_filter(ctl, &filter);
	if (code != OUTCOME_DONE)
		return code;
	output_list_open(&out, ctl, "refused", "refused calls", refused_row_fields,
		refused_columns);
	out.json = refused_json_fields;
	refused_open(&calls, &ctl->session, &filter);
	while (calls.taken < limit && refused_next(&calls, &call))
		add_row(&out, &call);
	code = output_list_close(&out, calls.code);
	if (code == OUTCOME_DONE)
		code = tell_rest(&calls);
	if (code == OUTCOME_DONE && !calls.taken)
		code = suggest_near(ctl, &filter);
	return refused_end(&calls, code);
}
