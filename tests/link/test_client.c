/*
 * Tests the client against a ledger that follows a script, with one letter for each attempt:
 *
 *     a answer   b busy   c receive the command and close   h half an answer and close
 *     s silence
 *     p an answer byte by byte
 *     x answer with garbage   f forbidden   F fault   r answer that the rate limit refuses
 */
#include "test_link.h"

#include "base/clock.h"
#include "base/pack.h"
#include "link/client.h"
#include "link/frame.h"
#include "scratch.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>

/*
 * Deadlines: one that is reached, one that is reached after a request was sent, one that is never
 * reached.
 */
#define PATIENCE_MS 400
#define SILENCE_MS  1000
#define LONG_MS     10000
/* Time between two bytes of an answer in pieces. */
#define PIECE_US 500

static char directory[64];
static char path[96];
static int listener;
static pthread_t thread;
static const char *script;
static unsigned int taken; /* commands that reached the ledger */
static uint64_t protocol_xor;

static void answer(int fd, const struct frame_request *request, char step)
{
	struct balance_result result = {.balance = 4200};
	struct frame_answer head = {.command = request->command,
		.tag = request->tag,
		.generation = 5};
	struct buffer out;
	size_t start, len, piece;

	head.outcome = step == 'b' ? FRAME_BUSY
		: step == 'f'      ? FRAME_FORBIDDEN
		: step == 'F'      ? FRAME_FAULT
				   : FRAME_DONE;
	if (step == 'r')
		result.verdict.refusal = REFUSAL_RATE_LIMITED;
	buffer_init(&out, FRAME_MAX);
	start = frame_open_answer(&out, &head);
	if (head.outcome == FRAME_DONE)
		pack_record(&out, balance_result_fields, &result);
	frame_close(&out, start);
	if (step == 'x')
		memset(out.data, 0xff, 4);
	len = step == 'h' ? out.len / 2 : out.len;
	piece = step == 'p' ? 1 : len;
	for (size_t at = 0; at < len; at += piece) {
		if (send(fd, out.data + at, piece, MSG_NOSIGNAL) != (ssize_t)piece)
			taken += 100;
		if (step == 'p')
			clock_sleep_us(PIECE_US);
	}
	buffer_free(&out);
}

/* Serves one connection. Returns when it ends. */
static void serve(int fd)
{
	uint8_t bytes[4096];
	struct frame_request request;
	struct buffer out;
	size_t size;
	ssize_t got;

	buffer_init(&out, 64);
	greeting_put(&out, command_protocol() ^ protocol_xor, 5);
	if (send(fd, out.data, out.len, MSG_NOSIGNAL) < 0)
		taken += 100;
	buffer_free(&out);
	while ((got = recv(fd, bytes, sizeof(bytes), 0)) > 0) {
		struct bytes in = {bytes, (uint32_t)got};

		for (; in.len; in.data += size, in.len -= (uint32_t)size) {
			char step = *script ? *script++ : 'a';

			if (frame_get_request(in, &request, &size) != FRAME_COMPLETE) {
				taken += 100;
				break;
			}
			taken++;
			if (step == 's')
				continue;
			if (step != 'c')
				answer(fd, &request, step);
			if (step == 'c' || step == 'h')
				return;
		}
	}
}

static void *run(void *unused)
{
	int fd;

	(void)unused;
	while ((fd = accept(listener, NULL, NULL)) >= 0) {
		serve(fd);
		close(fd);
	}
	return NULL;
}

static void start(const char *steps)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	scratch_make(directory);
	snprintf(path, sizeof(path), "%s/edge.sock", directory);
	strcpy(address.sun_path, path);
	script = steps;
	taken = 0;
	listener = socket(AF_UNIX, SOCK_STREAM, 0);
	ck_assert_int_eq(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
	ck_assert_int_eq(listen(listener, 8), 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, run, NULL), 0);
}

static void stop(struct link *link)
{
	link_close(link);
	if (link->mux)
		mux_free(link->mux);
	shutdown(listener, SHUT_RDWR);
	pthread_join(thread, NULL);
	close(listener);
	scratch_remove(directory);
	protocol_xor = 0;
}

