/*
 * reconcile - implements `reconcile`: compares a dealer's file with the ledger after a restore.
 */
#include "recon/reconcile.h"

#include "base/text.h"
#include "cmd/ctl/common/output.h"
#include "cmd/ctl/common/times.h"

#include <inttypes.h>
#include <string.h>

#define COMMAND_MAX 2048

static const char *const remedy_names[REMEDY_COUNT] = {"none", "add_player", "adjust", "cancel",
	"retry", "release", "sweep", "repeat", "ask_dealer"};

/* A difference as it is shown. */
struct shown_difference {
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
	FIELD_NAMED(shown_difference, record, recon_record_names, RECON_RECORD_COUNT),
	FIELD(FIELD_STR, shown_difference, id),
	FIELD(FIELD_STR, shown_difference, user_id),
	FIELD(FIELD_STR, shown_difference, game_id),
	COMPARED_FIELDS(shown_difference),
	FIELD_NAMED(shown_difference, remedy, remedy_names, REMEDY_COUNT),
	FIELD(FIELD_STR, shown_difference, command),
	FIELD(FIELD_STR, shown_difference, why),
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

static void copy_shown(char *to, size_t size, const char *text)
{
	snprintf(to, size, "%s", text ? text : "");
}

/* Appends a space, and @text as one word of a shell. */
static void put_shell_word(struct buffer *line, const char *text)
{
	buffer_append_str(line, " ");
	buffer_append_shell_word(line, text, strlen(text));
}

static void put_adjust(const struct reconcile *reconcile, const struct compared *theirs,
	struct buffer *line)
{
	char amount[MONEY_TEXT_MAX], id[OPERATION_ID_SIZE];

