/*
 * find - asks the cells for the row that the arguments of a command name.
 */
#include "cmd/ctl/cells/cells.h"

#include "admin/keys.h"
#include "admin/list.h"
#include "base/text.h"
#include "domain/callback.h"
#include "domain/player_id.h"

#include <stdio.h>
#include <string.h>

/* The row that is looked for. */
struct wanted {
	enum record record;
	union wanted_row {
		struct dealer dealer;
		struct player_name player;
		struct transaction transaction;
		struct callback callback;
		struct replay replay;
	} row;
	char name[EXTERNAL_ID_SIZE + 32]; /* "dealer demo" */
	unsigned int first;               /* the cell that is asked first */
};

/*
 * Once a cell has the row, the others are asked only whether they have it, too. One that is down must not
 * delay commands on what the others have.
 */
#define OTHER_CELL_MS 500

/* What the cells answered. */
struct answers {
	bool has[CELLS_MAX];                     /* the cells that have the row */
	char dealers[CELLS_MAX][CASINO_ID_SIZE]; /* of a dealer's or player's row in each of them */
	unsigned int found;                      /* how many have the row */
	unsigned int at, other;                  /* the first that has it, and the last */
	unsigned int silent;                     /* how many could not be asked */
	unsigned int silent_at;                  /* the first of them */
	enum outcome silent_code;                /* and why */
	struct failure silent_why;
};

/*
 * Looks for the row in the cell of the session. Sets *row if it is *found. A failure is in session->failure and not
 * reported.
 */
static enum outcome look_up(struct ctl *ctl, const struct wanted *wanted, union wanted_row *row,
	bool *found)
{
	session_report *const report = session_quiet(&ctl->session);
	enum outcome code;

	*row = wanted->row;
	*found = false;
	code = list_fetch(&ctl->session, wanted->record, row, found, NULL);
	ctl->session.report = report;
	return code;
}

/* A dealer that was suspended in one of two cells, or has left, is served by the other one. */
static bool serves_dealer(struct ctl *ctl, const char *casino_id)
{
	const bool lacked_role = ctl->session.lacked_role;
	struct keyring dealers = {.entries = NULL};
	const struct keyring_entry *entry;
	bool serves = true;

	/* Without the role to read keys, the row decides. The command itself lacks nothing. */
	if (keys_try(&ctl->session, KEYRING_DEALERS, &dealers)) {
		entry = keyring_find(&dealers, casino_id);
		serves = entry && !entry->yields;
	}
	keyring_free(&dealers);
	ctl->session.lacked_role = lacked_role;
	return serves;
}

static void note_found(struct answers *answers, unsigned int at)
{
	if (!answers->found++)
		answers->at = at;
	answers->other = at;
	answers->has[at] = true;
}

static void ask_cell(struct ctl *ctl, struct ctl_cells *cells, unsigned int at,
	const struct wanted *wanted, struct answers *answers)
{
	union wanted_row row;
	bool found;
	enum outcome code;

	cells_enter(ctl, cells, at);
	if (answers->found && ctl->session.settings.ledger_deadline_ms > OTHER_CELL_MS)
		ctl->session.settings.ledger_deadline_ms = OTHER_CELL_MS;
	code = look_up(ctl, wanted, &row, &found);
	if (code != OUTCOME_DONE && !answers->silent++) {
		answers->silent_at = at;
		answers->silent_code = code;
		answers->silent_why = ctl->session.failure;
	}
	if (code != OUTCOME_DONE || !found)
		return;
	note_found(answers, at);
	if (wanted->record == RECORD_DEALER || wanted->record == RECORD_PLAYER_NAME)
		text_copy(answers->dealers[at], CASINO_ID_SIZE,
			wanted->record == RECORD_DEALER ? row.dealer.casino_id
							: row.player.casino_id);
}

/*
 * Leaves out the cells whose dealer yields to another one: during a move, both cells have the rows of its players, too.
 * Reading all keys is slow, so it is done only if another cell has the row, or may have the dealer.
 */
static void drop_yielding(struct ctl *ctl, struct ctl_cells *cells, const struct wanted *wanted,
	struct answers *answers)
{
	const struct answers before = *answers;
	const unsigned int may_have =
		before.found + (wanted->record == RECORD_DEALER ? before.silent : 0);

	if (wanted->record == RECORD_REPLAY || !before.found || may_have < 2)
		return;
	answers->found = 0;
	for (unsigned int i = 0; i < cells->list.count; i++) {
		if (!before.has[i])
			continue;
		cells_enter(ctl, cells, i);
		answers->has[i] = false;
		if (serves_dealer(ctl, before.dealers[i]))
			note_found(answers, i);
	}
	if (!answers->found)
		*answers = before;
}

static void ask_cells(struct ctl *ctl, struct ctl_cells *cells, const struct wanted *wanted,
	struct answers *answers)
{
	/* These can be in two cells: ids of transactions and events have the number of their cell. */
	const bool all = wanted->record == RECORD_DEALER || wanted->record == RECORD_REPLAY ||
		wanted->record == RECORD_PLAYER_NAME;

