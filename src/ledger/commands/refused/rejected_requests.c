#include "ledger/commands/refused/rejected_requests.h"

#include "base/log.h"
#include "base/pack.h"
#include "base/text.h"
#include "ledger/commands/ops.h"
#include "domain/near_id.h"
#include "wire/inspect.h"

#include <stdlib.h>
#include <string.h>

#define RATE_WINDOW_MS 1000

/* All kept data, so that its size is its bound. */
#define ARENA_SIZE                                                                                 \
	(REFUSED_BYTES_MAX - REFUSED_MAX * (uint32_t)sizeof(struct refused_slot) -                 \
		REFUSED_RETIRED_MAX * (uint32_t)sizeof(struct retired_key))

struct refused_memory {
	struct retired_key retired[REFUSED_RETIRED_MAX];
	struct refused_slot slots[REFUSED_MAX];
	uint8_t arena
		[ARENA_SIZE]; /* packed struct refused_request, in the order of the slots, round */
};

_Static_assert(sizeof(struct refused_memory) <= REFUSED_BYTES_MAX, "the bound holds in all");

bool refused_init(struct refused_ring *ring, const struct moment *now)
{
	memset(ring, 0, sizeof(*ring));
	ring->started_ms = now->wall_ms;
	/* So large a block is of pages that are there once they are written to. */
	ring->memory = calloc(1, sizeof(struct refused_memory));
	return ring->memory != NULL;
}

void refused_free(struct refused_ring *ring)
{
	free(ring->memory);
	memset(ring, 0, sizeof(*ring));
}

static struct refused_slot *slot_at(const struct refused_ring *ring, uint32_t n)
{
	return &ring->memory->slots[(ring->first + n) % REFUSED_MAX];
}

static void drop_oldest(struct refused_ring *ring)
{
	struct refused_slot *slot = slot_at(ring, 0);

	explicit_bzero(ring->memory->arena + slot->offset, slot->len);
	ring->first = (ring->first + 1) % REFUSED_MAX;
	ring->count--;
}

/* Frees @len bytes after the newest request or at the beginning. Returns the offset. */
static uint32_t make_room(struct refused_ring *ring, uint32_t len)
{
	uint32_t at = ring->head;

	if (len > ARENA_SIZE - at) {
		/* Requests after the newest are older than those at the beginning. */
		while (ring->count && slot_at(ring, 0)->offset >= ring->head)
			drop_oldest(ring);
		at = 0;
	}
	while (ring->count && slot_at(ring, 0)->offset >= at && slot_at(ring, 0)->offset < at + len)
		drop_oldest(ring);
	if (ring->count == REFUSED_MAX)
		drop_oldest(ring);
	return at;
}

/* Returns false if the limit of this second is reached. */
static bool within_rate(struct refused_ring *ring, int64_t boot_ms)
{
	if (boot_ms - ring->window_ms >= RATE_WINDOW_MS) {
		ring->window_ms = boot_ms;
		ring->window_taken = 0;
	}
	if (ring->window_taken >= REFUSED_RATE)
		return false;
	ring->window_taken++;
	return true;
}

/*
 * Workers cut the members. A request of a worker that did not must not exceed a frame in the
 * answer.
 */
static bool is_cut(const struct refused_request *request)
{
	return request->caller.len <= REFUSED_ID_MAX &&
		request->signature.len <= REFUSED_SIGNATURE_MAX &&
		request->query.len <= REFUSED_QUERY_MAX && request->body.len <= REFUSED_BODY_MAX;
}

bool refused_keep(struct refused_ring *ring, const struct refused_request *request, int64_t boot_ms,
	struct buffer *scratch)
{
	struct refused_slot *slot;
	uint32_t len;

	if (!is_cut(request) || !within_rate(ring, boot_ms) ||
		!pack_record(scratch, refused_request_fields, request)) {
		ring->dropped++;
		return false;
	}
	/* A cut request is far smaller than the arena, so it always fits. */
	len = (uint32_t)scratch->len;
	ring->head = make_room(ring, len);
	slot = slot_at(ring, ring->count++);
	slot->offset = ring->head;
	slot->len = len;
	memcpy(ring->memory->arena + slot->offset, scratch->data, len);
	explicit_bzero(scratch->data, len);
	ring->head += len;
	return true;
}

/* Reads slot number @n, the oldest being 0. This file packed its bytes, so unpacking cannot fail. */
static bool read_slot(const struct refused_ring *ring, uint32_t n, struct refused_request *request)
{
	const struct refused_slot *slot = slot_at(ring, n);
	struct bytes packed = {ring->memory->arena + slot->offset, slot->len};

	return unpack_record(&packed, refused_request_fields, request);
}

const struct retired_key *refused_retired(const struct refused_ring *ring, uint32_t n)
{
	const uint32_t kept = ring->retired_count < REFUSED_RETIRED_MAX ? ring->retired_count
									: REFUSED_RETIRED_MAX;

	return n < kept
		? &ring->memory->retired[(ring->retired_count - 1 - n) % REFUSED_RETIRED_MAX]
		: NULL;
}

