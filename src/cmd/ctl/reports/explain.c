/*
 * explain - implements `explain`: finds a call that was answered 4xx, and prints the reason, and
 * what each side owes.
 */
#include "admin/requests/inquiry.h"

#include "base/text.h"
#include "cmd/ctl/common/output.h"
#include "cmd/ctl/common/secret.h"
#include "cmd/ctl/common/times.h"
#include "cmd/ctl/reports/refused.h"

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

/* The sentences contain names that the caller sent. */
static void print_standing(const struct inquiry *inquiry, const struct standing *standing)
{
	if (!inquiry->call.proved && !inquiry->absent)
		printf("note     the caller proved no key: the names in the call may be false\n");
	printf("owed     ");
	output_foreign(standing->owed, strlen(standing->owed));
	printf("\nnext     ");
	output_foreign(standing->next, strlen(standing->next));
	printf("\n");
}

static void print_explanation(const struct inquiry *inquiry, const struct explanation *explanation,
	const struct standing *standing)
{
	const struct refused_request *request = &inquiry->explain.request;
	const struct refusal_info *info = refusal_info(request->refusal);
	char caller[CASINO_ID_SIZE], time[32];

	caller_text(request, caller);
	times_text(request->time_ms, time);
	if (inquiry->calls.count > 1)
		printf("note     %s%" PRIu64
		       " refused calls match; this is the newest (creditbridgectl refused list)\n",
			inquiry->calls.more ? "more than " : "", inquiry->calls.count);
	printf("request  %s at %s: %s %s of %s '%s', %" PRIu32 " bytes\n", request->request_id,
		time, request->method, request->path,
		request->of == KEYRING_DEALERS ? "dealer" : "game server", caller,
		request->body_len);
	printf("answer   %d %s: %s\n", info->code, info->id,
		request->detail[0] ? request->detail : info->detail);
	if (inquiry->found.matches > 1)
		printf("note     %" PRIu32 " requests with this id are kept; this is the newest\n",
			inquiry->found.matches);
	if (inquiry->explain.from_disk)
		printf("note     the body is not kept any more\n");
	else if (request->body.len < request->body_len)
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
	print_standing(inquiry, standing);
}

static enum outcome print_explanation_json(struct ctl *ctl, const struct inquiry *inquiry,
	const struct explanation *explanation, const struct standing *standing)
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
	output_json_number(&json, "matches",
		inquiry->calls.count > inquiry->found.matches ? inquiry->calls.count
							      : inquiry->found.matches);
	output_json_bool(&json, "proved", inquiry->call.proved);
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
	output_json_string(&json, "owed", standing->owed);
	output_json_string(&json, "next", standing->next);
	return output_json_close(&json);
}

/* No refused call was found. The reference may be that of a transfer that was made. */
static enum outcome report_absent(struct ctl *ctl, const struct inquiry *inquiry,
	const struct refused_list_cmd *wanted)
{
	char what[REFUSED_FILTER_TEXT], near[NEAR_TEXT_MAX];
	struct standing standing;
	struct output_json json;

	refused_filter_text(wanted, what);
	near_text(&inquiry->near, near);
	if (!inquiry->key.known || !inquiry->key.request.entry_seq)
		return ctl_fail(ctl, OUTCOME_FAILED, "not_kept",
			"no refused call is kept of %s%s%s. Either no call arrived, or it is older "
			"than refused_keep_days, or it was left out under load; see "
			"`creditbridgectl refused list` and the log of the web server",
			what, near[0] ? "; " : "", near);
	standing_of(&inquiry->call, &inquiry->key, inquiry->decimals, &standing);
	if (!ctl->json) {
		printf("note     no refused call is kept of %s\n", what);
		print_standing(inquiry, &standing);
	}
	output_json_open(&json, ctl);
	output_json_list_open(&json, "findings");
	output_json_list_close(&json);
	output_json_string(&json, "owed", standing.owed);
	output_json_string(&json, "next", standing.next);
	return output_json_close(&json);
}

static enum outcome report_found(struct ctl *ctl, const struct inquiry *inquiry)
{
	struct explanation explanation;
	struct standing standing;

	explain_request(&inquiry->explain, &explanation);
	if (inquiry->tried != OUTCOME_DONE)
		return inquiry->tried;
	standing_of(&inquiry->call, &inquiry->key, inquiry->decimals, &standing);
	if (!ctl->json)
		print_explanation(inquiry, &explanation, &standing);
	return print_explanation_json(ctl, inquiry, &explanation, &standing);
}

/*
 * Reads what to explain: REQUEST_ID, or a dealer with a reference or a player. --user CASINO/USER
 * names the dealer, too.
 */
static enum outcome read_wanted(struct ctl *ctl, struct refused_list_cmd *wanted)
{
	const char *casino, *user;
	char word[CASINO_ID_SIZE];
	enum outcome code;
	bool by_name;

	ctl_casino_user(ctl, word, &casino, &user);
	by_name = casino && (ctl->options[OPTION_REFERENCE] || user);
	if ((ctl->arg_count == 1) == by_name ||
		(!by_name &&
			(ctl->options[OPTION_CASINO] || ctl->options[OPTION_REFERENCE] ||
				ctl->options[OPTION_USER])))
		return ctl_usage(ctl,
			"give REQUEST_ID, --casino with --reference or --user, or --user CASINO/USER");
	code = refused_filter(ctl, wanted);
	return code == OUTCOME_DONE && !by_name ? read_id(ctl, wanted->request_id) : code;
}

enum outcome ctl_explain(struct ctl *ctl)
{
	const char *key_file = ctl->options[OPTION_KEY_FILE];
	struct refused_list_cmd wanted;
	struct inquiry inquiry;
	enum outcome code;

	if (key_file && strcmp(key_file, "-") == 0 && ctl->arg_count &&
		strcmp(ctl->args[0], "-") == 0)
		return ctl_usage(ctl, "id and key cannot both come from standard input");
	inquiry_init(&inquiry);
	code = read_wanted(ctl, &wanted);
	if (code == OUTCOME_DONE && key_file) {
		code = secret_read_key(ctl, key_file, inquiry.secret);
		inquiry.explain.given_secret = inquiry.secret;
	}
	if (code == OUTCOME_DONE)
		code = inquiry_collect(&inquiry, &ctl->session, &wanted);
	if (code == OUTCOME_DONE)
		code = inquiry.absent ? report_absent(ctl, &inquiry, &wanted)
				      : report_found(ctl, &inquiry);
	inquiry_free(&inquiry);
	return code;
}