	*answers = (struct answers){.found = 0};
	ask_cell(ctl, cells, wanted->first, wanted, answers);
	for (unsigned int i = 0; i < cells->list.count && (all || !answers->found); i++) {
		if (i != wanted->first)
			ask_cell(ctl, cells, i, wanted, answers);
	}
	drop_yielding(ctl, cells, wanted, answers);
}

/* Reports that a cell which may have the row could not be asked. */
static enum outcome refuse_silent(struct ctl *ctl, struct ctl_cells *cells,
	const struct wanted *wanted, const struct answers *answers, const char *effect)
{
	cells_enter(ctl, cells, answers->silent_at);
	return ctl_fail(ctl, answers->silent_code, answers->silent_why.id,
		"cell %s cannot be asked for %s%s: %.600s",
		cells->list.cells[answers->silent_at].name, wanted->name, effect,
		answers->silent_why.detail);
}

/* Returns true if the dealer that is looked for moves. */
static bool is_moving(struct ctl *ctl, struct ctl_cells *cells, const struct wanted *wanted,
	char to[CELL_NAME_SIZE])
{
	return wanted->record == RECORD_DEALER &&
		cells_on_the_way(ctl, cells, wanted->row.dealer.casino_id, to);
}

static enum outcome choose_cell(struct ctl *ctl, struct ctl_cells *cells,
	const struct wanted *wanted)
{
	struct answers answers;
	char to[CELL_NAME_SIZE];

	ask_cells(ctl, cells, wanted, &answers);
	if (answers.found > 1)
		return ctl_fail(ctl, OUTCOME_FAILED, "ambiguous",
			"%s is in cell %s and in cell %s: name one with --cell%s", wanted->name,
			cells->list.cells[answers.at].name, cells->list.cells[answers.other].name,
			wanted->record == RECORD_REPLAY ? ""
							: ", and see `creditbridgectl doctor`");
	if (!answers.found && answers.silent)
		return refuse_silent(ctl, cells, wanted, &answers, ", and no other has it");
	if (!answers.found && is_moving(ctl, cells, wanted, to))
		return ctl_fail(ctl, OUTCOME_FAILED, "not_allowed_now",
			"%s moves to cell %s, and no cell serves it now: `creditbridgectl dealer move %s "
			"--to %s` goes on",
			wanted->name, to, wanted->row.dealer.casino_id, to);
	cells_enter(ctl, cells, answers.found ? answers.at : wanted->first);
	return OUTCOME_DONE;
}

/* ---- what the arguments name */

static bool want_dealer(struct wanted *wanted, const char *text, size_t len)
{
	wanted->record = RECORD_DEALER;
	if (!text_copy_len(wanted->row.dealer.casino_id, CASINO_ID_SIZE, text, len) ||
		!text_is_name(wanted->row.dealer.casino_id, CASINO_ID_SIZE - 1))
		return false;
	snprintf(wanted->name, sizeof(wanted->name), "dealer %s", wanted->row.dealer.casino_id);
	return true;
}

/* Sets the cell that is asked first: the one that the id points to. */
static void hint_player_cell(struct wanted *wanted, const struct ctl_cells *cells)
{
	const unsigned int number = player_id_number(wanted->row.player.player_id);

	for (unsigned int i = 0; number && i < cells->list.count; i++) {
		if (cells->list.cells[i].ledger_number == number)
			wanted->first = i;
	}
}

/* CASINO, CASINO/USER or PLAYER_ID */
static bool want_player(struct wanted *wanted, const struct ctl *ctl, const struct ctl_cells *cells)
{
	const char *text = ctl->args[0], *slash = text ? strchr(text, '/') : NULL;

	if (slash)
		return want_dealer(wanted, text, (size_t)(slash - text));
	wanted->record = RECORD_PLAYER_NAME;
	if (!text || !text_copy(wanted->row.player.player_id, PLAYER_ID_SIZE, text))
		return false;
	snprintf(wanted->name, sizeof(wanted->name), "player %s", text);
	hint_player_cell(wanted, cells);
	return true;
}

/* Sets the cell that is asked first: the one that made the id. */
static void hint_cell(struct wanted *wanted, const struct ctl_cells *cells, uint64_t id)
{
	const struct cell_file *cell = cells_of_id(&cells->list, id);

	if (cell)
		wanted->first = (unsigned int)(cell - cells->list.cells);
}

static bool want_transaction(struct wanted *wanted, const struct ctl_cells *cells, const char *text)
{
	uint64_t id;

	wanted->record = RECORD_TRANSACTION;
	if (!text_unsigned(text, TRANSACTION_ID_MAX, &id))
		return false;
	wanted->row.transaction.transaction_id = id;
	snprintf(wanted->name, sizeof(wanted->name), "transaction %.32s", text);
	hint_cell(wanted, cells, id);
	return true;
}

static bool want_event(struct wanted *wanted, const struct ctl_cells *cells, const char *text)
{
	enum callback_kind kind;
	uint64_t event;

	wanted->record = RECORD_CALLBACK;
	if (!callback_event_read(text, &event, &kind))
		return false;
	wanted->row.callback.event = event;
	snprintf(wanted->name, sizeof(wanted->name), "callback %.32s", text);
	hint_cell(wanted, cells, event);
	return true;
}

