/*
 * check - implements `check`: checks the rows of the ledger and prints the problems found.
 */
#include "check/check.h"

#include "cmd/ctl/callbacks/owed.h"
#include "cmd/ctl/common/output.h"
#include "cmd/ctl/common/progress.h"
#include "doctor/attention.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LEFT_OUT_MAX  2
#define LEFT_OUT_SIZE 96

/* Not a problem of the rows, so it is printed separately. */
static void print_shared_key(void *context, const struct attention_key *shared)
{
	char text[ATTENTION_KEY_TEXT];

	(void)context;
	attention_key_text(shared, text);
	printf("warning: %s have the same key: a body that is signed for one is valid for the other; "
	       "add a new key and retire this one\n",
		text);
}

static void add_shared_key_item(void *context, const struct attention_key *shared)
{
	char text[ATTENTION_KEY_TEXT];

	attention_key_text(shared, text);
	output_json_item_string(context, text);
}

/* Writes what was not compared to @texts. Returns how many there are. */
static unsigned int list_left_out(const struct check *check,
	char texts[LEFT_OUT_MAX][LEFT_OUT_SIZE])
{
	unsigned int count = 0;

	if (check->waiting_left_out)
		snprintf(texts[count++], LEFT_OUT_SIZE,
			"the numbers of parked and held callbacks of each dealer");
	if (check->days_left_out)
		snprintf(texts[count++], LEFT_OUT_SIZE, "the sums of %" PRIu64 " days of dealers",
			check->days_left_out);
	return count;
}

static void print_check_text(struct ctl *ctl, const struct check *check)
{
	const struct proof *proof = &check->proof;
	char left_out[LEFT_OUT_MAX][LEFT_OUT_SIZE];
	const unsigned int left_out_count = list_left_out(check, left_out);

	printf("as of transaction %" PRIu64 "\n", check->last_transaction_id);
	printf("dealers       %zu\n", proof->dealer_count);
	printf("players       %" PRIu64 "\n", proof->players);
	printf("movements     %" PRIu64 "\n", proof->entries);
	printf("request keys  %" PRIu64 "\n", proof->requests);
	printf("transactions  %" PRIu64 "\n", proof->transactions);
	printf("rounds        %" PRIu64 "\n", proof->rounds);
	printf("bets          %" PRIu64 "\n", proof->bets);
	printf("callbacks     %" PRIu64 "\n", proof->callbacks);
	printf("player sums   %" PRIu64 "\n", check->sums);
	printf("dealer days   %" PRIu64 "\n", check->days);
	for (unsigned int i = 0; i < check->shown_count; i++) {
		printf("problem: ");
		output_foreign(check->shown[i], strlen(check->shown[i]));
		printf("\n");
	}
	if (proof->problems > check->shown_count)
		printf("... and %" PRIu64 " more\n", proof->problems - check->shown_count);
	attention_keys(&ctl->session, print_shared_key, NULL);
	printf("problems      %" PRIu64 "\n", proof->problems);
	for (unsigned int i = 0; i < left_out_count; i++)
		printf("not compared  %s: an operator, a replay or callbacks changed them during the check; "
		       "run it again later\n",
			left_out[i]);
	if (!proof->problems && !check->unsettled)
		printf("Every balance is the sum of its movements, and every row agrees%s.\n",
			left_out_count ? " that was compared" : "");
}

static enum outcome print_check_json(struct ctl *ctl, const struct check *check)
{
	const struct proof *proof = &check->proof;
	struct output_json json;
	char left_out[LEFT_OUT_MAX][LEFT_OUT_SIZE];
	const unsigned int left_out_count = list_left_out(check, left_out);
	enum outcome code;

	output_json_open(&json, ctl);
	output_json_bool(&json, "ok", !proof->problems && !check->unsettled);
	output_json_number(&json, "as_of", check->last_transaction_id);
	output_json_number(&json, "players", proof->players);
	output_json_number(&json, "entries", proof->entries);
	output_json_number(&json, "requests", proof->requests);
	output_json_number(&json, "transactions", proof->transactions);
	output_json_number(&json, "rounds", proof->rounds);
	output_json_number(&json, "bets", proof->bets);
	output_json_number(&json, "callbacks", proof->callbacks);
	output_json_number(&json, "sums", check->sums);
	output_json_number(&json, "days", check->days);
	output_json_list_open(&json, "dealers");
	for (size_t i = 0; i < proof->dealer_count; i++)
		output_json_item(&json, total_fields, &proof->dealers[i].total);
	output_json_list_close(&json);
	output_json_number(&json, "problem_count", proof->problems);
	output_json_list_open(&json, "problems");
	for (unsigned int i = 0; i < check->shown_count; i++)
		output_json_item_string(&json, check->shown[i]);
	output_json_list_close(&json);
	output_json_list_open(&json, "not_compared");
	for (unsigned int i = 0; i < left_out_count; i++)
		output_json_item_string(&json, left_out[i]);
	output_json_list_close(&json);
	output_json_list_open(&json, "shared_keys");
	if (ctl->json)
		attention_keys(&ctl->session, add_shared_key_item, &json);
	output_json_list_close(&json);
	code = owed_print_sums(ctl, "owed: ", &json);
	if (code == OUTCOME_DONE)
		return output_json_close(&json);
	buffer_free(&json.text);
	return code;
}

static enum outcome print_check(struct ctl *ctl, const struct check *check)
{
	if (!ctl->json)
		print_check_text(ctl, check);
	if (print_check_json(ctl, check) != OUTCOME_DONE || check->proof.problems)
		return OUTCOME_FAILED;
	if (!check->unsettled)
		return OUTCOME_DONE;
	fprintf(stderr,
		"creditbridgectl: the ledger changed faster than it could be read; "
		"nothing else was found: run the check again\n");
	return OUTCOME_BUSY;
}

static void show_check_progress(void *progress, const char *what, uint64_t rows)
{
	progress_show(progress, "%s: %" PRIu64, what, rows);
}

enum outcome ctl_check(struct ctl *ctl)
{
	struct check check;
	struct progress progress = progress_begin(ctl);
	enum outcome code =
		check_open(&check, &ctl->session, CHECK_SERVING, show_check_progress, &progress);

	progress_end(&progress);
	if (code == OUTCOME_DONE)
		code = print_check(ctl, &check);
	check_close(&check);
	return code;
}
