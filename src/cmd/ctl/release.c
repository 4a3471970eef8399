/*
 * release - implements `release` and `dealer hold`: releases or holds all callbacks of a dealer
 * at once.
 *
 * A restore or an import holds the callbacks of every dealer (ledger/outbox/hold.h). `release`
 * first shows the callbacks that would be sent. It lifts the hold only if the operator agrees,
 * and only for dealers whose file was compared since.
 */
#include "cmd/ctl/ctl.h"

#include "admin/list.h"
#include "admin/names.h"
#include "cmd/ctl/callback.h"
#include "cmd/ctl/output.h"
#include "wire/signature.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN_STANDARD 100

/* A dealer whose callbacks are held. */
struct held_dealer {
	char casino_id[CASINO_ID_SIZE];
	int64_t callbacks_held_ms;
	int64_t restored_ms; /* as in struct dealer: the dealer's file must be compared */
	int64_t restored_to_ms;
	uint64_t callbacks; /* number of waiting callbacks */
	bool released;
};

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

/* A callback that would be sent. */
struct waiting_row {
	char webhook_id[CALLBACK_EVENT_ID_SIZE];
	int64_t created_ms;
	char casino_id[CASINO_ID_SIZE];
	char user_id[EXTERNAL_ID_SIZE];
	char game_id[EXTERNAL_ID_SIZE];
	money_t amount;
	uint64_t transaction_id;
	uint32_t attempts;
	char bet[16]; /* the state of the bet, or the result of the round */
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

struct release {
	struct ctl *ctl;
	struct held_dealer *dealers; /* room for DEALERS_MAX, sorted by casino_id */
	size_t count;
	uint64_t callbacks;
	uint64_t limit; /* rows to show */
	struct output_list list;
	struct output_json json;
};

static int compare_names(const void *name, const void *dealer)
{
	return strcmp(name, ((const struct held_dealer *)dealer)->casino_id);
}

static struct held_dealer *find_held(const struct release *release, const char *casino_id)
{
	return bsearch(casino_id, release->dealers, release->count, sizeof(release->dealers[0]),
		compare_names);
}

static void note_dealer(struct release *release, const struct dealer *dealer)
{
	struct held_dealer *held = &release->dealers[release->count];

	if (!dealer->callbacks_held_ms || release->count == DEALERS_MAX)
		return;
	memset(held, 0, sizeof(*held));
	memcpy(held->casino_id, dealer->casino_id, sizeof(held->casino_id));
	held->callbacks_held_ms = dealer->callbacks_held_ms;
	held->restored_ms = dealer->restored_ms;
	held->restored_to_ms = dealer->restored_to_ms;
	release->count++;
}

/* Finds the dealers to release: the named one, or all that are held. */
static enum outcome find_dealers(struct release *release)
{
	struct ctl *ctl = release->ctl;
	struct dealer dealer;
	struct list list;
	enum outcome code;

	if (!ctl->args[0]) {
		list_open(&list, &ctl->session, RECORD_DEALER, false, 0, NULL);
		while (list_next(&list, &dealer))
			note_dealer(release, &dealer);
		return list_end(&list, OUTCOME_DONE);
	}
	code = names_dealer(&ctl->session, ctl->args[0], &dealer);
	if (code != OUTCOME_DONE)
		return code;
	note_dealer(release, &dealer);
	return release->count ? OUTCOME_DONE
			      : ctl_fail(ctl, OUTCOME_FAILED, "not_held",
					"the callbacks of dealer %s are not held, so there is "
					"nothing to release", dealer.casino_id);
}

/* Fills in the amount that the callback asks the dealer to move, and the state of its bet. */
static enum outcome fill_money(struct ctl *ctl, const struct callback *callback,
	struct waiting_row *row)
{
	struct bet bet;
	struct round round;
	bool found = false;
	enum outcome code;

