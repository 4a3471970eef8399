/*
 * Tests requests from CGI environments, routes and mounts, and the socket.
 */
#include "web_case.h"

#include "base/text.h"
#include "fcgi/request.h"
#include "fcgi/socket.h"
#include "web/request/headers.h"
#include "web/route.h"

#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define BIG (HTTP_DRAIN_MAX + 1024 * 1024)

/* A body with @left bytes to read, and the number of bytes read. */
struct counted {
	size_t left;
	size_t taken;
};

static size_t counted_read(void *context, void *to, size_t len)
{
	struct counted *source = context;

	if (len > source->left)
		len = source->left;
	memset(to, 'x', len);
	source->left -= len;
	source->taken += len;
	return len;
}

static const struct {
	const char *length;  /* NULL: absent */
	const char *chunked; /* Transfer-Encoding */
	size_t sent;
	enum http_body state;
	size_t len;   /* length of the stored body */
	bool drained; /* the body was read to its end */
} bodies[] = {
	{"5", NULL, 5, HTTP_BODY_WHOLE, 5, true},
	{"005", NULL, 5, HTTP_BODY_WHOLE, 5, true},
	{"0", NULL, 0, HTTP_BODY_WHOLE, 0, true},
	{"", NULL, 0, HTTP_BODY_WHOLE, 0, true},
	{NULL, NULL, 0, HTTP_BODY_WHOLE, 0, true},
	/* Bytes beyond the announced length are not part of the body. */
	{"5", NULL, 9, HTTP_BODY_WHOLE, 5, true},
	{NULL, NULL, 9, HTTP_BODY_WHOLE, 0, true},
	{"5", NULL, 4, HTTP_BODY_BROKEN, 4, true},
	{"65536", NULL, 0, HTTP_BODY_BROKEN, 0, true},
	{"-5", NULL, 5, HTTP_BODY_BROKEN, 0, true},
	{"+5", NULL, 5, HTTP_BODY_BROKEN, 0, true},
	{" 5", NULL, 5, HTTP_BODY_BROKEN, 0, true},
	{"5 ", NULL, 5, HTTP_BODY_BROKEN, 0, true},
	{"0x5", NULL, 5, HTTP_BODY_BROKEN, 0, true},
	{"5,5", NULL, 5, HTTP_BODY_BROKEN, 0, true},
	{"65536", NULL, 65536, HTTP_BODY_WHOLE, 65536, true},
	{"65537", NULL, 65537, HTTP_BODY_TOO_LARGE, 65537, true},
	{"1048576", NULL, 1048576, HTTP_BODY_TOO_LARGE, 65537, true},
	{"16777216", NULL, 16777216, HTTP_BODY_TOO_LARGE, 65537, true},
	{"17825792", NULL, BIG, HTTP_BODY_TOO_LARGE, 65537, false},
	{"18446744073709551621", NULL, 5, HTTP_BODY_TOO_LARGE, 5, true},
	{"99999999999999999999999999999999999999", NULL, 5, HTTP_BODY_TOO_LARGE, 5, true},
	/* Chunked: the body extends to the end. */
	{NULL, "chunked", 0, HTTP_BODY_WHOLE, 0, true},
	{NULL, "Chunked", 17, HTTP_BODY_WHOLE, 17, true},
	{"", "chunked", 65536, HTTP_BODY_WHOLE, 65536, true},
	{NULL, "chunked", 65537, HTTP_BODY_TOO_LARGE, 65537, true},
	{NULL, "chunked", BIG, HTTP_BODY_TOO_LARGE, 65537, false},
	{NULL, "gzip", 17, HTTP_BODY_WHOLE, 0, true},
	/* If there is a length, it applies. */
	{"5", "chunked", 9, HTTP_BODY_WHOLE, 5, true},
};

START_TEST(test_body)
{
	static uint8_t store[BODY_MAX + 1];
	char length[64], chunked[64];
	char *environment[3];
	struct counted counted = {.left = bodies[_i].sent};
	struct http_source source = {.read = counted_read, .context = &counted};
	struct http_request request;
	size_t count = 0;

	snprintf(length, sizeof(length), "CONTENT_LENGTH=%s",
		bodies[_i].length ? bodies[_i].length : "");
	snprintf(chunked, sizeof(chunked), "HTTP_TRANSFER_ENCODING=%s",
		bodies[_i].chunked ? bodies[_i].chunked : "");
	if (bodies[_i].length)
		environment[count++] = length;
	if (bodies[_i].chunked)
		environment[count++] = chunked;
	environment[count] = NULL;
	request_read(&request, environment);
	ck_assert_int_eq(http_body_read(&request, store, &source), bodies[_i].drained);
	ck_assert_int_eq(request.body_state, bodies[_i].state);
	ck_assert_uint_eq(request.body_len, bodies[_i].len);
	ck_assert_uint_le(counted.taken, HTTP_DRAIN_MAX + 4096);
	ck_assert_int_eq(counted.left == 0, bodies[_i].drained);
}
END_TEST

