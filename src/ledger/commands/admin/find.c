/*
 * find - looks a text up as each kind of id.
 *
 * Each look-up reads one row by its key. References and user ids belong to a dealer or a game server, so they are
 * looked up for FIND_OWNERS_MAX of these in a command; the first command also looks at the ids that
 * belong to no dealer, and at the players of a game. The cursor is "d" or "c" and the last dealer or game
 * server that was looked at.
 */
#include "base/pack.h"
#include "domain/callback.h"
#include "ledger/commands/ops.h"
#include "ledger/rows/accepted_calls.h"
#include "ledger/rows/keys.h"

#include <string.h>

struct id_search {
	const struct find_cmd *cmd;
	const struct read_context *context;
	struct find_result *result;
	char owners[FIND_OWNERS_MAX][CASINO_ID_SIZE];
	uint32_t owner_count;
	struct game_player players[FIND_ROUNDS_MAX];
	uint32_t round_count;
	bool more; /* owners follow */
};

static struct find_hit hit_of(enum find_kind of)
{
	struct find_hit hit;

	memset(&hit, 0, sizeof(hit));
	hit.of = of;
	return hit;
}

static void add_hit(struct id_search *finding, const struct find_hit *hit)
{
	if (pack_record(finding->context->rows, find_hit_fields, hit))
		finding->result->count++;
}

static void hit_player(struct id_search *finding, const char *casino_id, const char *user_id,
	const char *player_id)
{
	struct find_hit hit = hit_of(FIND_PLAYER);

	text_copy(hit.casino_id, sizeof(hit.casino_id), casino_id);
	text_copy(hit.user_id, sizeof(hit.user_id), user_id);
	text_copy(hit.player_id, sizeof(hit.player_id), player_id);
	add_hit(finding, &hit);
}

static void hit_transaction(struct id_search *finding, const struct transaction *row)
{
	struct find_hit hit = hit_of(FIND_TRANSACTION);

	hit.transaction_id = row->transaction_id;
	text_copy(hit.casino_id, sizeof(hit.casino_id), row->casino_id);
	text_copy(hit.player_id, sizeof(hit.player_id), row->player_id);
	text_copy(hit.game_id, sizeof(hit.game_id), row->game_id);
	text_copy(hit.request_transaction_id, sizeof(hit.request_transaction_id),
		row->request_transaction_id);
	text_copy(hit.client_id, sizeof(hit.client_id), row->client_id);
	hit.scope = row->scope;
	hit.bet_number = row->bet_number;
	hit.kind = row->kind;
	hit.amount = row->amount;
	hit.time_ms = row->time_ms;
	add_hit(finding, &hit);
}

static void hit_request(struct id_search *finding, const struct request *row)
{
	struct find_hit hit = hit_of(FIND_REQUEST);

	text_copy(hit.request_transaction_id, sizeof(hit.request_transaction_id),
		row->request_transaction_id);
	hit.scope = row->scope;
	if (scope_is_of_client(row->scope))
		text_copy(hit.client_id, sizeof(hit.client_id), row->owner);
	else
		text_copy(hit.casino_id, sizeof(hit.casino_id), row->owner);
	text_copy(hit.player_id, sizeof(hit.player_id), row->player_id);
	text_copy(hit.game_id, sizeof(hit.game_id), row->game_id);
	hit.bet_number = row->bet_number;
	hit.transaction_id = row->transaction_id;
	hit.kind = row->kind;
	hit.outcome = row->outcome;
	hit.amount = row->amount;
	hit.time_ms = row->time_ms;
	add_hit(finding, &hit);
}

static void hit_callback(struct id_search *finding, const struct callback *row)
{
	struct find_hit hit = hit_of(FIND_CALLBACK);

	hit.event = row->event;
	hit.callback_kind = row->kind;
	hit.callback_state = row->state;
	text_copy(hit.casino_id, sizeof(hit.casino_id), row->casino_id);
	text_copy(hit.player_id, sizeof(hit.player_id), row->player_id);
	text_copy(hit.game_id, sizeof(hit.game_id), row->game_id);
	hit.bet_number = row->bet_number;
	hit.time_ms = row->created_ms;
	add_hit(finding, &hit);
}

static bool same_call(const struct accepted_call *a, const struct accepted_call *b)
{
	return a->operation == b->operation && a->transaction_id == b->transaction_id &&
		a->event == b->event && strcmp(a->owner, b->owner) == 0;
}