static enum refusal refusal; /* of the answer */

/* A call that a fiber makes. */
struct fiber_call {
	struct link *link;
	int64_t patience_ms;
	unsigned int times;
	enum status status;
};

static enum status call_here(struct link *link, int64_t patience_ms)
{
	struct balance_cmd cmd = {.casino_id = "demo", .user_id = "alice"};
	struct balance_result result;
	enum status status =
		link_call(link, COMMAND_BALANCE, &cmd, &result, clock_boot_ms() + patience_ms);

	if (status == STATUS_OK)
		ck_assert_int_eq(result.balance, 4200);
	if (status == STATUS_OK)
		refusal = result.verdict.refusal;
	return status;
}

static void call_in_fiber(void *context)
{
	struct fiber_call *asked = context;

	asked->status = STATUS_OK;
	for (unsigned int i = 0; i < asked->times && asked->status == STATUS_OK; i++)
		asked->status = call_here(asked->link, asked->patience_ms);
}

/* Makes calls that all wait at the same time. */
static void call_together(struct fiber_call *calls, unsigned int count)
{
	struct fibers *fibers = fibers_new(count + 1);

	ck_assert(fibers_add(fibers, mux_pump, calls[0].link->mux, true));
	for (unsigned int i = 0; i < count; i++)
		ck_assert(fibers_add(fibers, call_in_fiber, &calls[i], false));
	ck_assert(fibers_run(fibers));
	fibers_free(fibers);
}

static enum status call(struct link *link, int64_t patience_ms)
{
	struct fiber_call asked = {.link = link, .patience_ms = patience_ms, .times = 1};

	if (!link->mux)
		return call_here(link, patience_ms);
	call_together(&asked, 1);
	return asked.status;
}

/* Makes a link that is @shared or has its own connection. */
static void link_make(struct link *link, bool shared)
{
	static struct mux mux;

	ck_assert(link_init(link, path));
	if (!shared)
		return;
	ck_assert(mux_init(&mux, path));
	link->mux = &mux;
}

static const struct {
	const char *script;
	enum status expected;
	unsigned int taken;
} scripts[] = {
	{"a", STATUS_OK, 1},
	{"ca", STATUS_OK, 2},
	{"ccca", STATUS_OK, 4},
	{"ha", STATUS_OK, 2},
	{"p", STATUS_OK, 1},
	{"b", STATUS_BUSY, 1},
	/* "busy" after a lost answer does not prove that nothing was done. */
	{"cba", STATUS_OK, 3},
	/* Neither does the rate limit, which counts the repetition. */
	{"cra", STATUS_OK, 3},
	{"f", STATUS_FORBIDDEN, 1},
	{"F", STATUS_FAULT, 1},
	{"s", STATUS_UNKNOWN, 1},
	{"cs", STATUS_UNKNOWN, 2},
	/*
	 * The ledger may have executed the command before it sent garbage; a repetition returns
	 * the result.
	 */
	{"xa", STATUS_OK, 2},
};

START_TEST(attempts_follow_the_script)
{
	struct link link;
	enum status status;

	const char *steps = scripts[_i / 2].script;

	start(steps);
	link_make(&link, _i % 2);
	status = call(&link, strchr(steps, 's') ? SILENCE_MS : LONG_MS);
	ck_assert_msg(status == scripts[_i / 2].expected, "%s: %s", steps, status_text(status));
	stop(&link);
	ck_assert_uint_eq(taken, scripts[_i / 2].taken);
	ck_assert_int_eq(refusal, REFUSAL_NONE);
}
END_TEST

static int64_t processor_ms(void)
{
	struct timespec used;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	return used.tv_sec * 1000 + used.tv_nsec / 1000000;
}

static void ignore(int number)
{
	(void)number;
}

/*
 * While the ledger is silent, the client sleeps, even if signals arrive. It returns at its
 * deadline and not before.
 */
