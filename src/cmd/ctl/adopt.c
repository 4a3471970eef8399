/*
 * adopt - implements `adopt`: reports what a copied or moved state is, while no ledger runs.
 */
#include "ledger/offline/adopt.h"

#include "cmd/ctl/ctl.h"
#include "cmd/ctl/offline.h"
#include "cmd/ctl/output.h"

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

/* Runs in the child. */
static enum outcome adopt_in_child(void *context)
{
	struct ctl *ctl = context;
	const struct adopt_options options = {
		.settings = &ctl->session.settings,
		.copied = ctl->options[OPTION_COPIED] != NULL,
		.accept_clock = ctl->options[OPTION_ACCEPT_CLOCK] != NULL,
		.operator= & ctl->session.operator,
		.now = clock_now(),
	};
	struct adopt_result result;
	struct output_json json;
	char why[512] = "";
	enum status status = adopt_run(&options, &result, why, sizeof(why));

	if (status)
		return offline_fail(ctl, status, why);
	if (!ctl->json)
		print_adopted(ctl, &result);
	output_json_open(&json, ctl);
	output_json_string(&json, "state_directory", ctl->session.settings.state_directory);
	output_json_fields(&json, adopt_fields, &result);
	return output_json_close(&json);
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
