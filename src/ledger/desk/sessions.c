#include "ledger/desk/sessions.h"

#include "base/isolated.h"
#include "base/text.h"
#include "wire/digest.h"

#include <stdatomic.h>
#include <string.h>

_Static_assert(DIGEST_TEXT_SIZE == FRAME_VOUCH_SIZE, "a digest has the form of a session");

struct sessions *sessions_new(void)
{
	return isolated_memory(sizeof(struct sessions));
}

bool session_digest(const char *secret, char digest[FRAME_VOUCH_SIZE])
{
	struct digest sum;
	bool made;

	digest_begin(&sum);
	digest_add(&sum, secret, strlen(secret));
	made = digest_text(&sum, digest);
	digest_end(&sum);
	return made;
}

void sessions_close(struct desk_session *session)
{
	session->used = 0;
}

/* Returns where a session of @name goes: the place of its longest idle one if it has too many. */
static struct desk_session *choose_place(struct sessions *sessions, const char *name)
{
	struct desk_session *unused = NULL, *idle = &sessions->list[0], *own = NULL;
	unsigned int of_name = 0;

	for (unsigned int i = 0; i < SESSIONS_MAX; i++) {
		struct desk_session *session = &sessions->list[i];

		if (!session->used) {
			unused = session;
			continue;
		}
		if (session->seen_ms < idle->seen_ms)
			idle = session;
		if (strcmp(session->name, name) != 0)
			continue;
		of_name++;
		if (!own || session->seen_ms < own->seen_ms)
			own = session;
	}
	if (of_name >= SESSIONS_EACH)
		return own;
	return unused ? unused : idle;
}

void sessions_open(struct sessions *sessions, const char *digest, const struct desk_operator *row,
	const char *address, int64_t now_ms)
{
	struct desk_session *session = choose_place(sessions, row->name);

	session->used = 0;
	atomic_signal_fence(memory_order_seq_cst);
	text_copy(session->digest, sizeof(session->digest), digest);
	text_copy(session->name, sizeof(session->name), row->name);
	text_copy(session->address, sizeof(session->address), address);
	session->role = row->role;
	session->epoch = row->epoch;
	session->opened_ms = session->seen_ms = session->code_ms = now_ms;
	/* If the engine is killed before this, there is no session. */
	atomic_signal_fence(memory_order_seq_cst);
	session->used = 1;
}

/* Returns true if the session has ended by time. */
static bool is_over(const struct desk_session *session, const struct session_limits *limits,
	int64_t now_ms)
{
	return now_ms - session->seen_ms >= limits->idle_ms ||
		now_ms - session->opened_ms >= limits->whole_ms;
}

struct session_tally sessions_tally(const struct sessions *sessions,
	const struct desk_operator *row, const struct session_limits *limits, int64_t now_ms)
{
	struct session_tally tally = {.count = 0};

	for (unsigned int i = 0; i < SESSIONS_MAX; i++) {
		const struct desk_session *session = &sessions->list[i];

		if (!session->used || session->epoch != row->epoch || row->suspended ||
			strcmp(session->name, row->name) != 0 || is_over(session, limits, now_ms))
			continue;
		if (!tally.count || session->opened_ms < tally.opened_ms)
			tally.opened_ms = session->opened_ms;
		if (!tally.count || session->seen_ms > tally.seen_ms) {
			tally.seen_ms = session->seen_ms;
			text_copy(tally.address, sizeof(tally.address), session->address);
		}
		tally.count++;
	}
	return tally;
}

struct desk_session *sessions_find(struct sessions *sessions, const char *digest,
	const struct session_limits *limits, int64_t now_ms)
{
	struct desk_session *found = NULL;

	for (unsigned int i = 0; i < SESSIONS_MAX; i++) {
		struct desk_session *session = &sessions->list[i];

		if (session->used && is_over(session, limits, now_ms))
			sessions_close(session);
		if (session->used && strcmp(session->digest, digest) == 0)
			found = session;
	}
	return found;
}
