/*
 * request - implements `sign` and `request`: makes a dealer's call by hand.
 */
#include "cmd/ctl/common/ctl.h"

#include "admin/audit_note.h"
#include "admin/names.h"
#include "base/clock.h"
#include "base/text.h"
#include "callback/http.h"
#include "cmd/ctl/common/output.h"
#include "cmd/ctl/common/secret.h"
#include "doctor/probe.h"
#include "wire/bodies.h"
#include "wire/operations.h"
#include "wire/render.h"
#include "wire/signature.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CONNECT_TIMEOUT_MS 5000
#define TOTAL_TIMEOUT_MS   30000
#define URL_MAX            2048

static bool is_stdin(const struct ctl *ctl, enum ctl_option option)
{
	return ctl->options[option] && strcmp(ctl->options[option], "-") == 0;
}

/*
 * Records the use of a dealer's key that the ledger stores. A key from a file belongs to the
 * caller and is not recorded.
 */
static enum outcome note_use(struct ctl *ctl, enum note_action action, const char *casino_id,
	const char *detail)
{
	char object[CASINO_ID_SIZE + 8];

	if (ctl->options[OPTION_KEY_FILE])
		return OUTCOME_DONE;
	snprintf(object, sizeof(object), "dealer %s", casino_id);
	return audit_note(&ctl->session, action, object, detail);
}

enum outcome ctl_sign(struct ctl *ctl)
{
	bool with_file = ctl->options[OPTION_KEY_FILE];
	const char *path = NULL;
	char casino_id[CASINO_ID_SIZE] = "", text[SIGNATURE_TEXT_MAX];
	struct signing signing = {.secret = ""};
	struct output_json json;
	struct buffer body;
	enum outcome code = OUTCOME_DONE;

	/* With a key file, no dealer is named: the only argument is the file of the body. */
	if (with_file && ctl->arg_count > 1)
		return ctl_usage(ctl,
			"with --key-file there is no CASINO: give --key-file=FILE "
			"[BODYFILE]");
	if (!with_file && ctl->arg_count < 1)
		return ctl_usage(ctl, "give CASINO [BODYFILE], or --key-file=FILE [BODYFILE]");
	if (ctl->arg_count == (with_file ? 1 : 2))
		path = ctl->args[ctl->arg_count - 1];
	if (is_stdin(ctl, OPTION_KEY_FILE) && (!path || strcmp(path, "-") == 0))
		return ctl_usage(ctl, "key and body cannot both come from standard input");
	buffer_init(&body, BODY_MAX);
	if (!with_file)
		code = names_read_casino_id(&ctl->session, ctl->args[0], casino_id);
	/*
	 * `sign demo --key-file K` looks right, so the message must say that demo was read as a
	 * file name.
	 */
	if (with_file && path && strcmp(path, "-") != 0 && access(path, F_OK) < 0)
		code = ctl_fail(ctl, OUTCOME_FAILED, "failed",
			"cannot read %s: %s (with --key-file "
			"there is no CASINO; the argument is BODYFILE)",
			path, strerror(errno));
	if (code == OUTCOME_DONE)
		code = secret_find_signing(ctl, casino_id, &signing);
	if (code == OUTCOME_DONE)
		code = secret_read_file(ctl, path ? path : "-", &body);
	if (code == OUTCOME_DONE &&
		!signature_make(signing.algorithm, signing.encoding, signing.secret, body.data,
			body.len, text))
		code = ctl_fail(ctl, OUTCOME_FAILED, "failed",
			"the signature could not be "
			"computed: memory is short, or the cryptographic library refuses the "
			"algorithm");
	explicit_bzero(&signing, sizeof(signing));
	if (code == OUTCOME_DONE)
		code = note_use(ctl, NOTE_SIGN, casino_id, "");
	if (code == OUTCOME_DONE) {
		if (!ctl->json)
			printf("%s\n", text);
		output_json_open(&json, ctl);
		output_json_string(&json, "signature", text);
		code = output_json_close(&json);
	}
	buffer_free(&body);
	return code;
}

/* The body of a named operation. */
struct call_body {
	union any_body members; /* must be first: the operation's table describes it */
	struct bytes include_data;
};

#define CALL_FIELDS_MAX 8

/* Returns true for a member that is not sent: one that is optional and false or 0. */
static bool is_left_out(const struct body_field *member, const union any_body *members)
{
	const uint8_t *value = (const uint8_t *)members + member->offset;

	switch (member->type) {
	case BODY_HAS_ANY:
		return true;
	case BODY_BOOL:
	case BODY_AMOUNT:
		return !member->required && !field_load_number(value, member->size);
	default:
		return false;
	}
}

