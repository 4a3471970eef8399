/*
 * fuzz_ping - what comes over ping.sock (callback/ping_link.h): an inquiry from creditbridgectl, and an answer to it.
 *
 * The bytes come in parts, with pauses. An inquiry that is accepted is one of a balance, is sent once, and is answered. An answer
 * that is accepted has clean texts and possible amounts. What ping_link_ask() sends is what ping_link_serve() receives, and the
 * other way around.
 */
#include "fuzz.h"

#include "base/clock.h"
#include "base/pack.h"
#include "base/text.h"
#include "callback/granted.h"
#include "callback/ping_link.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#define NO_FD       1000 /* of ping_link_serve(); recv() and send() do not use it */
#define MESSAGE_MAX 16384
#define TIMEOUT_MS  3000
/* The largest callback_lease_ms. */
#define LEASE_MAX_MS INT64_C(600000)

enum { SERVE, SERVE_WHOLE, ANSWER, ANSWER_WHOLE, BOTH, MODES };

/* The other end of the connection. */
static struct {
	struct bytes in;
	uint8_t chunk; /* bytes of a part; 0: all at once, without pauses */
	bool paused;
	uint8_t out[MESSAGE_MAX];
	size_t out_len;
	unsigned int sent; /* calls of callback_send() */
	struct callback_outcome outcome;
	const struct callback_inquiry *expected; /* NULL: any */
} world;

ssize_t __wrap_recv(int fd, void *to, size_t len, int flags);
ssize_t __wrap_send(int fd, const void *from, size_t len, int flags);
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout);
int __wrap_connect(int fd, const struct sockaddr *address, socklen_t len);
struct sender *__wrap_sender_new(const struct sender_options *options);
void __wrap_sender_free(struct sender *sender);
void __wrap_callback_send(struct sender *sender, const struct callback_request *request,
	struct callback_outcome *outcome);

/* Each part comes after a pause. */
static bool pauses(void)
{
	world.paused = world.chunk && !world.paused;
	errno = world.chunk % 2 ? EAGAIN : EINTR;
	return world.paused;
}

ssize_t __wrap_recv(int fd, void *to, size_t len, int flags)
{
	struct bytes part;

	(void)fd;
	must(len && (flags & MSG_DONTWAIT));
	if (pauses())
		return -1;
	part = fuzz_take(&world.in, world.chunk && world.chunk < len ? world.chunk : (uint32_t)len);
	if (part.len)
		memcpy(to, part.data, part.len);
	return part.len;
}

ssize_t __wrap_send(int fd, const void *from, size_t len, int flags)
{
	size_t room = world.chunk && world.chunk < len ? world.chunk : len;

	(void)fd;
	must(len && (flags & MSG_DONTWAIT) && (flags & MSG_NOSIGNAL));
	if (pauses())
		return -1;
	must(room <= sizeof(world.out) - world.out_len);
	memcpy(world.out + world.out_len, from, room);
	world.out_len += room;
	return (ssize_t)room;
}

int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout)
{
	must(count == 1 && timeout >= 0);
	fds->revents = fds->events;
	return 1;
}

int __wrap_connect(int fd, const struct sockaddr *address, socklen_t len)
{
	(void)fd;
	must(address->sa_family == AF_UNIX && len);
	return 0;
}

struct sender *__wrap_sender_new(const struct sender_options *options)
{
	must(options->total_timeout_ms == TIMEOUT_MS);
	return (struct sender *)&world;
}

void __wrap_sender_free(struct sender *sender)
{
	must(sender == (struct sender *)&world);
}

#define ENDED(member)     must(strnlen((member), sizeof(member)) < sizeof(member))
#define SAME(one, member) must(strcmp((one)->member, (other)->member) == 0)

static void check_target(const struct callback_target *one, const struct callback_target *other)
{
	SAME(one, url);
	SAME(one, path);
	SAME(one, signing_key_id);
	must(one->allow_http == other->allow_http && one->needs_balance == other->needs_balance);
	for (unsigned int i = 0; i < DEALER_KEYS_MAX; i++) {
		SAME(one, keys[i].key_id);
		SAME(one, keys[i].secret);
	}
}

void __wrap_callback_send(struct sender *sender, const struct callback_request *request,
	struct callback_outcome *outcome)
{
	const struct granted *granted = request->closure;
	const struct callback_inquiry *expected = world.expected;

	must(sender == (struct sender *)&world);
	must(request->kind == CALLBACK_BALANCE_INQUIRE);
	must(request->body.len <= MESSAGE_MAX && !(request->body.len && !request->body.data));
	ENDED(request->target->url);
	ENDED(request->target->path);
	ENDED(request->target->signing_key_id);
	ENDED(granted->end.casino_id);
	/* No inquiry is from the future, or has a lease that the ledger does not give. */
	must(granted->send_until_ms < clock_boot_ms() + LEASE_MAX_MS - TIMEOUT_MS);
	if (request->fence(request->closure))
		must(granted->send_until_ms >= 0);
	if (expected) {
		must(request->event == expected->grant.event);
		must(granted->end.attempt == expected->grant.attempt);
		must(strcmp(granted->end.casino_id, expected->casino_id) == 0);
		must(request->body.len == expected->grant.body.len);
		must(!request->body.len ||
			memcmp(request->body.data, expected->grant.body.data, request->body.len) ==
				0);
		check_target(request->target, &expected->grant.target);
	}
	world.sent++;
	*outcome = world.outcome;
}

