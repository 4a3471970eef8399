/*
 * dealer_test_report - prints the result of `dealer test` as a table or JSON.
 */
#include "cmd/ctl/dealers/dealer_test.h"

#include "cmd/ctl/common/output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 79

/* The cases of a group, by result. */
struct group_row {
	char group[EXAM_NAME_SIZE];
	uint32_t passed;
	uint32_t failed;
	uint32_t not_judged;
	uint32_t skipped;
	uint32_t not_run;
};
static const struct output_column columns[] = {
	{"group", "group", OUTPUT_PLAIN},
	{"passed", "passed", OUTPUT_PLAIN},
	{"failed", "failed", OUTPUT_PLAIN},
	{"not judged", "not_judged", OUTPUT_PLAIN},
	{"skipped", "skipped", OUTPUT_PLAIN},
	{"not run", "not_run", OUTPUT_PLAIN},
	{NULL, NULL, OUTPUT_PLAIN},
};
static const struct field group_fields[] = {
	FIELD(FIELD_STR, group_row, group),
	FIELD(FIELD_U32, group_row, passed),
	FIELD(FIELD_U32, group_row, failed),
	FIELD(FIELD_U32, group_row, not_judged),
	FIELD(FIELD_U32, group_row, skipped),
	FIELD(FIELD_U32, group_row, not_run),
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
	uint32_t not_judged;
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
	SUM(FIELD_U32, not_judged),
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
	{"not judged", "not_judged", OUTPUT_IF_ANY},
	{"skipped", "skipped", OUTPUT_IF_ANY},
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
	sums->not_judged = exam->results[EXAM_NOT_JUDGED];
	sums->skipped = exam->results[EXAM_SKIPPED];
	sums->not_run = exam->results[EXAM_NOT_RUN];
	sums->balance_before = exam->first_balance;
	sums->balance_after = exam->balance;
	sums->difference = exam->balance - exam->first_balance;
}

/* Returns the columns that @len bytes of UTF-8 text take. */
static int text_columns(const char *text, size_t len)
{
	int columns_used = 0;

	for (size_t i = 0; i < len; i++)
		columns_used += ((unsigned char)text[i] & 0xc0) != 0x80;
	return columns_used;
}

/*
 * Prints @text word by word, in lines of at most WIDTH columns. The cursor is at column @indent,
 * where further lines begin. A longer word has a line of its own.
 */
static void print_wrapped(int indent, const char *text)
{
	int column = indent;
	size_t len;

	for (; *text; text += len) {
		text += strspn(text, " ");
		len = strcspn(text, " ");
		if (!len)
			break;
		if (column > indent && column + 1 + text_columns(text, len) > WIDTH) {
			printf("\n%*s", indent, "");
			column = indent;
		}
		if (column > indent)
			putchar(' ');
		printf("%.*s", (int)len, text);
		column += (column > indent) + text_columns(text, len);
	}
	putchar('\n');
}

static void print_pair(const char *heading, const char *text)
{
	char shown[OUTPUT_SHOWN_MAX];

	printf("  %-9s ", heading);
	print_wrapped(12, output_shown(text, shown));
}

/*
 * Prints why a case failed and everything that was received, including the dealer's own text.
 */
static void print_failed(const struct exam_row *row)
{
	printf("\nFAILED %s\n", row->name);
	print_pair("guide", row->rule);
	print_pair("expected", row->expected);
	print_pair("why", row->why);
	if (row->came[0])
		print_pair("steps", row->came);
}

/* Prints the names of the cases from @from on that were not judged, skipped or not run for one reason. */
static void print_reason(const struct exam *exam, unsigned int from, bool *printed)
{
	const struct exam_row *first = &exam->rows[from];
	char names[EXAM_TEXT_SIZE * 8] = "";
	size_t used = 0;

	for (unsigned int i = from; i < exam->count; i++) {
		const struct exam_row *row = &exam->rows[i];

		if (row->result != first->result || strcmp(row->why, first->why) != 0)
			continue;
		printed[i] = true;
		if (used < sizeof(names))
			used += (size_t)snprintf(names + used, sizeof(names) - used, "%s ",
				row->name);
	}
	printf("\n%s: %s\n  ", exam_result_names[first->result], first->why);
	print_wrapped(2, names);
}

