/*
 * faulty_dealer - the reference dealer (creditbridge-dealer.fcgi, the same options) with a script
 * of misbehaviour. Without --control it has no script.
 *
 *   POST control/faults  adds a rule to the script (faults.h); {"fault": "none"} empties it
 *   GET  control/faults  the script
 *
 * A call to which no rule applies is left to the dealer.
 */
#include "base/clock.h"
#include "cmd/dealer_run.h"
#include "dealer/callback.h"

#include "faulty/bend.h"

#include <string.h>

static struct dealer_faults faults;

static void serve_script(struct dealer_worker *worker, const char *method,
	const struct http_request *request)
{
	char detail[BODY_DETAIL_MAX] = "";

	if (strcmp(method, "GET") == 0)
		faults_render(&faults, &worker->body);
	else if (strcmp(method, "POST") != 0)
		worker_refuse(worker, ANSWER_METHOD_NOT_ALLOWED, NULL);
	else if (request->body_state == HTTP_BODY_WHOLE &&
		faults_add(&faults, request->body, request->body_len, detail))
		buffer_append_str(&worker->body, "{}");
	else
		worker_refuse(worker, ANSWER_BAD_REQUEST, detail);
}

static bool strike_is_none(const struct fault_strike *strike)
{
	return !strike->bugs && !strike->before_ms && !strike->after_ms && strike->works &&
		strike->answer == FAULT_NONE;
}

static void rows_alter(void *context, const struct dealer_call *call, struct dealer_rows *rows)
{
	const struct fault_strike *strike = context;

	faults_blind(strike->bugs, call, rows);
}

/* Performs @call as a dealer with the bugs of @strike. */
static void call_work(struct dealer_worker *worker, const struct dealer_call *call,
	struct fault_strike *strike)
{
	struct dealer_rows rows;
	enum dealer_answer answer = worker_apply(worker, call, &rows, rows_alter, strike);

	if (answer == ANSWER_OK && rows.transaction.state != TRANSACTION_TOMBSTONE &&
		call->kind != CALLBACK_BETTING_CORRECTION && (strike->bugs & BUG_FLOAT_MONEY))
		bend_balance(worker, call->user_id, rows.user.balance);
	else
		worker_answer(worker, answer, &rows);
}

static void call_serve(struct dealer_worker *worker, const struct dealer_call *call,
	const struct http_request *request, struct fault_strike *strike)
{
	enum dealer_answer answer;

	worker_note(worker, request, call);
	clock_sleep_ms(strike->before_ms);
	answer = bend_call(&faults, strike->bugs, request, call);
	if (answer != ANSWER_OK)
		worker_refuse(worker, answer, NULL);
	else if (strike->works)
		call_work(worker, call, strike);
	clock_sleep_ms(strike->after_ms);
	bend_answer(worker, strike);
	worker_log(worker, request, call);
}

static enum dealer_served serve_callback(struct dealer_worker *worker, enum callback_kind kind,
	const struct http_request *request)
{
	unsigned int bugs = faults_bugs(&faults, kind);
	char detail[BODY_DETAIL_MAX] = "";
	struct fault_strike strike;
	enum dealer_answer answer;
	struct dealer_call call;
	bool alien;

	if (!(bugs & BUG_SIGNATURE_UNCHECKED) && !keys_signed(worker->dealer->key_file, request))
		return SERVED_NOT;
	if (bugs & BUG_KIND_UNCHECKED)
		answer = callback_parse(request, kind, &call, &alien, detail);
	else
		answer = callback_read(request, kind, &call, detail);
	if (answer != ANSWER_OK) {
		worker_refuse(worker, answer, detail);
		return SERVED;
	}
	strike = faults_strike(&faults, kind, call.user_id);
	if (!bugs && strike_is_none(&strike))
		return SERVED_NOT;
	call_serve(worker, &call, request, &strike);
	return strike.answer == FAULT_CUT ? SERVED_CUT : SERVED;
}

static enum dealer_served faulty_hook(struct dealer_worker *worker, const char *path,
	const char *method, const struct http_request *request)
{
	if (worker->dealer->control && strcmp(path, "control/faults") == 0) {
		serve_script(worker, method, request);
		return SERVED;
	}
	for (unsigned int i = 0; i < CALLBACK_KIND_COUNT; i++) {
		if (strcmp(callback_kind_names[i], path) == 0 && strcmp(method, "POST") == 0 &&
			request->body_state != HTTP_BODY_TOO_LARGE)
			return serve_callback(worker, (enum callback_kind)i, request);
	}
	return SERVED_NOT;
}

int main(int argc, char **argv)
{
	faults_init(&faults);
	return dealer_run(argc, argv, faulty_hook);
}
