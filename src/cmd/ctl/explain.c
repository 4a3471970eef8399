/*
 * explain - implements `explain`: finds a request that was answered 400, 401 or user_not_found,
 * and prints the reason.
 */
#include "admin/inquiry.h"

#include "base/text.h"
#include "cmd/ctl/output.h"
#include "cmd/ctl/secret.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Maximum bytes read from standard input: an id and white space around it. */
#define WORD_MAX 256
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
	if (code == OUTCOME_DONE &&
		(!text_is_name(word, FRAME_REQUEST_ID_SIZE - 1) ||
			!text_copy(id, FRAME_REQUEST_ID_SIZE, word)))
		code = ctl_usage(ctl,
			"'%s' is no request id: 1 to %d of A-Z a-z 0-9 . _ -, as in "
			"X-Request-Id",
			word, FRAME_REQUEST_ID_SIZE - 1);
	buffer_free(&text);
	return code;
}

/* Writes the caller's id as received, truncated and with control characters escaped. */
static void caller_text(const struct refused_request *request, char text[CASINO_ID_SIZE])
{
	size_t len =
		request->caller.len < CASINO_ID_SIZE - 1 ? request->caller.len : CASINO_ID_SIZE - 1;

	for (size_t i = 0; i < len; i++)
		text[i] = request->caller.data[i] > ' ' && request->caller.data[i] < 0x7f
			? (char)request->caller.data[i]
			: '?';
	text[len] = '\0';
}

static void print_explanation(const struct inquiry *inquiry, const struct explanation *explanation)
{
	const struct refused_request *request = &inquiry->explain.request;
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
	if (inquiry->found.matches > 1)
		printf("note     %" PRIu32 " requests with this id are kept; this is the newest\n",
			inquiry->found.matches);
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

static enum outcome print_explanation_json(struct ctl *ctl, const struct inquiry *inquiry,
	const struct explanation *explanation)
{
	const struct refused_request *request = &inquiry->explain.request;
	const struct refusal_info *info = refusal_info(request->refusal);
	char caller[CASINO_ID_SIZE];
	struct output_json json, finding;

	caller_text(request, caller);
	output_json_open(&json, ctl);
	output_json_string(&json, "request_id", request->request_id);
	output_json_number(&json, "time_ms", (uint64_t)request->time_ms);
	output_json_string(&json, "serve", request->of == KEYRING_DEALERS ? "wallet" : "platform");
	output_json_string(&json, "operation", request->operation);
	output_json_string(&json, "method", request->method);
	output_json_string(&json, "path", request->path);
	output_json_string(&json, "caller_id", caller);
	output_json_number(&json, "code", (uint64_t)info->code);
	output_json_string(&json, "id", info->id);
	output_json_string(&json, "detail", request->detail[0] ? request->detail : info->detail);
	output_json_number(&json, "body_bytes", request->body_len);
	output_json_number(&json, "body_bytes_kept", request->body.len);
	output_json_number(&json, "matches", inquiry->found.matches);
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
	struct inquiry inquiry;
	struct explanation explanation;
	char id[FRAME_REQUEST_ID_SIZE];
	enum outcome code;

	if (key_file && strcmp(key_file, "-") == 0 && strcmp(ctl->args[0], "-") == 0)
		return ctl_usage(ctl, "id and key cannot both come from standard input");
	inquiry_init(&inquiry);
	code = read_id(ctl, id);
	if (code == OUTCOME_DONE && key_file) {
		code = secret_read_key(ctl, key_file, inquiry.secret);
		inquiry.explain.given_secret = inquiry.secret;
	}
	if (code == OUTCOME_DONE)
		code = inquiry_collect(&inquiry, &ctl->session, id);
	if (code == OUTCOME_DONE) {
		explain_request(&inquiry.explain, &explanation);
		if (!ctl->json)
			print_explanation(&inquiry, &explanation);
		code = print_explanation_json(ctl, &inquiry, &explanation);
	}
	inquiry_free(&inquiry);
	return code;
}
