#include "suites.h"

#include "base/group.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sysexits.h>
#include <unistd.h>

START_TEST(finds)
{
	gid_t gid = 4711;
	char why[128] = "";

	ck_assert_int_eq(group_find("socket_group", "", &gid, why, sizeof(why)), STATUS_OK);
	ck_assert(gid == (gid_t)-1);
	ck_assert_int_eq(group_find("socket_group", "daemon", &gid, why, sizeof(why)), STATUS_OK);
	ck_assert_int_eq(gid, getgrnam("daemon")->gr_gid);
	ck_assert_int_eq(group_find("socket_group", "4294967294", &gid, why, sizeof(why)),
		STATUS_OK);
	ck_assert_uint_eq(gid, UINT32_MAX - 1);
	ck_assert_str_eq(why, "");
	ck_assert_int_eq(group_find("read_group", "4294967295", &gid, why, sizeof(why)),
		STATUS_CONFIG);
	ck_assert(gid == (gid_t)-1);
	ck_assert_int_eq(group_find("socket_group", "no-such-group", &gid, why, sizeof(why)),
		STATUS_CONFIG);
	ck_assert_str_eq(why,
		"socket_group no-such-group is no group of this host: "
		"leave it empty, or name an existing group");
}
END_TEST

/* If the group file cannot be read, an existing group is not reported as missing. */
START_TEST(lacks_a_descriptor)
{
	struct rlimit before, none;
	char why[128] = "";
	enum status status;
	int lowest;
	gid_t gid;

	lowest = open("/dev/null", O_RDONLY);
	ck_assert_int_ge(lowest, 0);
	close(lowest);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = (struct rlimit){(rlim_t)lowest, before.rlim_max};
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	status = group_find("socket_group", "daemon", &gid, why, sizeof(why));
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
	ck_assert_msg(status == STATUS_NOMEM, "%d: %s", (int)status, why);
	ck_assert_str_eq(why, "socket_group daemon cannot be looked up: Too many open files");
}
END_TEST

START_TEST(says_whether_to_start_again)
{
	static const struct {
		int error;
		enum status status;
		int code;
	} cases[] = {
		{ENOMEM, STATUS_NOMEM, EX_TEMPFAIL},
		{ENOBUFS, STATUS_NOMEM, EX_TEMPFAIL},
		{EMFILE, STATUS_NOMEM, EX_TEMPFAIL},
		{ENFILE, STATUS_NOMEM, EX_TEMPFAIL},
		{EAGAIN, STATUS_NOMEM, EX_TEMPFAIL},
		{ENOSPC, STATUS_FULL, EX_TEMPFAIL},
		{EDQUOT, STATUS_FULL, EX_TEMPFAIL},
		{EIO, STATUS_IO, EX_CONFIG},
		{EINTR, STATUS_NOMEM, EX_TEMPFAIL},
		{EACCES, STATUS_CONFIG, EX_CONFIG},
		{ENOENT, STATUS_CONFIG, EX_CONFIG},
		{EADDRINUSE, STATUS_CONFIG, EX_CONFIG},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		enum status status = status_of_errno(cases[i].error);

		ck_assert_msg(status == cases[i].status, "%s", strerror(cases[i].error));
		ck_assert_int_eq(status_exit_code(status), cases[i].code);
	}
	ck_assert_int_eq(status_exit_code(STATUS_NOT_FOUND), EX_CONFIG);
}
END_TEST

Suite *group_suite(void)
{
	Suite *suite = suite_create("group");
	TCase *tcase = tcase_create("group");

	tcase_add_test(tcase, finds);
	tcase_add_test(tcase, lacks_a_descriptor);
	tcase_add_test(tcase, says_whether_to_start_again);
	suite_add_tcase(suite, tcase);
	return suite;
}
