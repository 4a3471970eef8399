/*
 * Tests when the ledger waits for further commands: group_commit.h.
 */
#include "ledger/daemon/group_commit.h"

#include "case.h"

#include <check.h>
#include <string.h>

static struct group_commit group;
static struct slot slots[GROUP_COMMIT_ENOUGH];

/* Of @count commands, @writes write. */
static bool wants(uint32_t count, uint32_t writes)
{
	for (uint32_t i = 0; i < count && i < GROUP_COMMIT_ENOUGH; i++)
		slots[i].command = i < count - writes ? COMMAND_BALANCE : COMMAND_TRANSFER;
	return group_commit_wants(&group, slots, count, count);
}

static void batches(uint32_t times, uint32_t size, bool waited)
{
	for (uint32_t i = 0; i < times; i++)
		group_commit_learn(&group, size, waited);
}

static void setup(void)
{
	memset(&group, 0, sizeof(group));
}

START_TEST(a_lone_client_never_waits)
{
	ck_assert(!wants(1, 1));
	batches(100000, 1, false);
	ck_assert(!wants(1, 1));
	/* Rounds of the loop without commands are not batches. */
	batches(100, 0, false);
	ck_assert(!wants(1, 1));
}
END_TEST

START_TEST(few_in_company_wait)
{
	batches(64, 2, false);
	ck_assert(wants(1, 1));
	ck_assert(wants(GROUP_COMMIT_ENOUGH - 1, 1));
	ck_assert(!wants(GROUP_COMMIT_ENOUGH, GROUP_COMMIT_ENOUGH));
	/* Reads are not committed. */
	ck_assert(!wants(3, 0));
	ck_assert(!wants(0, 0));
	/* The other clients have left. */
	batches(64, 1, false);
	ck_assert(!wants(1, 1));
}
END_TEST

START_TEST(who_sends_several_at_a_time_has_gathered)
{
	batches(64, 2, false);
	ck_assert(wants(3, 3));
	ck_assert(group_commit_wants(&group, slots, 3, 3));
	ck_assert(!group_commit_wants(&group, slots, 3, 2));
	ck_assert(!group_commit_wants(&group, slots, 3, 0));
}
END_TEST

START_TEST(who_sent_several_once_sends_one_at_a_time_again)
{
	uint32_t several = 0;

	ck_assert(group_commit_is_single(&several, false));
	ck_assert(group_commit_is_single(&several, false));
	/* The first of two was counted before the second arrived. */
	ck_assert(group_commit_is_single(&several, true));
	for (uint32_t i = 0; i < GROUP_COMMIT_SEVERAL; i++)
		ck_assert(!group_commit_is_single(&several, false));
	ck_assert(group_commit_is_single(&several, false));
}
END_TEST

START_TEST(waits_that_bring_little_are_given_up)
{
	batches(64, 2, false);
	batches(GROUP_COMMIT_TRIES - 1, 2, true);
	ck_assert(wants(2, 2));
	batches(1, 2, true);
	ck_assert(!wants(2, 2));
	batches(GROUP_COMMIT_REST - 1, 2, false);
	ck_assert(!wants(2, 2));
	batches(1, 2, false);
	ck_assert(wants(2, 2));
}
END_TEST

START_TEST(waits_that_bring_more_go_on)
{
	batches(64, 2, false);
	batches(100000, 5, true);
	ck_assert(wants(2, 2));
}
END_TEST

Suite *gather_suite(void)
{
	Suite *suite = suite_create("group_commit");
	TCase *tcase = tcase_create("group_commit");

	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_add_test(tcase, a_lone_client_never_waits);
	tcase_add_test(tcase, few_in_company_wait);
	tcase_add_test(tcase, who_sends_several_at_a_time_has_gathered);
	tcase_add_test(tcase, who_sent_several_once_sends_one_at_a_time_again);
	tcase_add_test(tcase, waits_that_bring_little_are_given_up);
	tcase_add_test(tcase, waits_that_bring_more_go_on);
	suite_add_tcase(suite, tcase);
	return suite;
}