START_TEST(test_environment)
{
	char *environment[] = {"NOEQUALS", "HTTP_X_CASINO_IDS=a", "HTTP_X_CASINO=b",
		"REQUEST_URI=/elsewhere", "HTTP_X_CASINO_ID=first", "=x", "SCRIPT_NAME=/a",
		"HTTP_X_CASINO_ID=second", "PATH_INFO=/b=c", "CONTENT_LENGTH=3", "CONTENT_LENGTH=3",
		NULL};
	struct http_request request;
	struct counted counted = {.left = 3};
	struct http_source source = {.read = counted_read, .context = &counted};
	static uint8_t store[BODY_MAX + 1];

	request_read(&request, environment);
	ck_assert_str_eq(request.path, "/a/b=c");
	ck_assert_str_eq(request.headers[HEADER_CASINO_ID].value, "first");
	ck_assert_uint_eq(request.headers[HEADER_CASINO_ID].count, 2);
	ck_assert_uint_eq(request.headers[HEADER_SIGNATURE].count, 0);
	ck_assert_ptr_null(request.headers[HEADER_SIGNATURE].value);
	ck_assert_uint_eq(request.content_length.count, 2);
	http_body_read(&request, store, &source);
	ck_assert_int_eq(request.body_state, HTTP_BODY_BROKEN);
}
END_TEST

START_TEST(test_long_path)
{
	static char script[400] = "SCRIPT_NAME=", info[200] = "PATH_INFO=";
	char *environment[] = {script, info, NULL};
	struct http_request request;

	memset(script + strlen(script), 'a', 300);
	memset(info + strlen(info), 'b', 100);
	request_read(&request, environment);
	ck_assert_uint_eq(strlen(request.path), 400);
	memset(script + strlen(script), 'a', 85);
	memset(info + strlen(info), 'b', 50);
	request_read(&request, environment);
	ck_assert_str_eq(request.path, "");
}
END_TEST

static const struct {
	const char *base_path; /* as given */
	const char *path;
	bool found;
} mounts[] = {
	{"", "/user-service/user/3rdparty-get-balance", true},
	{"/", "/user-service/user/3rdparty-get-balance", true},
	{"/pcw", "/pcw/user-service/user/3rdparty-get-balance", true},
	{"/pcw/", "/pcw/user-service/user/3rdparty-get-balance", true},
	{"/a/b", "/a/b/user-service/user/3rdparty-get-balance", true},
	{"/pcw", "/user-service/user/3rdparty-get-balance", false},
	{"", "/pcw/user-service/user/3rdparty-get-balance", false},
	{"/pcw", "/pcwx/user-service/user/3rdparty-get-balance", false},
	{"/pcwx", "/pcw/user-service/user/3rdparty-get-balance", false},
	{"/pcw", "/pcw//user-service/user/3rdparty-get-balance", false},
	{"/pcw", "/pcw/user-service/user/3rdparty-get-balance/", false},
	{"/pcw", "/pcw/user-service/user/3rdparty-get-balanc", false},
	{"/pcw", "/pcw/user-service/user/../user/3rdparty-get-balance", false},
	{"/pcw", "/PCW/user-service/user/3rdparty-get-balance", false}, {"/pcw", "/pcw", false},
	{"/pcw", "/pcw/", false}, {"/pcw", "", false}, {"", "", false}, {"", "/", false},
	{"", "user-service/user/3rdparty-get-balance", false},
	{"", "/healthz", false}, /* of the other group */
};

START_TEST(test_mount)
{
	char base_path[256];

	ck_assert(text_base_path(mounts[_i].base_path, base_path, sizeof(base_path)));
	ck_assert_int_eq(route_find(SERVE_WALLET, base_path, mounts[_i].path) != NULL,
		mounts[_i].found);
}
END_TEST

START_TEST(test_groups_apart)
{
	ck_assert_ptr_nonnull(route_find(SERVE_PLATFORM, "", "/healthz"));
	ck_assert_ptr_nonnull(route_find(SERVE_PLATFORM, "/p", "/p/healthz"));
	ck_assert_ptr_null(route_find(SERVE_PLATFORM, "", mounts[0].path));
}
END_TEST

