/*
 * fuzz_fastcgi - what a web server sends a worker of the wallet, and what it gets back.
 *
 * Three bytes choose how the bytes come and leave, and how much is answered; the rest is what the
 * web server sends. A second, simpler reader takes it as a whole beforehand, up to the first record that
 * breaks the rules. The requests that libfcgi reads, their variables and their bodies must be those of
 * that reader, wherever recv() and send() break them apart; no body may be shorter than announced.
 * Link with -Wl,--wrap= of what is __wrap_ here.
 */
#include "fuzz.h"

#include "base/fiber.h"
#include "fcgi/connection.h"
#include "wire/body.h"

#include <errno.h>
#include <poll.h>
#include <strings.h>
#include <sys/socket.h>

#define NO_FD        1000000
#define REQUESTS_MAX 64

/* How the input ends, and what becomes of the output. */
enum { END_CLOSED, END_SILENT, END_RESET };
enum { OUT_WHOLE, OUT_PARTS, OUT_PIPE, OUT_STUCK };

/* A request as the simple reader sees it. */
struct expected {
	uint16_t id;
	bool begun; /* its variables are there */
	bool whole; /* its body, too */
	struct buffer params;
	struct buffer body;
};

static struct {
	struct bytes in;
	uint32_t chunk;
	bool pauses; /* EAGAIN comes before each part */
	bool paused;
	int end, out_kind;
	size_t out_max; /* of OUT_PIPE and OUT_STUCK */
	struct buffer out;
	uint64_t steps;
	struct fcgi_conn conn;
	struct expected expected[REQUESTS_MAX];
	unsigned int count, served;
	unsigned int roles; /* libfcgi's own variable of it was seen */
	size_t variables;   /* of the next request: what was taken of its params */
} world;

ssize_t __wrap_recv(int fd, void *to, size_t len, int flags);
ssize_t __wrap_send(int fd, const void *from, size_t len, int flags);
int __wrap_shutdown(int fd, int how);
bool __wrap_fiber_wait(int fd, short events, int64_t until_ms);
void __wrap_http_request_variable(struct http_request *request, const char *name, size_t len,
	const char *value);
void __real_http_request_variable(struct http_request *request, const char *name, size_t len,
	const char *value);

static const char *const headers[] = {"HTTP_X_CASINO_ID", "HTTP_X_CASINO_SIGNATURE"};
static const struct http_format format = {.headers = headers,
	.header_count = 2,
	.body_max = BODY_MAX};

static ssize_t failed(int error)
{
	errno = error;
	return -1;
}

static bool pauses(void)
{
	world.steps++;
	world.paused = world.pauses && !world.paused;
	return world.paused;
}

ssize_t __wrap_recv(int fd, void *to, size_t len, int flags)
{
	struct bytes part;

	must(fd == NO_FD && len && (flags & MSG_DONTWAIT));
	if (pauses())
		return failed(EAGAIN);
	if (!world.in.len && world.end != END_CLOSED)
		return failed(world.end == END_SILENT ? EAGAIN : ECONNRESET);
	part = fuzz_take(&world.in, len < world.chunk ? (uint32_t)len : world.chunk);
	if (part.len)
		memcpy(to, part.data, part.len);
	return part.len;
}

ssize_t __wrap_send(int fd, const void *from, size_t len, int flags)
{
	size_t room = len;

	must(fd == NO_FD && len && (flags & MSG_DONTWAIT) && (flags & MSG_NOSIGNAL));
	if (pauses())
		return failed(EAGAIN);
	if (world.out_kind != OUT_WHOLE && room > 1 + 512 * (size_t)world.chunk)
		room = 1 + 512 * (size_t)world.chunk;
	if (world.out_kind >= OUT_PIPE && room > world.out_max - world.out.len)
		room = world.out_max - world.out.len;
	if (!room)
		return failed(world.out_kind == OUT_PIPE ? EPIPE : EAGAIN);
	must(buffer_append(&world.out, from, room));
	return (ssize_t)room;
}

int __wrap_shutdown(int fd, int how)
{
	must(fd == NO_FD && how == SHUT_WR);
	return 0;
}

bool __wrap_fiber_wait(int fd, short events, int64_t until_ms)
{
	must(fd == NO_FD && until_ms != FIBER_FOREVER);
	world.steps++;
	if (events == POLLIN)
		return world.in.len || world.end != END_SILENT;
	must(events == POLLOUT);
	return world.out_kind != OUT_STUCK || world.out.len < world.out_max;
}

/* The length of a name or value at @at. False: it is not there. */
static bool length_at(const struct buffer *params, size_t *at, size_t *len)
{
	const uint8_t *from = params->data + *at;

	if (*at >= params->len || (from[0] >= 128 && params->len - *at < 4))
		return false;
	*len = from[0] < 128
		? from[0]
		: ((size_t)from[0] - 128) * 16777216 + from[1] * 65536u + from[2] * 256u + from[3];
	*at += from[0] < 128 ? 1 : 4;
	return true;
}

