/*
 * Tests the server's loop: a connection with many commands at a time, and commands that wait for
 * others.
 */
#include "case_wagers.h"

#include "base/clock.h"
#include "base/pack.h"
#include "ledger/daemon/server.h"
#include "scratch.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define CALLS     (2 * CONNECTION_QUEUED_MAX)
#define BET_BYTES 60000
/* Longer than the 50 ms between two commands, also on a busy machine. */
#define GROUP_COMMIT_US 1000000

static char directory[64];
static struct sockets sockets;
static struct server_options options;
static pthread_t thread;
static enum server_end ended;

static void address_of(struct sockaddr_un *address, const char *name)
{
	*address = (struct sockaddr_un){.sun_family = AF_UNIX};
	snprintf(address->sun_path, sizeof(address->sun_path), "%s/%s", directory, name);
}

static int listener(const char *name)
{
	struct sockaddr_un address;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

	address_of(&address, name);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	ck_assert_int_eq(listen(fd, 8), 0);
	return fd;
}

static void *run(void *unused)
{
	(void)unused;
	ended = server_run(&case_ledger, &sockets, &options);
	return NULL;
}

static void listen_all(void)
{
	scratch_make(directory);
	sockets = (struct sockets){listener("edge.sock"), listener("admin.sock"),
		listener("peer.sock"), NULL, {(gid_t)-1, (gid_t)-1}, -1};
}

static void serve(uint32_t gather_us)
{
	options = (struct server_options){.connections_max = 8,
		.queue_max = 2 * CALLS,
		.gather_us = gather_us,
		.state_directory = directory,
		.desk = {.share = {.percent = 10}},
		.stop_fd = eventfd(0, 0)};
	ck_assert_int_eq(pthread_create(&thread, NULL, run, NULL), 0);
}

static void start(uint32_t gather_us)
{
	listen_all();
	serve(gather_us);
}

static void stop(void)
{
	const uint64_t one = 1;

	ck_assert_int_eq(write(options.stop_fd, &one, sizeof(one)), sizeof(one));
	pthread_join(thread, NULL);
	ck_assert_int_eq(ended, SERVER_STOPPED);
	close(sockets.edge);
	close(sockets.admin);
	close(sockets.peer);
	close(options.stop_fd);
	scratch_remove(directory);
}

