#include "pg_proxy.h"

#include <check.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define SOCKET_NAME ".s.PGSQL.5432"
#define PIECE       65536

/* Shared with the process of the proxy. */
struct control {
	atomic_uint cut;
	atomic_uint times;
};

static struct control *control;
static char directory[64], conninfo[128];
static pid_t proxy;

static void address_of(struct sockaddr_un *address, const char *folder)
{
	memset(address, 0, sizeof(*address));
	address->sun_family = AF_UNIX;
	ck_assert_int_lt(snprintf(address->sun_path, sizeof(address->sun_path), "%s/%s", folder,
				 SOCKET_NAME),
		(int)sizeof(address->sun_path));
}

/* Copies what is there. Returns false at the end of the stream. */
static int copy(int from, int to)
{
	static char piece[PIECE];
	const ssize_t len = read(from, piece, sizeof(piece));

	for (ssize_t at = 0; at < len;) {
		const ssize_t written = write(to, piece + at, (size_t)(len - at));

		if (written <= 0)
			return 0;
		at += written;
	}
	return len > 0;
}

/* A frontend message 'P', 'B' or 'Q' comes after the server was ready for the first time. */
static int is_query(int client)
{
	char first = 0;

	return recv(client, &first, 1, MSG_PEEK) == 1 && strchr("PBQE", first) && first;
}

static int take_cut(int client)
{
	if (!atomic_load(&control->times) || !is_query(client))
		return PROXY_FORWARDS;
	atomic_fetch_sub(&control->times, 1);
	return (int)atomic_load(&control->cut);
}

static void serve(int client, const char *server_directory)
{
	struct sockaddr_un address;
	int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int cut = PROXY_FORWARDS;

	address_of(&address, server_directory);
	if (connect(server, (struct sockaddr *)&address, sizeof(address)) != 0)
		_exit(1);
	for (;;) {
		struct pollfd fds[2] = {{.fd = client, .events = POLLIN},
			{.fd = server, .events = POLLIN}};

		poll(fds, 2, -1);
		if (fds[0].revents) {
			if (cut == PROXY_FORWARDS)
				cut = take_cut(client);
			if (cut == PROXY_CUTS_REQUEST || !copy(client, server))
				break;
		}
		if (fds[1].revents) {
			if (cut == PROXY_CUTS_ANSWER || !copy(server, client))
				break;
		}
	}
	_exit(0);
}

static void run_proxy(int listener, const char *server_directory)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGCHLD, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	for (;;) {
		int client = accept(listener, NULL, NULL);

		if (client >= 0 && fork() == 0) {
			close(listener);
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			serve(client, server_directory);
		}
		close(client);
	}
}

const char *pg_proxy_start(const char *server_directory)
{
	struct sockaddr_un address;
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	control = mmap(NULL, sizeof(*control), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		-1, 0);
	ck_assert_ptr_ne(control, MAP_FAILED);
	strcpy(directory, "/tmp/creditbridge-proxy.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(directory));
	address_of(&address, directory);
	ck_assert_int_eq(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
	ck_assert_int_eq(listen(listener, 16), 0);
	proxy = fork();
	if (proxy == 0)
		run_proxy(listener, server_directory);
	close(listener);
	snprintf(conninfo, sizeof(conninfo), "host=%s dbname=postgres user=creditbridge",
		directory);
	return conninfo;
}

void pg_proxy_stop(void)
{
	struct sockaddr_un address;

	kill(proxy, SIGKILL);
	waitpid(proxy, NULL, 0);
	address_of(&address, directory);
	unlink(address.sun_path);
	rmdir(directory);
}

void pg_proxy_cut(enum proxy_cut cut, unsigned int times)
{
	atomic_store(&control->cut, (unsigned int)cut);
	atomic_store(&control->times, times);
}