void refused_find(const struct refused_ring *ring, const char *request_id,
	struct refused_find_result *result)
{
	struct refused_request request;

	result->kept = ring->count;
	result->dropped = ring->dropped;
	result->started_ms = ring->started_ms;
	memset(&request, 0, sizeof(request));
	if (ring->count && read_slot(ring, 0, &request))
		result->since_ms = request.time_ms;
	for (uint32_t i = 0; i < ring->count; i++) {
		if (!read_slot(ring, i, &request) || strcmp(request.request_id, request_id) != 0)
			continue;
		result->matches++;
		result->request = request;
	}
}

void retired_note(struct retired_notes *notes, enum keyring_of of, const char *owner,
	const struct dealer_key *key, int64_t now_ms)
{
	struct retired_key *note;

	if (!notes || notes->count == REFUSED_NOTES_MAX || !key->key_id[0] || !key->secret[0])
		return;
	note = &notes->keys[notes->count++];
	memset(note, 0, sizeof(*note));
	note->of = of;
	text_copy(note->caller_id, sizeof(note->caller_id), owner);
	text_copy(note->key_id, sizeof(note->key_id), key->key_id);
	text_copy(note->secret, sizeof(note->secret), key->secret);
	note->retired_ms = now_ms;
}

void retired_book(struct refused_ring *ring, struct retired_notes *notes, bool saved)
{
	for (uint32_t i = 0; saved && i < notes->count; i++)
		ring->memory->retired[ring->retired_count++ % REFUSED_RETIRED_MAX] = notes->keys[i];
	if (notes->count)
		explicit_bzero(notes, sizeof(*notes));
}

static bool see_row(void *context, struct bytes key, const void *row)
{
	(void)key;
	(void)row;
	*(bool *)context = true;
	return false;
}

/* Returns true if the dealer has a player of that id; false also after an error. */
static bool is_player(const struct read_context *context, const char *casino_id,
	const char *user_id)
{
	struct store_range range = {.record = RECORD_PLAYER};
	struct player player;
	bool found = false;

	memset(&player, 0, sizeof(player));
	text_copy(player.casino_id, sizeof(player.casino_id), casino_id);
	text_copy(player.user_id, sizeof(player.user_id), user_id);
	buffer_reset(context->cursor);
	if (!user_id[0] ||
		!pack_key(context->cursor, player_fields, record_infos[RECORD_PLAYER].key_count,
			&player))
		return false;
	range.prefix = (struct bytes){context->cursor->data, (uint32_t)context->cursor->len};
	return context->store->scan(context->store, &range, see_row, &found) == STATUS_OK && found;
}

/* Logs the player that the dealer may have meant when it asked for an unknown one. */
static void log_near_player(const struct refused_request *request,
	const struct read_context *context)
{
	char casino_id[CASINO_ID_SIZE], sent[EXTERNAL_ID_SIZE];
	char ids[NEAR_ID_FORMS][EXTERNAL_ID_SIZE];
	char sent_quoted[LOG_QUOTED_MAX], near_quoted[LOG_QUOTED_MAX];

	if (request->refusal != REFUSAL_USER_NOT_FOUND || request->of != KEYRING_DEALERS ||
		request->caller.len >= sizeof(casino_id) ||
		!inspect_string(request->body, "user_id", sent, sizeof(sent)))
		return;
	text_copy_len(casino_id, sizeof(casino_id), (const char *)request->caller.data,
		request->caller.len);
	near_id_forms(sent, ids);
	for (unsigned int i = 0; i < NEAR_ID_FORMS; i++) {
		if (strcmp(ids[i], sent) == 0 || !is_player(context, casino_id, ids[i]))
			continue;
		log_line(LOG_LEVEL_INFO, "user_not_found",
			"request_id=%s casino_id=%s user_id=\"%s\" near_user_id=\"%s\"",
			request->request_id, casino_id, log_quote(sent_quoted, sent),
			log_quote(near_quoted, ids[i]));
		return;
	}
}

/* These run once, after the batch: so a request is kept once. */

enum status refused_note_read(const void *arg, const struct read_context *context, void *out)
{
	const struct refused_note_cmd *cmd = arg;
	struct refused_note_result *result = out;

	result->kept =
		refused_keep(context->refused, &cmd->request, context->now.boot_ms, context->rows);
	if (result->kept)
		log_near_player(&cmd->request, context);
	return STATUS_OK;
}

enum status refused_find_read(const void *arg, const struct read_context *context, void *out)
{
	const struct refused_find_cmd *cmd = arg;
	struct refused_find_result *result = out;

	refused_find(context->refused, cmd->request_id, result);
	/* No page of the console shows a signature, so it does not learn one. */
	if (context->desk)
		result->request.signature = (struct bytes){.len = 0};
	return STATUS_OK;
}