/* The next pair of the request's variables, as libfcgi hands it over: NAME=VALUE up to a NUL. */
static void next_pair(char *text, size_t size)
{
	const struct buffer *params = &world.expected[world.served].params;
	size_t name_len, value_len, *at = &world.variables;

	must(length_at(params, at, &name_len) && length_at(params, at, &value_len));
	must(name_len + value_len <= params->len - *at && name_len + value_len + 2 <= size);
	if (name_len)
		memcpy(text, params->data + *at, name_len);
	text[name_len] = '=';
	if (value_len)
		memcpy(text + name_len + 1, params->data + *at + name_len, value_len);
	text[name_len + 1 + value_len] = '\0';
	*at += name_len + value_len;
}

/* Passes over pairs whose name has a NUL in it, which are not handed over. */
static void skip_pairs(void)
{
	static char text[FUZZ_ROW_MAX + 2];
	size_t at;

	while (world.variables < world.expected[world.served].params.len) {
		at = world.variables;
		next_pair(text, sizeof(text));
		if (strchr(text, '=')) {
			world.variables = at;
			return;
		}
	}
}

void __wrap_http_request_variable(struct http_request *request, const char *name, size_t len,
	const char *value)
{
	static char text[FUZZ_ROW_MAX + 2];

	must(world.served < world.count && world.expected[world.served].begun);
	must(name[len] == '=' && value == name + len + 1);
	if (world.variables || strcmp(name, "FCGI_ROLE=RESPONDER") != 0 || world.roles++) {
		skip_pairs();
		next_pair(text, sizeof(text));
		must(strcmp(text, name) == 0);
	}
	__real_http_request_variable(request, name, len, value);
}

/* Whether every pair is whole and none longer than the limit. */
static bool pairs_are_whole(const struct buffer *params)
{
	size_t at = 0, name_len, value_len;

	while (at < params->len) {
		if (!length_at(params, &at, &name_len) || !length_at(params, &at, &value_len) ||
			name_len + value_len > params->len - at)
			return false;
		at += name_len + value_len;
	}
	return true;
}

/* Takes a record. False: it breaks the rules, and there the reading ends. */
static bool expect(uint8_t type, uint16_t id, struct bytes content, uint8_t padding)
{
	struct expected *now = &world.expected[world.count ? world.count - 1 : 0];

	if (!id || (!content.len && padding))
		return false;
	if (!world.count || now->whole) {
		if (type != 1 || padding || content.len != 8 || content.data[0] ||
			content.data[1] != 1 || world.count == REQUESTS_MAX)
			return false;
		world.expected[world.count++].id = id;
		return true;
	}
	if (id != now->id || type != (now->begun ? 5 : 4))
		return false;
	if (type == 4) {
		now->begun = !content.len;
		return buffer_append(&now->params, content.data, content.len) &&
			(!now->begun || pairs_are_whole(&now->params));
	}
	now->whole = !content.len;
	return buffer_append(&now->body, content.data, content.len);
}

/* The simple reader. */
static void expect_all(struct bytes in)
{
	struct bytes head, content;
	uint32_t len;

	while (in.len >= 8) {
		head = fuzz_take(&in, 8);
		len = (uint32_t)head.data[4] * 256 + head.data[5];
		content = fuzz_take(&in, len);
		if (head.data[0] != 1 || (content.len != len && !content.len) ||
			!expect(head.data[1], (uint16_t)(head.data[2] * 256 + head.data[3]),
				content, head.data[6]))
			break;
		fuzz_take(&in, head.data[6]);
	}
}

static void check_body(const struct http_request *request, bool to_end)
{
	const struct expected *should = &world.expected[world.served];
	const char *length = request->content_length.value;
	size_t announced = length ? strtoull(length, NULL, 10) : 0;
	bool open = (!length || !*length) && request->transfer_encoding.value &&
		strcasecmp(request->transfer_encoding.value, "chunked") == 0;

	must(request->body_len <= should->body.len && request->body_len <= BODY_MAX + 1);
	must(!request->body_len ||
		memcmp(request->body, should->body.data, request->body_len) == 0);
	must(open || request->body_len <= announced);
	must(!to_end || world.conn.failed || should->whole);
	if (request->body_state != HTTP_BODY_WHOLE || world.conn.failed)
		return;
	must(request->body_len <= BODY_MAX);
	must(request->body_len == (open ? should->body.len : announced));
}

/*
 * The records of the output from @from on. They must be the answer @text to @id, or
 * its beginning, unless that is NULL. Returns whether they are whole.
 */
