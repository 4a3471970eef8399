/*
 * reconcile - implements `reconcile`: compares a dealer's file with the ledger after a restore.
 */
#include "cmd/ctl/reconcile.h"

#include "admin/list.h"
#include "admin/names.h"
#include "admin/seek.h"
#include "base/text.h"
#include "cmd/ctl/callback_row.h"
#include "cmd/ctl/output.h"
#include "wire/signature.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define COMMAND_MAX 2048

static const char *const remedy_names[REMEDY_COUNT] = {"none", "add_player", "adjust", "cancel",
	"retry", "release", "sweep", "repeat", "ask_dealer"};

/* Texts of one of our rows, which the row itself does not contain. */
struct our_text {
	struct our_text *next;
	char id[EXTERNAL_ID_SIZE];
	char state[32];
	char kind[32];
	char user_id[EXTERNAL_ID_SIZE];
	char game_id[EXTERNAL_ID_SIZE];
	char reference[EXTERNAL_ID_SIZE];
};

/* A difference as it is shown. */
struct shown {
	enum recon_record record;
	char id[EXTERNAL_ID_SIZE];
	char user_id[EXTERNAL_ID_SIZE];
	char game_id[EXTERNAL_ID_SIZE];
	COMPARED_MEMBERS;
	enum remedy remedy;
	char command[COMMAND_MAX]; /* "": no command resolves it */
	char why[256];
};

static const struct field shown_fields[] = {
	FIELD_NAMED(shown, record, recon_record_names, RECON_RECORD_COUNT),
	FIELD(FIELD_STR, shown, id),
	FIELD(FIELD_STR, shown, user_id),
	FIELD(FIELD_STR, shown, game_id),
	COMPARED_FIELDS(shown),
	FIELD_NAMED(shown, remedy, remedy_names, REMEDY_COUNT),
	FIELD(FIELD_STR, shown, command),
	FIELD(FIELD_STR, shown, why),
	FIELD_END,
};

static const struct output_column shown_columns[] = {
	{"RECORD", "record", OUTPUT_PLAIN},
	{"ID", "id", OUTPUT_PLAIN},
	{"USER", "user_id", OUTPUT_PLAIN},
	COMPARED_COLUMNS,
	{"REMEDY", "remedy", OUTPUT_PLAIN},
	{NULL, NULL, OUTPUT_PLAIN},
};

static void copy(char *to, size_t size, const char *text)
{
	snprintf(to, size, "%s", text ? text : "");
}

/* Extracts the number in a row's id: a transaction id, or the event of a webhook-id. */
static bool number_of(const struct compared *row, uint64_t *number)
{
	enum callback_kind kind;

	return row->record == RECON_CALLBACK ? callback_event_read(row->id, number, &kind)
					     : text_unsigned(row->id, TRANSACTION_ID_MAX, number);
}

/* Receives recon's rows and stores them instead of writing them. */
static bool keep(void *context, const struct recon_row *row)
{
	struct reconcile *reconcile = context;
	struct our_text *text = calloc(1, sizeof(*text));
	struct compared kept;

	if (!text)
		return false;
	text->next = reconcile->texts;
	reconcile->texts = text;
	copy(text->id, sizeof(text->id), row->id);
	copy(text->state, sizeof(text->state), row->state);
	copy(text->kind, sizeof(text->kind), row->kind);
	copy(text->user_id, sizeof(text->user_id), row->user_id);
	copy(text->game_id, sizeof(text->game_id), row->game_id);
	copy(text->reference, sizeof(text->reference), row->reference);
	kept = (struct compared){
		.id = text->id,
		.amount = (money_t)row->amount,
		.state = text->state,
		.kind = text->kind,
		.user_id = text->user_id,
		.game_id = text->game_id,
		.reference = text->reference,
		.transaction_id = row->transaction_id,
		.time_ms = row->time_ms,
	};
	while (kept.record < RECON_RECORD_COUNT &&
		strcmp(recon_record_names[kept.record], row->record) != 0)
		kept.record++;
	return recon_side_add(&reconcile->ours, &kept);
}

/* Removes duplicates, which exist if two rows of the dealer name one transaction. */
static void drop_twins(struct side *side)
{
	size_t kept = 0;

	recon_side_sort(side);
	for (size_t i = 0; i < side->count; i++) {
		if (!kept || compared_order_key(&side->rows[kept - 1], &side->rows[i]) != 0)
			side->rows[kept++] = side->rows[i];
	}
	side->count = kept;
}