	if (callback->bet_number) {
		memset(&bet, 0, sizeof(bet));
		memcpy(bet.player_id, callback->player_id, sizeof(bet.player_id));
		memcpy(bet.game_id, callback->game_id, sizeof(bet.game_id));
		bet.number = callback->bet_number;
		code = list_fetch(&ctl->session, RECORD_BET, &bet, &found, NULL);
		row->amount = bet.bet_amount;
		row->transaction_id = bet.transaction_id;
		if (found)
			snprintf(row->bet, sizeof(row->bet), "%s", bet_state_names[bet.state]);
	} else {
		memset(&round, 0, sizeof(round));
		memcpy(round.player_id, callback->player_id, sizeof(round.player_id));
		memcpy(round.game_id, callback->game_id, sizeof(round.game_id));
		code = list_fetch(&ctl->session, RECORD_ROUND, &round, &found, NULL);
		row->amount = round.payout_amount;
		row->transaction_id = round.transaction_id;
		if (found)
			snprintf(row->bet, sizeof(row->bet), "%s", round_result_names[round.result]);
	}
	return code;
}

static enum outcome add_waiting(struct release *release, const struct callback_row *callback)
{
	struct waiting_row row;
	enum outcome code;

	memset(&row, 0, sizeof(row));
	callback_event_id(callback->callback.kind, callback->callback.event, row.webhook_id);
	row.created_ms = callback->callback.created_ms;
	memcpy(row.casino_id, callback->callback.casino_id, sizeof(row.casino_id));
	memcpy(row.user_id, callback->user_id, sizeof(row.user_id));
	memcpy(row.game_id, callback->callback.game_id, sizeof(row.game_id));
	row.attempts = callback->callback.attempts;
	code = fill_money(release->ctl, &callback->callback, &row);
	if (code != OUTCOME_DONE)
		return code;
	output_list_add(&release->list, &row);
	output_json_item(&release->json, waiting_fields, &row);
	return OUTCOME_DONE;
}

/* Shows the first waiting callbacks in full, and counts all. */
static enum outcome show_waiting(struct release *release)
{
	struct callback_row callback;
	struct held_dealer *held;
	struct list list;
	struct due due;
	bool found;
	enum outcome code = OUTCOME_DONE;

	list_open(&list, &release->ctl->session, RECORD_DUE, false, 0, NULL);
	while (code == OUTCOME_DONE && list_next(&list, &due)) {
		held = find_held(release, due.casino_id);
		if (!held)
			continue;
		held->callbacks++;
		if (release->callbacks++ >= release->limit)
			continue;
		code = callback_row_fetch(&release->ctl->session, due.event, &callback, &found);
		/* The callback may have ended meanwhile: an operator can cancel it. */
		if (code == OUTCOME_DONE && found)
			code = add_waiting(release, &callback);
	}
	return list_end(&list, code);
}

static enum outcome show_dealers(struct release *release)
{
	struct output_list list;

	output_title(release->ctl, "Dealers whose callbacks are held");
	output_list_open(&list, release->ctl, NULL, NULL, held_fields, held_columns);
	for (size_t i = 0; i < release->count; i++)
		output_list_add(&list, &release->dealers[i]);
	return output_list_close(&list, OUTCOME_DONE);
}

static enum outcome preview(struct release *release)
{
	enum outcome code;

	output_title(release->ctl, "Callbacks that would be sent");
	output_list_open(&release->list, release->ctl, NULL, NULL, waiting_fields, waiting_columns);
	output_json_list_open(&release->json, "callbacks");
	code = output_list_close(&release->list, show_waiting(release));
	output_json_list_close(&release->json);
	if (code == OUTCOME_DONE && release->callbacks > release->limit && !release->ctl->json)
		printf("and %llu more (--limit 0 shows all)\n",
			(unsigned long long)(release->callbacks - release->limit));
	return code == OUTCOME_DONE ? show_dealers(release) : code;
}

/* Releases the dealer if @held_ms is 0; otherwise holds it. */
static enum outcome set_held(struct ctl *ctl, const char *casino_id, int64_t held_ms,
	struct dealer_put_result *result)
{
	struct dealer_put_cmd cmd = {
		.operator = ctl->session.operator,
		.mask = UINT32_C(1) << DEALER_CALLBACKS_HELD,
		.dealer = {.callbacks_held_ms = held_ms},
	};

