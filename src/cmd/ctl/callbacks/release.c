/*
 * release - implements `release` and `dealer hold`: releases or holds all callbacks of a dealer
 * at once.
 *
 * `release` first shows the callbacks that would be sent. It lifts the hold only if the operator
 * agrees.
 */
#include "admin/callbacks/release.h"

#include "admin/names.h"
#include "cmd/ctl/common/output.h"

#include <stdio.h>

#define SHOWN_STANDARD        100
#define RELEASE_QUESTION_SIZE 256

static const struct field held_fields[] = {
	FIELD(FIELD_STR, held_dealer, casino_id),
	FIELD(FIELD_TIME_MS, held_dealer, callbacks_held_ms),
	FIELD(FIELD_TIME_MS, held_dealer, restored_ms),
	FIELD(FIELD_TIME_MS, held_dealer, restored_to_ms),
	FIELD(FIELD_U64, held_dealer, callbacks),
	FIELD(FIELD_BOOL, held_dealer, released),
	FIELD_END,
};

static const struct output_column held_columns[] = {
	{"CASINO", "casino_id", OUTPUT_PLAIN},
	{"HELD SINCE", "callbacks_held_ms", OUTPUT_PLAIN},
	{"TO BE RECONCILED FROM", "restored_to_ms", OUTPUT_PLAIN},
	{"CALLBACKS", "callbacks", OUTPUT_PLAIN},
	{NULL, NULL, OUTPUT_PLAIN},
};

static const struct field waiting_fields[] = {
	FIELD(FIELD_STR, waiting_row, webhook_id),
	FIELD(FIELD_TIME_MS, waiting_row, created_ms),
	FIELD(FIELD_STR, waiting_row, casino_id),
	FIELD(FIELD_STR, waiting_row, user_id),
	FIELD(FIELD_STR, waiting_row, game_id),
	FIELD(FIELD_MONEY, waiting_row, amount),
	FIELD(FIELD_U64, waiting_row, transaction_id),
	FIELD(FIELD_U32, waiting_row, attempts),
	FIELD(FIELD_STR, waiting_row, bet),
	FIELD_END,
};

static const struct output_column waiting_columns[] = {
	{"WEBHOOK-ID", "webhook_id", OUTPUT_PLAIN},
	{"CREATED", "created_ms", OUTPUT_PLAIN},
	{"CASINO", "casino_id", OUTPUT_PLAIN},
	{"USER", "user_id", OUTPUT_PLAIN},
	{"GAME", "game_id", OUTPUT_PLAIN},
	{"AMOUNT", "amount", OUTPUT_PLAIN},
	{"TRIES", "attempts", OUTPUT_PLAIN},
	{"BET", "bet", OUTPUT_PLAIN},
	{NULL, NULL, OUTPUT_PLAIN},
};

/* A preview that is being printed. */
struct preview {
	struct ctl *ctl;
	struct release release;
	struct output_list list;
	struct output_json json;
};

static void add_waiting(void *context, const struct waiting_row *row)
{
	struct preview *preview = context;

	output_list_add(&preview->list, row);
	output_json_item(&preview->json, waiting_fields, row);
}

static enum outcome print_dealers(struct ctl *ctl, const struct release *release)
{
	struct output_list list;

	output_title(ctl, "Dealers whose callbacks are held");
	output_list_open(&list, ctl, NULL, NULL, held_fields, held_columns);
	for (size_t i = 0; i < release->count; i++)
		output_list_add(&list, &release->dealers[i]);
	return output_list_close(&list, OUTCOME_DONE);
}

static enum outcome print_preview(struct preview *preview, uint64_t limit)
{
	struct ctl *ctl = preview->ctl;
	struct release *release = &preview->release;
	enum outcome code;

	output_title(ctl, "Callbacks that would be sent");
	output_list_open(&preview->list, ctl, NULL, NULL, waiting_fields, waiting_columns);
	output_json_list_open(&preview->json, "callbacks");
	code = output_list_close(&preview->list,
		release_walk(release, limit, add_waiting, preview));
	output_json_list_close(&preview->json);
	if (code == OUTCOME_DONE && release->callbacks > limit && !ctl->json)
		printf("and %llu more (--limit 0 shows all)\n",
			(unsigned long long)(release->callbacks - limit));
	return code == OUTCOME_DONE ? print_dealers(ctl, release) : code;
}

/*
 * Refuses if the file of no dealer was compared since the restore. If those of some were, the others are
 * refused in turn.
 */
static enum outcome check_reconciled(struct ctl *ctl, const struct release *release,
	char question[RELEASE_QUESTION_SIZE])
{
	const char *first;
	uint64_t waiting;
	size_t count = release_count_unreconciled(release, &first, &waiting);
	char others[80] = "";

	if (ctl->options[OPTION_UNRECONCILED])
		count = waiting = 0;
	if (count == release->count)
		return ctl_fail(ctl, OUTCOME_FAILED, "not_reconciled",
			"the file of dealer %s was not "
			"compared since the restore, or something in it is to be mended, and nothing "
			"was released: run `creditbridgectl reconcile %s FILE` until it exits with 0, "
			"or give --unreconciled",
			first, first);
	if (count)
		snprintf(others, sizeof(others), " %zu stay%s held: not reconciled.", count,
			count == 1 ? "s" : "");
	snprintf(question, RELEASE_QUESTION_SIZE,
		"Release the callbacks of %zu dealer%s? The sweeper then sends %llu of them.%s",
		release->count - count, release->count - count == 1 ? "" : "s",
		(unsigned long long)(release->callbacks - waiting), others);
	return OUTCOME_DONE;
}