/* Counts the cases of each group, and prints them. */
static enum outcome print_groups(struct ctl *ctl, const struct exam *exam)
{
	struct group_row group = {.passed = 0};
	struct output_column shown[sizeof(columns) / sizeof(columns[0])];
	struct output_list list;
	unsigned int i = 0, used = 2;

	/* The group, the passed cases, and further results that occur. */
	memcpy(shown, columns, sizeof(shown));
	for (unsigned int result = EXAM_FAILED; result < EXAM_RESULT_COUNT; result++) {
		if (exam->results[result])
			shown[used++] = columns[1 + result];
	}
	shown[used].heading = NULL;
	output_list_open(&list, ctl, NULL, NULL, group_fields, shown);
	while (i < exam->count) {
		uint32_t *const counts[EXAM_RESULT_COUNT] = {&group.passed, &group.failed,
			&group.not_judged, &group.skipped, &group.not_run};

		memset(&group, 0, sizeof(group));
		memcpy(group.group, exam->rows[i].group, sizeof(group.group));
		for (; i < exam->count && strcmp(exam->rows[i].group, group.group) == 0; i++)
			++*counts[exam->rows[i].result];
		output_list_add(&list, &group);
	}
	return output_list_close(&list, OUTCOME_DONE);
}

static enum outcome print_table(struct ctl *ctl, const struct exam *exam, const struct sums *sums)
{
	bool *printed = calloc(exam->count, sizeof(*printed));
	struct output_pairs pairs;
	enum outcome code;

	if (!printed)
		return ctl_no_memory(ctl);
	code = print_groups(ctl, exam);
	for (unsigned int i = 0; code == OUTCOME_DONE && i < exam->count; i++) {
		if (exam->rows[i].result == EXAM_FAILED)
			print_failed(&exam->rows[i]);
	}
	for (unsigned int i = 0; code == OUTCOME_DONE && i < exam->count; i++) {
		if (exam->rows[i].result > EXAM_FAILED && !printed[i])
			print_reason(exam, i, printed);
	}
	free(printed);
	if (code != OUTCOME_DONE)
		return code;
	printf("\n");
	output_pairs_open(&pairs, ctl);
	output_pairs_fields(&pairs, sums_fields, sums_columns, sums);
	if (exam->has_balance)
		output_pairs_fields(&pairs, money_fields, money_columns, sums);
	else
		output_pairs_add(&pairs, "balance after", "not known: %s", exam->balance_note);
	return output_pairs_close(&pairs);
}

enum outcome exam_print_cases(const struct exam *exam)
{
	for (unsigned int i = 0; i < exam->count; i++) {
		const struct exam_row *row = &exam->rows[i];

		printf("%-22s%s\n    ", row->name, row->rule);
		print_wrapped(4, row->expected);
	}
	return OUTCOME_DONE;
}

enum outcome exam_print(struct ctl *ctl, const struct exam *exam)
{
	struct output_json json, error;
	struct sums sums;
	char detail[EXAM_DETAIL_SIZE], warning[EXAM_WARNING_SIZE];
	enum outcome code;

	sum_up(exam, &sums);
	code = ctl->json ? OUTCOME_DONE : print_table(ctl, exam, &sums);
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
	if (exam_warning(exam, warning))
		output_json_string(&json, "warning", warning);
	if (exam_detail(exam, detail)) {
		output_json_open(&error, ctl);
		output_json_string(&error, "id", "exam_failed");
		output_json_string(&error, "detail", detail);
		output_json_object(&json, "error", &error);
	}
	return output_json_close(&json);
}
