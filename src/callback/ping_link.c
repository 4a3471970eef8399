#include "callback/ping_link.h"

#include "base/clock.h"
#include "base/pack.h"
#include "base/text.h"
#include "callback/granted.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Of a request or an answer. */
#define MESSAGE_MAX 16384
#define LENGTH_SIZE 4
/* Time for the request, and beyond the call for the start of the process and its answer. */
#define REQUEST_MS INT64_C(5000)
#define SPARE_MS   INT64_C(10000)
/* No lease is longer (the setting callback_lease_ms). */
#define LEASE_MAX_MS INT64_C(600000)
/* How long the other process may take no connection. */
#define CONNECT_S 2

static const struct field inquiry_fields[] = {
	FIELD(FIELD_TIME_MS, callback_inquiry, asked_ms),
	FIELD(FIELD_STR, callback_inquiry, casino_id),
	FIELD_SUB(callback_inquiry, grant, callback_grant, callback_grant_fields),
	FIELD_END,
};

/* Sends or receives exactly @len bytes until @until_ms, by the boot clock. */
static bool move_bytes(int fd, uint8_t *data, size_t len, bool out, int64_t until_ms)
{
	struct pollfd pfd = {.fd = fd, .events = out ? POLLOUT : POLLIN};

	while (len) {
		const ssize_t moved = out ? send(fd, data, len, MSG_NOSIGNAL | MSG_DONTWAIT)
					  : recv(fd, data, len, MSG_DONTWAIT);
		const int64_t left_ms = until_ms - clock_boot_ms();

		if (moved > 0) {
			data += moved;
			len -= (size_t)moved;
			continue;
		}
		if (moved == 0 || (errno != EAGAIN && errno != EINTR) || left_ms <= 0)
			return false;
		if (poll(&pfd, 1, (int)left_ms) < 0 && errno != EINTR)
			return false;
	}
	return true;
}

/* One message; it is cleared, since a request has keys. */
struct message {
	uint8_t data[MESSAGE_MAX];
};

static bool send_record(int fd, const struct field *table, const void *record, int64_t until_ms)
{
	struct message message;
	struct buffer out;
	bool sent = false;

	buffer_init(&out, MESSAGE_MAX - LENGTH_SIZE);
	/* All at once: a buffer that grows leaves copies of the keys in memory. */
	if (buffer_reserve(&out, MESSAGE_MAX - LENGTH_SIZE) && pack_record(&out, table, record)) {
		for (unsigned int i = 0; i < LENGTH_SIZE; i++)
			message.data[i] = (uint8_t)(out.len >> (8 * (LENGTH_SIZE - 1 - i)));
		memcpy(message.data + LENGTH_SIZE, out.data, out.len);
		sent = move_bytes(fd, message.data, LENGTH_SIZE + out.len, true, until_ms);
	}
	if (out.data)
		explicit_bzero(out.data, out.len);
	buffer_free(&out);
	explicit_bzero(&message, sizeof(message));
	return sent;
}

/* Bytes members of @record point into @message. */
static bool receive_record(int fd, const struct field *table, void *record, int64_t until_ms,
	struct message *message)
{
	uint8_t head[LENGTH_SIZE];
	struct bytes in = {.data = message->data};

	if (!move_bytes(fd, head, sizeof(head), false, until_ms))
		return false;
	for (unsigned int i = 0; i < LENGTH_SIZE; i++)
		in.len = in.len << 8 | head[i];
	return in.len <= MESSAGE_MAX && move_bytes(fd, message->data, in.len, false, until_ms) &&
		unpack_record(&in, table, record) && in.len == 0;
}

/* Returns -1 if no process listens there. */
static int connect_to(const struct settings *settings)
{
	/* connect() would wait for ever for a process that takes no more connections. */
	const struct timeval patience = {.tv_sec = CONNECT_S};
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const int length = snprintf(address.sun_path, sizeof(address.sun_path), "%s/" PING_SOCKET,
		settings->socket_directory);
	int fd;

	if (length < 0 || (size_t)length >= sizeof(address.sun_path))
		return -1;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) == 0 &&
		connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	close(fd);
	return -1;
}

/* The other process is not trusted: its texts go to terminals and pages. */
static void clean_texts(struct callback_outcome *outcome)
{
	text_clean(outcome->dealer_error_id, strlen(outcome->dealer_error_id));
	text_clean(outcome->dealer_error_detail, strlen(outcome->dealer_error_detail));
	text_clean(outcome->currency, strlen(outcome->currency));
	text_clean(outcome->user_id, strlen(outcome->user_id));
	text_clean(outcome->note, strlen(outcome->note));
	text_clean(outcome->answer_type, strlen(outcome->answer_type));
	text_clean(outcome->answer, strlen(outcome->answer));
}

/* Nor are its numbers: an amount beyond these cannot be printed or added up. */
static bool is_amount(money_t amount)
{
	return amount <= MONEY_MAX && amount >= -MONEY_MAX;
}

bool ping_link_is_served(const struct settings *settings)
{
	const int fd = connect_to(settings);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

bool ping_link_ask(const struct settings *settings, const struct callback_inquiry *inquiry,
	struct callback_outcome *outcome)
{
	const int64_t until_ms = clock_boot_ms() + settings->callback_timeout_ms + SPARE_MS;
	const int fd = connect_to(settings);
	struct message message;
	bool answered;

	if (fd < 0)
		return false;
	answered = send_record(fd, inquiry_fields, inquiry, until_ms) &&
		receive_record(fd, callback_outcome_fields, outcome, until_ms, &message);
	if (!answered || !is_amount(outcome->balance) || !is_amount(outcome->shortfall)) {
		memset(outcome, 0, sizeof(*outcome));
		outcome->class = CALLBACK_UNKNOWN;
		text_copy(outcome->note, sizeof(outcome->note),
			"the process on " PING_SOCKET " gave no answer: see its log");
	}
	clean_texts(outcome);
	close(fd);
	return true;
}

/* The process that asks is not trusted: its times decide until when the first byte may leave. */
static bool is_possible(const struct callback_inquiry *inquiry)
{
	const struct callback_grant *grant = &inquiry->grant;

	return grant->kind == CALLBACK_BALANCE_INQUIRE && inquiry->asked_ms >= 0 &&
		inquiry->asked_ms <= clock_boot_ms() && grant->lease_left_ms >= 0 &&
		grant->lease_left_ms <= LEASE_MAX_MS;
}

bool ping_link_serve(int fd, const struct settings *settings)
{
	const struct sender_options options = sender_options_of(settings);
	struct callback_outcome outcome = {.class = CALLBACK_NOT_SENT, .note = "no memory"};
	struct message message;
	struct callback_inquiry inquiry;
	struct granted granted;
	struct callback_request request;
	struct sender *sender;
	bool received = receive_record(fd, inquiry_fields, &inquiry, clock_boot_ms() + REQUEST_MS,
		&message);

	received = received && is_possible(&inquiry);
	sender = received ? sender_new(&options) : NULL;
	if (sender) {
		request = granted_request(&granted, &inquiry.grant, inquiry.asked_ms,
			inquiry.casino_id, settings->callback_timeout_ms);
		callback_send(sender, &request, &outcome);
		sender_free(sender);
	}
	explicit_bzero(&inquiry, sizeof(inquiry));
	explicit_bzero(&message, sizeof(message));
	return received &&
		send_record(fd, callback_outcome_fields, &outcome, clock_boot_ms() + REQUEST_MS);
}
