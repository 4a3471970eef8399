/*
 * The listeners of a leader: a queued connection is accepted once. A socket that was shut down or
 * taken back is not accepted from again, even if events of it are pending.
 */
#include "web_case.h"

#include "fcgi/listeners.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static struct listeners listeners;
static struct listener first, second;
static int own_fd;

/* Creates a listening socket with a name that the kernel chooses (unix(7), autobind). */
static int listening(void)
{
	const struct sockaddr_un none = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(bind(fd, (const struct sockaddr *)&none, sizeof(sa_family_t)), 0);
	ck_assert_int_eq(listen(fd, 4), 0);
	return fd;
}

/* Connects to @listen_fd. */
static int caller(int listen_fd)
{
	struct sockaddr_un address;
	socklen_t len = sizeof(address);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(getsockname(listen_fd, (struct sockaddr *)&address, &len), 0);
	ck_assert_int_eq(connect(fd, (const struct sockaddr *)&address, len), 0);
	return fd;
}

static void let_in(int count)
{
	int fd;

	for (int i = 0; i < count; i++) {
		fd = listeners_accept(&listeners);
		ck_assert_int_ge(fd, 0);
		close(fd);
	}
	ck_assert_int_eq(listeners_accept(&listeners), -1);
	ck_assert_int_eq(errno, EAGAIN);
}

static void prepare(void)
{
	own_fd = listening();
	listeners_init(&listeners, own_fd);
	ck_assert(listeners_begin_many(&listeners));
	first.fd = listening();
	second.fd = listening();
	ck_assert(listeners_add(&listeners, &first));
	ck_assert(listeners_add(&listeners, &second));
}

static void clean(void)
{
	listeners_close(&listeners, &first);
	listeners_close(&listeners, &second);
	listeners_free(&listeners);
	close(own_fd);
}

START_TEST(test_any_door)
{
	const int callers[] = {caller(own_fd), caller(first.fd), caller(second.fd),
		caller(second.fd)};

	let_in(4);
	for (size_t i = 0; i < sizeof(callers) / sizeof(callers[0]); i++)
		close(callers[i]);
}
END_TEST

/* If the follower has ended, queued connections are accepted, and the listener is closed. */
START_TEST(test_owner_ended)
{
	int waits = caller(first.fd);

	listeners_owner_gone(&listeners, &first);
	let_in(1);
	ck_assert_int_eq(first.fd, -1);
	close(waits);
}
END_TEST

/* Without special handling, epoll would report it as ready forever. */
START_TEST(test_shut)
{
	ck_assert_int_eq(shutdown(first.fd, SHUT_RD), 0);
	let_in(0);
	ck_assert(first.drained);
	let_in(0);
}
END_TEST

/* Pending events of a closed listener do not apply to the next one in its slot. */
START_TEST(test_place_used_again)
{
	const int callers[] = {caller(own_fd), caller(first.fd)};
	int fd, waits;

	ck_assert_int_eq(shutdown(first.fd, SHUT_RD), 0);
	ck_assert_int_eq(shutdown(second.fd, SHUT_RD), 0);
	fd = listeners_accept(&listeners); /* also fetches the events of the others */
	ck_assert_int_ge(fd, 0);
	close(fd);
	ck_assert_uint_gt(listeners.count, listeners.at);

	listeners_close(&listeners, &first);
	listeners_close(&listeners, &second);
	first.fd = listening();
	second.fd = listening();
	ck_assert(listeners_add(&listeners, &first));
	ck_assert(listeners_add(&listeners, &second));
	let_in(0);
	waits = caller(second.fd);
	let_in(1);
	close(waits);
	waits = caller(first.fd);
	let_in(1);
	close(waits);
	for (size_t i = 0; i < sizeof(callers) / sizeof(callers[0]); i++)
		close(callers[i]);
}
END_TEST

Suite *fcgi_listeners_suite(void)
{
	const TTest *const tests[] = {test_any_door, test_owner_ended, test_shut,
		test_place_used_again};
	Suite *suite = suite_create("fcgi_listeners");
	TCase *tcase = tcase_create("listeners");

	tcase_add_checked_fixture(tcase, prepare, clean);
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		tcase_add_test(tcase, tests[i]);
	suite_add_tcase(suite, tcase);
	return suite;
}