START_TEST(silence_is_waited_for_asleep)
{
	const struct sigaction action = {.sa_handler = ignore};
	const struct itimerval often = {{0, 5000}, {0, 5000}}, never = {{0, 0}, {0, 0}};
	int64_t before, used_ms, took_ms;
	struct link link;
	sigset_t alarm;
	int tries = 0;

	/* The signals are delivered to this thread. */
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &alarm, NULL);
	start("ssssssssssss");
	pthread_sigmask(SIG_UNBLOCK, &alarm, NULL);
	link_make(&link, false);
	ck_assert_int_eq(sigaction(SIGALRM, &action, NULL), 0);
	/* Repeated if the machine stalls. */
	do {
		ck_assert_int_eq(setitimer(ITIMER_REAL, _i ? &often : &never, NULL), 0);
		before = clock_boot_ms();
		used_ms = -processor_ms();
		ck_assert_int_eq(call(&link, SILENCE_MS), STATUS_UNKNOWN);
		took_ms = clock_boot_ms() - before;
		used_ms += processor_ms();
		ck_assert_int_eq(setitimer(ITIMER_REAL, &never, NULL), 0);
		ck_assert_int_ge(took_ms, SILENCE_MS - 50);
		ck_assert_int_le(used_ms, SILENCE_MS / 5);
	} while (took_ms > SILENCE_MS + 200 && ++tries < 10);
	ck_assert_int_le(took_ms, SILENCE_MS + 200);
	stop(&link);
}
END_TEST

START_TEST(no_ledger_is_not_sent)
{
	struct link link;
	int64_t before, took_ms;
	int tries = 0;

	ck_assert(link_init(&link, "/proc/none/edge.sock"));
	/* It retries until the deadline and not beyond. Repeated if the machine stalls. */
	do {
		before = clock_boot_ms();
		ck_assert_int_eq(call(&link, PATIENCE_MS), STATUS_NOT_SENT);
		took_ms = clock_boot_ms() - before;
		ck_assert_int_ge(took_ms, PATIENCE_MS - 50);
	} while (took_ms > PATIENCE_MS + 200 && ++tries < 10);
	ck_assert_int_le(took_ms, PATIENCE_MS + 200);
	link_close(&link);
}
END_TEST

static void count_up(void *closure)
{
	++*(unsigned int *)closure;
}

/*
 * Makes a call that waits for SILENCE_MS and returns @expected. link->idle is called meanwhile:
 * often enough, but at most every few milliseconds.
 */
static void wait_idling(struct link *link, enum status expected)
{
	unsigned int called = 0;

	link->idle = count_up;
	link->idle_closure = &called;
	ck_assert_int_eq(call(link, SILENCE_MS), expected);
	ck_assert_uint_ge(called, 3);
	ck_assert_uint_le(called, SILENCE_MS / 5);
}

START_TEST(what_must_not_wait_goes_on_without_a_ledger)
{
	struct link link;

	ck_assert(link_init(&link, "/proc/none/edge.sock"));
	wait_idling(&link, STATUS_NOT_SENT);
	link_close(&link);
}
END_TEST

START_TEST(what_must_not_wait_goes_on_without_an_answer)
{
	struct link link;

	start("as");
	link_make(&link, false);
	ck_assert_int_eq(call(&link, LONG_MS), STATUS_OK);
	wait_idling(&link, STATUS_UNKNOWN);
	stop(&link);
}
END_TEST

START_TEST(other_protocol_is_told)
{
	struct link link;

	protocol_xor = 1;
	start("a");
	link_make(&link, _i);
	ck_assert_int_eq(call(&link, LONG_MS), STATUS_PROTOCOL);
	stop(&link);
	ck_assert_uint_eq(taken, 0);
}
END_TEST

/* The ledger was killed while the worker was idle: the old connection is dead and is replaced. */
START_TEST(dead_connection_is_replaced)
{
	struct link link;

	start("aa");
	link_make(&link, _i);
	ck_assert_int_eq(call(&link, LONG_MS), STATUS_OK);
	shutdown(_i ? link.mux->fd : link.fd, SHUT_RDWR);
	ck_assert_int_eq(call(&link, LONG_MS), STATUS_OK);
	ck_assert_uint_eq(link.generation, 5);
	stop(&link);
	ck_assert_uint_eq(taken, 2);
}
END_TEST

