/*
 * explain - implements `explain`: finds a request that was answered 400, 401 or user_not_found,
 * and prints the reason.
 */
#include "explain/explain.h"

#include "admin/keys.h"
#include "admin/list.h"
#include "base/pack.h"
#include "base/text.h"
#include "cmd/ctl/ctl.h"
#include "cmd/ctl/output.h"
#include "cmd/ctl/secret.h"
#include "domain/near_id.h"
#include "wire/inspect.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RETIRED_MAX 64
/* Maximum bytes read from standard input: an id and white space around it. */
#define WORD_MAX 256
/* Maximum number of the dealer's players that are searched for a similar id. */
#define PLAYERS_MAX 10000

/* The input of an explanation. */
struct inquest {
	struct explain_case explain;
	struct refused_find_result found;
	struct buffer kept; /* owns the bytes to which explain.request points */
	struct keyring keyrings[KEYRING_OF_COUNT];
	struct retired_key retired[RETIRED_MAX];
	char secret[KEY_SECRET_SIZE]; /* from --key-file */
};

static void inquest_free(struct inquest *inquest)
{
	for (unsigned int of = 0; of < KEYRING_OF_COUNT; of++)
		keyring_free(&inquest->keyrings[of]);
	if (inquest->kept.data)
		explicit_bzero(inquest->kept.data, inquest->kept.cap);
	buffer_free(&inquest->kept);
	explicit_bzero(inquest, sizeof(*inquest));
}

/* Reads REQUEST_ID, or from standard input if it is '-'. */
static enum outcome read_id(struct ctl *ctl, char id[FRAME_REQUEST_ID_SIZE])
{
	struct buffer text;
	enum outcome code = OUTCOME_DONE;
	const char *word = ctl->args[0];

	buffer_init(&text, WORD_MAX);
	if (strcmp(word, "-") == 0) {
		code = secret_read_file(ctl, "-", &text);
		while (text.len && memchr(" \t\r\n", text.data[text.len - 1], 4))
			text.len--;
		if (code == OUTCOME_DONE && !buffer_append(&text, "", 1))
			code = ctl_no_memory(ctl);
		word = (const char *)text.data;
	}
	if (code == OUTCOME_DONE && (!text_is_name(word, FRAME_REQUEST_ID_SIZE - 1) ||
					!text_copy(id, FRAME_REQUEST_ID_SIZE, word)))
		code = ctl_usage(ctl, "'%s' is no request id: 1 to %d of A-Z a-z 0-9 . _ -, as in "
				      "X-Request-Id", word, FRAME_REQUEST_ID_SIZE - 1);
	buffer_free(&text);
	return code;
}

/* Reads all keys of dealers and game servers. */
static enum outcome read_keys(struct ctl *ctl, struct inquest *inquest)
{
	enum outcome code = OUTCOME_DONE;

	for (unsigned int of = 0; of < KEYRING_OF_COUNT && code == OUTCOME_DONE; of++) {
		code = keys_fetch(&ctl->session, (enum keyring_of)of, &inquest->keyrings[of]);
		inquest->explain.callers[of] = inquest->keyrings[of].entries;
		inquest->explain.caller_count[of] = inquest->keyrings[of].count;
	}
	return code;
}

/* Copies @bytes to @kept, because they are valid only until the next call to the ledger. */
static bool keep_bytes(struct buffer *kept, struct bytes *bytes)
{
	const size_t at = kept->len;

	if (!buffer_append(kept, bytes->data, bytes->len))
		return false;
	bytes->data = kept->data + at;
	return true;
}

static enum outcome not_kept(struct ctl *ctl, const struct refused_find_result *found,
	const char *id)
{
	char since[32];

	text_time(found->since_ms ? found->since_ms : found->started_ms, since);
	return ctl_fail(ctl, OUTCOME_FAILED, "not_kept",
		"%s is not among the refused requests: the last %d answers 400, 401 and user_not_found are "
		"kept while the ledger runs, %" PRIu32 " now, since %s; under load some are left out",
		id, 1000, found->kept, since);
}

/* Fetches the rejected request from the ledger and keeps its data. */
static enum outcome find_request(struct ctl *ctl, struct inquest *inquest, const char *id)
{
	struct refused_request *request = &inquest->explain.request;
	struct refused_find_result *found = &inquest->found;
	struct refused_find_cmd cmd = {.request_id = ""};
	enum outcome code;