static int dial_to(const char *name)
{
	struct sockaddr_un address;
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	address_of(&address, name);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

static int dial(void)
{
	return dial_to("edge.sock");
}

/* Returns a bet of BET_BYTES and more that contains @mark. */
static struct bet_place_cmd large_bet(const char *id, const char *game, char mark)
{
	struct bet_place_cmd cmd = case_bet_cmd(id, game, CREDIT);
	static uint8_t object[BET_BYTES];

	memset(object, ' ', sizeof(object));
	object[0] = '{';
	object[1] = (uint8_t)mark;
	object[sizeof(object) - 2] = (uint8_t)mark;
	object[sizeof(object) - 1] = '}';
	cmd.user_bet = (struct bytes){object, sizeof(object)};
	return cmd;
}

/* Plays a game whose only bet makes an answer of BET_BYTES and more. */
static void play(void)
{
	struct bet_place_cmd cmd = large_bet("b1", "g1", ' ');

	case_adjust("alice", 100 * CREDIT, "money");
	ck_assert_int_eq(case_run(COMMAND_BET_PLACE, &cmd)->result.verdict.refusal, REFUSAL_NONE);
}

static void ask_all(int fd)
{
	struct result_inquire_cmd cmd = {.casino_id = "demo", .user_id = "alice", .game_id = "g1"};
	struct buffer out;
	size_t start;

	buffer_init(&out, FRAME_MAX);
	for (uint64_t tag = 1; tag <= CALLS; tag++) {
		start = frame_open_request(&out, COMMAND_RESULT_INQUIRE, tag);
		pack_record(&out, command_infos[COMMAND_RESULT_INQUIRE].cmd_fields, &cmd);
		frame_close(&out, start);
	}
	ck_assert(!out.failed);
	ck_assert_int_eq(send(fd, out.data, out.len, MSG_NOSIGNAL), (ssize_t)out.len);
	buffer_free(&out);
}

/*
 * Reads answers in their order until the last of them or the end of the stream. Returns their
 * number.
 */
static uint64_t read_all(int fd)
{
	struct frame_answer answer;
	struct result_inquire_result result;
	struct buffer in;
	uint64_t count = 0;
	size_t size;
	ssize_t got;

	buffer_init(&in, 4 * FRAME_MAX);
	while (count < CALLS && buffer_reserve(&in, FRAME_MAX) &&
		(got = recv(fd, in.data + in.len, FRAME_MAX, 0)) > 0) {
		in.len += (size_t)got;
		if (!count && in.len >= GREETING_SIZE && memcmp(in.data, "CBL1", 4) == 0)
			buffer_consume(&in, GREETING_SIZE);
		while (frame_get_answer((struct bytes){in.data, (uint32_t)in.len}, &answer,
			       &size) == FRAME_COMPLETE) {
			ck_assert_uint_eq(answer.tag, ++count);
			ck_assert_int_eq(answer.outcome, FRAME_DONE);
			memset(&result, 0, sizeof(result));
			ck_assert(unpack_record(&answer.payload,
				command_infos[COMMAND_RESULT_INQUIRE].result_fields, &result));
			ck_assert_uint_ge(result.bets.len, BET_BYTES);
			buffer_consume(&in, size);
		}
	}
	buffer_free(&in);
	return count;
}

/* A client that goes before its greeting is no client that sent garbage. */
START_TEST(a_client_that_has_gone_is_not_cut)
{
	const char *hello = "CBP1 cell host-b edge none 33 4294967295\n";
	const ssize_t len = (ssize_t)strlen(hello);
	uint8_t greeting[GREETING_SIZE];
	int gone, left, other;

	case_open(CASE_MEMORY);
	listen_all();
	gone = dial_to("peer.sock");
	left = dial_to("peer.sock");
	ck_assert_int_eq(send(gone, hello, (size_t)len, MSG_NOSIGNAL), len);
	ck_assert_int_eq(send(left, hello, (size_t)len, MSG_NOSIGNAL), len);
	close(gone);
	serve(0);
	/* Accepted and greeted after the client that has gone. */
	ck_assert_int_eq(recv(left, greeting, sizeof(greeting), MSG_WAITALL), GREETING_SIZE);
	other = dial_to("peer.sock");
	ck_assert_int_eq(send(other, "hello\n", 6, MSG_NOSIGNAL), 6);
	ck_assert_int_eq(recv(other, greeting, 1, 0), 0);
	close(left);
	close(other);
	stop();
	ck_assert_uint_eq(case_ledger.figures.clients_cut, 1);
	case_close();
}

/* On peer.sock the hello comes first, in any pieces, and the frames of the client after it. */
START_TEST(a_relayed_client_is_named_by_its_hello)
{
	const char *hello = "CBP1 cell host-b edge none 33 4294967295\n";
	const size_t len = strlen(hello);
	uint8_t byte;
	int fd, other;

	case_open(CASE_MEMORY);
	play();
	start(0);
	fd = dial_to("peer.sock");
	other = dial_to("peer.sock");
	ck_assert_int_eq(send(fd, hello, len - 1, MSG_NOSIGNAL), (ssize_t)len - 1);
	ck_assert_int_eq(send(other, "hello\n", 6, MSG_NOSIGNAL), 6);
	/* Not greeted, but closed; the server has read the first part of the other one by then. */
	ck_assert_int_eq(recv(other, &byte, 1, 0), 0);
	ck_assert_int_lt(recv(fd, &byte, 1, MSG_DONTWAIT), 0);
	ck_assert_int_eq(send(fd, hello + len - 1, 1, MSG_NOSIGNAL), 1);
	ask_all(fd);
	ck_assert_uint_eq(read_all(fd), CALLS);
	close(fd);
	close(other);
	stop();
	case_close();
}
END_TEST

/* Calls with large answers share a connection: a slow client is not disconnected. */
START_TEST(large_answers_wait_for_their_reader)
{
	int fd;

	case_open(CASE_MEMORY);
	play();
	start(0);
	fd = dial();
	ask_all(fd);
	poll(NULL, 0, 300);
	ck_assert_uint_eq(read_all(fd), CALLS);
	close(fd);
	stop();
	case_close();
}
END_TEST

static void send_bet(int fd, const char *id, const char *game, char mark)
{
	struct bet_place_cmd cmd = large_bet(id, game, mark);
	struct buffer out;
	size_t start;

	buffer_init(&out, FRAME_MAX);
	start = frame_open_request(&out, COMMAND_BET_PLACE, 1);
	pack_record(&out, command_infos[COMMAND_BET_PLACE].cmd_fields, &cmd);
	frame_close(&out, start);
	ck_assert(!out.failed);
	ck_assert_int_eq(send(fd, out.data, out.len, MSG_NOSIGNAL), (ssize_t)out.len);
	buffer_free(&out);
}

static bool answers_within(int fd, int timeout_ms)
{
	struct pollfd poller = {.fd = fd, .events = POLLIN};

	return poll(&poller, 1, timeout_ms) == 1;
}

/* Returns whether @count successful answers arrive in time. */
static bool done_within(int fd, uint32_t count, int timeout_ms)
{
	struct frame_answer answer;
	struct buffer in;
	size_t size;
	ssize_t got;

	buffer_init(&in, FRAME_MAX);
	while (count && buffer_reserve(&in, 4096) && answers_within(fd, timeout_ms) &&
		(got = recv(fd, in.data + in.len, 4096, 0)) > 0) {
		in.len += (size_t)got;
		while (count &&
			frame_get_answer((struct bytes){in.data, (uint32_t)in.len}, &answer,
				&size) == FRAME_COMPLETE) {
			ck_assert_int_eq(answer.outcome, FRAME_DONE);
			buffer_consume(&in, size);
			count--;
		}
	}
	buffer_free(&in);
	return count == 0;
}

/* Checks that the stored bet is the one that was sent. */
static void check_bet(const char *game, char mark)
{
	struct result_inquire_cmd cmd = {.casino_id = "demo", .user_id = "alice"};
	const struct bytes *bets;
	char begin[3] = {'{', mark, ' '}, end[3] = {' ', mark, '}'};

	snprintf(cmd.game_id, sizeof(cmd.game_id), "%s", game);
	bets = &case_run(COMMAND_RESULT_INQUIRE, &cmd)->result.result_inquire.bets;
	ck_assert_uint_ge(bets->len, BET_BYTES);
	ck_assert_ptr_nonnull(memmem(bets->data, bets->len, begin, sizeof(begin)));
	ck_assert_ptr_nonnull(memmem(bets->data, bets->len, end, sizeof(end)));
}

/*
 * If there are other clients, a command waits for theirs: one commit serves them. The data to
 * which it points stays unchanged.
 */
START_TEST(a_few_commands_wait_for_others)
{
	uint64_t commits;
	int crowd, first, second;

	case_open(CASE_MEMORY);
	play();
	commits = case_ledger.figures.commits;
	start(GROUP_COMMIT_US);
	crowd = dial();
	first = dial();
	second = dial();
	ask_all(crowd);
	ck_assert_uint_eq(read_all(crowd), CALLS);
	ck_assert(answers_within(first, 10000) && answers_within(second, 10000));
	ck_assert_int_eq(recv(first, (char[GREETING_SIZE]){0}, GREETING_SIZE, 0), GREETING_SIZE);
	send_bet(first, "b2", "g2", 'x');
	ck_assert(!answers_within(first, 50));
	/*
	 * More data on a connection whose command waits is not read before that command was run.
	 */
	send_bet(first, "b3", "g3", 'y');
	send_bet(second, "b4", "g4", 'z');
	ck_assert(done_within(first, 2, 10000));
	close(crowd);
	stop();
	/* b2 and b4 share one. */
	ck_assert_uint_eq(case_ledger.figures.commits, commits + 2);
	check_bet("g2", 'x');
	check_bet("g3", 'y');
	check_bet("g4", 'z');
	close(first);
	close(second);
	case_close();
}
END_TEST

/* A single client's command does not wait. */
START_TEST(a_lone_command_does_not_wait)
{
	int fd;

	case_open(CASE_MEMORY);
	play();
	start(GROUP_COMMIT_US);
	fd = dial();
	ck_assert(answers_within(fd, 10000));
	ck_assert_int_eq(recv(fd, (char[GREETING_SIZE]){0}, GREETING_SIZE, 0), GREETING_SIZE);
	send_bet(fd, "b2", "g2", 'x');
	ck_assert(answers_within(fd, GROUP_COMMIT_US / 1000 / 2));
	stop();
	close(fd);
	case_close();
}
END_TEST

/* A command of a connection that has sent several at a time does not wait either. */
START_TEST(a_command_of_a_crowd_does_not_wait)
{
	int crowd;

	case_open(CASE_MEMORY);
	play();
	start(GROUP_COMMIT_US);
	crowd = dial();
	ask_all(crowd);
	ck_assert_uint_eq(read_all(crowd), CALLS);
	send_bet(crowd, "b2", "g2", 'x');
	ck_assert(answers_within(crowd, GROUP_COMMIT_US / 1000 / 2));
	close(crowd);
	stop();
	case_close();
}
END_TEST

static void send_command(int fd, enum command command, const void *cmd, uint64_t tag)
{
	struct buffer out;
	size_t begin;

	buffer_init(&out, FRAME_MAX);
	begin = frame_open_request(&out, (uint16_t)command, tag);
	pack_record(&out, command_infos[command].cmd_fields, cmd);
	frame_close(&out, begin);
	ck_assert_int_eq(send(fd, out.data, out.len, MSG_NOSIGNAL), (ssize_t)out.len);
	buffer_free(&out);
}

/* Reads one answer and returns its tag. */
static uint64_t read_answer(int fd)
{
	static uint8_t bytes[FRAME_MAX];
	struct frame_answer answer;
	size_t len = 0, size;

	do
		ck_assert_int_eq(recv(fd, bytes + len++, 1, 0), 1);
	while (frame_get_answer((struct bytes){bytes, (uint32_t)len}, &answer, &size) !=
		FRAME_COMPLETE);
	ck_assert_int_eq(answer.outcome, FRAME_DONE);
	return answer.tag;
}

/* Returns a connection whose greeting was read. */
static int dial_and_read(void)
{
	int fd = dial();

	ck_assert_int_eq(recv(fd, (char[GREETING_SIZE]){0}, GREETING_SIZE, MSG_WAITALL),
		GREETING_SIZE);
	return fd;
}

/*
 * CALLBACK_WAIT is answered by the commit that lets a callback be claimed, and at once if one can be.
 * A further command on its connection ends the wait, so that answers keep their order.
 */
START_TEST(a_due_callback_ends_the_wait)
{
	const struct callback_wait_cmd wait = {.unused = false};
	const struct callback_find_cmd find = {.most = 1};
	const struct dealer values = {.max_inflight = 1};
	struct round_settle_cmd settle = case_settle_cmd("s1", "g1", RESULT_WIN, CREDIT);
	struct bet_place_result placed;
	struct callback_end_cmd end;
	int sweeper, worker;

	case_open_mode(CASE_MEMORY, WALLET_SEAMLESS);
	/* The server has the real clock. */
	case_now_ms = clock_wall_ms();
	case_boot_ms = clock_boot_ms();
	case_boot = clock_now().boot;
	ck_assert_int_eq(case_dealer_set(DEALER_MAX_INFLIGHT, &values).verdict.refusal, 0);
	placed = case_bet("b1", "g1", CREDIT);
	case_end(&placed.send, CALLBACK_SUCCESS);
	/* Another bet uses up the dealer's only permit, so that the result is left to the sweeper. */
	placed = case_bet("b2", "g2", CREDIT);
	start(0);
	sweeper = dial_and_read();
	worker = dial_and_read();
	send_command(sweeper, COMMAND_CALLBACK_WAIT, &wait, 1);
	send_command(worker, COMMAND_ROUND_SETTLE, &settle, 1);
	ck_assert_uint_eq(read_answer(worker), 1);
	/* It is due and the dealer accepts no call: the wait goes on. Another command ends it. */
	send_command(sweeper, COMMAND_CALLBACK_FIND, &find, 2);
	ck_assert_uint_eq(read_answer(sweeper), 1);
	ck_assert_uint_eq(read_answer(sweeper), 2);
	send_command(sweeper, COMMAND_CALLBACK_WAIT, &wait, 3);
	end = case_end_cmd(&placed.send, CALLBACK_SUCCESS);
	send_command(worker, COMMAND_CALLBACK_END, &end, 2);
	ck_assert_uint_eq(read_answer(worker), 2);
	ck_assert_uint_eq(read_answer(sweeper), 3);
	send_command(sweeper, COMMAND_CALLBACK_WAIT, &wait, 4);
	ck_assert_uint_eq(read_answer(sweeper), 4);
	/* A waiter that goes away harms nothing. */
	send_command(sweeper, COMMAND_CALLBACK_WAIT, &wait, 5);
	close(sweeper);
	send_command(worker, COMMAND_CALLBACK_FIND, &find, 3);
	ck_assert_uint_eq(read_answer(worker), 3);
	stop();
	close(worker);
	case_now_ms = clock_wall_ms() + 1;
	case_prove();
	case_close();
}
END_TEST

Suite *server_suite(void)
{
	Suite *suite = suite_create("server");
	TCase *tcase = tcase_create("server");

	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, large_answers_wait_for_their_reader);
	tcase_add_test(tcase, a_relayed_client_is_named_by_its_hello);
	tcase_add_test(tcase, a_client_that_has_gone_is_not_cut);
	tcase_add_test(tcase, a_few_commands_wait_for_others);
	tcase_add_test(tcase, a_due_callback_ends_the_wait);
	tcase_add_test(tcase, a_lone_command_does_not_wait);
	tcase_add_test(tcase, a_command_of_a_crowd_does_not_wait);
	suite_add_tcase(suite, tcase);
	return suite;
}