START_TEST(a_late_answer_is_not_the_next_ones)
{
	struct link link;

	start("sa");
	link_make(&link, _i);
	ck_assert_int_eq(call(&link, SILENCE_MS), STATUS_UNKNOWN);
	ck_assert_int_eq(call(&link, LONG_MS), STATUS_OK);
	stop(&link);
}
END_TEST

/* Many simultaneous calls on breaking connections: each gets its own answer. */
START_TEST(shared_calls_are_all_answered)
{
	struct link links[40];
	struct fiber_call calls[40];

	start("aaaacaaaaahaaaaaaaxaaaaaaaaaacaaahaaaaaaaaaaaaaaaaaxcaaaaaa");
	for (unsigned int i = 0; i < 40; i++) {
		link_make(&links[i], i == 0);
		links[i].mux = links[0].mux;
		calls[i] =
			(struct fiber_call){.link = &links[i], .patience_ms = LONG_MS, .times = 5};
	}
	call_together(calls, 40);
	for (unsigned int i = 0; i < 40; i++) {
		ck_assert_int_eq(calls[i].status, STATUS_OK);
		if (i)
			link_close(&links[i]);
	}
	stop(&links[0]);
	ck_assert_uint_ge(taken, 207);
}
END_TEST

static bool post(struct link *link)
{
	struct balance_cmd cmd = {.casino_id = "demo", .user_id = "posted"};

	return link_post(link, COMMAND_BALANCE, &cmd);
}

/* The answer to a post is skipped: the next call gets its own answer. */
START_TEST(posts_are_skipped)
{
	struct link link;

	start("");
	ck_assert(link_init(&link, path));
	ck_assert_msg(!post(&link), "no connection is made for it");
	for (unsigned int i = 0; i < 20; i++) {
		ck_assert_int_eq(call(&link, LONG_MS), STATUS_OK);
		ck_assert(post(&link));
		ck_assert_uint_ne(link.posted, 0);
	}
	ck_assert_int_eq(call(&link, LONG_MS), STATUS_OK);
	ck_assert_uint_eq(link.posted, 0);
	ck_assert_uint_eq(taken, 41);
	stop(&link);
}
END_TEST

/* While a post is unanswered, further posts are dropped at once. */
START_TEST(one_post_at_a_time)
{
	struct link link;
	int64_t begun_ms;

	start("as");
	ck_assert(link_init(&link, path));
	ck_assert_int_eq(call(&link, LONG_MS), STATUS_OK);
	begun_ms = clock_boot_ms();
	ck_assert(post(&link));
	for (unsigned int i = 0; i < 1000; i++)
		ck_assert(!post(&link));
	ck_assert_int_lt(clock_boot_ms() - begun_ms, LONG_MS / 2);
	/* Answers arrive in order, so posts made before this call will not be answered. */
	ck_assert_int_eq(call(&link, LONG_MS), STATUS_OK);
	ck_assert(post(&link));
	stop(&link);
}
END_TEST

/* A post that is lost, or answered with garbage, fails no later call. */
START_TEST(lost_posts_harm_nothing)
{
	static const char *const steps[] = {"aca", "aha", "axa", "aba", "afa", "aFa"};
	struct link link;

	start(steps[_i]);
	ck_assert(link_init(&link, path));
	ck_assert_int_eq(call(&link, LONG_MS), STATUS_OK);
	ck_assert(post(&link));
	ck_assert_int_eq(call(&link, LONG_MS), STATUS_OK);
	ck_assert_uint_ge(taken, 3);
	stop(&link);
}
END_TEST

/* Posts, calls, and posts again. */
static void post_in_fiber(void *context)
{
	struct fiber_call *asked = context;
	unsigned int sent = 0;

	ck_assert(!post(asked->link));
	asked->status = call_here(asked->link, asked->patience_ms);
	for (unsigned int i = 0; i < 1000; i++)
		sent += post(asked->link);
	ck_assert_uint_eq(sent, MUX_POSTS_MAX);
	/* Sent after the posts; its answer makes room. */
	ck_assert_int_eq(call_here(asked->link, asked->patience_ms), STATUS_OK);
	ck_assert(post(asked->link));
	shutdown(asked->link->mux->fd, SHUT_RDWR);
	ck_assert_int_eq(call_here(asked->link, asked->patience_ms), STATUS_OK);
	ck_assert_uint_eq(asked->link->mux->posts, 0);
}