static enum field_type type_of(enum body_type type)
{
	switch (type) {
	case BODY_AMOUNT:
		return FIELD_MONEY;
	case BODY_INTEGER:
		return FIELD_TIME_MS;
	case BODY_BOOL:
		return FIELD_BOOL;
	default:
		return FIELD_STR;
	}
}

/* Makes the table by which @members are written from the one by which the service reads them. */
static void make_fields(const struct body_field *body, const union any_body *members,
	struct field fields[CALL_FIELDS_MAX])
{
	static const struct field include_data = FIELD(FIELD_JSON, call_body, include_data);
	unsigned int count = 0;

	memset(fields, 0, CALL_FIELDS_MAX * sizeof(*fields));
	for (; count < CALL_FIELDS_MAX - 1 && body->name; body++) {
		if (is_left_out(body, members))
			continue;
		fields[count].name = body->name;
		fields[count].offset = body->offset;
		fields[count].size = body->size;
		fields[count].type = type_of(body->type);
		if (body->type == BODY_WORDS)
			fields[count] = include_data;
		count++;
	}
}

/* One call to make. */
struct call {
	const char *method;
	const char *path;
	char url[URL_MAX];
	struct buffer body;
	char reference[EXTERNAL_ID_SIZE]; /* of a transfer; "": none */
};

/* Reads --reference into @id, or generates a reference. */
static enum outcome fill_reference(struct ctl *ctl, char id[EXTERNAL_ID_SIZE], struct call *call)
{
	const char *reference = ctl->options[OPTION_REFERENCE];
	enum outcome code = OUTCOME_DONE;
	char random[21];

	if (reference) {
		code = names_read_external_id(&ctl->session, "a reference", reference, id);
	} else {
		if (!signature_random_id(random, sizeof(random)))
			return session_no_random(&ctl->session);
		snprintf(id, EXTERNAL_ID_SIZE, "ctl-%s", random);
	}
	text_copy(call->reference, sizeof(call->reference), id);
	return code;
}

/* Reads --amount, which is "all" for the whole balance, and --reference. */
static enum outcome fill_transfer(struct ctl *ctl, const struct http_operation *operation,
	struct transfer_body *body, struct call *call)
{
	const char *amount = ctl->options[OPTION_AMOUNT];

	body->all =
		operation->number == OPERATION_TRANSFER_OUT && amount && strcmp(amount, "all") == 0;
	if (!body->all && (!amount || !money_from_text(amount, &body->amount)))
		return ctl_usage(ctl,
			"--amount takes a number with at most 4 decimals; with transfer-out also "
			"'all'");
	return fill_reference(ctl, body->request_transaction_id, call);
}

/* What the options of a named operation give. */
static enum outcome fill_members(struct ctl *ctl, const struct http_operation *operation,
	const char *user, union any_body *members, struct call *call)
{
	switch (operation->number) {
	case OPERATION_TRANSFER_IN:
	case OPERATION_TRANSFER_OUT:
		memcpy(members->transfer.user_id, user, EXTERNAL_ID_SIZE);
		return fill_transfer(ctl, operation, &members->transfer, call);
	case OPERATION_TRANSFER_INQUIRE:
		members->transfer_inquire.request_timestamp = clock_wall_ms();
		members->transfer_inquire.seal = ctl->options[OPTION_SEAL] != NULL;
		return fill_reference(ctl, members->transfer_inquire.request_transaction_id, call);
	case OPERATION_RESULT_INQUIRE:
		memcpy(members->inquire.user_id, user, EXTERNAL_ID_SIZE);
		return names_read_external_id(&ctl->session, "a game id", ctl->options[OPTION_GAME],
			members->inquire.game_id);
	case OPERATION_STAT:
		memcpy(members->stat.user_id, user, EXTERNAL_ID_SIZE);
		members->stat.request_timestamp = clock_wall_ms();
		return OUTCOME_DONE;
	default:
		memcpy(members->balance.user_id, user, EXTERNAL_ID_SIZE);
		members->balance.request_timestamp = clock_wall_ms();
		return OUTCOME_DONE;
	}
}

/* Refuses options that do not go with @operation. */
static enum outcome check_options(struct ctl *ctl, const struct http_operation *operation)
{
	const bool inquires = operation->number == OPERATION_TRANSFER_INQUIRE;
	const bool transfers = operation->number == OPERATION_TRANSFER_IN ||
		operation->number == OPERATION_TRANSFER_OUT;

