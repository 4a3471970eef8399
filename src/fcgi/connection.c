#include "fcgi/connection.h"

#include "base/clock.h"
#include "base/fiber.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PROTOCOL    1
#define HEAD_SIZE   8
#define RESPONDER   1
#define KEEP        1
/* Of an answer in a record: with the ends that come behind it (24 bytes) it still leaves at once. */
#define RECORD_MOST (FCGI_OUT_SIZE - 4 * HEAD_SIZE)
_Static_assert(RECORD_MOST <= UINT16_MAX, "a record's length has 16 bits");
/* Memory for variables beyond this is not kept for the next request. */
#define PARAMS_KEPT 65536
/* So long is waited for a web server to take the answer and close. */
#define LINGER_MS   1000
/* So often may a request begin, the first time included. */
#define BEGINS_MAX  16

/* Record types. */
enum {
	BEGIN_REQUEST = 1,
	ABORT_REQUEST = 2,
	END_REQUEST = 3,
	PARAMS = 4,
	STDIN = 5,
	STDOUT = 6,
	GET_VALUES = 9,
	GET_VALUES_RESULT = 10,
	UNKNOWN_TYPE = 11,
};

/* Of END_REQUEST. */
enum {
	REQUEST_COMPLETE = 0,
	CANT_MPX_CONN = 1,
	UNKNOWN_ROLE = 3,
};

void fcgi_conn_init(struct fcgi_conn *conn)
{
	conn->fd = -1;
	buffer_init(&conn->params, FCGI_PARAMS_MAX);
	buffer_init(&conn->out, FCGI_OUT_SIZE);
}

void fcgi_conn_free(struct fcgi_conn *conn)
{
	fcgi_conn_close(conn);
	buffer_free(&conn->params);
	buffer_free(&conn->out);
	explicit_bzero(conn->in, sizeof(conn->in));
}

void fcgi_conn_open(struct fcgi_conn *conn, int fd, int64_t wait_ms)
{
	conn->fd = fd;
	conn->wait_ms = wait_ms;
	conn->failed = conn->broken = conn->keep = false;
	conn->stdin_ended = true;
	conn->at = conn->len = conn->content = conn->padding = 0;
}

void fcgi_conn_close(struct fcgi_conn *conn)
{
	uint8_t trash[4096];
	int64_t until_ms;

	if (conn->fd < 0)
		return;
	/* What is closed with bytes unread resets the connection, and our answer with it. */
	if (!conn->stdin_ended && !conn->broken && shutdown(conn->fd, SHUT_WR) == 0) {
		until_ms = clock_boot_ms() +
			(conn->wait_ms < LINGER_MS ? conn->wait_ms : LINGER_MS);
		while (clock_boot_ms() < until_ms && fiber_wait(conn->fd, POLLIN, until_ms) &&
			recv(conn->fd, trash, sizeof(trash), MSG_DONTWAIT) > 0)
			;
	}
	fiber_forget(conn->fd);
	close(conn->fd);
	conn->fd = -1;
}

/* Receives more once all was taken. False: the end. */
static bool fill(struct fcgi_conn *conn)
{
	int64_t until_ms = 0;
	ssize_t got;

	while (!conn->failed) {
		got = recv(conn->fd, conn->in, sizeof(conn->in), MSG_DONTWAIT);
		if (got > 0) {
			conn->at = 0;
			conn->len = (size_t)got;
			return true;
		}
		if (got < 0 && errno == EINTR)
			continue;
		if (!until_ms)
			until_ms = clock_boot_ms() + conn->wait_ms;
		conn->failed = got == 0 || errno != EAGAIN ||
			!fiber_wait(conn->fd, POLLIN, until_ms);
	}
	return false;
}

/* Takes @len bytes, to @to unless that is NULL. False: the connection ended before. */
static bool take(struct fcgi_conn *conn, void *to, size_t len)
{
	uint8_t *put = to;
	size_t part;

	while (len) {
		if (conn->at == conn->len && !fill(conn))
			return false;
		part = conn->len - conn->at < len ? conn->len - conn->at : len;
		if (put) {
			memcpy(put, conn->in + conn->at, part);
			put += part;
		}
		conn->at += part;
		len -= part;
	}
	return true;
}