/* Posts use only part of a shared connection's capacity, so that calls have room. */
START_TEST(shared_posts_leave_room)
{
	struct link link;
	struct fiber_call asked = {.link = &link, .patience_ms = LONG_MS};
	struct fibers *fibers = fibers_new(2);

	start("as");
	link_make(&link, true);
	ck_assert(fibers_add(fibers, mux_pump, link.mux, true));
	ck_assert(fibers_add(fibers, post_in_fiber, &asked, false));
	ck_assert(fibers_run(fibers));
	fibers_free(fibers);
	ck_assert_int_eq(asked.status, STATUS_OK);
	stop(&link);
}
END_TEST

START_TEST(a_post_that_is_answered_makes_room)
{
	struct link link;
	int64_t until_ms;

	start("");
	ck_assert(link_init(&link, path));
	ck_assert_int_eq(call(&link, LONG_MS), STATUS_OK);
	until_ms = clock_boot_ms() + LONG_MS;
	for (unsigned int sent = 0; sent < 10 && clock_boot_ms() < until_ms;) {
		sent += post(&link);
		clock_sleep_ms(1);
	}
	ck_assert_int_lt(clock_boot_ms(), until_ms);
	ck_assert_int_eq(call(&link, LONG_MS), STATUS_OK);
	ck_assert_uint_eq(taken, 12);
	stop(&link);
}
END_TEST

#define SEVERAL 5

/* What became of commands that were sent together. */
struct several {
	unsigned int count;
	enum status statuses[SEVERAL];
};

static void note_answer(void *closure, unsigned int at, enum status status, const void *answer)
{
	struct several *several = closure;
	const struct balance_result *result = answer;

	ck_assert_uint_eq(at, several->count);
	ck_assert_uint_lt(at, SEVERAL);
	several->statuses[several->count++] = status;
	if (status == STATUS_OK)
		ck_assert_int_eq(result->balance, 4200);
}

/* Several commands are answered in their order, whatever happens to the connection between them. */
START_TEST(several_are_all_answered)
{
	static const struct {
		const char *steps;
		enum status third; /* of the third command; the others are answered */
	} rows[] = {{"", STATUS_OK}, {"aab", STATUS_BUSY}, {"aaf", STATUS_FORBIDDEN},
		{"aaF", STATUS_FAULT}, {"ppppp", STATUS_OK}, {"aac", STATUS_OK}, {"c", STATUS_OK},
		{"aah", STATUS_OK}, {"aax", STATUS_OK}, {"aaaac", STATUS_OK}, {"ccc", STATUS_OK}};
	const struct balance_cmd cmd = {.casino_id = "demo", .user_id = "alice"};
	const void *cmds[SEVERAL] = {&cmd, &cmd, &cmd, &cmd, &cmd};
	struct several several = {.count = 0};
	struct link link;

	start(rows[_i].steps);
	ck_assert(link_init(&link, path));
	for (unsigned int twice = 0; twice < 2; twice++) {
		several.count = 0;
		link_call_several(&link, COMMAND_BALANCE, cmds, SEVERAL, note_answer, &several,
			clock_boot_ms() + LONG_MS);
		ck_assert_uint_eq(several.count, SEVERAL);
		for (unsigned int at = 0; at < SEVERAL; at++)
			ck_assert_int_eq(several.statuses[at],
				at == 2 && !twice ? rows[_i].third : STATUS_OK);
	}
	ck_assert_uint_ge(taken, 2 * SEVERAL);
	stop(&link);
}
END_TEST

START_TEST(several_without_a_ledger)
{
	const struct balance_cmd cmd = {.casino_id = "demo", .user_id = "alice"};
	const void *cmds[SEVERAL] = {&cmd, &cmd, &cmd, &cmd, &cmd};
	struct several several = {.count = 0};
	struct link link;

	ck_assert(link_init(&link, "/nonexistent/edge.sock"));
	link_call_several(&link, COMMAND_BALANCE, cmds, SEVERAL, note_answer, &several,
		clock_boot_ms() + PATIENCE_MS);
	ck_assert_uint_eq(several.count, SEVERAL);
	for (unsigned int at = 0; at < SEVERAL; at++)
		ck_assert_int_eq(several.statuses[at], STATUS_NOT_SENT);
	link_close(&link);
}
END_TEST