	if (inquires == (ctl->options[OPTION_USER] != NULL))
		return ctl_usage(ctl,
			inquires ? "transfer-inquire takes no --user" : "--user must be given");
	if (inquires && !ctl->options[OPTION_REFERENCE])
		return ctl_usage(ctl, "--reference must be given");
	if ((operation->number == OPERATION_RESULT_INQUIRE) != (ctl->options[OPTION_GAME] != NULL))
		return ctl_usage(ctl,
			"--game must be given with result-inquire, and with no "
			"other operation");
	if ((!transfers && ctl->options[OPTION_AMOUNT]) ||
		(!transfers && !inquires && ctl->options[OPTION_REFERENCE]))
		return ctl_usage(ctl, "%s takes no --amount%s", operation->name,
			inquires ? "" : " and no --reference");
	if (!inquires && ctl->options[OPTION_SEAL])
		return ctl_usage(ctl, "--seal goes with transfer-inquire");
	return OUTCOME_DONE;
}

/* Builds the body of a named operation from --user, --amount, --reference, --seal and --game. */
static enum outcome build_body(struct ctl *ctl, const struct http_operation *operation,
	struct call *call)
{
	static const char summary[] = "[\"bet_summary\"]";
	struct call_body body;
	struct field fields[CALL_FIELDS_MAX];
	const char *user_id = ctl->options[OPTION_USER];
	char user[EXTERNAL_ID_SIZE] = "";
	enum outcome code = check_options(ctl, operation);

	if (code == OUTCOME_DONE && user_id)
		code = names_read_external_id(&ctl->session, "a user id", user_id, user);
	if (code != OUTCOME_DONE)
		return code;
	memset(&body, 0, sizeof(body));
	body.include_data = (struct bytes){(const uint8_t *)summary, sizeof(summary) - 1};
	code = fill_members(ctl, operation, user, &body.members, call);
	make_fields(operation->body, &body.members, fields);
	if (code == OUTCOME_DONE && !render_record(&call->body, fields, &body))
		return ctl_no_memory(ctl);
	return code;
}

/* Reads the argument of --body: JSON, @FILE or "-". */
static enum outcome read_body(struct ctl *ctl, struct call *call)
{
	const char *text = ctl->options[OPTION_BODY];

	if (!text)
		return OUTCOME_DONE;
	if (strcmp(text, "-") == 0 || text[0] == '@')
		return secret_read_file(ctl, text[0] == '@' ? text + 1 : text, &call->body);
	if (!buffer_append_str(&call->body, text))
		return ctl_fail(ctl, OUTCOME_FAILED, "failed", "--body is larger than %d bytes",
			BODY_MAX);
	return OUTCOME_DONE;
}

/*
 * The path at which Debian's package mounts the wallet. Its workers get this path instead of
 * base_path.
 */
#define LOCAL         "http://127.0.0.1"
#define PACKAGED_PATH "/creditbridge"

/* Finds the wallet's mount on this machine: base_path, or the path of Debian's package. */
static enum outcome find_mount(struct ctl *ctl, char *base, size_t size)
{
	enum outcome code = session_settings(&ctl->session);

	if (code != OUTCOME_DONE)
		return code;
	snprintf(base, size, LOCAL "%s", ctl->session.settings.base_path);
	if (probe_finds_wallet(base))
		return OUTCOME_DONE;
	if (!ctl->session.settings.base_path[0]) {
		snprintf(base, size, LOCAL PACKAGED_PATH);
		if (probe_finds_wallet(base))
			return OUTCOME_DONE;
	}
	return ctl_fail(ctl, OUTCOME_UNREACHABLE, "unreachable",
		"no wallet of creditbridge answers at " LOCAL "%s%s: give --url=URL, as dealers "
		"call it, or mount it in the web server (fcgi-conf/; a2enconf creditbridge)",
		ctl->session.settings.base_path,
		ctl->session.settings.base_path[0] ? "" : " and " LOCAL PACKAGED_PATH);
}

static enum outcome make_url(struct ctl *ctl, struct call *call)
{
	char found[SETTINGS_PATH_MAX];
	const char *base = ctl->options[OPTION_URL];
	size_t len;
	int written;

	if (!base) {
		enum outcome code = find_mount(ctl, found, sizeof(found));

		if (code != OUTCOME_DONE)
			return code;
		base = found;
	}
	len = strlen(base);
	while (len && base[len - 1] == '/')
		len--;
	written = snprintf(call->url, sizeof(call->url), "%.*s%s%s", (int)len, base,
		call->path[0] == '/' ? "" : "/", call->path);
	if (written < 0 || (size_t)written >= sizeof(call->url))
		return ctl_usage(ctl,
			"the URL, with the path of the call, is longer than %zu "
			"bytes",
			sizeof(call->url) - 1);
	return OUTCOME_DONE;
}

