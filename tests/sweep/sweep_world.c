#include "sweep_world.h"

#include "base/clock.h"
#include "base/pack.h"
#include "base/text.h"
#include "link/client.h"
#include "sweep/waking.h"

#include <check.h>
#include <errno.h>
#include <signal.h>
#include <string.h>

#define LEASE_MS 10000
#define AGAIN_MS 5000
#define IDLE_MS  10 /* as link/client.c has it */

enum status __wrap_link_call(struct link *link, enum command command, const void *cmd, void *result,
	int64_t deadline_ms);
void __wrap_link_call_several(struct link *link, enum command command, const void *const *cmds,
	unsigned int count, link_each *each, void *closure, int64_t deadline_ms);
void __wrap_waking_arm(struct waking *waking, int64_t now_ms);
void __wrap_sender_watch(struct sender *sender, int fd);
int64_t __wrap_clock_boot_ms(void);
void __wrap_clock_sleep_ms(int64_t ms);
int __wrap_sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout);
struct sender *__wrap_sender_new(const struct sender_options *options);
void __wrap_sender_free(struct sender *sender);
bool __wrap_sender_add(struct sender *sender, const struct callback_request *request);
unsigned int __wrap_sender_count(const struct sender *sender);
void __wrap_sender_run(struct sender *sender, uint32_t timeout_ms);
bool __wrap_sender_take(struct sender *sender, struct callback_outcome *outcome, void **closure);

struct world world;

/* Attempts that are being sent. */
static struct flying {
	struct world_callback *callback; /* NULL: this slot is free */
	enum callback_class class;
	int64_t begin_ms;
	int64_t end_ms;
	bool seen; /* the sender ran after it had ended */
	void *closure;
} flying[SENDER_INFLIGHT_MAX];
static bool idling; /* in link->idle, which may use neither the link nor its callers' data */

void world_reset(void)
{
	memset(&world, 0, sizeof(world));
	memset(flying, 0, sizeof(flying));
	world.now_ms = WORLD_START_MS;
	world.max_inflight = 1000;
}

struct world_callback *world_add(uint64_t event, const char *casino_id)
{
	struct world_callback *callback = &world.callbacks[world.count++];

	ck_assert_uint_le(world.count, WORLD_CALLBACKS_MAX);
	callback->entry.event = event;
	callback->entry.kind = CALLBACK_BETTING_RESULT;
	text_copy(callback->entry.casino_id, sizeof(callback->entry.casino_id), casino_id);
	callback->state = CALLBACK_DUE;
	callback->due_ms = world.now_ms;
	callback->answer = CALLBACK_SUCCESS;
	callback->takes_ms = 10;
	return callback;
}

unsigned int world_count(enum callback_state state)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < world.count; i++)
		count += world.callbacks[i].state == state;
	return count;
}

static struct world_callback *find(uint64_t event)
{
	for (unsigned int i = 0; i < world.count; i++) {
		if (world.callbacks[i].entry.event == event)
			return &world.callbacks[i];
	}
	ck_abort_msg("there is no event %llu", (unsigned long long)event);
}

static bool claimable(const struct world_callback *callback)
{
	if (world.now_ms < callback->due_ms)
		return false;
	return callback->state == CALLBACK_DUE ||
		(callback->state == CALLBACK_SENDING && callback->abandoned);
}

/* Counts the callbacks of the same dealer that are being sent or precede it among those found. */
static unsigned int taken_before(const struct world_callback *callback)
{
	unsigned int taken = 0;

	for (const struct world_callback *other = world.callbacks;
		other < world.callbacks + world.count; other++) {
		if (strcmp(other->entry.casino_id, callback->entry.casino_id) != 0)
			continue;
		if (other->state == CALLBACK_SENDING && !other->abandoned)
			taken++;
		else if (other < callback && claimable(other))
			taken++;
	}
	return taken;
}

static void do_find(const struct callback_find_cmd *cmd, struct callback_find_result *result)
{
	static struct buffer rows;

	if (!rows.max)
		buffer_init(&rows, 1 << 20);
	buffer_reset(&rows);
	world.finds++;
	ck_assert_uint_ge(cmd->most, 1);
	ck_assert_uint_le(cmd->most, CALLBACK_FIND_MAX);
	for (unsigned int i = 0; i < world.count; i++) {
		struct world_callback *callback = &world.callbacks[i];

		result->waiting +=
			callback->state == CALLBACK_DUE || callback->state == CALLBACK_SENDING;
		if (result->count == cmd->most || !claimable(callback) ||
			taken_before(callback) >= world.max_inflight)
			continue;
		callback->entry.takeover = callback->state == CALLBACK_SENDING;
		callback->entry.overdue_ms = (uint64_t)(world.now_ms - callback->due_ms);
		ck_assert(pack_record(&rows, due_entry_fields, &callback->entry));
		result->count++;
	}
	result->entries = (struct bytes){rows.data, (uint32_t)rows.len};
}

