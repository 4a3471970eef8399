/* Each command of the table and each role: allowed or not. */
#include "test_link.h"

#include "link/roles.h"

#include <string.h>

/* What the requirements allow. Every other command, also one that is added later, needs ADMIN. */
static const struct {
	const char *command;
	enum role least;
} allowed[] = {
	{"status", ROLE_READ},
	{"metrics", ROLE_READ},
	{"dealer_state", ROLE_READ},
	{"list", ROLE_READ},
	{"find", ROLE_READ},
	{"feed", ROLE_READ},
	{"refused_list", ROLE_READ},
	{"refused_find", ROLE_SUPPORT},
	{"key_try", ROLE_SUPPORT},
	{"callback_operate", ROLE_SUPPORT},
	{"replay_preview", ROLE_READ},
	{"activity", ROLE_READ},
	{"callback_ages", ROLE_READ},
	{"replay_start", ROLE_SUPPORT},
	{"replay_stop", ROLE_SUPPORT},
};

static enum role expected(const char *command)
{
	for (size_t i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++) {
		if (strcmp(allowed[i].command, command) == 0)
			return allowed[i].least;
	}
	return ROLE_ADMIN;
}

START_TEST(each_command_and_role)
{
	static const union any_cmd empty;

	for (unsigned int command = 0; command < COMMAND_COUNT; command++) {
		const enum role least = expected(command_infos[command].name);

		for (unsigned int role = 0; role < ROLE_COUNT; role++)
			ck_assert_msg(role_may((enum role)role, command, &empty) == (role >= least),
				"%s as %s", command_infos[command].name, role_names[role]);
	}
}
END_TEST

START_TEST(unknown_commands_need_admin)
{
	static const union any_cmd empty;

	ck_assert_int_eq(role_needed(COMMAND_COUNT, &empty), ROLE_ADMIN);
	ck_assert_int_eq(role_needed(UINT16_MAX, &empty), ROLE_ADMIN);
}
END_TEST

START_TEST(each_action_on_a_callback)
{
	for (unsigned int action = 0; action < CALLBACK_ACTION_COUNT; action++) {
		const struct callback_operate_cmd cmd = {.action = (enum callback_action)action};

		ck_assert_int_eq(role_needed(COMMAND_CALLBACK_OPERATE, &cmd),
			action == CALLBACK_CANCEL ? ROLE_FINANCE : ROLE_SUPPORT);
	}
}
END_TEST

START_TEST(each_note)
{
	static const enum role least[NOTE_ACTION_COUNT] = {
		[NOTE_DEALER_TEST] = ROLE_ADMIN,
		[NOTE_RESUME] = ROLE_ADMIN,
		[NOTE_SIGN] = ROLE_ADMIN,
		[NOTE_REQUEST] = ROLE_ADMIN,
		[NOTE_EXPORT] = ROLE_ADMIN,
		[NOTE_RECON] = ROLE_FINANCE,
		[NOTE_PING] = ROLE_SUPPORT,
		[NOTE_CSV] = ROLE_READ,
		[NOTE_VIEW] = ROLE_READ,
	};

	for (unsigned int action = 0; action < NOTE_ACTION_COUNT; action++) {
		const struct note_cmd cmd = {.action = (enum note_action)action};

		ck_assert_msg(role_needed(COMMAND_NOTE, &cmd) == least[action], "%s",
			note_action_names[action]);
	}
}
END_TEST

START_TEST(each_kind_of_list)
{
	for (unsigned int record = 0; record < RECORD_COUNT; record++) {
		const struct list_cmd cmd = {.record = (enum record)record};
		const struct list_cmd own = {.record = (enum record)record, .own = true};
		const bool audit = record == RECORD_AUDIT || record == RECORD_OPERATION ||
			record == RECORD_RETIRED_DIGEST;

		ck_assert_int_eq(role_needed(COMMAND_LIST, &cmd),
			record == RECORD_DESK_OPERATOR ? ROLE_ADMIN
				: audit                ? ROLE_FINANCE
						       : ROLE_READ);
		ck_assert_int_eq(role_needed(COMMAND_LIST, &own),
			record == RECORD_AUDIT ? ROLE_READ : role_needed(COMMAND_LIST, &cmd));
	}
}
END_TEST

Suite *roles_suite(void)
{
	Suite *suite = suite_create("roles");
	TCase *tc = tcase_create("roles");

	tcase_add_test(tc, each_command_and_role);
	tcase_add_test(tc, unknown_commands_need_admin);
	tcase_add_test(tc, each_action_on_a_callback);
	tcase_add_test(tc, each_note);
	tcase_add_test(tc, each_kind_of_list);
	suite_add_tcase(suite, tc);
	return suite;
}