static enum outcome prepare_call(struct ctl *ctl, struct call *call)
{
	const struct http_operation *operation;
	enum outcome code;

	if (ctl->arg_count == 3) {
		call->method = ctl->args[1];
		call->path = ctl->args[2];
		if (ctl->options[OPTION_USER] || ctl->options[OPTION_AMOUNT] ||
			ctl->options[OPTION_REFERENCE] || ctl->options[OPTION_GAME] ||
			ctl->options[OPTION_SEAL])
			return ctl_usage(ctl,
				"--user, --amount, --reference, --seal and --game go with a "
				"named operation");
		if (strspn(call->method, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != strlen(call->method))
			return ctl_usage(ctl, "'%s' is not a method", call->method);
		code = read_body(ctl, call);
	} else {
		operation = http_operation_find(SERVE_WALLET, ctl->args[1]);
		if (!operation)
			return ctl_usage(ctl,
				"'%s' is no operation; there are transfer-in, transfer-out, "
				"transfer-inquire, balance, stat and result-inquire",
				ctl->args[1]);
		if (ctl->options[OPTION_BODY])
			return ctl_usage(ctl, "--body goes with METHOD and PATH");
		call->method = operation->methods & METHOD_GET && !ctl->options[OPTION_SEAL]
			? "GET"
			: "POST";
		call->path = operation->path;
		code = build_body(ctl, operation, call);
	}
	return code;
}

/* The headers of an answer that are printed. */
static const char *const shown_headers[] = {"Content-Type", "X-Request-Id", "X-Idempotent-Replay",
	"Retry-After", "Allow", "Cache-Control"};
#define SHOWN_COUNT (sizeof(shown_headers) / sizeof(shown_headers[0]))

static enum outcome print_answer(struct ctl *ctl, const struct call *call,
	struct http_answer *answer)
{
	struct output_json json, headers;
	char value[512];