	text_copy(cmd.request_id, sizeof(cmd.request_id), id);
	code = session_do(&ctl->session, COMMAND_REFUSED_FIND, &cmd, found, NULL);
	if (code != OUTCOME_DONE)
		return code;
	if (!found->matches)
		return not_kept(ctl, found, id);
	*request = found->request;
	while (found->retired.len && inquest->explain.retired_count < RETIRED_MAX) {
		if (!unpack_record(&found->retired, retired_key_fields,
			    &inquest->retired[inquest->explain.retired_count++]))
			return ctl_fail(ctl, OUTCOME_FAILED, "failed", "the ledger sent a row that "
				"cannot be read: run `creditbridgectl doctor`, which compares "
				"the versions");
	}
	inquest->explain.retired = inquest->retired;
	/* Reserve once, so that the buffer does not move. */
	if (!buffer_reserve(&inquest->kept, request->caller.len + request->signature.len +
				    request->query.len + request->body.len + 1) ||
		!keep_bytes(&inquest->kept, &request->caller) ||
		!keep_bytes(&inquest->kept, &request->signature) ||
		!keep_bytes(&inquest->kept, &request->query) ||
		!keep_bytes(&inquest->kept, &request->body))
		return ctl_no_memory(ctl);
	return OUTCOME_DONE;
}

/*
 * Writes the id of the calling dealer to @casino_id. Returns false if the caller is not a dealer
 * or its id is invalid.
 */
static bool name_dealer(const struct explain_case *explain, char casino_id[CASINO_ID_SIZE])
{
	const struct bytes caller = explain->request.caller;

	return explain->request.of == KEYRING_DEALERS &&
		text_copy_len(casino_id, CASINO_ID_SIZE, (const char *)caller.data, caller.len) &&
		text_is_name(casino_id, CASINO_ID_SIZE - 1);
}

/* Asks the ledger whether a player with this id exists. */
static enum outcome is_player(struct ctl *ctl, const char *casino_id, const char *user_id,
	bool *found)
{
	struct player player;

	memset(&player, 0, sizeof(player));
	text_copy(player.casino_id, sizeof(player.casino_id), casino_id);
	text_copy(player.user_id, sizeof(player.user_id), user_id);
	*found = false;
	return user_id[0] ? list_fetch(&ctl->session, RECORD_PLAYER, &player, found, NULL) : OUTCOME_DONE;
}

/* Searches the dealer's first PLAYERS_MAX players for a similar id. */
static enum outcome walk_players(struct ctl *ctl, const char *casino_id,
	struct explain_player *player)
{
	struct player row;
	struct list list;

	memset(&row, 0, sizeof(row));
	text_copy(row.casino_id, sizeof(row.casino_id), casino_id);
	list_open(&list, &ctl->session, RECORD_PLAYER, false, 1, &row);
	while (!player->near_id[0] && list.taken < PLAYERS_MAX && list_next(&list, &row)) {
		if (near_id_is(row.user_id, player->sent))
			text_copy(player->near_id, sizeof(player->near_id), row.user_id);
	}
	player->all = list.taken < PLAYERS_MAX;
	return list_end(&list, OUTCOME_DONE);
}

/*
 * For user_not_found: searches for a player whose id differs slightly from the id in the request.
 */
static enum outcome look_at_player(struct ctl *ctl, struct explain_case *explain)
{
	struct explain_player *player = &explain->player;
	char casino_id[CASINO_ID_SIZE], ids[NEAR_ID_FORMS][EXTERNAL_ID_SIZE];
	enum outcome code;
	bool found = false;

	if (explain->request.refusal != REFUSAL_USER_NOT_FOUND || !name_dealer(explain, casino_id) ||
		!inspect_string(explain->request.body, "user_id", player->sent, sizeof(player->sent)))
		return OUTCOME_DONE;
	code = is_player(ctl, casino_id, player->sent, &player->is_there);
	if (code != OUTCOME_DONE || player->is_there)
		return code;
	near_id_forms(player->sent, ids);
	for (unsigned int i = 0; i < NEAR_ID_FORMS && code == OUTCOME_DONE && !found; i++) {
		code = is_player(ctl, casino_id, ids[i], &found);
		if (found)
			text_copy(player->near_id, sizeof(player->near_id), ids[i]);
	}
	return code == OUTCOME_DONE && !found ? walk_players(ctl, casino_id, player) : code;
}

/* Checks whether the calling dealer is suspended. */
static enum outcome look_at_dealer(struct ctl *ctl, struct explain_case *explain)
{
	struct dealer dealer;
	enum outcome code;
	bool found;

	memset(&dealer, 0, sizeof(dealer));
	if (!name_dealer(explain, dealer.casino_id))
		return OUTCOME_DONE;
	code = list_fetch(&ctl->session, RECORD_DEALER, &dealer, &found, NULL);
	explain->suspended = code == OUTCOME_DONE && found && dealer.suspended;
	return code;
}

/* ---- printing */

/* Writes the caller's id as received, truncated and with control characters escaped. */
static void caller_text(const struct refused_request *request, char text[CASINO_ID_SIZE])
{
	size_t len = request->caller.len < CASINO_ID_SIZE - 1 ? request->caller.len
							      : CASINO_ID_SIZE - 1;

	for (size_t i = 0; i < len; i++)
		text[i] = request->caller.data[i] > ' ' && request->caller.data[i] < 0x7f
			? (char)request->caller.data[i] : '?';
	text[len] = '\0';
}

