/*
 * Tests the file in which workers count.
 */
#include "suites.h"

#include "base/log.h"
#include "metrics/counters.h"

#include "scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char directory[64];
static char path[96];
static char why[256];
static struct counting counting;
static struct counters counters;
static int64_t now_ms;

static void setup(void)
{
	log_open("test", false, LOG_LEVEL_ERROR);
	scratch_make(directory);
	snprintf(path, sizeof(path), "%s/" COUNTERS_FILE, directory);
	ck_assert(counting_init(&counting, path));
}

static void teardown(void)
{
	counting_free(&counting);
	scratch_remove(directory);
}

static void make(void)
{
	ck_assert_msg(counters_make(directory, "edge.sock", why, sizeof(why)), "%s", why);
}

/* Does what a worker does for each request, one second later. */
static void look(void)
{
	now_ms += COUNTING_LOOK_MS;
	counting_look(&counting, now_ms);
}

static uint64_t successes(void)
{
	ck_assert(counters_read(path, &counters));
	return counters.requests[OPERATION_BETS][REFUSAL_NONE];
}

static void count(unsigned int times)
{
	for (unsigned int i = 0; i < times; i++)
		counting_request(&counting, OPERATION_BETS, REFUSAL_NONE, 700);
}

START_TEST(what_is_counted_is_read)
{
	make();
	look();
	ck_assert_ptr_nonnull(counting.page);
	count(3);
	counting_request(&counting, OPERATION_NONE, REFUSAL_NOT_FOUND, 9000000);
	counting_auth_failure(&counting, CALLER_CLIENT, AUTH_STALE);
	ck_assert_uint_eq(successes(), 3);
	ck_assert_uint_eq(counters.requests[OPERATION_NONE][REFUSAL_NOT_FOUND], 1);
	ck_assert_uint_eq(histogram_count(&counters.latency_us[OPERATION_BETS]), 3);
	ck_assert_uint_eq(counters.latency_us[OPERATION_BETS].places[2].count, 3);
	ck_assert_uint_eq(counters.latency_us[OPERATION_BETS].sum, 2100);
	ck_assert_uint_eq(counters.latency_us[OPERATION_NONE].places[14].count, 1);
	ck_assert_uint_eq(counters.auth_failures[CALLER_CLIENT][AUTH_STALE], 1);
	/* Nothing else changed. */
	counters.requests[OPERATION_BETS][REFUSAL_NONE] = 0;
	counters.requests[OPERATION_NONE][REFUSAL_NOT_FOUND] = 0;
	counters.auth_failures[CALLER_CLIENT][AUTH_STALE] = 0;
	memset(&counters.latency_us[OPERATION_BETS], 0, sizeof(counters.latency_us[0]));
	memset(&counters.latency_us[OPERATION_NONE], 0, sizeof(counters.latency_us[0]));
	for (size_t i = 0; i < sizeof(counters); i++)
		ck_assert_int_eq(((const char *)&counters)[i], 0);
}
END_TEST

START_TEST(what_cannot_be_counted_is_not)
{
	make();
	look();
	counting_request(&counting, OPERATION_COUNT, REFUSAL_NONE, 1);
	counting_request(&counting, OPERATION_BETS, REFUSAL_COUNT, 1);
	counting_auth_failure(&counting, CALLER_KIND_COUNT, AUTH_STALE);
	counting_auth_failure(&counting, CALLER_DEALER, AUTH_FAILURE_COUNT);
	ck_assert(counters_read(path, &counters));
	for (size_t i = 0; i < sizeof(counters); i++)
		ck_assert_int_eq(((const char *)&counters)[i], 0);
}
END_TEST

START_TEST(mode_and_group_are_those_of_the_socket)
{
	char like[96];
	struct stat st;
	int fd;

	make();
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
	snprintf(like, sizeof(like), "%s/edge.sock", directory);
	fd = open(like, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	ck_assert_int_ge(fd, 0);
	close(fd);
	ck_assert_int_eq(chmod(like, 0660), 0);
	if (geteuid() == 0)
		ck_assert_int_eq(chown(like, (uid_t)-1, 7), 0);
	make();
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0660);
	if (geteuid() == 0)
		ck_assert_uint_eq(st.st_gid, 7);
	unlink(like);
}
END_TEST