/* Loads the rows that the dealer's file names and that the walk has not loaded. */
static enum outcome load_named(struct reconcile *reconcile, struct recon *recon)
{
	const struct side *theirs = &reconcile->theirs;
	enum outcome code = OUTCOME_DONE;
	uint64_t number;

	drop_twins(&reconcile->ours);
	for (size_t i = 0, met = reconcile->ours.count; i < theirs->count && code == OUTCOME_DONE; i++) {
		const struct side walked = {.rows = reconcile->ours.rows, .count = met};

		if (recon_side_find(&walked, theirs->rows[i].record, theirs->rows[i].id) ||
			!number_of(&theirs->rows[i], &number))
			continue;
		code = theirs->rows[i].record == RECON_CALLBACK
			? recon_write_callback(recon, number)
			: recon_write_transaction(recon, number);
	}
	return code;
}

/* Loads the callbacks that `release` would send, of any age. */
static enum outcome load_waiting(struct reconcile *reconcile, struct recon *recon)
{
	enum outcome code = OUTCOME_DONE;
	struct list list;
	struct due due;

	list_open(&list, &reconcile->ctl->session, RECORD_DUE, false, 0, NULL);
	while (code == OUTCOME_DONE && list_next(&list, &due)) {
		if (strcmp(due.casino_id, reconcile->dealer.casino_id) == 0)
			code = recon_write_callback(recon, due.event);
	}
	return list_end(&list, code);
}

static enum outcome load_ours(struct reconcile *reconcile)
{
	struct recon *recon = calloc(1, sizeof(*recon));
	enum outcome code = OUTCOME_DONE;

	if (!recon)
		return ctl_no_memory(reconcile->ctl);
	recon->session = &reconcile->ctl->session;
	recon->dealer = reconcile->dealer;
	recon->records = UINT32_MAX;
	recon->take = keep;
	recon->context = reconcile;
	recon->from_ms = reconcile->since_ms;
	recon->until_ms = INT64_MAX - SEEK_SLACK_MS;
	recon->names = calloc(RECON_NAMES, sizeof(*recon->names));
	if (!recon->names)
		code = ctl_no_memory(reconcile->ctl);
	if (code == OUTCOME_DONE && reconcile->since_ms)
		code = recon_write_transactions(recon);
	if (code == OUTCOME_DONE && reconcile->since_ms)
		code = recon_write_callbacks(recon);
	if (code == OUTCOME_DONE)
		code = load_named(reconcile, recon);
	if (code == OUTCOME_DONE)
		code = load_waiting(reconcile, recon);
	if (code == OUTCOME_DONE && recon->failed)
		code = ctl_no_memory(reconcile->ctl);
	drop_twins(&reconcile->ours);
	free(recon->names);
	free(recon);
	return code;
}

/* Appends @text quoted, so that a shell reads it as one word. */
static void put_word(struct buffer *line, const char *text)
{
	buffer_append_str(line, " '");
	for (; *text; text++) {
		if (*text == '\'')
			buffer_append_str(line, "'\\''");
		else
			buffer_append(line, text, 1);
	}
	buffer_append_str(line, "'");
}

static void put_adjust(const struct reconcile *reconcile, const struct compared *theirs,
	struct buffer *line)
{
	char amount[MONEY_TEXT_MAX], id[OPERATION_ID_SIZE];

	money_format(theirs->amount, reconcile->dealer.decimals, amount);
	reconcile_operation(theirs, id);
	buffer_append_str(line, " player adjust");
	put_word(line, reconcile->dealer.casino_id);
	put_word(line, theirs->user_id);
	buffer_printf(line, " %s --operation-id %s --reason", amount, id);
	buffer_printf(line, " 'reconciled: transaction %s of the dealer'", theirs->id);
}