static void hit_call(struct id_search *finding, const struct accepted_call *call)
{
	struct find_hit hit = hit_of(FIND_CALL);

	if (call->of_client)
		text_copy(hit.client_id, sizeof(hit.client_id), call->owner);
	else
		text_copy(hit.casino_id, sizeof(hit.casino_id), call->owner);
	text_copy(hit.call, sizeof(hit.call), http_operations[call->operation].name);
	hit.transaction_id = call->transaction_id;
	hit.event = call->event;
	hit.time_ms = call->time_ms;
	add_hit(finding, &hit);
}

/* A worker may have sent the command of one call several times. */
static void hit_calls(struct id_search *finding)
{
	const struct accepted_call *found[FIND_CALLS_MAX], *call = NULL;
	unsigned int count = 0, same;

	while (count < FIND_CALLS_MAX) {
		call = accepted_calls_find(finding->context->accepted, finding->cmd->text, call);
		if (!call)
			return;
		for (same = 0; same < count && !same_call(found[same], call); same++)
			;
		if (same < count)
			continue;
		found[count++] = call;
		hit_call(finding, call);
	}
}

/* The keys that the text may be by itself. */
struct own_keys {
	uint64_t number; /* of a transaction or an event; 0: the text is none */
	uint64_t event;
	enum callback_kind kind; /* CALLBACK_KIND_COUNT: any */
	struct player player;    /* of CASINO/USER; casino_id "": the text is none */
};

static struct own_keys read_own_keys(const char *text)
{
	struct own_keys keys;
	const char *slash = strchr(text, '/');

	memset(&keys, 0, sizeof(keys));
	if (!text_unsigned(text, TRANSACTION_ID_MAX, &keys.number))
		keys.number = 0;
	if (!callback_event_read(text, &keys.event, &keys.kind))
		keys.event = 0;
	if (slash &&
		text_copy_len(keys.player.casino_id, sizeof(keys.player.casino_id), text,
			(size_t)(slash - text)) &&
		!text_copy(keys.player.user_id, sizeof(keys.player.user_id), slash + 1))
		keys.player.casino_id[0] = '\0';
	if (!slash)
		keys.player.casino_id[0] = '\0';
	return keys;
}

static void want_own(struct ws *ws, const char *text, const struct own_keys *keys)
{
	const struct transaction transaction = {.transaction_id = keys->number};
	const struct callback callback = {.event = keys->event};
	const struct dealer dealer = dealer_named(text);
	const struct client client = client_named(text);
	const struct player_name name = player_id_named(text);

	if (keys->number)
		ws_want(ws, RECORD_TRANSACTION, &transaction);
	if (keys->event)
		ws_want(ws, RECORD_CALLBACK, &callback);
	if (dealer.casino_id[0])
		ws_want(ws, RECORD_DEALER, &dealer);
	if (client.client_id[0])
		ws_want(ws, RECORD_CLIENT, &client);
	if (name.player_id[0])
		ws_want(ws, RECORD_PLAYER_NAME, &name);
	if (keys->player.casino_id[0])
		ws_want(ws, RECORD_PLAYER, &keys->player);
}

/* Returns the row if it was wanted and exists. */
static const void *row_of(struct ws *ws, enum record record, const void *key)
{
	return ws_loaded(ws, record, key) ? ws_get(ws, record, key) : NULL;
}

static void take_dealer(struct id_search *finding, const struct own_keys *keys)
{
	struct ws *ws = finding->context->ws;
	const struct dealer dealer_key = dealer_named(finding->cmd->text);
	const struct client client_key = client_named(finding->cmd->text);
	struct find_hit hit = hit_of(FIND_DEALER);

	(void)keys;
	if (dealer_key.casino_id[0] && row_of(ws, RECORD_DEALER, &dealer_key)) {
		text_copy(hit.casino_id, sizeof(hit.casino_id), finding->cmd->text);
		add_hit(finding, &hit);
	}
	hit = hit_of(FIND_CLIENT);
	if (client_key.client_id[0] && row_of(ws, RECORD_CLIENT, &client_key)) {
		text_copy(hit.client_id, sizeof(hit.client_id), finding->cmd->text);
		add_hit(finding, &hit);
	}
}

