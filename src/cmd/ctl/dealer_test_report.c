/*
 * dealer_test_report - prints the result of `dealer test` as a table or JSON.
 */
#include "cmd/ctl/dealer_test.h"

#include "cmd/ctl/output.h"

#include <stdio.h>
#include <string.h>

static const struct output_column columns[] = {
	{"case", "name", OUTPUT_PLAIN},
	{"result", "result", OUTPUT_PLAIN},
	{"moved", "steps", OUTPUT_PLAIN},
	{"rule", "rule", OUTPUT_PLAIN},
	{"expected", "expected", OUTPUT_PLAIN},
	{NULL, NULL, OUTPUT_PLAIN},
};
static const struct field shown_fields[] = {
	FIELD(FIELD_STR, exam_row, name),
	FIELD_NAMED(exam_row, result, exam_result_names, EXAM_RESULT_COUNT),
	FIELD(FIELD_STR, exam_row, steps),
	FIELD(FIELD_STR, exam_row, rule),
	FIELD(FIELD_STR, exam_row, expected),
	FIELD_END,
};

/* The totals of all cases. */
struct sums {
	char casino_id[CASINO_ID_SIZE];
	char user_id[EXTERNAL_ID_SIZE];
	char url[CALLBACK_URL_SIZE];
	uint64_t first_id;
	uint64_t last_id;
	uint32_t passed;
	uint32_t failed;
	uint32_t skipped;
	uint32_t not_run;
	money_t balance_before;
	money_t balance_after;
	money_t difference;
};
#define SUM(type, member) FIELD(type, sums, member)
static const struct field sums_fields[] = {
	SUM(FIELD_STR, casino_id),
	SUM(FIELD_STR, user_id),
	SUM(FIELD_STR, url),
	SUM(FIELD_U64, first_id),
	SUM(FIELD_U64, last_id),
	SUM(FIELD_U32, passed),
	SUM(FIELD_U32, failed),
	SUM(FIELD_U32, skipped),
	SUM(FIELD_U32, not_run),
	FIELD_END,
};
/* Present if the balance could be read at the end. */
static const struct field money_fields[] = {
	SUM(FIELD_MONEY, balance_before),
	SUM(FIELD_MONEY, balance_after),
	SUM(FIELD_MONEY, difference),
	FIELD_END,
};
static const struct output_column sums_columns[] = {
	{"dealer", "casino_id", OUTPUT_PLAIN},
	{"user", "user_id", OUTPUT_PLAIN},
	{"asked at", "url", OUTPUT_PLAIN},
	{"ids from", "first_id", OUTPUT_PLAIN},
	{"to", "last_id", OUTPUT_PLAIN},
	{"passed", "passed", OUTPUT_PLAIN},
	{"failed", "failed", OUTPUT_PLAIN},
	{"skipped", "skipped", OUTPUT_PLAIN},
	{"not run", "not_run", OUTPUT_IF_ANY},
	{NULL, NULL, OUTPUT_PLAIN},
};
static const struct output_column money_columns[] = {
	{"balance before", "balance_before", OUTPUT_PLAIN},
	{"balance after", "balance_after", OUTPUT_PLAIN},
	{"difference", "difference", OUTPUT_PLAIN},
	{NULL, NULL, OUTPUT_PLAIN},
};

static void sum_up(const struct exam *exam, struct sums *sums)
{
	memset(sums, 0, sizeof(*sums));
	memcpy(sums->casino_id, exam->player.casino_id, sizeof(sums->casino_id));
	memcpy(sums->user_id, exam->player.user_id, sizeof(sums->user_id));
	memcpy(sums->url, exam->url, sizeof(sums->url));
	sums->first_id = exam->first_id;
	sums->last_id = exam->last_id;
	sums->passed = exam->results[EXAM_PASSED];
	sums->failed = exam->results[EXAM_FAILED];
	sums->skipped = exam->results[EXAM_SKIPPED];
	sums->not_run = exam->results[EXAM_NOT_RUN];
	sums->balance_before = exam->first_balance;
	sums->balance_after = exam->balance;
	sums->difference = exam->balance - exam->first_balance;
}

/*
 * Prints why a case did not pass and everything that was received, including the dealer's own
 * text.
 */
static void print_why(const struct exam_row *row)
{
	printf("\n%s %s: ", exam_result_names[row->result], row->name);
	output_foreign(row->why, strlen(row->why));
	if (row->came[0]) {
		printf("\n  rule: %s\n  expected: %s\n  came: ", row->rule, row->expected);
		output_foreign(row->came, strlen(row->came));
	}
	printf("\n");
}

static enum outcome print_table(struct ctl *ctl, const struct exam *exam, const struct sums *sums)
{
	struct output_list list;
	struct output_pairs pairs;
	enum outcome code;

	output_list_open(&list, ctl, NULL, NULL, shown_fields, columns);
	for (unsigned int i = 0; i < exam->count; i++)
		output_list_add(&list, &exam->rows[i]);
	code = output_list_close(&list, OUTCOME_DONE);
	if (code != OUTCOME_DONE || ctl->json)
		return code;
	for (unsigned int i = 0; i < exam->count; i++) {
		if (exam->rows[i].result != EXAM_PASSED)
			print_why(&exam->rows[i]);
	}
	printf("\n");
	output_pairs_open(&pairs, ctl);
	output_pairs_fields(&pairs, sums_fields, sums_columns, sums);
	if (exam->has_balance)
		output_pairs_fields(&pairs, money_fields, money_columns, sums);
	else
		output_pairs_add(&pairs, "balance after", "not known: %s", exam->balance_note);
	return output_pairs_close(&pairs);
}

enum outcome exam_print(struct ctl *ctl, const struct exam *exam)
{
	struct output_json json, error;
	struct sums sums;
	char detail[EXAM_DETAIL_SIZE];
	enum outcome code;

	sum_up(exam, &sums);
	code = print_table(ctl, exam, &sums);
	if (code != OUTCOME_DONE)
		return code;
	output_json_open(&json, ctl);
	output_json_fields(&json, sums_fields, &sums);
	if (exam->has_balance)
		output_json_fields(&json, money_fields, &sums);
	output_json_list_open(&json, "cases");
	for (unsigned int i = 0; i < exam->count; i++)
		output_json_item(&json, exam_row_fields, &exam->rows[i]);
	output_json_list_close(&json);
	if (exam_detail(exam, detail)) {
		output_json_open(&error, ctl);
		output_json_string(&error, "id", "exam_failed");
		output_json_string(&error, "detail", detail);
		output_json_object(&json, "error", &error);
	}
	return output_json_close(&json);
}