/*
 * Asks on a terminal; otherwise releases only with --yes. Returns false if the command remains a
 * preview, or after an error in *code.
 */
static bool is_agreed(struct ctl *ctl, const struct release *release, enum outcome *code)
{
	char question[RELEASE_QUESTION_SIZE];

	if (!release->count || (!ctl->options[OPTION_YES] && !ctl_can_ask()))
		return false;
	if (!ctl->session.operator.reason[0]) {
		*code = ctl_usage(ctl, "--reason must be given");
		return false;
	}
	*code = check_reconciled(ctl, release, question);
	return *code == OUTCOME_DONE && ctl_confirm(ctl, question, code);
}

/* Reports the dealers that were not released, and how many were. */
static void report_lifted(struct ctl *ctl, const struct release *release)
{
	size_t released = 0;

	for (size_t i = 0; i < release->count; i++) {
		const struct held_dealer *dealer = &release->dealers[i];

		released += dealer->released;
		if (dealer->failure.id[0])
			ctl_tell(dealer->failure.id, "dealer %s: %s", dealer->casino_id,
				dealer->failure.detail);
		else if (!dealer->released)
			ctl_tell("not_tried",
				"dealer %s was not tried: the ledger failed at an earlier one",
				dealer->casino_id);
	}
	if (ctl->json)
		return;
	if (released == release->count)
		printf("Released: the sweeper sends them at its next turn.\n");
	else
		printf("Released: %zu of %zu dealers; the sweeper sends theirs at its next turn.\n",
			released, release->count);
}

static void add_dealer_item(struct output_json *json, const struct held_dealer *dealer)
{
	struct output_json item, error;

	output_json_open(&item, json->ctl);
	output_json_fields(&item, held_fields, dealer);
	if (dealer->failure.id[0]) {
		output_json_open(&error, json->ctl);
		output_json_string(&error, "id", dealer->failure.id);
		output_json_string(&error, "detail", dealer->failure.detail);
		output_json_object(&item, "error", &error);
	}
	output_json_item_object(json, &item);
}

static enum outcome run_release(struct ctl *ctl, struct preview *preview)
{
	struct output_json *json = &preview->json;
	struct release *release = &preview->release;
	uint64_t limit;
	enum outcome code = ctl_limit(ctl, SHOWN_STANDARD, &limit), lift = OUTCOME_DONE;
	bool lifted;

	if (code == OUTCOME_DONE)
		code = release_find_dealers(release, ctl->args[0]);
	if (code != OUTCOME_DONE)
		return code;
	output_json_open(json, ctl);
	code = print_preview(preview, limit);
	lifted = code == OUTCOME_DONE && is_agreed(ctl, release, &code);
	if (lifted)
		lift = release_lift(release, ctl->options[OPTION_UNRECONCILED] != NULL);
	if (code != OUTCOME_DONE) {
		buffer_free(&json->text);
		return code;
	}
	output_json_list_open(json, "dealers");
	for (size_t i = 0; i < release->count; i++)
		add_dealer_item(json, &release->dealers[i]);
	output_json_list_close(json);
	output_json_bool(json, "released", lifted && lift == OUTCOME_DONE);
	if (lifted)
		report_lifted(ctl, release);
	else if (!ctl->json)
		printf("%s\n",
			release->count
				? "Nothing was released: --yes and --reason=TEXT release them."
				: "No dealer's callbacks are held.");
	code = output_json_close(json);
	return code == OUTCOME_DONE ? lift : code;
}

enum outcome ctl_release(struct ctl *ctl)
{
	struct preview preview = {.ctl = ctl};
	enum outcome code;

	if (!release_init(&preview.release, &ctl->session))
		return ctl_no_memory(ctl);
	code = run_release(ctl, &preview);
	release_free(&preview.release);
	return code;
}

enum outcome ctl_dealer_hold(struct ctl *ctl)
{
	struct dealer_put_result result = {.dealer = {.callbacks_held_ms = 0}};
	struct output_json json;
	char casino_id[CASINO_ID_SIZE];
	enum outcome code = names_read_casino_id(&ctl->session, ctl->args[0], casino_id);

	/* The ledger replaces the 1 by its own time. */
	if (code == OUTCOME_DONE)
		code = release_set_held(&ctl->session, casino_id, 1, false, &result);
	if (code != OUTCOME_DONE)
		return code;
	if (!ctl->json)
		printf("The callbacks of dealer %s are held until `creditbridgectl release %s`.\n",
			result.dealer.casino_id, result.dealer.casino_id);
	output_json_open(&json, ctl);
	output_json_string(&json, "casino_id", result.dealer.casino_id);
	output_json_number(&json, "callbacks_held_ms", (uint64_t)result.dealer.callbacks_held_ms);
	return output_json_close(&json);
}