static void print_text(const struct inquest *inquest, const struct explanation *explanation)
{
	const struct refused_request *request = &inquest->explain.request;
	const struct refusal_info *info = refusal_info(request->refusal);
	char caller[CASINO_ID_SIZE], time[32];

	caller_text(request, caller);
	text_time(request->time_ms, time);
	printf("request  %s at %s: %s %s of %s '%s', %" PRIu32 " bytes\n", request->request_id,
		time, request->method, request->path,
		request->of == KEYRING_DEALERS ? "dealer" : "game server", caller,
		request->body_len);
	printf("answer   %d %s: %s\n", info->code, info->id,
		request->detail[0] ? request->detail : info->detail);
	if (inquest->found.matches > 1)
		printf("note     %" PRIu32 " requests with this id are kept; this is the newest\n",
			inquest->found.matches);
	if (request->body.len < request->body_len)
		printf("note     the first %" PRIu32 " bytes of the body are kept\n",
			request->body.len);
	for (unsigned int i = 0; i < explanation->count; i++) {
		const struct explain_finding *finding = &explanation->findings[i];

		printf("%s", i ? "also     " : "cause    ");
		output_foreign(finding->found, strlen(finding->found));
		printf(" (%s; rule: %s)\n", explain_causes[finding->cause].id,
			explain_causes[finding->cause].rule);
		printf("remedy   %s\n", explain_causes[finding->cause].remedy);
	}
}

static enum outcome print_json(struct ctl *ctl, const struct inquest *inquest,
	const struct explanation *explanation)
{
	const struct refused_request *request = &inquest->explain.request;
	const struct refusal_info *info = refusal_info(request->refusal);
	char caller[CASINO_ID_SIZE];
	struct output_json json, finding;

	caller_text(request, caller);
	output_json_open(&json, ctl);
	output_json_string(&json, "request_id", request->request_id);
	output_json_number(&json, "time_ms", (uint64_t)request->time_ms);
	output_json_string(&json, "serve",
		request->of == KEYRING_DEALERS ? "wallet" : "platform");
	output_json_string(&json, "operation", request->operation);
	output_json_string(&json, "method", request->method);
	output_json_string(&json, "path", request->path);
	output_json_string(&json, "caller_id", caller);
	output_json_number(&json, "code", (uint64_t)info->code);
	output_json_string(&json, "id", info->id);
	output_json_string(&json, "detail", request->detail[0] ? request->detail : info->detail);
	output_json_number(&json, "body_bytes", request->body_len);
	output_json_number(&json, "body_bytes_kept", request->body.len);
	output_json_number(&json, "matches", inquest->found.matches);
	output_json_list_open(&json, "findings");
	for (unsigned int i = 0; i < explanation->count; i++) {
		const struct explain_cause_info *cause =
			&explain_causes[explanation->findings[i].cause];

		output_json_open(&finding, ctl);
		output_json_string(&finding, "cause", cause->id);
		output_json_string(&finding, "rule", cause->rule);
		output_json_string(&finding, "found", explanation->findings[i].found);
		output_json_string(&finding, "remedy", cause->remedy);
		output_json_item_object(&json, &finding);
	}
	output_json_list_close(&json);
	return output_json_close(&json);
}

enum outcome ctl_explain(struct ctl *ctl)
{
	const char *key_file = ctl->options[OPTION_KEY_FILE];
	struct inquest inquest;
	struct explanation explanation;
	char id[FRAME_REQUEST_ID_SIZE];
	enum outcome code;

	if (key_file && strcmp(key_file, "-") == 0 && strcmp(ctl->args[0], "-") == 0)
		return ctl_usage(ctl, "id and key cannot both come from standard input");
	memset(&inquest, 0, sizeof(inquest));
	buffer_init(&inquest.kept, FRAME_MAX);
	code = read_id(ctl, id);
	if (code == OUTCOME_DONE && key_file) {
		code = secret_read_key(ctl, key_file, inquest.secret);
		inquest.explain.given_secret = inquest.secret;
	}
	if (code == OUTCOME_DONE)
		code = find_request(ctl, &inquest, id);
	if (code == OUTCOME_DONE)
		code = read_keys(ctl, &inquest);
	if (code == OUTCOME_DONE)
		code = look_at_dealer(ctl, &inquest.explain);
	if (code == OUTCOME_DONE)
		code = look_at_player(ctl, &inquest.explain);
	if (code == OUTCOME_DONE) {
		inquest.explain.window_ms = (int64_t)ctl->session.settings.request_window_s * 1000;
		explain_request(&inquest.explain, &explanation);
		if (!ctl->json)
			print_text(&inquest, &explanation);
		code = print_json(ctl, &inquest, &explanation);
	}
	inquest_free(&inquest);
	return code;
}