static bool send_out(struct fcgi_conn *conn)
{
	size_t sent = 0;
	ssize_t n;

	while (!conn->broken && sent < conn->out.len) {
		n = send(conn->fd, conn->out.data + sent, conn->out.len - sent,
			MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n > 0)
			sent += (size_t)n;
		else if (errno == EAGAIN)
			conn->broken = !fiber_wait(conn->fd, POLLOUT,
				clock_boot_ms() + conn->wait_ms);
		else
			conn->broken = errno != EINTR;
	}
	buffer_reset(&conn->out);
	return !conn->broken;
}

static void append(struct fcgi_conn *conn, const void *data, size_t len)
{
	buffer_append(&conn->out, data, len);
	conn->broken |= conn->out.failed;
}

/*
 * Begins a record of up to RECORD_MOST bytes, which are to be appended, and sends before what has no
 * room beside it.
 */
static void begin_record(struct fcgi_conn *conn, uint8_t type, uint16_t id, size_t len)
{
	const uint8_t head[HEAD_SIZE] = {PROTOCOL, type, (uint8_t)(id >> 8), (uint8_t)id,
		(uint8_t)(len >> 8), (uint8_t)len};

	if (conn->out.len + HEAD_SIZE + len > FCGI_OUT_SIZE)
		send_out(conn);
	append(conn, head, sizeof(head));
}

static void put_record(struct fcgi_conn *conn, uint8_t type, uint16_t id, const void *data,
	size_t len)
{
	begin_record(conn, type, id, len);
	append(conn, data, len);
}

static void put_end(struct fcgi_conn *conn, uint16_t id, uint8_t status)
{
	const uint8_t end[8] = {0, 0, 0, 0, status};

	put_record(conn, END_REQUEST, id, end, sizeof(end));
}

/*
 * A record that begins a request. The one under way may begin anew while nothing of its body was
 * read: lighttpd whose worker died puts a new beginning before the old one that it could not send.
 * False: nothing that comes after it can be told apart.
 */
static bool begin(struct fcgi_conn *conn, uint16_t id)
{
	uint8_t body[8];

	if (conn->content != sizeof(body) || !take(conn, body, sizeof(body)))
		return false;
	conn->content = 0;
	if (conn->id && conn->id != id) {
		put_end(conn, id, CANT_MPX_CONN);
		return send_out(conn);
	}
	/* To refuse it would end the one that is under way. */
	if (conn->id && (conn->in_body || ++conn->begins > BEGINS_MAX))
		return false;
	conn->id = 0;
	conn->keep = body[2] & KEEP;
	if (body[0] != 0 || body[1] != RESPONDER) {
		put_end(conn, id, UNKNOWN_ROLE);
		return send_out(conn) && conn->keep;
	}
	conn->id = id;
	return true;
}

/* A record that speaks of no request. No variable is known, and no other type. */
static bool manage(struct fcgi_conn *conn, uint8_t type)
{
	const uint8_t unknown[8] = {type};

	if (type == GET_VALUES)
		begin_record(conn, GET_VALUES_RESULT, 0, 0);
	else
		put_record(conn, UNKNOWN_TYPE, 0, unknown, sizeof(unknown));
	return send_out(conn);
}

/* Drops what is left of the record that is being read. */
static bool skip(struct fcgi_conn *conn)
{
	bool taken = take(conn, NULL, conn->content + conn->padding);

	conn->content = conn->padding = 0;
	return taken;
}

/*
 * Reads on to the head of a record of the request with content of one of its streams, and the ends
 * of these, or beyond the one that begins it. False: the connection failed, or the server takes the
 * request back.
 */
static bool next_record(struct fcgi_conn *conn)
{
	uint8_t head[HEAD_SIZE];
	uint16_t id;

	for (;;) {
		if (!skip(conn) || !take(conn, head, sizeof(head)) || head[0] != PROTOCOL)
			break;
		id = (uint16_t)(head[2] << 8 | head[3]);
		conn->type = head[1];
		conn->content = (size_t)head[4] << 8 | head[5];
		conn->padding = head[6];
		if (id == 0) {
			if (!manage(conn, conn->type))
				break;
		} else if (conn->type == BEGIN_REQUEST) {
			if (!begin(conn, id))
				break;
			if (conn->id == id)
				return true;
		} else if (conn->id && id == conn->id) {
			if (conn->type == ABORT_REQUEST)
				break;
			if (conn->type == PARAMS || conn->type == STDIN)
				return true;
		}
	}
	conn->failed = true;
	return false;
}

