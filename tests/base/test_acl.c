#include "suites.h"

#include "base/acl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char path[] = "/tmp/creditbridge-acl.XXXXXX";

static void make_file(void)
{
	int fd;

	strcpy(path + sizeof(path) - 7, "XXXXXX");
	fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	close(fd);
}

static mode_t mode_of_file(void)
{
	struct stat st;

	ck_assert_int_eq(stat(path, &st), 0);
	return st.st_mode & 07777;
}

START_TEST(groups_come_and_go)
{
	const gid_t gids[] = {54331, 54332};
	struct acl_groups groups;
	char why[256] = "";

	make_file();
	groups = acl_get_groups(path);
	ck_assert(groups.known && groups.count == 0);
	ck_assert_msg(acl_set_groups(path, gids, 2, why, sizeof(why)), "%s", why);
	groups = acl_get_groups(path);
	ck_assert(groups.known && groups.count == 2);
	ck_assert_uint_eq(groups.gids[0], gids[0]);
	ck_assert_uint_eq(groups.gids[1], gids[1]);
	ck_assert_uint_eq(mode_of_file(), 0660);
	/* The file's own group gets nothing, neither before nor after. */
	ck_assert(acl_set_groups(path, gids, 0, why, sizeof(why)));
	ck_assert_uint_eq(acl_get_groups(path).count, 0);
	ck_assert_uint_eq(mode_of_file(), 0600);
	unlink(path);
}
END_TEST

START_TEST(a_file_system_without_lists)
{
	const gid_t gid = 54331;
	char why[256] = "";

	ck_assert(!acl_set_groups("/proc/version", &gid, 1, why, sizeof(why)));
	ck_assert_str_eq(why, "/proc/version: its file system has no access control lists (acl)");
	ck_assert(!acl_set_groups("/nonexistent/file", &gid, 1, why, sizeof(why)));
	ck_assert_str_eq(why, "/nonexistent/file: No such file or directory");
	ck_assert_uint_eq(acl_get_groups("/proc/version").count, 0);
}
END_TEST

Suite *acl_suite(void)
{
	Suite *suite = suite_create("acl");
	TCase *tcase = tcase_create("acl");

	tcase_add_test(tcase, groups_come_and_go);
	tcase_add_test(tcase, a_file_system_without_lists);
	suite_add_tcase(suite, tcase);
	return suite;
}