	if (!ctl->json)
		printf("HTTP %d %s\n", answer->code, render_reason(answer->code));
	output_json_open(&json, ctl);
	output_json_number(&json, "status", (uint64_t)answer->code);
	output_json_open(&headers, ctl);
	for (unsigned int i = 0; i < SHOWN_COUNT; i++) {
		if (!http_answer_header(answer, shown_headers[i], value, sizeof(value)))
			continue;
		output_json_string(&headers, shown_headers[i], value);
		if (!ctl->json) {
			printf("%s: ", shown_headers[i]);
			output_foreign(value, strlen(value));
			putchar('\n');
		}
	}
	output_json_object(&json, "headers", &headers);
	if (call->reference[0])
		output_json_string(&json, "request_transaction_id", call->reference);
	if (!ctl->json) {
		putchar('\n');
		output_foreign(answer->body.data, answer->body.len);
		putchar('\n');
	}
	/* render_string() expects text. A NUL in the body ends it. */
	buffer_append(&answer->body, "", 1);
	output_json_string(&json, "body", (const char *)answer->body.data);
	return output_json_close(&json);
}

/*
 * Returns true if the service answered: the answer contains the request id, or is JSON from
 * behind a proxy.
 */
static bool is_service(const struct http_answer *answer, const char *request_id)
{
	char value[128];

	if (http_answer_header(answer, "X-Request-Id", value, sizeof(value)) &&
		strcmp(value, request_id) == 0)
		return true;
	return http_answer_header(answer, "Content-Type", value, sizeof(value)) &&
		strncmp(value, "application/json", strlen("application/json")) == 0;
}

/* Reports one sentence in place of a web server's error page. */
static enum outcome not_the_service(struct ctl *ctl, const struct call *call,
	const struct http_answer *answer)
{
	const char *remedy = answer->code >= 500
		? "see the web server's log; the worker may not start"
		: answer->code >= 300 && answer->code < 400
		? "give --url=URL as the web server redirects to it"
		: "give --url=URL, as dealers call it, or mount the wallet there (fcgi-conf/)";
	char url[512], server[64] = "";

	if (!http_answer_header(answer, "Server", server, sizeof(server)))
		server[0] = '\0';
	snprintf(url, sizeof(url), "%.*s", (int)sizeof(url) - 1, call->url);
	return ctl_fail(ctl, OUTCOME_FAILED, "not_the_service",
		"%s: HTTP %d%s%s, and not from creditbridge: %s", url, answer->code,
		server[0] ? " by " : "", server, remedy);
}

/* Reports that no answer was received. */
static enum outcome fail_unsent(struct ctl *ctl, enum outcome code, const char *id,
	const struct call *call, const struct http_answer *answer)
{
	const char *remedy = http_fault_remedy(answer->fault);

	return ctl_fail(ctl, code, id, "%s: %s%s%s", call->url, answer->error,
		remedy[0] ? "; " : "", remedy);
}

static enum outcome send_call(struct ctl *ctl, const char *casino_id, const char *signature,
	const struct call *call)
{
	char random[21] = "", request_id[32];
	const struct http_header headers[] = {
		{"X-Request-Id", request_id},
		{"x-casino-id", casino_id},
		{"x-casino-signature", signature},
		{"Content-Type", "application/json"},
	};
	const struct http_call http_call = {
		.method = call->method,
		.url = call->url,
		.headers = headers,
		.header_count = sizeof(headers) / sizeof(headers[0]),
		.body = call->body.len ? call->body.data : NULL,
		.body_len = call->body.len,
		.connect_timeout_ms = CONNECT_TIMEOUT_MS,
		.total_timeout_ms = TOTAL_TIMEOUT_MS,
	};
	struct http_client *client = http_client_new();
	struct http_answer answer;
	enum outcome code;

	if (!client)
		return ctl_no_memory(ctl);
	signature_random_id(random, sizeof(random));
	snprintf(request_id, sizeof(request_id), "ctl-%s", random);
	http_answer_init(&answer);
	switch (http_exchange(client, &http_call, &answer)) {
	case HTTP_ANSWERED:
		if (!is_service(&answer, request_id)) {
			code = not_the_service(ctl, call, &answer);
			break;
		}
		/* Reserves room for the NUL that print_answer() appends. */
		answer.body.max++;
		code = print_answer(ctl, call, &answer);
		if (code == OUTCOME_DONE && (answer.code < 200 || answer.code > 299))
			code = OUTCOME_FAILED;
		break;
	case HTTP_NOT_SENT:
		code = fail_unsent(ctl, OUTCOME_UNREACHABLE, "unreachable", call, &answer);
		break;
	case HTTP_FAILED:
		code = fail_unsent(ctl, OUTCOME_FAILED, "failed", call, &answer);
		break;
	default:
		code = ctl_fail(ctl, OUTCOME_UNREACHABLE, "outcome_unknown",
			"%s: %s; the outcome is not known%s%s", call->url, answer.error,
			call->reference[0] ? ", repeat with --reference " : "", call->reference);
		break;
	}
	http_answer_free(&answer);
	http_client_free(client);
	return code;
}

enum outcome ctl_request(struct ctl *ctl)
{
	struct call call = {.method = NULL};
	struct signing signing = {.secret = ""};
	char casino_id[CASINO_ID_SIZE], text[SIGNATURE_TEXT_MAX], detail[DETAIL_SIZE];
	enum outcome code = names_read_casino_id(&ctl->session, ctl->args[0], casino_id);

	buffer_init(&call.body, BODY_MAX);
	if (code == OUTCOME_DONE && is_stdin(ctl, OPTION_KEY_FILE) && is_stdin(ctl, OPTION_BODY))
		code = ctl_usage(ctl, "key and body cannot both come from standard input");
	if (code == OUTCOME_DONE)
		code = prepare_call(ctl, &call);
	if (code == OUTCOME_DONE)
		code = secret_find_signing(ctl, casino_id, &signing);
	if (code == OUTCOME_DONE &&
		!signature_make(signing.algorithm, signing.encoding, signing.secret, call.body.data,
			call.body.len, text))
		code = ctl_fail(ctl, OUTCOME_FAILED, "failed",
			"the signature could not be "
			"computed: memory is short, or the cryptographic library refuses the "
			"algorithm");
	explicit_bzero(&signing, sizeof(signing));
	if (code == OUTCOME_DONE)
		code = make_url(ctl, &call);
	/*
	 * A request that only reads is not recorded, so that it also works when the ledger's disk
	 * is full.
	 */
	if (code == OUTCOME_DONE && strcmp(call.method, "GET") != 0) {
		snprintf(detail, sizeof(detail), "%.16s %.300s%s%s", call.method, call.path,
			call.reference[0] ? " reference=" : "", call.reference);
		code = note_use(ctl, NOTE_REQUEST, casino_id, detail);
	}
	if (code == OUTCOME_DONE)
		code = send_call(ctl, casino_id, text, &call);
	buffer_free(&call.body);
	return code;
}
