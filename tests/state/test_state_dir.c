#include "tap.h"

#include "base/clock.h"
#include "state/directory.h"
#include "state/identity.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char id[] = "0123456789abcdef0123456789abcdef";
static char root[64];
static char state[128];
static char why[512];

static void make_root(void)
{
	strcpy(root, "/tmp/creditbridge-state-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(root));
	snprintf(state, sizeof(state), "%s/state", root);
	why[0] = '\0';
}

static void remove_root(void)
{
	char command[96];

	snprintf(command, sizeof(command), "rm -rf %s", root);
	ck_assert_int_eq(system(command), 0);
}

/* Returns "STATE" followed by @rest. */
static const char *sentence(const char *rest)
{
	static char text[512];

	snprintf(text, sizeof(text), "%s%s", state, rest);
	return text;
}

static const char *inside(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", state, name);
	return path;
}

static void put_file(const char *name, const char *text)
{
	FILE *file = fopen(inside(name), "w");

	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	ck_assert_int_eq(fclose(file), 0);
}

static unsigned int mode_of(const char *path)
{
	struct stat st;

	ck_assert_int_eq(stat(path, &st), 0);
	return st.st_mode & 07777;
}

static void create(void)
{
	ck_assert_int_eq(state_dir_create(state, id, why, sizeof(why)), STATUS_OK);
}

static void check_refuses(const char *rest)
{
	char installation[STATE_INSTALLATION_MAX] = "";

	ck_assert_int_eq(state_dir_check(state, installation, why, sizeof(why)), STATUS_CONFIG);
	ck_assert_str_eq(why, sentence(rest));
	ck_assert_str_eq(installation, "");
}

static void create_refuses(const char *rest)
{
	ck_assert_int_eq(state_dir_create(state, id, why, sizeof(why)), STATUS_CONFIG);
	ck_assert_str_eq(why, sentence(rest));
}

START_TEST(creates_and_checks)
{
	char installation[STATE_INSTALLATION_MAX];

	umask(0);
	create();
	ck_assert_uint_eq(mode_of(state), 0700);
	ck_assert_uint_eq(mode_of(inside("db")), 0700);
	ck_assert_uint_eq(mode_of(inside("installation")), 0600);
	ck_assert_int_eq(state_dir_check(state, installation, why, sizeof(why)), STATUS_OK);
	ck_assert_str_eq(installation, id);
	create_refuses(
		" already holds a ledger; start creditbridge-ledger to use it, or move it away first");
}
END_TEST

START_TEST(takes_over_an_empty_directory)
{
	char installation[STATE_INSTALLATION_MAX];

	ck_assert_int_eq(mkdir(state, 0755), 0);
	create();
	ck_assert_uint_eq(mode_of(state), 0700);
	ck_assert_int_eq(state_dir_check(state, installation, why, sizeof(why)), STATUS_OK);
}
END_TEST

START_TEST(finishes_an_interrupted_creation)
{
	char installation[STATE_INSTALLATION_MAX];

	create();
	ck_assert_int_eq(unlink(inside("installation")), 0);
	put_file("installation.new", "0123");
	put_file("lock", "1\n");
	check_refuses(" is not initialised: if its file system is mounted, initialise it with "
		      "`creditbridgectl init`");
	create();
	ck_assert_int_eq(state_dir_check(state, installation, why, sizeof(why)), STATUS_OK);
	ck_assert_str_eq(installation, id);
}
END_TEST

START_TEST(creation_refuses)
{
	ck_assert_int_eq(mkdir(state, 0700), 0);
	put_file("letter", "");
	create_refuses(
		" is not empty: it holds letter. Give an empty directory, or move that away");
	ck_assert_int_eq(unlink(inside("letter")), 0);

	/* Tables without an installation file may be another program's data. */
	ck_assert_int_eq(mkdir(inside("db"), 0700), 0);
	put_file("db/log.0000000001", "");
	create_refuses(" is not empty: it holds db. Give an empty directory, or move that away");
	ck_assert_int_eq(access(inside("db/log.0000000001"), F_OK), 0);
	ck_assert_int_eq(unlink(inside("db/log.0000000001")), 0);

	ck_assert_int_eq(chmod(state, 0770), 0);
	ck_assert_int_eq(state_dir_create(state, id, why, sizeof(why)), STATUS_CONFIG);
	ck_assert_ptr_eq(strstr(why,
				 " has mode 0770 and is open to others; close it with `chmod "
				 "0700 "),
		why + strlen(state));
	ck_assert_int_eq(rmdir(inside("db")), 0);
	ck_assert_int_eq(rmdir(state), 0);

	ck_assert_int_eq(state_dir_create(state, "0123", why, sizeof(why)), STATUS_CONFIG);
	ck_assert_str_eq(why, "an installation id is 32 lower-case hex characters");
	strcat(state, "/deeper/still");
	create_refuses(" cannot be created: No such file or directory");
}
END_TEST

START_TEST(check_refuses_the_wrong_kind)
{
	check_refuses(" does not exist; create it with `creditbridgectl init`");
	ck_assert_int_eq(mkdir(state, 0700), 0);
	check_refuses(" is not initialised: if its file system is mounted, initialise it with "
		      "`creditbridgectl init`");
	ck_assert_int_eq(rmdir(state), 0);
	ck_assert_int_eq(close(open(state, O_WRONLY | O_CREAT, 0600)), 0);
	check_refuses(" is not a directory: move it away, or correct the path");
	create_refuses(" is not a directory: move it away, or correct the path");
}
END_TEST

START_TEST(check_refuses_open_modes)
{
	static const mode_t modes[] = {0701, 0702, 0704, 0710, 0720, 0740, 0777, 0750};
	char rest[256];

	create();
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		ck_assert_int_eq(chmod(state, modes[i]), 0);
		snprintf(rest, sizeof(rest),
			" has mode %04o and is open to others; close it with `chmod 0700 %s`",
			(unsigned int)modes[i], state);
		check_refuses(rest);
	}
}
END_TEST