static bool check_records(size_t from, uint16_t id, const struct buffer *text)
{
	struct bytes out = {world.out.data, (uint32_t)world.out.len}, head, content;
	size_t told = 0;
	bool ended = false;
	uint32_t len, padding;

	if (from)
		fuzz_take(&out, (uint32_t)from);
	while (out.len >= 8) {
		head = fuzz_take(&out, 8);
		len = (uint32_t)head.data[4] * 256 + head.data[5];
		content = fuzz_take(&out, len);
		padding = head.data[6];
		must(head.data[0] == 1 && head.data[7] == 0);
		if (content.len != len || fuzz_take(&out, padding).len != padding)
			return false;
		must(head.data[1] == 3 || head.data[1] == 6);
		must(head.data[1] != 3 || (len == 8 && !memcmp(content.data, "\0\0\0", 4)));
		if (!text)
			continue;
		must(head.data[2] * 256 + head.data[3] == id && !ended);
		must(head.data[1] == 6 || (head.data[1] == 3 && content.data[4] == 0));
		ended = head.data[1] == 3;
		must(ended ||
			(told + len <= text->len &&
				(!len || memcmp(text->data + told, content.data, len) == 0)));
		told += ended ? 0 : len;
	}
	return !out.len && (!text || (ended && told == text->len));
}

/* Answers one request after the other, as a slot does. */
static void serve_all(size_t answer_len)
{
	static uint8_t text[131100];
	struct http_source source = {.read = fcgi_conn_read, .context = &world.conn};
	struct buffer head = {text, answer_len < 100 ? answer_len : 100, sizeof(text), sizeof(text),
		false};
	struct buffer body = {text + head.len, answer_len - head.len, sizeof(text), sizeof(text),
		false};
	struct buffer both = {text, answer_len, sizeof(text), sizeof(text), false};
	uint8_t *store = malloc(BODY_MAX + 1);
	struct http_request request;
	bool to_end, goes_on = true;
	size_t from;

	must(store);
	for (size_t i = 0; i < sizeof(text) && text[sizeof(text) - 1] == 0; i++)
		text[i] = (uint8_t)(i * 7 + (i >> 8));
	while (goes_on && fcgi_conn_request(&world.conn, &format, &request)) {
		skip_pairs();
		must(world.variables == world.expected[world.served].params.len);
		must(world.conn.request.requestId == world.expected[world.served].id);
		to_end = http_body_read(&request, store, &source);
		check_body(&request, to_end);
		from = world.out.len;
		goes_on = fcgi_conn_reply(&world.conn, &head, &body) && to_end;
		must(!world.conn.broken || world.out_kind >= OUT_PIPE);
		must(check_records(from, world.expected[world.served].id, &both) ||
			world.conn.broken);
		must(!goes_on ||
			(world.conn.request.keepConnection && !world.conn.failed &&
				!world.conn.broken));
		fcgi_conn_end(&world.conn);
		world.served++;
		world.variables = 0;
		world.roles = 0;
	}
	free(store);
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	char why[256];

	(void)argc;
	(void)argv;
	must(fcgi_library_init(why, sizeof(why)));
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const size_t answers[] = {1, 300, 65404, 65405, 65504, 65536, 130908, 130909};
	struct bytes in = {data, (uint32_t)size};
	uint8_t how = fuzz_byte(&in), chunk = fuzz_byte(&in), answer = fuzz_byte(&in);

	memset(&world, 0, offsetof(__typeof__(world), conn));
	world.chunk = chunk ? chunk : FCGI_IN_SIZE;
	world.end = how % 4 % 3;
	world.out_kind = how / 4 % 4;
	world.pauses = how & 16;
	world.out_max = (size_t)(answer / 8) * 2777;
	world.in = in;
	world.count = world.served = 0;
	world.variables = 0;
	world.roles = 0;
	buffer_init(&world.out, 64 * FUZZ_ROW_MAX);
	for (unsigned int i = 0; i < REQUESTS_MAX; i++) {
		world.expected[i] = (struct expected){.id = 0};
		buffer_init(&world.expected[i].params, FUZZ_ROW_MAX);
		buffer_init(&world.expected[i].body, FUZZ_ROW_MAX);
	}
	expect_all(in);
	fcgi_conn_init(&world.conn);
	fcgi_conn_open(&world.conn, NO_FD, 20000);
	serve_all(answers[answer % 8]);
	fcgi_conn_free(&world.conn);
	must(world.conn.fd == -1);
	must(check_records(0, 0, NULL) || world.out_kind >= OUT_PIPE);
	must(world.steps <= 64 + 4 * (size + world.out.len));
	for (unsigned int i = 0; i < REQUESTS_MAX; i++) {
		buffer_free(&world.expected[i].params);
		buffer_free(&world.expected[i].body);
	}
	buffer_free(&world.out);
	return 0;
}