static struct settings settings = {.socket_directory = "/s", .callback_timeout_ms = TIMEOUT_MS};

/* Writes @in with its length before it, as a message of the socket. */
static struct bytes with_length(struct bytes in, uint8_t message[MESSAGE_MAX])
{
	const uint32_t len = in.len < MESSAGE_MAX - 4 ? in.len : MESSAGE_MAX - 4;

	for (unsigned int i = 0; i < 4; i++)
		message[i] = (uint8_t)(len >> (24 - 8 * i));
	if (len)
		memcpy(message + 4, in.data, len);
	return (struct bytes){message, len + 4};
}

static void check_text(const char *text, size_t size)
{
	must(strnlen(text, size) < size);
	must(text_is_utf8_clean(text, strlen(text)));
}
#define CLEAN(member) check_text((member), sizeof(member))

static void check_outcome(const struct callback_outcome *outcome)
{
	must(outcome->class < CALLBACK_CLASS_COUNT);
	CLEAN(outcome->dealer_error_id);
	CLEAN(outcome->dealer_error_detail);
	CLEAN(outcome->currency);
	CLEAN(outcome->user_id);
	CLEAN(outcome->note);
	CLEAN(outcome->answer_type);
	CLEAN(outcome->answer);
	must(outcome->balance <= MONEY_MAX && outcome->balance >= -MONEY_MAX);
	must(outcome->shortfall <= MONEY_MAX && outcome->shortfall >= -MONEY_MAX);
}

/* Serves what is in the world. Returns true if an inquiry was accepted. */
static bool serve(void)
{
	bool served;

	world.sent = 0;
	world.out_len = 0;
	served = ping_link_serve(NO_FD, &settings);
	must(served == (world.sent == 1) && world.sent <= 1);
	must(served == (world.out_len > 4));
	return served;
}

/* An inquiry from the input goes to the server, and its outcome comes back. */
static void check_both(struct bytes in)
{
	static uint8_t inquired[MESSAGE_MAX], answered[MESSAGE_MAX];
	struct callback_inquiry inquiry;
	struct callback_outcome outcome, wanted;

	memset(&inquiry, 0, sizeof(inquiry));
	memset(&wanted, 0, sizeof(wanted));
	inquiry.asked_ms = clock_boot_ms();
	text_copy(inquiry.casino_id, sizeof(inquiry.casino_id), "demo");
	if (!unpack_record(&in, callback_grant_fields, &inquiry.grant) ||
		inquiry.grant.kind != CALLBACK_BALANCE_INQUIRE || inquiry.grant.lease_left_ms < 0 ||
		inquiry.grant.lease_left_ms > LEASE_MAX_MS)
		return;
	if (!unpack_record(&in, callback_outcome_fields, &wanted)) {
		memset(&wanted, 0, sizeof(wanted));
		wanted.class = CALLBACK_SUCCESS;
	}
	/* It is sent, and there is no answer. */
	world.in.len = 0;
	world.out_len = 0;
	must(ping_link_ask(&settings, &inquiry, &outcome));
	must(outcome.class == CALLBACK_UNKNOWN && outcome.note[0]);
	memcpy(inquired, world.out, world.out_len);
	world.in = (struct bytes){inquired, (uint32_t)world.out_len};
	world.outcome = wanted;
	world.expected = &inquiry;
	must(serve());
	world.expected = NULL;
	memcpy(answered, world.out, world.out_len);
	world.in = (struct bytes){answered, (uint32_t)world.out_len};
	world.out_len = 0;
	must(ping_link_ask(&settings, &inquiry, &outcome));
	check_outcome(&outcome);
	if (wanted.balance > MONEY_MAX || wanted.balance < -MONEY_MAX ||
		wanted.shortfall > MONEY_MAX || wanted.shortfall < -MONEY_MAX)
		return;
	must(outcome.class == wanted.class && outcome.http_status == wanted.http_status);
	must(outcome.balance == wanted.balance && outcome.has_balance == wanted.has_balance);
	must(strlen(outcome.answer) == strlen(wanted.answer));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t message[MESSAGE_MAX];
	const struct callback_inquiry nothing = {.casino_id = "demo"};
	struct bytes in = {data, (uint32_t)size};
	const unsigned int mode = fuzz_byte(&in) % MODES;
	struct callback_outcome outcome;

	memset(&world, 0, sizeof(world));
	world.outcome.class = CALLBACK_SUCCESS;
	world.chunk = fuzz_byte(&in);
	world.in = mode == SERVE_WHOLE || mode == ANSWER_WHOLE ? with_length(in, message) : in;
	switch (mode) {
	case SERVE:
	case SERVE_WHOLE:
		serve();
		break;
	case ANSWER:
	case ANSWER_WHOLE:
		must(ping_link_ask(&settings, &nothing, &outcome));
		check_outcome(&outcome);
		break;
	default:
		check_both(in);
	}
	return 0;
}