START_TEST(check_refuses_another_owner)
{
	char rest[256];

	/* As root, gives its directory away; as another user, uses a directory of root. */
	if (geteuid() == 0) {
		create();
		ck_assert_int_eq(chown(state, 12345, 12345), 0);
	} else {
		strcpy(state, "/proc");
	}
	snprintf(rest, sizeof(rest),
		" belongs to uid %d, this process runs as uid %ld; run it as "
		"the owner of the state",
		geteuid() == 0 ? 12345 : 0, (long)geteuid());
	check_refuses(rest);
	create_refuses(rest);
}
END_TEST

START_TEST(check_refuses_a_damaged_id)
{
	static const char *const texts[] = {"", "\n", "0123456789abcdef0123456789abcde\n",
		"0123456789abcdef0123456789abcdef0\n", "0123456789abcdef0123456789abcdef0123456789",
		"0123456789ABCDEF0123456789abcdef\n", "0123456789abcdef 123456789abcdef\n"};

	create();
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		put_file("installation", texts[i]);
		check_refuses("/installation is damaged: it must hold 32 lower-case hex "
			      "characters; restore it from a backup");
	}
}
END_TEST

START_TEST(lock_holds_the_pid)
{
	char text[32], pid[32];
	FILE *file;
	int fd;

	create();
	put_file("lock", "99999999999\n");
	fd = state_dir_lock(state, 0, why, sizeof(why));
	ck_assert_int_ge(fd, 0);
	file = fopen(inside("lock"), "r");
	ck_assert_ptr_nonnull(file);
	ck_assert_ptr_nonnull(fgets(text, sizeof(text), file));
	fclose(file);
	snprintf(pid, sizeof(pid), "%ld\n", (long)getpid());
	ck_assert_str_eq(text, pid);
	ck_assert_int_eq(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}
END_TEST

/* Starts a child that takes the lock and keeps it for @ms. */
static pid_t holder(int ms)
{
	int ready[2];
	char byte;
	pid_t pid;

	ck_assert_int_eq(pipe(ready), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		int fd = state_dir_lock(state, 0, why, sizeof(why));

		if (fd < 0 || write(ready[1], "x", 1) != 1)
			_exit(1);
		clock_sleep_ms(ms);
		_exit(0);
	}
	close(ready[1]);
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return pid;
}

START_TEST(lock_names_its_holder)
{
	int64_t start;
	char rest[96];
	pid_t pid;

	create();
	pid = holder(60000);
	start = clock_boot_ms();
	ck_assert_int_eq(state_dir_lock(state, 100, why, sizeof(why)), -1);
	ck_assert_int_ge(clock_boot_ms() - start, 99);
	snprintf(rest, sizeof(rest),
		" is in use by another ledger, process %ld: stop that one first", (long)pid);
	ck_assert_str_eq(why, sentence(rest));
	put_file("lock", "x\x1b[2J");
	ck_assert_int_eq(state_dir_lock(state, 0, why, sizeof(why)), -1);
	ck_assert_str_eq(why, sentence(" is in use by another ledger: stop that one first"));
	/* However the holder exits, the lock is free. */
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert_int_ge(state_dir_lock(state, 0, why, sizeof(why)), 0);
}
END_TEST

START_TEST(lock_waits)
{
	int64_t start;
	pid_t pid;

	create();
	start = clock_boot_ms();
	pid = holder(300);
	ck_assert_int_ge(state_dir_lock(state, 20000, why, sizeof(why)), 0);
	ck_assert_int_ge(clock_boot_ms() - start, 299);
	ck_assert_int_lt(clock_boot_ms() - start, 15000);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}
END_TEST

START_TEST(lock_is_inherited)
{
	pid_t pid;
	int fd;

	create();
	fd = state_dir_lock(state, 0, why, sizeof(why));
	ck_assert_int_ge(fd, 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		clock_sleep_ms(60000);
		_exit(0);
	}
	close(fd);
	ck_assert_int_eq(state_dir_lock(state, 0, why, sizeof(why)), -1);
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert_int_ge(state_dir_lock(state, 0, why, sizeof(why)), 0);
}
END_TEST

START_TEST(lock_refuses)
{
	ck_assert_int_eq(state_dir_lock(state, 0, why, sizeof(why)), -1);
	ck_assert_str_eq(why, sentence(": No such file or directory"));
	create();
	/* A link could make the ledger truncate another file. */
	ck_assert_int_eq(symlink("/dev/null", inside("lock")), 0);
	ck_assert_int_eq(state_dir_lock(state, 0, why, sizeof(why)), -1);
	ck_assert_str_eq(why,
		sentence("/lock cannot be locked: Too many levels of symbolic links"));
}
END_TEST

static int lock;

static bool there(const char *name)
{
	return access(inside(name), F_OK) == 0;
}

START_TEST(a_restore_begins_and_ends)
{
	char read[STATE_INSTALLATION_MAX];

	ck_assert_int_eq(state_dir_restore(state, &lock, why, sizeof(why)), STATUS_OK);
	ck_assert_int_ge(lock, 0);
	ck_assert(there("restoring") && there("db") && !there("installation"));
	/*
	 * Until the restore ends, the directory does not count as a state, and no other restore
	 * uses it.
	 */
	ck_assert_int_eq(state_dir_check(state, read, why, sizeof(why)), STATUS_CONFIG);
	ck_assert_int_eq(state_dir_create(state, id, why, sizeof(why)), STATUS_CONFIG);
	ck_assert_ptr_nonnull(strstr(why, "a restore to "));
	put_file("db/transaction.db", "half of it");
	ck_assert_int_eq(state_dir_restore(state, &lock, why, sizeof(why)), STATUS_BUSY);
	ck_assert_ptr_nonnull(strstr(why, "is in use by another ledger"));
	ck_assert(there("db/transaction.db"));
	ck_assert_int_eq(state_dir_restored(state, id, why, sizeof(why)), STATUS_OK);
	ck_assert(!there("restoring"));
	ck_assert_int_eq(state_dir_check(state, read, why, sizeof(why)), STATUS_OK);
	ck_assert_str_eq(read, id);
}
END_TEST

START_TEST(an_interrupted_restore_begins_anew)
{
	ck_assert_int_eq(state_dir_restore(state, &lock, why, sizeof(why)), STATUS_OK);
	put_file("db/transaction.db", "half of it");
	put_file("db/log.0000000001", "half of it");
	put_file("created", "");
	close(lock);
	ck_assert_int_eq(state_dir_restore(state, &lock, why, sizeof(why)), STATUS_OK);
	ck_assert(there("db") && !there("db/transaction.db") && !there("db/log.0000000001") &&
		!there("created"));
	ck_assert_int_eq(state_dir_restored(state, "no id", why, sizeof(why)), STATUS_CONFIG);
	ck_assert(there("restoring"));
}
END_TEST

START_TEST(a_restore_refuses)
{
	create();
	put_file("db/transaction.db", "precious");
	ck_assert_int_eq(state_dir_restore(state, &lock, why, sizeof(why)), STATUS_CONFIG);
	ck_assert_str_eq(why,
		sentence(" already holds a ledger: only an empty state can be filled; "
			 "move that one away"));
	ck_assert_int_ge(state_dir_lock(state, 0, why, sizeof(why)), 0);
	ck_assert_int_eq(state_dir_restore(state, &lock, why, sizeof(why)), STATUS_BUSY);
	ck_assert_int_eq(unlink(inside("installation")), 0);
	ck_assert_int_eq(state_dir_restore(state, &lock, why, sizeof(why)), STATUS_CONFIG);
	ck_assert_str_eq(why,
		sentence(" is not empty: it holds db. Give an empty directory, or move that away"));
	ck_assert(there("db/transaction.db"));
	ck_assert_int_eq(lock, -1);
}
END_TEST

/* A state that `init` made counts as empty until a ledger was started on it. */
START_TEST(a_restore_takes_what_was_just_initialised)
{
	char read[STATE_INSTALLATION_MAX];

	create();
	ck_assert_int_eq(state_dir_restore(state, &lock, why, sizeof(why)), STATUS_OK);
	ck_assert(there("restoring") && there("db") && !there("installation"));
	ck_assert_int_eq(state_dir_restored(state, id, why, sizeof(why)), STATUS_OK);
	ck_assert_int_eq(state_dir_check(state, read, why, sizeof(why)), STATUS_OK);
	close(lock);
	put_file("created", "");
	ck_assert_int_eq(state_dir_restore(state, &lock, why, sizeof(why)), STATUS_CONFIG);
	ck_assert(there("installation") && there("created"));
}
END_TEST

START_TEST(a_restore_is_given_up)
{
	char read[STATE_INSTALLATION_MAX];

	for (int initialised = 0; initialised < 2; initialised++) {
		if (initialised)
			create();
		ck_assert_int_eq(state_dir_restore(state, &lock, why, sizeof(why)), STATUS_OK);
		put_file("db/transaction.db", "half of it");
		put_file("created", "");
		ck_assert_int_eq(state_dir_abandon(state, initialised ? id : NULL, why,
					 sizeof(why)),
			STATUS_OK);
		close(lock);
		ck_assert(!there("restoring") && !there("created") && !there("db/transaction.db"));
		ck_assert_int_eq(state_dir_check(state, read, why, sizeof(why)),
			initialised ? STATUS_OK : STATUS_CONFIG);
		ck_assert_int_eq(there("db"), initialised);
		ck_assert_int_eq(state_dir_restore(state, &lock, why, sizeof(why)), STATUS_OK);
		close(lock);
		remove_root();
		make_root();
	}
}
END_TEST

static Suite *state_dir_suite(void)
{
	const TTest *const tests[] = {creates_and_checks, takes_over_an_empty_directory,
		finishes_an_interrupted_creation, creation_refuses, check_refuses_the_wrong_kind,
		check_refuses_open_modes, check_refuses_another_owner, check_refuses_a_damaged_id,
		lock_holds_the_pid, lock_names_its_holder, lock_waits, lock_is_inherited,
		lock_refuses, a_restore_begins_and_ends, an_interrupted_restore_begins_anew,
		a_restore_refuses, a_restore_takes_what_was_just_initialised, a_restore_is_given_up,
		NULL};
	Suite *suite = suite_create("state_dir");
	TCase *tcase = tcase_create("state_dir");

	tcase_set_timeout(tcase, 30);
	tcase_add_checked_fixture(tcase, make_root, remove_root);
	for (size_t i = 0; tests[i]; i++)
		tcase_add_test(tcase, tests[i]);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	static Suite *(*const makers[])(void) = {state_dir_suite, NULL};

	return tap_main(makers);
}