	money_format(theirs->amount, reconcile->dealer.decimals, amount);
	reconcile_operation(theirs, id);
	buffer_append_str(line, " player adjust");
	put_shell_word(line, reconcile->dealer.casino_id);
	put_shell_word(line, theirs->user_id);
	buffer_printf(line, " %s --operation-id %s --reason", amount, id);
	buffer_printf(line, " 'reconciled: transaction %s of the dealer'", theirs->id);
}

/* Appends the command that resolves the difference; nothing if there is none. */
static void put_command(const struct ctl *ctl, const struct reconcile *reconcile,
	const struct proposal *proposal, char command[COMMAND_MAX])
{
	const char *config = ctl->options[OPTION_CONFIG];
	struct buffer line;

	buffer_init(&line, COMMAND_MAX - 1);
	buffer_append_str(&line, "creditbridgectl");
	if (config) {
		buffer_append_str(&line, " --config");
		put_shell_word(&line, config);
	}
	switch (proposal->remedy) {
	case REMEDY_ADD_PLAYER:
		buffer_append_str(&line, " player add");
		put_shell_word(&line, reconcile->dealer.casino_id);
		put_shell_word(&line, proposal->theirs.user_id);
		break;
	case REMEDY_ADJUST:
		put_adjust(reconcile, &proposal->theirs, &line);
		break;
	case REMEDY_CANCEL:
		buffer_printf(&line, " callback cancel --yes --reason '%s' %s", proposal->why,
			proposal->ours.id);
		break;
	case REMEDY_RETRY:
		buffer_printf(&line, " callback retry --yes --reason reconciled %s",
			proposal->ours.id);
		break;
	case REMEDY_SWEEP:
		buffer_append_str(&line, " sweep");
		break;
	case REMEDY_RELEASE:
		if (reconcile_waits_for_release(proposal))
			buffer_reset(&line);
		else
			buffer_printf(&line, " callback release --reason reconciled %s",
				proposal->ours.id);
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

static void fill_shown(const struct ctl *ctl, const struct reconcile *reconcile,
	const struct proposal *proposal, struct shown_difference *row)
{
	const struct compared *ours = proposal->ours.id ? &proposal->ours : NULL;
	const struct compared *theirs = proposal->theirs.id ? &proposal->theirs : NULL;
	/* at least one side exists */
	const struct compared *any = ours ? ours : &proposal->theirs;

	memset(row, 0, sizeof(*row));
	row->record = any->record;
	row->remedy = proposal->remedy;
	copy_shown(row->id, sizeof(row->id), any->id);
	copy_shown(row->user_id, sizeof(row->user_id), any->user_id);
	copy_shown(row->game_id, sizeof(row->game_id), any->game_id);
	copy_shown(row->why, sizeof(row->why), proposal->why);
	compared_show(ours, reconcile->dealer.decimals, row->our_amount, row->our_state);
	compared_show(theirs, reconcile->dealer.decimals, row->their_amount, row->their_state);
	put_command(ctl, reconcile, proposal, row->command);
}

/* Prints a line for a shell, after a comment with the reason. */
static void print_step(const struct shown_difference *row)
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

static enum outcome print_proposals(struct ctl *ctl, struct reconcile *reconcile)
{
	struct output_list list;
	struct output_json json;
	struct shown_difference row;
	const size_t open = reconcile_count_open(reconcile);
	bool noted = false;
	char time[TEXT_TIME_SIZE];
	enum outcome code;

	output_list_open(&list, ctl, NULL, NULL, shown_fields, shown_columns);
	output_json_open(&json, ctl);
	output_json_string(&json, "casino_id", reconcile->dealer.casino_id);
	output_json_list_open(&json, "differences");
	for (size_t i = 0; i < reconcile->count; i++) {
		fill_shown(ctl, reconcile, &reconcile->proposals[i], &row);
		output_list_add(&list, &row);
		output_json_item(&json, shown_fields, &row);
	}
	output_json_list_close(&json);
	output_json_number(&json, "rows", reconcile->theirs.count);
	output_json_number(&json, "open", open);
	output_json_bool(&json, "ok", open == 0);
	code = output_list_close(&list, OUTCOME_DONE);
	if (code == OUTCOME_DONE && !open && reconcile->dealer.restored_ms && reconcile->covers) {
		code = reconcile_record(reconcile);
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
		fill_shown(ctl, reconcile, &reconcile->proposals[i], &row);
		print_step(&row);
	}
	if (!ctl->json)
		printf("%zu rows of the dealer's, %zu to be mended%s\n", reconcile->theirs.count,
			open,
			open ? "; then run reconcile again"
				: noted || !reconcile->dealer.restored_ms
				? ": the dealer can be released"
				: "");
	if (output_json_close(&json) != OUTCOME_DONE)
		code = OUTCOME_FAILED;
	if (open || noted || !reconcile->dealer.restored_ms)
		return code == OUTCOME_DONE && open ? OUTCOME_FAILED : code;
	times_text(reconcile->dealer.restored_to_ms, time);
	ctl_tell("not_covered",
		"the newest row of %s is older than the restored data (%s): give a newer "
		"file, or this one with --complete if the dealer did nothing since",
		ctl->args[1], time);
	return OUTCOME_FAILED;
}

static enum outcome load_sides(struct ctl *ctl, struct reconcile *reconcile)
{
	enum outcome code =
		recon_side_load(&reconcile->theirs, &ctl->session, ctl->args[1], false, UINT32_MAX);

	if (code == OUTCOME_DONE)
		code = reconcile_begin(reconcile, ctl->args[0]);
	if (code != OUTCOME_DONE)
		return code;
	if (ctl->options[OPTION_COMPLETE])
		reconcile->covers = true;
	code = times_read(ctl, OPTION_SINCE, &reconcile->dealer, false, &reconcile->since_ms);
	if (code != OUTCOME_DONE)
		return code;
	if (!reconcile->since_ms)
		ctl_tell(NULL,
			"the file has no column 'time_ms', so rows that the dealer "
			"lacks are not searched; give --since");
	return reconcile_load_ours(reconcile);
}

enum outcome ctl_reconcile(struct ctl *ctl)
{
	struct reconcile reconcile = {.session = &ctl->session};
	enum outcome code = load_sides(ctl, &reconcile);

	if (code == OUTCOME_DONE)
		code = reconcile_judge(&reconcile);
	if (code == OUTCOME_DONE)
		code = print_proposals(ctl, &reconcile);
	reconcile_free(&reconcile);
	return code;
}
