/*
 * adopt - implements `adopt`: reports what a copied or moved state is, while no ledger runs.
 */
#include "ledger/offline/adopt.h"

#include "cmd/ctl/common/ctl.h"
#include "cmd/ctl/common/output.h"
#include "cmd/ctl/data/offline.h"
#include "cmd/ctl/data/revived.h"

#include <stdio.h>

static const struct field adopt_fields[] = {
	FIELD(FIELD_STR, adopt_result, installation),
	FIELD(FIELD_BOOL, adopt_result, copied),
	FIELD(FIELD_U64, adopt_result, last_transaction_id),
	FIELD(FIELD_TIME_MS, adopt_result, last_ms),
	FIELD(FIELD_U64, adopt_result, raised_by),
	FIELD(FIELD_U64, adopt_result, first_id),
	FIELD_END,
};

static void print_adopted(const struct ctl *ctl, const struct adopt_result *result)
{
	printf("%s is adopted as %s, installation %s.\n", ctl->session.settings.state_directory,
		result->copied ? "a copy" : "the only one", result->installation);
	offline_print_last(result->last_transaction_id, result->last_ms, result->first_id);
	if (result->copied && result->first_id)
		offline_print_steps();
}

/* Collects what the copy brought along. A row for which there is no memory is left out. */
static void add_copied(void *context, enum record record, const void *row)
{
	struct revived_lists *lists = context;
	struct revived one;

	if (revived_fill(&one, record, row))
		buffer_append(&lists->revived, &one, sizeof(one));
}

static enum outcome show_adopted(struct ctl *ctl, const struct adopt_result *result,
	struct revived_lists *lists)
{
	struct output_json json;
	enum outcome code = OUTCOME_DONE;

	if (!ctl->json)
		print_adopted(ctl, result);
	output_json_open(&json, ctl);
	output_json_string(&json, "state_directory", ctl->session.settings.state_directory);
	output_json_fields(&json, adopt_fields, result);
	offline_json_number(&json, result->first_id);
	if (result->copied)
		code = revived_show(ctl, &json, lists,
			"Copied with the data: these keys are valid here, too");
	return output_json_close(&json) == OUTCOME_DONE ? code : OUTCOME_FAILED;
}

/* Runs in the child. */
static enum outcome adopt_in_child(void *context)
{
	struct ctl *ctl = context;
	struct revived_lists lists;
	const struct adopt_options options = {
		.settings = &ctl->session.settings,
		.copied = ctl->options[OPTION_COPIED] != NULL,
		.accept_clock = ctl->options[OPTION_ACCEPT_CLOCK] != NULL,
		.operator= & ctl->session.operator,
		.now = clock_now(),
		.revived = add_copied,
		.rows_context = &lists,
	};
	struct adopt_result result;
	char why[512] = "";
	enum outcome code;
	enum status status;

	revived_init(&lists);
	status = adopt_run(&options, &result, why, sizeof(why));
	code = status ? offline_fail(ctl, status, why) : show_adopted(ctl, &result, &lists);
	revived_free(&lists);
	return code;
}

enum outcome ctl_adopt(struct ctl *ctl)
{
	const bool moved = ctl->options[OPTION_MOVED] != NULL;
	enum outcome code = session_settings(&ctl->session);

	if (moved == (ctl->options[OPTION_COPIED] != NULL))
		return ctl_usage(ctl,
			"give --moved if no other copy of this state ran since, "
			"or --copied");
	if (code == OUTCOME_DONE)
		code = offline_check_stopped(ctl);
	if (code == OUTCOME_DONE)
		code = offline_become_owner(ctl, false, NULL);
	return code == OUTCOME_DONE
		? offline_run(ctl, adopt_in_child, ctl, "nothing was adopted", NULL)
		: code;
}