static bool want_replay(struct wanted *wanted, const char *text)
{
	wanted->record = RECORD_REPLAY;
	if (!text_unsigned(text, INT64_MAX, &wanted->row.replay.id))
		return false;
	snprintf(wanted->name, sizeof(wanted->name), "replay %.32s", text);
	return true;
}

/* The dealer of --casino or --user. */
static bool want_casino(struct wanted *wanted, const struct ctl *ctl)
{
	const char *casino = ctl->options[OPTION_CASINO], *user = ctl->options[OPTION_USER];
	const char *slash = user ? strchr(user, '/') : NULL;

	if (casino)
		return want_dealer(wanted, casino, strlen(casino));
	return ctl_has_option(ctl, OPTION_CASINO) && slash &&
		want_dealer(wanted, user, (size_t)(slash - user));
}

/* Returns false if the arguments name no row, or not in the right form: the command refuses that. */
static bool read_wanted(struct wanted *wanted, const struct ctl *ctl, const struct ctl_cells *cells,
	enum cells_way way)
{
	const char *first = ctl->arg_count ? ctl->args[0] : NULL;

	memset(wanted, 0, sizeof(*wanted));
	switch (way) {
	case CELLS_DEALER:
	case CELLS_NEW_DEALER:
		return first && want_dealer(wanted, first, strlen(first));
	case CELLS_PLAYER:
		return ctl->arg_count == 2 && !strchr(first, '/') && ctl->command->args_max == 2
			? want_dealer(wanted, first, strlen(first))
			: want_player(wanted, ctl, cells);
	case CELLS_TRANSFER:
		return ctl->options[OPTION_TRANSACTION]
			? want_transaction(wanted, cells, ctl->options[OPTION_TRANSACTION])
			: first && want_dealer(wanted, first, strlen(first));
	case CELLS_BET:
		return ctl->arg_count == 1 ? want_transaction(wanted, cells, first)
					   : want_player(wanted, ctl, cells);
	case CELLS_EVENTS:
		return first && want_event(wanted, cells, first);
	case CELLS_REPLAY:
		return first && want_replay(wanted, first);
	default:
		return want_casino(wanted, ctl);
	}
}

/* Moves to the cell of the first event, and checks that the other events are there, too. */
static enum outcome choose_events(struct ctl *ctl, struct ctl_cells *cells, struct wanted *wanted)
{
	enum outcome code = choose_cell(ctl, cells, wanted);
	const unsigned int at = cells->at;
	union wanted_row row;
	bool found = true;

	for (unsigned int i = 1; i < ctl->arg_count && code == OUTCOME_DONE; i++) {
		if (!want_event(wanted, cells, ctl->args[i]))
			continue;
		if (cells_of_id(&cells->list, wanted->row.callback.event) == &cells->list.cells[at])
			continue;
		code = look_up(ctl, wanted, &row, &found);
		if (code != OUTCOME_DONE || found)
			continue;
		return ctl_usage(ctl,
			"%s is not in cell %s, where %.40s is: name the events of one cell at a time",
			wanted->name, cells->list.cells[at].name, ctl->args[0]);
	}
	return code;
}

/* Refuses a name that another cell has, or may have. The session is in the cell of the new dealer after it. */
static enum outcome choose_new(struct ctl *ctl, struct ctl_cells *cells, unsigned int target,
	struct wanted *wanted)
{
	struct answers answers;
	char to[CELL_NAME_SIZE];

	wanted->first = target;
	ask_cells(ctl, cells, wanted, &answers);
	if (answers.found && (answers.at != target || answers.other != target))
		return ctl_fail(ctl, OUTCOME_FAILED, "already_exists",
			"%s is in cell %s: a dealer is in one cell only", wanted->name,
			cells->list.cells[answers.at != target ? answers.at : answers.other].name);
	if (answers.silent)
		return refuse_silent(ctl, cells, wanted, &answers,
			" and may have it, so nothing was done");
	if (!answers.found && is_moving(ctl, cells, wanted, to))
		return ctl_fail(ctl, OUTCOME_FAILED, "already_exists",
			"%s moves to cell %s: a dealer is in one cell only", wanted->name, to);
	cells_enter(ctl, cells, target);
	return OUTCOME_DONE;
}

enum outcome cells_find(struct ctl *ctl, struct ctl_cells *cells, enum cells_way way, bool *named)
{
	const unsigned int target = cells->at;
	struct wanted wanted;

	*named = false;
	if (way == CELLS_EVENTS && ctl->arg_count && strcmp(ctl->args[0], "-") == 0)
		return ctl_usage(ctl,
			"events from standard input need --cell NAME, because there are several cells");
	if (!read_wanted(&wanted, ctl, cells, way))
		return OUTCOME_DONE;
	*named = true;
	if (way == CELLS_NEW_DEALER)
		return choose_new(ctl, cells, target, &wanted);
	return way == CELLS_EVENTS ? choose_events(ctl, cells, &wanted)
				   : choose_cell(ctl, cells, &wanted);
}