	cmd.unreconciled = ctl->options[OPTION_UNRECONCILED] != NULL;
	snprintf(cmd.dealer.casino_id, sizeof(cmd.dealer.casino_id), "%s", casino_id);
	if (!signature_random_id(cmd.operator.operation_id, sizeof(cmd.operator.operation_id)))
		return session_no_random(&ctl->session);
	return session_do(&ctl->session, COMMAND_DEALER_PUT, &cmd, result, NULL);
}

static enum outcome lift(struct release *release)
{
	struct ctl *ctl = release->ctl;
	struct dealer_put_result result;
	enum outcome code = OUTCOME_DONE;

	for (size_t i = 0; i < release->count && code == OUTCOME_DONE; i++) {
		code = set_held(ctl, release->dealers[i].casino_id, 0, &result);
		release->dealers[i].released = code == OUTCOME_DONE;
	}
	return code;
}

/* Returns a dealer that the ledger would refuse to release; NULL if there is none. */
static const char *find_unreconciled(const struct release *release)
{
	size_t i = 0;

	while (i < release->count && !release->dealers[i].restored_ms)
		i++;
	return i < release->count && !release->ctl->options[OPTION_UNRECONCILED]
		? release->dealers[i].casino_id
		: NULL;
}

/*
 * Asks on a terminal; otherwise releases only with --yes. Returns false if the command remains a
 * preview, or after an error in *code.
 */
static bool agreed(struct release *release, enum outcome *code)
{
	struct ctl *ctl = release->ctl;
	const char *unreconciled = find_unreconciled(release);
	char question[160];

	if (!release->count || (!ctl->options[OPTION_YES] && !ctl_can_ask()))
		return false;
	if (!ctl->session.operator.reason[0]) {
		*code = ctl_usage(ctl, "--reason must be given");
		return false;
	}
	if (unreconciled) {
		*code = ctl_fail(ctl, OUTCOME_FAILED, "not_reconciled", "the file of dealer %s was not "
			"compared since the restore, or something in it is to be mended, and nothing "
			"was released: run `creditbridgectl reconcile %s FILE` until it exits with 0, "
			"or give --unreconciled", unreconciled, unreconciled);
		return false;
	}
	snprintf(question, sizeof(question), "Release the callbacks of %zu dealer%s? The sweeper "
		"then sends %llu of them.", release->count, release->count == 1 ? "" : "s",
		(unsigned long long)release->callbacks);
	return ctl_confirm(ctl, question, code);
}

static enum outcome run(struct release *release)
{
	struct output_json *json = &release->json;
	enum outcome code = ctl_limit(release->ctl, SHOWN_STANDARD, &release->limit);
	bool lifted;

	if (code == OUTCOME_DONE)
		code = find_dealers(release);
	if (code != OUTCOME_DONE)
		return code;
	output_json_open(json, release->ctl);
	code = preview(release);
	lifted = code == OUTCOME_DONE && agreed(release, &code);
	if (lifted)
		code = lift(release);
	if (code != OUTCOME_DONE) {
		buffer_free(&json->text);
		return code;
	}
	output_json_list_open(json, "dealers");
	for (size_t i = 0; i < release->count; i++)
		output_json_item(json, held_fields, &release->dealers[i]);
	output_json_list_close(json);
	output_json_bool(json, "released", lifted);
	if (!release->ctl->json)
		printf("%s\n", lifted ? "Released: the sweeper sends them at its next turn."
			: release->count ? "Nothing was released: --yes and --reason=TEXT release them."
					 : "No dealer's callbacks are held.");
	return output_json_close(json);
}

enum outcome ctl_release(struct ctl *ctl)
{
	struct release release = {.ctl = ctl};
	enum outcome code;

	release.dealers = calloc(DEALERS_MAX, sizeof(*release.dealers));
	if (!release.dealers)
		return ctl_no_memory(ctl);
	code = run(&release);
	free(release.dealers);
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
		code = set_held(ctl, casino_id, 1, &result);
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