static void take_own(struct id_search *finding, const struct own_keys *keys)
{
	struct ws *ws = finding->context->ws;
	const struct transaction transaction_key = {.transaction_id = keys->number};
	const struct callback callback_key = {.event = keys->event};
	const struct player_name name_key = player_id_named(finding->cmd->text);
	const struct transaction *transaction =
		keys->number ? row_of(ws, RECORD_TRANSACTION, &transaction_key) : NULL;
	const struct callback *callback =
		keys->event ? row_of(ws, RECORD_CALLBACK, &callback_key) : NULL;
	const struct player_name *name =
		name_key.player_id[0] ? row_of(ws, RECORD_PLAYER_NAME, &name_key) : NULL;
	const struct player *player =
		keys->player.casino_id[0] ? row_of(ws, RECORD_PLAYER, &keys->player) : NULL;

	take_dealer(finding, keys);
	if (name)
		hit_player(finding, name->casino_id, name->user_id, name->player_id);
	if (player)
		hit_player(finding, player->casino_id, player->user_id, player->player_id);
	if (transaction)
		hit_transaction(finding, transaction);
	if (callback && (keys->kind == CALLBACK_KIND_COUNT || keys->kind == callback->kind))
		hit_callback(finding, callback);
	hit_calls(finding);
}

static enum status load_wanted(const struct id_search *finding)
{
	struct store *store = finding->context->store;

	return ws_pending(finding->context->ws) ? store->load(store, finding->context->ws)
						: STATUS_OK;
}

/* Looks at the ids that belong to no dealer. */
static enum status find_own(struct id_search *finding)
{
	const struct own_keys keys = read_own_keys(finding->cmd->text);
	enum status status;

	ws_reset(finding->context->ws);
	want_own(finding->context->ws, finding->cmd->text, &keys);
	status = load_wanted(finding);
	if (!status)
		take_own(finding, &keys);
	return status;
}

/* Adds the round of the next player of the game. */
static bool note_round(void *arg, struct bytes key, const void *row)
{
	struct id_search *finding = arg;
	const struct game_player *found = row;
	const struct player_name name = player_id_named(found->player_id);

	(void)key;
	finding->result->rounds_more = finding->round_count == FIND_ROUNDS_MAX;
	if (finding->result->rounds_more)
		return false;
	finding->players[finding->round_count++] = *found;
	ws_want(finding->context->ws, RECORD_PLAYER_NAME, &name);
	return true;
}

static void hit_round(struct id_search *finding, const struct player_name *name)
{
	struct find_hit hit = hit_of(FIND_ROUND);

	text_copy(hit.casino_id, sizeof(hit.casino_id), name->casino_id);
	text_copy(hit.user_id, sizeof(hit.user_id), name->user_id);
	text_copy(hit.player_id, sizeof(hit.player_id), name->player_id);
	text_copy(hit.game_id, sizeof(hit.game_id), finding->cmd->text);
	add_hit(finding, &hit);
}

/* Looks at the rounds whose game has the text as its id. */
static enum status find_rounds(struct id_search *finding)
{
	struct store_range range = {.record = RECORD_GAME_PLAYER};
	struct buffer *prefix = finding->context->cursor;
	struct ws *ws = finding->context->ws;
	struct game_player key;
	enum status status;

	memset(&key, 0, sizeof(key));
	buffer_reset(prefix);
	if (!text_copy(key.game_id, sizeof(key.game_id), finding->cmd->text) ||
		!pack_key(prefix, game_player_fields, 1, &key))
		return STATUS_OK;
	range.prefix = (struct bytes){prefix->data, (uint32_t)prefix->len};
	ws_reset(ws);
	status =
		finding->context->store->scan(finding->context->store, &range, note_round, finding);
	if (!status)
		status = load_wanted(finding);
	for (uint32_t i = 0; !status && i < finding->round_count; i++) {
		const struct player_name key_of = player_id_named(finding->players[i].player_id);
		const struct player_name *name = row_of(ws, RECORD_PLAYER_NAME, &key_of);

		if (name)
			hit_round(finding, name);
	}
	return status;
}

static bool note_owner(void *arg, struct bytes key, const void *row)
{
	struct id_search *finding = arg;

	(void)key;
	if (finding->owner_count == FIND_OWNERS_MAX) {
		finding->more = true;
		return false;
	}
	/* The first member of a dealer and of a client is its id, of the same size. */
	text_copy(finding->owners[finding->owner_count++], CASINO_ID_SIZE, row);
	return true;
}