/* Advances the time by the duration of a command. */
static void pass(const struct link *link, int64_t ms)
{
	int64_t until_ms = world.now_ms + ms;

	while (world.now_ms < until_ms) {
		world.now_ms +=
			until_ms - world.now_ms < IDLE_MS ? until_ms - world.now_ms : IDLE_MS;
		if (world.now_ms == until_ms || !link->idle)
			continue;
		idling = true;
		link->idle(link->idle_closure);
		idling = false;
	}
}

static void grant(struct world_callback *callback, struct callback_claim_result *result)
{
	callback->state = CALLBACK_SENDING;
	callback->attempts++;
	callback->due_ms = world.now_ms + (callback->lease_ms ? callback->lease_ms : LEASE_MS);
	result->send = (struct callback_grant){
		.event = callback->entry.event,
		.kind = callback->entry.kind,
		.attempt = callback->attempts,
		.lease_left_ms = callback->due_ms - world.now_ms,
		.body = {(const uint8_t *)"{}", 2},
	};
}

static enum status do_claim(const struct link *link, const struct callback_claim_cmd *cmd,
	struct callback_claim_result *result)
{
	struct world_callback *callback = find(cmd->event);

	callback->claims++;
	world.last_claim_ms = world.now_ms;
	for (unsigned int i = 0; i < world.count; i++)
		ck_assert(world.callbacks[i].sender != cmd->sender);
	ck_assert(cmd->sender != 0);
	callback->sender = cmd->sender;
	if (callback->claim_status != STATUS_OK)
		return callback->claim_status;
	result->kind = callback->entry.kind;
	text_copy(result->casino_id, sizeof(result->casino_id), callback->entry.casino_id);
	if (callback->refusal != REFUSAL_NONE) {
		result->verdict.refusal = callback->refusal;
	} else if (!claimable(callback)) {
		result->verdict.refusal = REFUSAL_NOT_ALLOWED_NOW;
	} else if (callback->state == CALLBACK_SENDING) {
		result->taken_over = true;
		callback->state =
			callback->entry.kind == CALLBACK_BETTING ? CALLBACK_FAILED : CALLBACK_DUE;
		callback->due_ms = world.now_ms + AGAIN_MS;
		result->state = callback->state;
	} else {
		grant(callback, result);
	}
	pass(link, callback->claim_takes_ms);
	return STATUS_OK;
}

static enum status do_end(const struct link *link, const struct callback_end_cmd *cmd,
	struct callback_end_result *result)
{
	struct world_callback *callback = find(cmd->event);

	pass(link, world.end_takes_ms);
	callback->ends++;
	if (!world.first_end_ms)
		world.first_end_ms = world.now_ms;
	callback->told = cmd->outcome.class;
	ck_assert_uint_eq(cmd->attempt, callback->attempts);
	ck_assert_uint_eq(cmd->kind, callback->entry.kind);
	ck_assert_str_eq(cmd->casino_id, callback->entry.casino_id);
	if (callback->end_status != STATUS_OK)
		return callback->end_status;
	ck_assert_uint_eq(callback->state, CALLBACK_SENDING);
	callback->state = cmd->outcome.class == CALLBACK_SUCCESS ? CALLBACK_DELIVERED
		: callback->attempts < 3                         ? CALLBACK_DUE
								 : CALLBACK_PARKED;
	callback->due_ms = world.now_ms + AGAIN_MS;
	*result = (struct callback_end_result){
		.state = callback->state,
		.late = callback->end_late,
		.attempts = callback->end_late ? callback->end_attempts : callback->attempts,
	};
	return STATUS_OK;
}

enum status __wrap_link_call(struct link *link, enum command command, const void *cmd, void *result,
	int64_t deadline_ms)
{
	ck_assert(!idling);
	world.asked++;
	world.now_ms += WORLD_ASK_MS;
	ck_assert_int_gt(deadline_ms, world.now_ms - 10 * WORLD_ASK_MS);
	if (world.find_status != STATUS_OK && world.now_ms < world.away_until_ms) {
		/* As in link_call(): retries until the deadline unless the answer is "busy". */
		if (world.find_status != STATUS_BUSY)
			pass(link, deadline_ms - world.now_ms);
		return world.find_status;
	}
	memset(result, 0, command_infos[command].result_size);
	link->asked_ms = world.now_ms;
	switch (command) {
	case COMMAND_CALLBACK_FIND:
		do_find(cmd, result);
		return STATUS_OK;
	case COMMAND_CALLBACK_CLAIM:
		return do_claim(link, cmd, result);
	case COMMAND_CALLBACK_END:
		return do_end(link, cmd, result);
	default:
		ck_abort_msg("the sweeper asks for %s", command_infos[command].name);
	}
}

