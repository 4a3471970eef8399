#include "suites.h"

#include "base/check.h"
#include "base/log.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <syslog.h>
#include <unistd.h>

/* The last message passed to the test's own syslog(). */
static char syslog_line[4096];
static int syslog_priority = -1;

void __syslog_chk(int priority, int flag, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

void syslog(int priority, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(syslog_line, sizeof(syslog_line), format, args);
	va_end(args);
	syslog_priority = priority;
}

void __syslog_chk(int priority, int flag, const char *format, ...)
{
	va_list args;

	(void)flag;
	va_start(args, format);
	vsnprintf(syslog_line, sizeof(syslog_line), format, args);
	va_end(args);
	syslog_priority = priority;
}

/* Redirects standard error to a file. Returns its descriptor. */
static int catch_stderr(void)
{
	FILE *file = tmpfile();

	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(dup2(fileno(file), STDERR_FILENO), STDERR_FILENO);
	return fileno(file);
}

static char *caught(int fd)
{
	static char text[16384];
	ssize_t len = pread(fd, text, sizeof(text) - 1, 0);

	ck_assert_int_ge(len, 0);
	text[len] = '\0';
	return text;
}

START_TEST(writes_one_line)
{
	int fd = catch_stderr();
	char *text, *event;

	log_open("prog", false, LOG_LEVEL_INFO);
	errno = EPERM;
	log_line(LOG_LEVEL_INFO, "start", "pid=%d name=%s", 7, "x");
	ck_assert_int_eq(errno, EPERM);
	log_line(LOG_LEVEL_DEBUG, "hidden", "a=1");
	text = caught(fd);
	ck_assert_ptr_null(strstr(text, "hidden"));
	event = strstr(text, " prog[");
	ck_assert_ptr_nonnull(event);
	ck_assert_int_eq(event - text, (long)strlen("2000-01-01T00:00:00.000Z"));
	event = strstr(text, "]: ");
	ck_assert_ptr_nonnull(event);
	ck_assert_str_eq(event, "]: level=info event=start pid=7 name=x\n");
}
END_TEST

START_TEST(an_event_may_be_alone)
{
	int fd = catch_stderr();

	log_open("prog", false, LOG_LEVEL_INFO);
	log_line(LOG_LEVEL_WARNING, "stop", "%s", "");
	ck_assert_ptr_nonnull(strstr(caught(fd), "]: level=warning event=stop\n"));
}
END_TEST

START_TEST(a_value_cannot_forge_a_line)
{
	int fd = catch_stderr();

	log_open("prog", false, LOG_LEVEL_ERROR);
	log_line(LOG_LEVEL_ERROR, "bad", "a=%s",
		"1\nevent=forged\r\x1b[2J\x7f\xc2\x9b\xff\xc3\xa4");
	ck_assert_ptr_nonnull(strstr(caught(fd), "event=bad a=1?event=forged??[2J????\xc3\xa4\n"));
	ck_assert_ptr_eq(strchr(caught(fd), '\n') + 1, caught(fd) + strlen(caught(fd)));
}
END_TEST

START_TEST(a_long_line_is_cut)
{
	int fd = catch_stderr();
	char value[5000];
	size_t len;

	memset(value, 'v', sizeof(value));
	value[sizeof(value) - 1] = '\0';
	log_open("prog", false, LOG_LEVEL_ERROR);
	log_line(LOG_LEVEL_ERROR, "long", "a=%s", value);
	len = strlen(caught(fd));
	ck_assert_uint_le(len, 2048);
	ck_assert_str_eq(caught(fd) + len - 6, "vv...\n");
}
END_TEST

START_TEST(goes_to_syslog)
{
	int fd = catch_stderr();

	log_open("prog", true, LOG_LEVEL_DEBUG);
	log_line(LOG_LEVEL_DEBUG, "try", "a=%s", "%s\n");
	ck_assert_str_eq(syslog_line, "level=debug event=try a=%s?");
	ck_assert_int_eq(syslog_priority, LOG_DEBUG);
	log_line(LOG_LEVEL_ERROR, "fail", "a=%d", 1);
	ck_assert_str_eq(syslog_line, "level=error event=fail a=1");
	ck_assert_int_eq(syslog_priority, LOG_ERR);
	ck_assert_str_eq(caught(fd), "");
}
END_TEST

/* The message is also on standard error, where a web server that starts the program looks. */
START_TEST(a_failed_start_is_told_twice)
{
	int fd = catch_stderr();

	log_open("prog", true, LOG_LEVEL_ERROR);
	log_start_failed("error=\"%s\"", "no memory");
	ck_assert_str_eq(syslog_line, "level=error event=start_failed error=\"no memory\"");
	ck_assert_int_eq(syslog_priority, LOG_ERR);
	ck_assert_ptr_nonnull(
		strstr(caught(fd), "]: level=error event=start_failed error=\"no memory\"\n"));

	fd = catch_stderr();
	syslog_line[0] = '\0';
	log_open("prog", false, LOG_LEVEL_ERROR);
	log_start_failed("error=%d", 7);
	ck_assert_str_eq(syslog_line, "");
	ck_assert_str_eq(strstr(caught(fd), "]: "), "]: level=error event=start_failed error=7\n");
}
END_TEST

START_TEST(a_value_cannot_forge_another)
{
	char quoted[LOG_QUOTED_MAX], longest[2 * LOG_QUOTED_MAX];

	ck_assert_str_eq(log_quote(quoted, ""), "");
	ck_assert_str_eq(log_quote(quoted, "x\" code=200 y=\"\\"), "x\\\" code=200 y=\\\"\\\\");
	memset(longest, '"', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	log_quote(quoted, longest);
	/* Only complete pairs. */
	ck_assert_uint_eq(strlen(quoted) % 2, 0);
	ck_assert_uint_ge(strlen(quoted), LOG_QUOTED_MAX - 3);
}
END_TEST

START_TEST(knows_its_levels)
{
	enum log_level level;

	ck_assert(log_level_parse("error", &level) && level == LOG_LEVEL_ERROR);
	ck_assert(log_level_parse("warning", &level) && level == LOG_LEVEL_WARNING);
	ck_assert(log_level_parse("info", &level) && level == LOG_LEVEL_INFO);
	ck_assert(log_level_parse("debug", &level) && level == LOG_LEVEL_DEBUG);
	ck_assert(!log_level_parse("Info", &level));
	ck_assert(!log_level_parse("", &level));
	log_open("prog", false, LOG_LEVEL_WARNING);
	ck_assert(log_shows(LOG_LEVEL_ERROR) && log_shows(LOG_LEVEL_WARNING));
	ck_assert(!log_shows(LOG_LEVEL_INFO) && !log_shows(LOG_LEVEL_DEBUG));
}
END_TEST

START_TEST(a_false_check_is_logged_and_ends_the_process)
{
	int fd = catch_stderr(), status = 0;
	const char *name = "x";
	pid_t pid = fork();

	if (pid == 0) {
		log_open("test", false, LOG_LEVEL_ERROR);
		CHECK(name[0] == 'x');
		CHECK(name[0] != "x"[0]);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	ck_assert_ptr_nonnull(strstr(caught(fd),
		"event=check_failed "
		"condition=\"name[0] != \\\"x\\\"[0]\" where="));
	ck_assert_ptr_nonnull(strstr(caught(fd), "test_log.c:"));
}
END_TEST

Suite *log_suite(void)
{
	const TTest *const tests[] = {writes_one_line, an_event_may_be_alone,
		a_value_cannot_forge_a_line, a_value_cannot_forge_another, a_long_line_is_cut,
		goes_to_syslog, a_failed_start_is_told_twice, knows_its_levels,
		a_false_check_is_logged_and_ends_the_process, NULL};

	return suite_make("log", tests, 10);
}