START_TEST(a_restart_of_the_ledger_keeps_the_counts)
{
	struct stat before, after;

	make();
	look();
	count(5);
	ck_assert_int_eq(stat(path, &before), 0);
	make();
	ck_assert_int_eq(stat(path, &after), 0);
	ck_assert_uint_eq(before.st_ino, after.st_ino);
	look();
	count(5);
	ck_assert_uint_eq(successes(), 10);
}
END_TEST

/* A file of another build, a truncated file, or another kind of file is replaced by a new one. */
START_TEST(what_is_no_such_file_is_replaced)
{
	static const struct {
		off_t size;
		off_t at;
	} damages[] = {{-1, 0}, {-1, 8}, {-1, 16}, {0, -1}, {100, -1}, {1 << 20, -1}};
	int fd;

	make();
	look();
	count(2);
	counting_free(&counting);
	fd = open(path, O_RDWR | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	if (damages[_i].at >= 0)
		ck_assert_int_eq(pwrite(fd, "x", 1, damages[_i].at), 1);
	else
		ck_assert_int_eq(ftruncate(fd, damages[_i].size), 0);
	close(fd);
	ck_assert(!counters_read(path, &counters));
	/* No worker counts in it. */
	look();
	ck_assert_ptr_null(counting.page);
	count(1);
	make();
	ck_assert_uint_eq(successes(), 0);
	look();
	ck_assert_uint_eq(successes(), 1);
}
END_TEST

START_TEST(a_link_is_not_followed)
{
	char other[96];

	make();
	snprintf(other, sizeof(other), "%s/other", directory);
	ck_assert_int_eq(rename(path, other), 0);
	ck_assert_int_eq(symlink(other, path), 0);
	ck_assert(!counters_read(path, &counters));
	look();
	ck_assert_ptr_null(counting.page);
	make();
	ck_assert_uint_eq(successes(), 0);
	unlink(other);
}
END_TEST

START_TEST(a_file_that_cannot_be_made_is_told)
{
	ck_assert(!counters_make("/proc/none", "edge.sock", why, sizeof(why)));
	ck_assert_int_eq(errno, ENOENT);
	ck_assert_ptr_nonnull(strstr(why, "/proc/none/counters: "));
}
END_TEST

/* The worker starts before the ledger, and the file changes while the worker serves. */
START_TEST(counts_wait_for_the_file)
{
	look();
	count(4);
	make();
	ck_assert_uint_eq(successes(), 0);
	/* It checks the file only once a second. */
	counting_look(&counting, now_ms + COUNTING_LOOK_MS - 1);
	ck_assert_uint_eq(successes(), 0);
	look();
	ck_assert_uint_eq(successes(), 4);
	look();
	ck_assert_uint_eq(successes(), 4);
	/* The directory was emptied: counts made meanwhile are kept. */
	ck_assert_int_eq(unlink(path), 0);
	look();
	count(2);
	make();
	look();
	count(1);
	ck_assert_uint_eq(successes(), 3);
	/* Another file replaced it between two checks. */
	ck_assert_int_eq(unlink(path), 0);
	make();
	look();
	count(1);
	ck_assert_uint_eq(successes(), 1);
}
END_TEST

static struct dealer_counts by_dealer[COUNTED_DEALERS];

/* Returns the answers with status 200 that were counted for the dealer; 0: it has no slot. */
static uint64_t successes_of(const char *casino_id)
{
	uint32_t count = counters_read_dealers(path, by_dealer);

	for (uint32_t i = 0; i < count; i++) {
		if (strcmp(by_dealer[i].casino_id, casino_id) == 0)
			return by_dealer[i].requests[counted_code_find(200)];
	}
	return 0;
}

static void name_counted(char casino_id[CASINO_ID_SIZE], unsigned int number)
{
	snprintf(casino_id, CASINO_ID_SIZE, "dealer-%u", number);
}

/* The first dealers have slots, the others are counted together, and nothing is lost. */
START_TEST(dealers_are_counted_within_a_bound)
{
	char casino_id[CASINO_ID_SIZE];
	uint64_t others = 0;

	make();
	look();
	for (unsigned int turn = 0; turn < 2; turn++) {
		for (unsigned int i = 0; i < COUNTED_DEALERS + 30; i++) {
			name_counted(casino_id, i);
			counting_dealer(&counting, casino_id, REFUSAL_NONE);
		}
	}
	counting_dealer(&counting, "dealer-0", REFUSAL_USER_NOT_FOUND);
	ck_assert_uint_eq(counters_read_dealers(path, by_dealer), COUNTED_DEALERS);
	for (unsigned int i = 0; i < COUNTED_DEALERS + 30; i++) {
		name_counted(casino_id, i);
		ck_assert_uint_eq(successes_of(casino_id), i < COUNTED_DEALERS ? 2 : 0);
	}
	ck_assert(counters_read(path, &counters));
	for (unsigned int i = 0; i < COUNTED_CODES; i++)
		others += counters.other_dealers[i];
	ck_assert_uint_eq(counters.other_dealers[counted_code_find(200)], 60);
	ck_assert_uint_eq(others, 60);
}
END_TEST

/* Without a file a worker has no slots; a new file has none taken. */
START_TEST(dealers_wait_for_the_file)
{
	look();
	counting_dealer(&counting, "demo", REFUSAL_NONE);
	make();
	look();
	counting_dealer(&counting, "demo", REFUSAL_NONE);
	ck_assert_uint_eq(successes_of("demo"), 1);
	ck_assert(counters_read(path, &counters));
	ck_assert_uint_eq(counters.other_dealers[counted_code_find(200)], 1);
}
END_TEST

/* Another process may write anything to the memory. */
START_TEST(a_name_that_is_none_is_left_out)
{
	static struct dealer_cells cells;
	static struct dealer_counts counts[COUNTED_DEALERS];

	ck_assert(dealer_cells_count(&cells, "demo", 0));
	ck_assert(!dealer_cells_count(&cells, "demo", COUNTED_CODES));
	ck_assert_uint_eq(dealer_cells_read(&cells, counts), 1);
	for (unsigned int i = 0; i < COUNTED_DEALERS; i++)
		memcpy(cells.names[i], "a\"b", 4);
	ck_assert_uint_eq(dealer_cells_read(&cells, counts), 0);
	for (unsigned int i = 0; i < COUNTED_DEALERS; i++)
		memset(cells.names[i], 'a', sizeof(cells.names[i]));
	ck_assert_uint_eq(dealer_cells_read(&cells, counts), 1);
	ck_assert_uint_eq(strlen(counts[0].casino_id), CASINO_ID_SIZE - 1);
}
END_TEST

/* Every status that a refusal has is counted. */
START_TEST(each_status_has_a_place)
{
	for (unsigned int i = 0; i < REFUSAL_COUNT; i++) {
		int code = refusal_info((enum refusal)i)->code;

		ck_assert_msg(counted_code_find(code) < COUNTED_CODES, "status %d", code);
	}
}
END_TEST

/* Several processes take the same slots, and are killed at any instruction. */
START_TEST(a_kill_spoils_no_slot)
{
	enum { CHILDREN = 4, ROUNDS = 20, NAMES = 100 };
	char casino_id[CASINO_ID_SIZE];
	pid_t pids[CHILDREN];

	for (unsigned int round = 0; round < ROUNDS; round++) {
		unlink(path);
		make();
		for (unsigned int i = 0; i < CHILDREN; i++) {
			pids[i] = fork();
			ck_assert_int_ge(pids[i], 0);
			if (pids[i])
				continue;
			ck_assert(counting_init(&counting, path));
			counting_look(&counting, 1);
			for (unsigned int n = i;; n++) {
				name_counted(casino_id, n % NAMES);
				counting_dealer(&counting, casino_id, REFUSAL_NONE);
			}
		}
		while (!counters_read_dealers(path, by_dealer))
			;
		for (unsigned int i = 0; i < CHILDREN; i++) {
			kill(pids[i], SIGKILL);
			ck_assert_int_eq(waitpid(pids[i], NULL, 0), pids[i]);
		}
		look();
		for (unsigned int i = 0; i < NAMES; i++) {
			uint64_t before;

			name_counted(casino_id, i);
			before = successes_of(casino_id);
			counting_dealer(&counting, casino_id, REFUSAL_NONE);
			ck_assert_uint_eq(successes_of(casino_id), before + 1);
		}
		ck_assert_uint_eq(counters_read_dealers(path, by_dealer), NAMES);
	}
}
END_TEST

/* The number of counts of each child, in memory that survives the child. */
struct done {
	_Atomic uint64_t requests;
};

static void count_for_ever(struct done *done)
{
	ck_assert(counting_init(&counting, path));
	counting_look(&counting, 1);
	for (;;) {
		counting_request(&counting, OPERATION_BETS, REFUSAL_NONE, 700);
		atomic_fetch_add(&done->requests, 1);
	}
}

/*
 * After a kill at any instruction, all completed counts are there, and at most the one in
 * progress.
 */
START_TEST(a_kill_takes_nothing_away)
{
	enum { CHILDREN = 4, ROUNDS = 8 };
	struct done *done = mmap(NULL, sizeof(*done), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pids[CHILDREN];
	uint64_t counted, last = 0;

	ck_assert_ptr_ne(done, MAP_FAILED);
	make();
	for (unsigned int round = 1; round <= ROUNDS; round++) {
		for (unsigned int i = 0; i < CHILDREN; i++) {
			pids[i] = fork();
			ck_assert_int_ge(pids[i], 0);
			if (!pids[i])
				count_for_ever(done);
		}
		while (atomic_load(&done->requests) < last + 1000)
			usleep(500);
		for (unsigned int i = 0; i < CHILDREN; i++) {
			kill(pids[i], SIGKILL);
			ck_assert_int_eq(waitpid(pids[i], NULL, 0), pids[i]);
		}
		last = atomic_load(&done->requests);
		counted = successes();
		ck_assert_uint_ge(counted, last);
		ck_assert_uint_le(counted, last + (uint64_t)round * CHILDREN);
		ck_assert_uint_ge(histogram_count(&counters.latency_us[OPERATION_BETS]), counted);
	}
	munmap(done, sizeof(*done));
}
END_TEST

Suite *counters_suite(void)
{
	Suite *suite = suite_create("counters");
	TCase *tc = tcase_create("counters");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, what_is_counted_is_read);
	tcase_add_test(tc, what_cannot_be_counted_is_not);
	tcase_add_test(tc, mode_and_group_are_those_of_the_socket);
	tcase_add_test(tc, a_restart_of_the_ledger_keeps_the_counts);
	tcase_add_loop_test(tc, what_is_no_such_file_is_replaced, 0, 6);
	tcase_add_test(tc, a_link_is_not_followed);
	tcase_add_test(tc, a_file_that_cannot_be_made_is_told);
	tcase_add_test(tc, counts_wait_for_the_file);
	tcase_add_test(tc, a_kill_takes_nothing_away);
	tcase_add_test(tc, dealers_are_counted_within_a_bound);
	tcase_add_test(tc, dealers_wait_for_the_file);
	tcase_add_test(tc, a_name_that_is_none_is_left_out);
	tcase_add_test(tc, each_status_has_a_place);
	tcase_add_test(tc, a_kill_spoils_no_slot);
	tcase_set_timeout(tc, 60);
	suite_add_tcase(suite, tc);
	return suite;
}