/* Appends the command that resolves the difference; nothing if there is none. */
static void put_command(const struct reconcile *reconcile, const struct proposal *proposal,
	char command[COMMAND_MAX])
{
	const char *config = reconcile->ctl->options[OPTION_CONFIG];
	struct buffer line;

	buffer_init(&line, COMMAND_MAX - 1);
	buffer_append_str(&line, "creditbridgectl");
	if (config) {
		buffer_append_str(&line, " --config");
		put_word(&line, config);
	}
	switch (proposal->remedy) {
	case REMEDY_ADD_PLAYER:
		buffer_append_str(&line, " player add");
		put_word(&line, reconcile->dealer.casino_id);
		put_word(&line, proposal->theirs.user_id);
		break;
	case REMEDY_ADJUST:
		put_adjust(reconcile, &proposal->theirs, &line);
		break;
	case REMEDY_CANCEL:
		buffer_printf(&line, " callback cancel --yes --reason '%s' %s", proposal->why,
			proposal->ours.id);
		break;
	case REMEDY_RETRY:
		buffer_printf(&line, " callback retry --yes --reason reconciled %s", proposal->ours.id);
		break;
	case REMEDY_SWEEP:
		buffer_append_str(&line, " sweep");
		break;
	case REMEDY_RELEASE:
		/*
		 * A callback that is held individually still waits for the operator after its
		 * dealer is released.
		 */
		if (strcmp(proposal->ours.state, callback_state_names[CALLBACK_HELD]) == 0)
			buffer_printf(&line, " callback release --reason reconciled %s", proposal->ours.id);
		else
			buffer_reset(&line);
		break;
	case REMEDY_NONE:
	case REMEDY_REPEAT:
	case REMEDY_ASK:
	case REMEDY_COUNT:
		buffer_reset(&line);
		break;
	}
	snprintf(command, COMMAND_MAX, "%.*s", line.failed ? 0 : (int)line.len,
		line.data ? (const char *)line.data : "");
	buffer_free(&line);
}

static void fill(const struct reconcile *reconcile, const struct proposal *proposal,
	struct shown *row)
{
	const struct compared *ours = proposal->ours.id ? &proposal->ours : NULL;
	const struct compared *theirs = proposal->theirs.id ? &proposal->theirs : NULL;
	/* at least one side exists */
	const struct compared *any = ours ? ours : &proposal->theirs;

	memset(row, 0, sizeof(*row));
	row->record = any->record;
	row->remedy = proposal->remedy;
	copy(row->id, sizeof(row->id), any->id);
	copy(row->user_id, sizeof(row->user_id), any->user_id);
	copy(row->game_id, sizeof(row->game_id), any->game_id);
	copy(row->why, sizeof(row->why), proposal->why);
	compared_show(ours, reconcile->dealer.decimals, row->our_amount, row->our_state);
	compared_show(theirs, reconcile->dealer.decimals, row->their_amount, row->their_state);
	put_command(reconcile, proposal, row->command);
}

/* Prints a line for a shell, after a comment with the reason. */
static void print_step(const struct shown *row)
{
	char line[COMMAND_MAX + 512];

	snprintf(line, sizeof(line), "# %s %s%s%s: %s\n", recon_record_names[row->record], row->id,
		row->user_id[0] ? " of " : "", row->user_id, row->why);
	output_foreign(line, strlen(line));
	if (row->command[0]) {
		snprintf(line, sizeof(line), "%s\n", row->command);
		output_foreign(line, strlen(line));
	}
}

/* Makes the ledger record that no difference is open. `release` requires this after a restore. */
static enum outcome note(struct reconcile *reconcile)
{
	struct ctl *ctl = reconcile->ctl;
	struct dealer_put_result result;
	struct dealer_put_cmd cmd = {
		.operator = ctl->session.operator,
		.mask = UINT32_C(1) << DEALER_RECONCILED,
	};

	memcpy(cmd.dealer.casino_id, reconcile->dealer.casino_id, sizeof(cmd.dealer.casino_id));
	if (!signature_random_id(cmd.operator.operation_id, sizeof(cmd.operator.operation_id)))
		return session_no_random(&ctl->session);
	return session_do(&ctl->session, COMMAND_DEALER_PUT, &cmd, &result, NULL);
}

static enum outcome show(struct reconcile *reconcile)
{
	struct ctl *ctl = reconcile->ctl;
	struct output_list list;
	struct output_json json;
	struct shown row;
	uint64_t open = 0;
	bool noted = false;
	char time[TEXT_TIME_SIZE];
	enum outcome code;

