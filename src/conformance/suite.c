/*
 * suite - runs all cases against a dealer.
 */
#include "conformance/choose.h"

#include "admin/ping.h"
#include "wire/signature.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void init_row(struct exam_row *row, const struct exam_group *group,
	const struct exam_case *case_)
{
	snprintf(row->group, sizeof(row->group), "%s", group->name);
	snprintf(row->name, sizeof(row->name), "%s", case_->name);
	snprintf(row->rule, sizeof(row->rule), "%s", case_->rule);
	snprintf(row->expected, sizeof(row->expected), "%s", case_->expected);
	for (const char *const *need = case_->needs; *need; need++) {
		size_t used = strlen(row->needs);

		snprintf(row->needs + used, sizeof(row->needs) - used, "%s%s", used ? "," : "",
			*need);
	}
	row->result = EXAM_NOT_RUN;
}

static unsigned int count_cases(void)
{
	unsigned int count = 0;

	for (const struct exam_group *group = exam_groups; group->name; group++) {
		for (const struct exam_case *case_ = group->cases; case_->name; case_++)
			count++;
	}
	return count;
}

/* Allocates a row for every case. Returns false if memory is exhausted. */
bool exam_init(struct exam *exam)
{
	unsigned int i = 0;

	exam->count = count_cases();
	exam->rows = exam->count ? calloc(exam->count, sizeof(*exam->rows)) : NULL;
	if (!exam->rows)
		return false;
	for (const struct exam_group *group = exam_groups; group->name; group++) {
		for (const struct exam_case *case_ = group->cases; case_->name; case_++)
			init_row(&exam->rows[i++], group, case_);
	}
	return true;
}

static const char *stop_reason(const struct exam *exam)
{
	if (exam->interrupted && *exam->interrupted)
		return "interrupted";
	if (exam->unanswered >= EXAM_UNANSWERED_MAX)
		return "the dealer does not answer any more";
	return NULL;
}

static void run_case(struct exam *exam, const struct exam_case *case_, struct exam_row *row)
{
	unsigned int number = (unsigned int)(row - exam->rows) + 1;
	const char *stop = stop_reason(exam), *cause;

	if (!exam_is_chosen(exam, row)) {
		row->result = EXAM_SKIPPED;
		snprintf(row->why, sizeof(row->why), "not named by --case");
		return;
	}
	if (stop) {
		snprintf(row->why, sizeof(row->why), "%s", stop);
		return;
	}
	cause = exam_cause(exam, case_);
	if (cause) {
		row->result = EXAM_NOT_JUDGED;
		snprintf(row->cause, sizeof(row->cause), "%s", cause);
		snprintf(row->why, sizeof(row->why), "mend %s first", cause);
		return;
	}
	if (exam->progress)
		exam->progress(exam->progress_closure, exam, number, case_->name);
	exam_case_run(exam, case_, number, row);
}

void exam_run(struct exam *exam)
{
	struct exam_row *row = exam->rows;

	for (const struct exam_group *group = exam_groups; group->name; group++) {
		for (const struct exam_case *case_ = group->cases; case_->name; case_++, row++) {
			run_case(exam, case_, row);
			exam->results[row->result]++;
		}
	}
	exam_ask(exam);
}

enum outcome exam_record(struct exam *exam)
{
	struct dealer_put_cmd cmd = {.operator= exam->session->operator, .mask = DEALER_EXAM };
	struct dealer_put_result result;
	enum outcome code;

	if (exam->only || exam->results[EXAM_NOT_RUN])
		return OUTCOME_DONE;
	/* The note of the beginning has the session's id. */
	if (!signature_random_id(cmd.operator.operation_id, sizeof(cmd.operator.operation_id)))
		return session_no_memory(exam->session);
	memcpy(cmd.dealer.casino_id, exam->dealer.casino_id, sizeof(cmd.dealer.casino_id));
	cmd.dealer.exam_passed = exam->results[EXAM_PASSED];
	cmd.dealer.exam_failed = exam->results[EXAM_FAILED];
	cmd.dealer.exam_not_judged = exam->results[EXAM_NOT_JUDGED];
	code = session_do(exam->session, COMMAND_DEALER_PUT, &cmd, &result, NULL);
	explicit_bzero(&result, sizeof(result));
	return code;
}

static enum outcome make_client(struct exam *exam)
{
	const struct http_demands demands = {
		.public_only = true,
		.networks = exam->session->settings.callback_networks,
		.network_count = exam->session->settings.callback_network_count,
	};

	exam->client = http_client_new();
	if (!exam->client || !http_client_demand(exam->client, &demands))
		return session_no_memory(exam->session);
	return OUTCOME_DONE;
}

/*
 * Finds the dealer and the player. Makes the first inquiry, for which the ledger issues a permit.
 */
enum outcome exam_prepare(struct exam *exam, const char *casino_id, const char *user_id)
{
	struct session *session = exam->session;
	char balance[MONEY_TEXT_MAX], needs[MONEY_TEXT_MAX];
	struct ping ping = {.code = OUTCOME_FAILED};
	enum outcome code = ping_find(session, casino_id, user_id, &exam->dealer, &exam->player);

	if (code == OUTCOME_DONE)
		code = ping_ask(session, &exam->player, &ping);
	if (code == OUTCOME_DONE && ping.code != OUTCOME_DONE)
		code = session_fail(session, ping.code, ping.error_id, "%s; nothing was tested",
			ping.error_detail);
	for (unsigned int i = 0; i < CALLBACK_KIND_COUNT && code == OUTCOME_DONE; i++) {
		exam->targets[i] = ping.target;
		snprintf(exam->targets[i].path, sizeof(exam->targets[i].path), "%s",
			dealer_callback_path(&exam->dealer, (enum callback_kind)i));
		exam->targets[i].needs_balance =
			dealer_needs_balance(&exam->dealer, (enum callback_kind)i);
	}
	explicit_bzero(ping.target.keys, sizeof(ping.target.keys));
	if (code != OUTCOME_DONE)
		return code;
	memcpy(exam->url, ping.url, sizeof(exam->url));
	exam->balance = exam->first_balance = ping.outcome.balance;
	exam->has_balance = true;
	exam->number = ping.event;
	exam->copies =
		exam->dealer.max_inflight < EXAM_COPIES ? exam->dealer.max_inflight : EXAM_COPIES;
	money_format(exam->balance, 2, balance);
	money_format(EXAM_NEEDS, 2, needs);
	if (exam->balance < EXAM_NEEDS)
		return session_fail(session, OUTCOME_FAILED, "insufficient_balance",
			"%s has %s, and %s are needed", exam->player.user_id, balance, needs);
	return make_client(exam);
}
