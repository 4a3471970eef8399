/* keys - names rows that several families of commands need. */
#ifndef LEDGER_ROWS_KEYS_H
#define LEDGER_ROWS_KEYS_H

#include "base/text.h"
#include "domain/records.h"

#include <stddef.h>
#include <string.h>

/*
 * Returns a key for ws_want() and ws_get() of a row named by one string, which is the first member
 * of its struct. The string suffices; no struct of two thousand bytes is filled.
 */
static inline const void *dealer_key_of(const char *casino_id)
{
	_Static_assert(offsetof(struct dealer, casino_id) == 0, "the key comes first");
	return casino_id;
}

static inline struct dealer dealer_named(const char *casino_id)
{
	struct dealer key;

	memset(&key, 0, sizeof(key));
	text_copy(key.casino_id, sizeof(key.casino_id), casino_id);
	return key;
}

static inline struct dealer_move move_named(const char *casino_id)
{
	struct dealer_move key;

	memset(&key, 0, sizeof(key));
	text_copy(key.casino_id, sizeof(key.casino_id), casino_id);
	return key;
}

static inline struct total total_named(const char *casino_id)
{
	struct total key;

	memset(&key, 0, sizeof(key));
	text_copy(key.casino_id, sizeof(key.casino_id), casino_id);
	return key;
}

static inline struct player player_named(const char *casino_id, const char *user_id)
{
	struct player key;

	memset(&key, 0, sizeof(key));
	text_copy(key.casino_id, sizeof(key.casino_id), casino_id);
	text_copy(key.user_id, sizeof(key.user_id), user_id);
	return key;
}

static inline struct client client_named(const char *client_id)
{
	struct client key;

	memset(&key, 0, sizeof(key));
	text_copy(key.client_id, sizeof(key.client_id), client_id);
	return key;
}

static inline struct player_name player_id_named(const char *player_id)
{
	struct player_name key;

	memset(&key, 0, sizeof(key));
	text_copy(key.player_id, sizeof(key.player_id), player_id);
	return key;
}

static inline struct round round_named(const char *player_id, const char *game_id)
{
	struct round key;

	memset(&key, 0, sizeof(key));
	text_copy(key.player_id, sizeof(key.player_id), player_id);
	text_copy(key.game_id, sizeof(key.game_id), game_id);
	return key;
}

static inline struct bet bet_named(const char *player_id, const char *game_id, uint32_t number)
{
	struct bet key;

	memset(&key, 0, sizeof(key));
	text_copy(key.player_id, sizeof(key.player_id), player_id);
	text_copy(key.game_id, sizeof(key.game_id), game_id);
	key.number = number;
	return key;
}

static inline struct correction correction_named(const char *player_id, const char *game_id,
	uint32_t revision)
{
	struct correction key;

	memset(&key, 0, sizeof(key));
	text_copy(key.player_id, sizeof(key.player_id), player_id);
	text_copy(key.game_id, sizeof(key.game_id), game_id);
	key.revision = revision;
	return key;
}

static inline struct callback callback_named(uint64_t event)
{
	struct callback key;

	memset(&key, 0, sizeof(key));
	key.event = event;
	return key;
}

static inline struct day day_named(const char *player_id, uint32_t number)
{
	struct day key;

	memset(&key, 0, sizeof(key));
	text_copy(key.player_id, sizeof(key.player_id), player_id);
	key.number = number;
	return key;
}

static inline struct request request_named(enum request_scope scope, const char *owner,
	const char *request_transaction_id)
{
	struct request key;

	memset(&key, 0, sizeof(key));
	key.scope = scope;
	text_copy(key.owner, sizeof(key.owner), owner);
	text_copy(key.request_transaction_id, sizeof(key.request_transaction_id),
		request_transaction_id);
	return key;
}

static inline struct replay replay_named(uint64_t id)
{
	struct replay key;

	memset(&key, 0, sizeof(key));
	key.id = id;
	return key;
}

static inline struct desk_operator desk_operator_named(const char *name)
{
	struct desk_operator key;

	memset(&key, 0, sizeof(key));
	text_copy(key.name, sizeof(key.name), name);
	return key;
}

/* Returns true for 1 to 128 bytes of UTF-8 without control characters (contract, "Ids"). */
static inline bool external_id_valid(const char *id)
{
	size_t len = strlen(id);

	return len > 0 && len < EXTERNAL_ID_SIZE && text_is_utf8_clean(id, len);
}

#endif