/* A post is outstanding until its answer comes or the connection ends. */
START_TEST(a_post_ends)
{
	struct link link;

	start(_i ? "aca" : "aaa");
	ck_assert(link_init(&link, path));
	ck_assert(link_post_ended(&link));
	ck_assert_int_eq(call(&link, LONG_MS), STATUS_OK);
	ck_assert(link_post_ended(&link));
	ck_assert(post(&link));
	while (!link_post_ended(&link))
		clock_sleep_ms(1);
	ck_assert_uint_eq(link.posted, 0);
	ck_assert_int_eq(link.fd >= 0, !_i);
	ck_assert_int_eq(call(&link, LONG_MS), STATUS_OK);
	stop(&link);
}
END_TEST

START_TEST(long_paths_are_refused)
{
	char longest[200];
	struct link link;

	memset(longest, 'a', sizeof(longest));
	longest[108] = '\0';
	ck_assert(!link_init(&link, longest));
	longest[107] = '\0';
	ck_assert(link_init(&link, longest));
	link_close(&link);
}
END_TEST

START_TEST(list_rows_are_walked)
{
	struct counter row = {.name = "schema", .value = 1}, got;
	struct buffer out, key;
	struct bytes rows, prefix;

	buffer_init(&out, 1024);
	buffer_init(&key, 1024);
	pack_record(&out, counter_fields, &row);
	row.value = 2;
	pack_record(&out, counter_fields, &row);
	rows = (struct bytes){out.data, (uint32_t)out.len};
	ck_assert(link_list_row(&rows, RECORD_COUNTER, &got));
	ck_assert(link_list_row(&rows, RECORD_COUNTER, &got));
	ck_assert_uint_eq(got.value, 2);
	ck_assert(!link_list_row(&rows, RECORD_COUNTER, &got));
	ck_assert_uint_eq(rows.len, 0);
	prefix = link_list_key(&key, RECORD_COUNTER, 1, &row);
	ck_assert_uint_eq(prefix.len, 7);
	ck_assert_mem_eq(prefix.data, "schema", 7);
	buffer_free(&out);
	buffer_free(&key);
}
END_TEST

Suite *client_suite(void)
{
	Suite *suite = suite_create("client");
	TCase *tc = tcase_create("client");

	tcase_add_loop_test(tc, attempts_follow_the_script, 0,
		2 * (int)(sizeof(scripts) / sizeof(scripts[0])));
	tcase_add_loop_test(tc, silence_is_waited_for_asleep, 0, 2);
	tcase_add_test(tc, no_ledger_is_not_sent);
	tcase_add_test(tc, what_must_not_wait_goes_on_without_a_ledger);
	tcase_add_test(tc, what_must_not_wait_goes_on_without_an_answer);
	tcase_add_loop_test(tc, other_protocol_is_told, 0, 2);
	tcase_add_loop_test(tc, dead_connection_is_replaced, 0, 2);
	tcase_add_loop_test(tc, a_late_answer_is_not_the_next_ones, 0, 2);
	tcase_add_test(tc, shared_calls_are_all_answered);
	tcase_add_test(tc, posts_are_skipped);
	tcase_add_test(tc, one_post_at_a_time);
	tcase_add_test(tc, shared_posts_leave_room);
	tcase_add_loop_test(tc, lost_posts_harm_nothing, 0, 6);
	tcase_add_test(tc, a_post_that_is_answered_makes_room);
	tcase_add_loop_test(tc, several_are_all_answered, 0, 11);
	tcase_add_test(tc, several_without_a_ledger);
	tcase_add_loop_test(tc, a_post_ends, 0, 2);
	tcase_add_test(tc, long_paths_are_refused);
	tcase_add_test(tc, list_rows_are_walked);
	tcase_set_timeout(tc, 30);
	suite_add_tcase(suite, tc);
	return suite;
}
