/*
 * Tests BACKUP: it is started once, its status can be queried, and it is in the audit.
 * tests/store/test_backup.c tests the copy.
 */
#include "case.h"

#include "base/clock.h"
#include "base/text.h"
#include "scratch.h"

#include <string.h>

#define WAIT_MS 60000

static char root[64];

static struct backup_cmd command(bool start, const char *directory)
{
	struct backup_cmd cmd;

	memset(&cmd, 0, sizeof(cmd));
	cmd.operator= case_operator();
	cmd.start = start;
	text_copy(cmd.directory, sizeof(cmd.directory), directory);
	return cmd;
}

static struct backup_result ask(const struct backup_cmd *cmd)
{
	struct slot *slot = case_run(COMMAND_BACKUP, cmd);
	struct buffer out;

	buffer_init(&out, FRAME_MAX);
	ledger_answer(&case_ledger, slot, 1, &out);
	ck_assert_int_eq(slot->outcome, FRAME_DONE);
	ck_assert(!out.failed);
	buffer_free(&out);
	return slot->result.backup;
}

static struct backup_result wait_end(struct backup_cmd cmd)
{
	int64_t until = clock_boot_ms() + WAIT_MS;
	struct backup_result result;

	cmd.start = false;
	while ((result = ask(&cmd)).stage == BACKUP_STAGE_RUNNING) {
		ck_assert_msg(clock_boot_ms() < until, "the backup does not end");
		clock_sleep_ms(2);
	}
	return result;
}

static void see_backup(void *context, const void *row)
{
	const struct audit *audit = row;

	*(unsigned int *)context += strcmp(audit->action, "backup") == 0 &&
		strncmp(audit->object, root, strlen(root)) == 0 && audit->uid == 1000;
}

static unsigned int noted(void)
{
	unsigned int count = 0;

	case_list(RECORD_AUDIT, false, 0, see_backup, &count);
	return count;
}

START_TEST(a_backup_is_begun_once)
{
	char directory[80];
	struct backup_cmd first, other;
	struct backup_result result;

	case_open(CASE_DISK);
	scratch_make(root);
	snprintf(directory, sizeof(directory), "%s/backup", root);
	first = command(true, directory);
	ask(&first);
	result = wait_end(first);
	ck_assert_msg(result.stage == BACKUP_STAGE_DONE, "%s", result.why);
	ck_assert(!result.added);
	ck_assert_int_gt(result.complete_to_ms, 0);
	/* The same frame again starts nothing and gets the same answer. */
	ck_assert_int_eq(ask(&first).stage, BACKUP_STAGE_DONE);
	ck_assert(!ask(&first).added);
	ck_assert_uint_eq(noted(), 1);
	other = command(true, directory);
	ask(&other);
	ck_assert(wait_end(other).added);
	ck_assert_int_eq(wait_end(first).complete_to_ms, result.complete_to_ms);
	ck_assert_uint_eq(noted(), 2);
	/* A status query for a backup that this ledger does not know. */
	other = command(false, "");
	result = ask(&other);
	ck_assert_int_eq(result.verdict.refusal, REFUSAL_NONE);
	ck_assert_int_eq(result.stage, BACKUP_STAGE_NONE);
	case_close();
	scratch_remove(root);
}
END_TEST

START_TEST(a_failure_is_told)
{
	struct backup_cmd cmd = command(true, "/no/such/directory");
	struct backup_result result;

	case_open(CASE_DISK);
	ask(&cmd);
	result = wait_end(cmd);
	ck_assert_int_eq(result.stage, BACKUP_STAGE_FAILED);
	ck_assert_ptr_nonnull(strstr(result.why, "cannot create /no/such/directory"));
	cmd = command(true, "somewhere");
	ck_assert_int_eq(ask(&cmd).verdict.refusal, REFUSAL_BAD_REQUEST);
	case_close();
}
END_TEST

/* A full disk does not prevent a backup: only the audit row is missing. */
START_TEST(a_full_disk_is_backed_up)
{
	char directory[80];
	struct backup_cmd cmd;

	case_open(CASE_DISK);
	scratch_make(root);
	snprintf(directory, sizeof(directory), "%s/backup", root);
	cmd = command(true, directory);
	case_ledger.storage_low = true;
	ask(&cmd);
	ck_assert_int_eq(wait_end(cmd).stage, BACKUP_STAGE_DONE);
	ck_assert_uint_eq(noted(), 0);
	case_close();
	scratch_remove(root);
}
END_TEST

START_TEST(a_store_may_have_none)
{
	struct backup_cmd cmd = command(true, "/tmp/nowhere");

	case_open(CASE_MEMORY);
	ck_assert_int_eq(ask(&cmd).verdict.refusal, REFUSAL_NOT_ALLOWED_NOW);
	case_close();
}
END_TEST

Suite *backups_suite(void)
{
	Suite *suite = suite_create("backups");
	TCase *tcase = tcase_create("backups");

	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, a_backup_is_begun_once);
	tcase_add_test(tcase, a_failure_is_told);
	tcase_add_test(tcase, a_full_disk_is_backed_up);
	tcase_add_test(tcase, a_store_may_have_none);
	suite_add_tcase(suite, tcase);
	return suite;
}