	output_list_open(&list, ctl, NULL, NULL, shown_fields, shown_columns);
	output_json_open(&json, ctl);
	output_json_string(&json, "casino_id", reconcile->dealer.casino_id);
	output_json_list_open(&json, "differences");
	for (size_t i = 0; i < reconcile->count; i++) {
		fill(reconcile, &reconcile->proposals[i], &row);
		output_list_add(&list, &row);
		output_json_item(&json, shown_fields, &row);
		/* What only waits for the release of the dealer has no command. */
		open += row.remedy != REMEDY_NONE &&
			(row.remedy != REMEDY_RELEASE || row.command[0]);
	}
	output_json_list_close(&json);
	output_json_number(&json, "rows", reconcile->theirs.count);
	output_json_number(&json, "open", open);
	output_json_bool(&json, "ok", open == 0);
	code = output_list_close(&list, OUTCOME_DONE);
	if (code == OUTCOME_DONE && !open && reconcile->dealer.restored_ms && reconcile->covers) {
		code = note(reconcile);
		noted = code == OUTCOME_DONE;
	}
	if (code != OUTCOME_DONE) {
		buffer_free(&json.text);
		return code;
	}
	output_json_bool(&json, "covers", reconcile->covers);
	output_json_bool(&json, "noted", noted);
	if (!ctl->json && reconcile->count)
		output_title(ctl, "Steps, in this order");
	for (size_t i = 0; i < reconcile->count && !ctl->json; i++) {
		fill(reconcile, &reconcile->proposals[i], &row);
		print_step(&row);
	}
	if (!ctl->json)
		printf("%zu rows of the dealer's, %" PRIu64 " to be mended%s\n",
			reconcile->theirs.count, open,
			open ? "; then run reconcile again"
			     : noted || !reconcile->dealer.restored_ms ? ": the dealer can be released"
								       : "");
	if (output_json_close(&json) != OUTCOME_DONE)
		code = OUTCOME_FAILED;
	if (open || noted || !reconcile->dealer.restored_ms)
		return code == OUTCOME_DONE && open ? OUTCOME_FAILED : code;
	text_time(reconcile->dealer.restored_to_ms, time);
	ctl_tell("not_covered", "%s has no row of after %s, up to which the restored data is whole, so "
		"the dealer cannot be released by it: give a file that the dealer makes now",
		ctl->args[1], time);
	return OUTCOME_FAILED;
}

/*
 * Determines the time from which our rows are examined: --since, or the time of their oldest row,
 * or the time up to which restored data is complete.
 */
static enum outcome read_since(struct reconcile *reconcile)
{
	const char *since = reconcile->ctl->options[OPTION_SINCE];

	for (size_t i = 0; i < reconcile->theirs.count; i++) {
		int64_t time_ms = reconcile->theirs.rows[i].time_ms;

		if (time_ms && (!reconcile->since_ms || time_ms < reconcile->since_ms))
			reconcile->since_ms = time_ms;
		if (time_ms > reconcile->until_ms)
			reconcile->until_ms = time_ms;
	}
	/* A dealer that did nothing since has no row. */
	reconcile->covers =
		!reconcile->until_ms || reconcile->until_ms >= reconcile->dealer.restored_to_ms;
	if (!reconcile->until_ms)
		reconcile->until_ms =
			reconcile->dealer.restored_ms ? reconcile->dealer.restored_ms : clock_wall_ms();
	if (!reconcile->since_ms)
		reconcile->since_ms = reconcile->dealer.restored_to_ms;
	if (since && !ctl_time(since, &reconcile->since_ms))
		return ctl_usage(reconcile->ctl, "--since takes a time, such as 2025-01-31T12:00");
	if (!reconcile->since_ms)
		ctl_tell(NULL, "the file has no column 'time_ms', so rows that the dealer "
			"lacks are not searched; give --since");
	return OUTCOME_DONE;
}

static enum outcome load(struct reconcile *reconcile)
{
	struct ctl *ctl = reconcile->ctl;
	enum outcome code = recon_side_load(&reconcile->theirs, &ctl->session, ctl->args[1], false, UINT32_MAX);

	if (code == OUTCOME_DONE)
		code = names_dealer(&ctl->session, ctl->args[0], &reconcile->dealer);
	if (code == OUTCOME_DONE)
		code = read_since(reconcile);
	if (code != OUTCOME_DONE)
		return code;
	if (reconcile->theirs.casino_id[0] &&
		strcmp(reconcile->theirs.casino_id, reconcile->dealer.casino_id) != 0)
		return ctl_fail(ctl, OUTCOME_FAILED, "bad_file", "%s is of dealer %s, not of %s",
			ctl->args[1], reconcile->theirs.casino_id, reconcile->dealer.casino_id);
	return load_ours(reconcile);
}

enum outcome ctl_reconcile(struct ctl *ctl)
{
	struct reconcile reconcile = {.ctl = ctl};
	struct our_text *text;
	enum outcome code = load(&reconcile);

	if (code == OUTCOME_DONE)
		code = reconcile_judge(&reconcile);
	if (code == OUTCOME_DONE)
		code = show(&reconcile);
	while ((text = reconcile.texts) != NULL) {
		reconcile.texts = text->next;
		free(text);
	}
	recon_side_free(&reconcile.ours);
	recon_side_free(&reconcile.theirs);
	free(reconcile.results);
	free(reconcile.movements);
	free(reconcile.proposals);
	return code;
}