void __wrap_link_call_several(struct link *link, enum command command, const void *const *cmds,
	unsigned int count, link_each *each, void *closure, int64_t deadline_ms)
{
	static union any_result result;
	int64_t begin_ms = world.now_ms, end_ms = world.now_ms;
	enum status status;

	ck_assert_uint_le(count, LINK_SEVERAL_MAX);
	/* They share a commit, so that together they take as long as the longest. */
	for (unsigned int at = 0; at < count; at++) {
		world.now_ms = begin_ms;
		status = __wrap_link_call(link, command, cmds[at], &result, deadline_ms);
		end_ms = world.now_ms > end_ms ? world.now_ms : end_ms;
		world.now_ms = end_ms;
		each(closure, at, status, &result);
	}
}

/* No ledger wakes the sweeper: these cases are about what it finds by asking. */
void __wrap_waking_arm(struct waking *waking, int64_t now_ms)
{
	(void)waking;
	(void)now_ms;
}

int64_t __wrap_clock_boot_ms(void)
{
	return world.now_ms;
}

void __wrap_clock_sleep_ms(int64_t ms)
{
	world.now_ms += ms;
}

int __wrap_sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
	int64_t until_ms = world.now_ms + timeout->tv_sec * 1000 + timeout->tv_nsec / 1000000;

	(void)info;
	ck_assert(sigismember(set, SIGTERM));
	if (world.signal_ms && world.signal_ms <= until_ms) {
		if (world.now_ms < world.signal_ms)
			world.now_ms = world.signal_ms;
		world.signal_ms = 0;
		return SIGTERM;
	}
	world.now_ms = until_ms;
	errno = EAGAIN;
	return -1;
}

/* --- the dealers */

struct sender *__wrap_sender_new(const struct sender_options *options)
{
	ck_assert_uint_eq(options->total_timeout_ms, WORLD_TIMEOUT_MS);
	ck_assert_uint_eq(options->connect_timeout_ms, 1000);
	return (struct sender *)&world;
}

void __wrap_sender_free(struct sender *sender)
{
	(void)sender;
}

void __wrap_sender_watch(struct sender *sender, int fd)
{
	(void)sender;
	ck_assert_int_eq(fd, -1);
}

bool __wrap_sender_add(struct sender *sender, const struct callback_request *request)
{
	struct world_callback *callback = find(request->event);
	struct flying *place = flying;

	(void)sender;
	ck_assert(!idling);
	if (callback->no_place)
		return false;
	while (place->callback)
		place++;
	*place = (struct flying){.callback = callback,
		.class = CALLBACK_NOT_SENT,
		.begin_ms = world.now_ms,
		.end_ms = world.now_ms,
		.closure = request->closure};
	if (request->fence(request->closure)) {
		callback->sends++;
		place->class = callback->answer;
		place->end_ms += callback->takes_ms;
	}
	if (++world.under_way > world.most_under_way)
		world.most_under_way = world.under_way;
	return true;
}

unsigned int __wrap_sender_count(const struct sender *sender)
{
	(void)sender;
	return world.under_way;
}

void __wrap_sender_run(struct sender *sender, uint32_t timeout_ms)
{
	int64_t until_ms = world.now_ms + timeout_ms;

	(void)sender;
	if (!world.under_way)
		return;
	for (unsigned int i = 0; i < SENDER_INFLIGHT_MAX; i++) {
		if (flying[i].callback && flying[i].end_ms < until_ms)
			until_ms = flying[i].end_ms;
	}
	if (until_ms > world.now_ms)
		world.now_ms = until_ms;
	for (unsigned int i = 0; i < SENDER_INFLIGHT_MAX; i++) {
		if (flying[i].seen || flying[i].end_ms > world.now_ms)
			continue;
		flying[i].seen = true;
		/* As in libcurl: checks the clock before it reads. */
		if (world.now_ms - flying[i].begin_ms > WORLD_TIMEOUT_MS)
			flying[i].class = CALLBACK_UNKNOWN;
	}
}

bool __wrap_sender_take(struct sender *sender, struct callback_outcome *outcome, void **closure)
{
	(void)sender;
	ck_assert(!idling);
	for (unsigned int i = 0; i < SENDER_INFLIGHT_MAX; i++) {
		if (!flying[i].callback || !flying[i].seen)
			continue;
		*outcome = (struct callback_outcome){.class = flying[i].class};
		*closure = flying[i].closure;
		flying[i].callback = NULL;
		world.under_way--;
		return true;
	}
	return false;
}