START_TEST(test_socket)
{
	char directory[] = "/tmp/web-socket-XXXXXX";
	char path[64], why[256] = "";
	struct fcgi_socket first, second;
	struct stat info;
	FILE *file;
	const struct group *group = getgrgid(getgid());

	ck_assert(mkdtemp(directory) != NULL);
	snprintf(path, sizeof(path), "%s/s", directory);
	ck_assert_msg(socket_open(&first, path, "", why, sizeof(why)) == STATUS_OK, "%s", why);
	ck_assert(socket_is_listening(first.fd));
	ck_assert(stat(path, &info) == 0 && S_ISSOCK(info.st_mode));
	ck_assert_uint_eq(info.st_mode & 07777, 0660);

	/* The socket is in use and stays. */
	ck_assert_int_eq(socket_open(&second, path, "", why, sizeof(why)), STATUS_CONFIG);
	ck_assert_int_eq(second.fd, -1);
	ck_assert_ptr_nonnull(strstr(why, "in use"));

	/* A socket without a listener is replaced. The old process no longer removes the file. */
	close(first.fd);
	ck_assert_msg(socket_open(&second, path, group ? group->gr_name : "", why, sizeof(why)) ==
			STATUS_OK,
		"%s", why);
	if (first.inode != second.inode) {
		socket_unlink(&first);
		ck_assert_int_eq(access(path, F_OK), 0);
	}
	socket_unlink(&second);
	ck_assert_int_ne(access(path, F_OK), 0);
	ck_assert(socket_is_listening(second.fd));
	close(second.fd);

	/* A file of another kind stays. */
	file = fopen(path, "w");
	ck_assert(file && fclose(file) == 0);
	ck_assert_int_eq(socket_open(&first, path, "", why, sizeof(why)), STATUS_CONFIG);
	ck_assert_int_eq(access(path, F_OK), 0);
	ck_assert_int_eq(unlink(path), 0);

	ck_assert_int_eq(socket_open(&first, path, "no-such-group", why, sizeof(why)),
		STATUS_CONFIG);
	ck_assert_ptr_nonnull(strstr(why, "no-such-group"));
	ck_assert_int_ne(access(path, F_OK), 0);
	ck_assert_int_eq(socket_open(&first, "/proc/none/s", "", why, sizeof(why)), STATUS_CONFIG);
	ck_assert_int_eq(socket_open(&first, "", "", why, sizeof(why)), STATUS_CONFIG);
	ck_assert_int_eq(rmdir(directory), 0);
}
END_TEST

/* Runs in a child: writes to the pipe whether it got the socket, and waits. */
static void open_and_wait(const char *path, int start, int result)
{
	struct fcgi_socket sock;
	char why[256], byte, has;

	if (read(start, &byte, 1) < 0)
		_exit(1);
	has = socket_open(&sock, path, "", why, sizeof(why)) == STATUS_OK ? 1 : 0;
	if (write(result, &has, 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

/* If two processes start at once on the socket of a killed one, exactly one is refused. */
START_TEST(test_socket_race)
{
	char directory[] = "/tmp/web-socket-XXXXXX", path[64], why[256] = "", has[2];
	struct fcgi_socket left;
	int start[2], result[2];
	pid_t pids[2];

	ck_assert(mkdtemp(directory) != NULL);
	snprintf(path, sizeof(path), "%s/s", directory);
	for (int round = 0; round < 100; round++) {
		ck_assert_msg(socket_open(&left, path, "", why, sizeof(why)) == STATUS_OK, "%s",
			why);
		close(left.fd);
		ck_assert(pipe(start) == 0 && pipe(result) == 0);
		for (int i = 0; i < 2; i++) {
			pids[i] = fork();
			if (pids[i] == 0) {
				close(start[1]);
				open_and_wait(path, start[0], result[1]);
			}
			ck_assert_int_gt(pids[i], 0);
		}
		close(start[0]);
		close(start[1]);
		for (int i = 0; i < 2; i++)
			ck_assert_int_eq(read(result[0], &has[i], 1), 1);
		for (int i = 0; i < 2; i++) {
			ck_assert_int_eq(kill(pids[i], SIGKILL), 0);
			ck_assert_int_eq(waitpid(pids[i], NULL, 0), pids[i]);
		}
		ck_assert_int_eq(has[0] + has[1], 1);
		close(result[0]);
		close(result[1]);
	}
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(rmdir(directory), 0);
}
END_TEST

START_TEST(test_not_listening)
{
	int fds[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	ck_assert(!socket_is_listening(fds[0]));
	ck_assert(!socket_is_listening(-1));
	close(fds[0]);
	close(fds[1]);
	ck_assert_int_eq(pipe(fds), 0);
	ck_assert(!socket_is_listening(fds[0]));
	close(fds[0]);
	close(fds[1]);
}
END_TEST

Suite *fcgi_request_suite(void)
{
	Suite *suite = suite_create("fcgi_request");
	TCase *tcase = tcase_create("request");

	tcase_add_loop_test(tcase, test_body, 0, sizeof(bodies) / sizeof(bodies[0]));
	tcase_add_test(tcase, test_environment);
	tcase_add_test(tcase, test_long_path);
	tcase_add_loop_test(tcase, test_mount, 0, sizeof(mounts) / sizeof(mounts[0]));
	tcase_add_test(tcase, test_groups_apart);
	tcase_add_test(tcase, test_socket);
	tcase_add_test(tcase, test_socket_race);
	tcase_add_test(tcase, test_not_listening);
	/* The race waits for a lock in steps. */
	tcase_set_timeout(tcase, 60);
	suite_add_tcase(suite, tcase);
	return suite;
}