/* Takes the length of a name or value off @left. False: there is none. */
static bool take_length(uint8_t **at, size_t *left, size_t *len)
{
	size_t size = *left && **at & 0x80 ? 4 : 1;
	const uint8_t *from = *at;

	if (*left < size)
		return false;
	*len = size == 1 ? from[0]
			 : (size_t)(from[0] & 0x7f) << 24 | (size_t)from[1] << 16 |
			(size_t)from[2] << 8 | from[3];
	*at += size;
	*left -= size;
	return true;
}

/*
 * Hands the variables over. The byte before a name belongs to its lengths, which were read: what is
 * moved there makes room for the NUL at the end of the value.
 */
static bool split_params(struct fcgi_conn *conn, struct http_request *request)
{
	uint8_t *at = conn->params.data;
	size_t left = conn->params.len, name, value;
	char *text;

	while (left) {
		if (!take_length(&at, &left, &name) || !take_length(&at, &left, &value) ||
			name > left || value > left - name)
			return false;
		text = (char *)at - 1;
		memmove(text, at, name + value);
		text[name + value] = '\0';
		http_request_variable(request, text, name, text + name);
		at += name + value;
		left -= name + value;
	}
	return true;
}

/* Appends the content of a record of variables. */
static bool take_params(struct fcgi_conn *conn)
{
	uint8_t *to = buffer_reserve(&conn->params, conn->content);

	if (!to || !take(conn, to, conn->content))
		return false;
	conn->params.len += conn->content;
	conn->content = 0;
	return true;
}

bool fcgi_conn_request(struct fcgi_conn *conn, struct http_request *request)
{
	bool params_ended = false;

	conn->id = 0;
	conn->begins = 1;
	conn->stdin_ended = conn->in_body = false;
	if (conn->params.cap > PARAMS_KEPT)
		buffer_free(&conn->params);
	while (next_record(conn)) {
		if (conn->type == BEGIN_REQUEST) {
			buffer_reset(&conn->params);
			params_ended = false;
		} else if ((conn->type == STDIN) != params_ended) {
			break;
		} else if (conn->type == STDIN) {
			conn->in_body = true;
			conn->stdin_ended = !conn->content && skip(conn);
			http_request_begin(request);
			if (!split_params(conn, request))
				break;
			http_request_route(request);
			return true;
		} else if (!conn->content) {
			params_ended = true;
		} else if (!take_params(conn)) {
			break;
		}
	}
	conn->failed = true;
	return false;
}

size_t fcgi_conn_read(void *context, void *to, size_t len)
{
	struct fcgi_conn *conn = context;
	uint8_t *put = to;
	size_t got = 0, part;

	while (got < len && !conn->stdin_ended && !conn->failed) {
		if (!conn->content) {
			if (next_record(conn) && conn->type == STDIN && !conn->content)
				conn->stdin_ended = skip(conn);
			continue;
		}
		part = len - got < conn->content ? len - got : conn->content;
		if (conn->type == STDIN && take(conn, put + got, part))
			got += part;
		else if (conn->type != STDIN)
			take(conn, NULL, part);
		conn->content -= part;
	}
	return got;
}

/* Puts @len bytes of what @parts are together out, from @at on. */
static void put_part(struct fcgi_conn *conn, const struct buffer *parts[2], size_t at, size_t len)
{
	size_t start = 0, part;

	for (size_t i = 0; i < 2; i++) {
		part = at < start + parts[i]->len ? start + parts[i]->len - at : 0;
		part = part < len ? part : len;
		if (part)
			append(conn, parts[i]->data + (at - start), part);
		at += part;
		len -= part;
		start += parts[i]->len;
	}
}

bool fcgi_conn_reply(struct fcgi_conn *conn, const struct buffer *head, const struct buffer *body)
{
	const struct buffer *parts[2] = {head, body};
	const size_t all = head->len + body->len;
	size_t len;

	/* As few records as may be: a web server has work with each. */
	for (size_t at = 0; at < all; at += len) {
		len = all - at < RECORD_MOST ? all - at : RECORD_MOST;
		begin_record(conn, STDOUT, conn->id, len);
		put_part(conn, parts, at, len);
	}
	begin_record(conn, STDOUT, conn->id, 0);
	put_end(conn, conn->id, REQUEST_COMPLETE);
	return send_out(conn) && conn->keep && !conn->failed;
}