static struct request request_key_of(const struct id_search *finding, enum request_scope scope,
	const char *owner)
{
	struct request key;

	memset(&key, 0, sizeof(key));
	key.scope = scope;
	text_copy(key.owner, sizeof(key.owner), owner);
	text_copy(key.request_transaction_id, sizeof(key.request_transaction_id),
		finding->cmd->text);
	return key;
}

/* The key spaces in which an owner of the kind may have used the text. */
static const enum request_scope scopes[2][2] = {
	{SCOPE_DEALER, SCOPE_OPERATOR},
	{SCOPE_CLIENT, SCOPE_BATCH},
};

/* Looks the text up for each owner that was noted. */
static enum status find_of_owners(struct id_search *finding, bool clients)
{
	struct ws *ws = finding->context->ws;
	enum status status;

	ws_reset(ws);
	for (uint32_t i = 0; i < finding->owner_count; i++) {
		const char *owner = finding->owners[i];
		const struct player player = player_named(owner, finding->cmd->text);

		if (!clients && player.user_id[0])
			ws_want(ws, RECORD_PLAYER, &player);
		for (unsigned int at = 0; at < 2; at++) {
			const struct request key =
				request_key_of(finding, scopes[clients][at], owner);

			if (key.request_transaction_id[0])
				ws_want(ws, RECORD_REQUEST, &key);
		}
	}
	status = load_wanted(finding);
	for (uint32_t i = 0; !status && i < finding->owner_count; i++) {
		const char *owner = finding->owners[i];
		const struct player key = player_named(owner, finding->cmd->text);
		const struct player *player =
			!clients && key.user_id[0] ? row_of(ws, RECORD_PLAYER, &key) : NULL;

		if (player)
			hit_player(finding, player->casino_id, player->user_id, player->player_id);
		for (unsigned int at = 0; at < 2; at++) {
			const struct request request =
				request_key_of(finding, scopes[clients][at], owner);
			const struct request *row = request.request_transaction_id[0]
				? row_of(ws, RECORD_REQUEST, &request)
				: NULL;

			if (row)
				hit_request(finding, row);
		}
	}
	return status;
}

/* Notes the next owners after @after, and looks at them. */
static enum status find_page(struct id_search *finding, bool clients, const char *after)
{
	struct client key = client_named(after);
	const enum record record = clients ? RECORD_CLIENT : RECORD_DEALER;
	struct store_range range = {.record = record};
	struct buffer *cursor = finding->context->cursor;
	enum status status;

	buffer_reset(cursor);
	if (after[0] && pack_key(cursor, client_fields, 1, &key))
		range.after = (struct bytes){cursor->data, (uint32_t)cursor->len};
	status =
		finding->context->store->scan(finding->context->store, &range, note_owner, finding);
	if (status)
		return status;
	*(clients ? &finding->result->clients : &finding->result->dealers) += finding->owner_count;
	return find_of_owners(finding, clients);
}

/* Sets the cursor after the owners that were looked at. */
static void set_next(struct id_search *finding, bool clients)
{
	char *next = finding->result->next;

	if (finding->more) {
		next[0] = clients ? 'c' : 'd';
		text_copy(next + 1, FIND_AFTER_SIZE - 1, finding->owners[finding->owner_count - 1]);
	} else if (!clients) {
		text_copy(next, FIND_AFTER_SIZE, "c");
	}
}

enum status find_read(const void *arg, const struct read_context *context, void *out)
{
	const struct find_cmd *cmd = arg;
	struct find_result *result = out;
	struct id_search finding = {.cmd = cmd, .context = context, .result = result};
	const bool clients = cmd->after[0] == 'c';
	enum status status = STATUS_OK;

	if (!cmd->text[0] || !text_is_utf8_clean(cmd->text, strlen(cmd->text)) ||
		(cmd->after[0] && !clients && cmd->after[0] != 'd')) {
		result->verdict.refusal = REFUSAL_BAD_REQUEST;
		return STATUS_OK;
	}
	if (!cmd->after[0])
		status = find_own(&finding);
	if (!cmd->after[0] && !status)
		status = find_rounds(&finding);
	if (!status)
		status = find_page(&finding, clients, cmd->after[0] ? cmd->after + 1 : "");
	if (status)
		return status;
	set_next(&finding, clients);
	result->calls_from_ms = context->accepted->from_ms;
	result->hits = (struct bytes){context->rows->data, (uint32_t)context->rows->len};
	return context->rows->failed ? STATUS_NOMEM : STATUS_OK;
}
