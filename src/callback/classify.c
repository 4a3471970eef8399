#include "callback/classify.h"

#include "wire/dealer_answer.h"

#include <stdio.h>
#include <string.h>

static void note_text(struct callback_outcome *outcome, const char *text)
{
	dealer_answer_quote(outcome->note, sizeof(outcome->note), text);
}

static void note_status(struct callback_outcome *outcome, const char *more)
{
	snprintf(outcome->note, sizeof(outcome->note), "HTTP status %u%s",
		(unsigned int)outcome->http_status, more);
}

/* Notes why nothing was sent, with the remedy if there is room. */
static void note_fault(struct callback_outcome *outcome, const struct http_answer *answer)
{
	const char *remedy = http_fault_remedy(answer->fault);
	char text[CALLBACK_NOTE_SIZE];
	int len = snprintf(text, sizeof(text), "%s; %s", answer->error, remedy);

	note_text(outcome, remedy[0] && len < (int)sizeof(text) ? text : answer->error);
}

/* Explains a status with which the dealer's server did not answer the call, and gives the remedy. */
static const char *status_advice(int code)
{
	switch (code) {
	case 408:
	case 425:
	case 429:
		return ": the dealer's server asks for a later call; it may need a higher limit";
	case 501:
		return ": the dealer's server does not implement the call; check the URL and the "
		       "callback's path";
	case 502:
	case 503:
	case 504:
		return ": the dealer's web server does not reach its application; see the dealer's log";
	default:
		return code >= 500 ? ": the dealer's server failed; see the dealer's log" : "";
	}
}

/* Returns true if the body has no content encoding; the request asked for none. */
static bool is_plain(const struct http_answer *answer)
{
	return http_answer_only(answer, "Content-Encoding", "identity") &&
		http_answer_only(answer, "Transfer-Encoding", "chunked");
}

/*
 * Classifies a complete response with a 2xx status. Some frameworks answer an error with 200 and a
 * body of their own. At a dealer whose successes hold a balance, such a body is not taken as one.
 */
static enum callback_class classify_2xx(const struct http_answer *answer, bool needs_balance,
	struct callback_outcome *outcome)
{
	static const enum callback_class classes[] = {
		[DEALER_ANSWER_UNREADABLE] = CALLBACK_UNKNOWN,
		[DEALER_ANSWER_EMPTY] = CALLBACK_SUCCESS,
		[DEALER_ANSWER_OBJECT] = CALLBACK_SUCCESS,
		[DEALER_ANSWER_ERROR] = CALLBACK_REFUSED,
	};

	enum callback_class class;

	if (!is_plain(answer)) {
		note_text(outcome, "the answer is compressed: send it without Content-Encoding");
		return CALLBACK_UNKNOWN;
	}
	class = classes[dealer_answer_read(answer->body.data, answer->body.len, outcome)];
	if (class == CALLBACK_SUCCESS && needs_balance && !outcome->has_balance) {
		note_text(outcome,
			"no usable balance in the answer: this dealer's setting "
			"success_needs_balance requires one");
		return CALLBACK_UNKNOWN;
	}
	return class;
}

static enum callback_class classify_4xx(const struct http_answer *answer,
	struct callback_outcome *outcome)
{
	struct callback_outcome read;

	if (answer->code == 408 || answer->code == 425 || answer->code == 429) {
		note_status(outcome, status_advice(answer->code));
		return CALLBACK_UNKNOWN;
	}
	/* Copy id and text of an error body, and nothing of any other body. */
	memset(&read, 0, sizeof(read));
	if (is_plain(answer) &&
		dealer_answer_read(answer->body.data, answer->body.len, &read) ==
			DEALER_ANSWER_ERROR) {
		memcpy(outcome->dealer_error_id, read.dealer_error_id,
			sizeof(outcome->dealer_error_id));
		memcpy(outcome->dealer_error_detail, read.dealer_error_detail,
			sizeof(outcome->dealer_error_detail));
	} else {
		note_status(outcome, " without an error body");
	}
	return CALLBACK_REFUSED;
}

static enum callback_class classify_answer(const struct http_answer *answer, bool needs_balance,
	struct callback_outcome *outcome)
{
	switch (answer->code / 100) {
	case 2:
		return classify_2xx(answer, needs_balance, outcome);
	case 3:
		note_status(outcome,
			": redirects are not followed; set the dealer's URL to where it leads");
		return CALLBACK_UNKNOWN;
	case 4:
		return classify_4xx(answer, outcome);
	default:
		note_status(outcome, status_advice(answer->code));
		return CALLBACK_UNKNOWN;
	}
}

/* Keeps the beginning of an answer, for the operator. */
static void keep_answer(const struct http_answer *answer, struct callback_outcome *outcome)
{
	char type[ANSWER_TYPE_SIZE] = "";

	if (!answer->body.len)
		return;
	outcome->answer_length = (uint32_t)answer->body.len;
	http_answer_header(answer, "Content-Type", type, sizeof(type));
	dealer_answer_quote(outcome->answer_type, sizeof(outcome->answer_type), type);
	dealer_answer_keep(outcome->answer, sizeof(outcome->answer), answer->body.data,
		answer->body.len);
}

void classify(const struct http_answer *answer, bool needs_balance,
	struct callback_outcome *outcome)
{
	memset(outcome, 0, sizeof(*outcome));
	outcome->http_status = (uint16_t)answer->code;
	outcome->ms = answer->ms < 0 ? 0 : (uint32_t)answer->ms;
	switch (answer->outcome) {
	case HTTP_ANSWERED:
		outcome->class = classify_answer(answer, needs_balance, outcome);
		break;
	case HTTP_CUT:
	case HTTP_TOO_LARGE:
		note_text(outcome, answer->error);
		break;
	case HTTP_NOT_SENT:
	case HTTP_FENCED:
	case HTTP_FAILED:
		outcome->class = CALLBACK_NOT_SENT;
		note_fault(outcome, answer);
		break;
	}
	if (outcome->class != CALLBACK_SUCCESS)
		keep_answer(answer, outcome);
}
