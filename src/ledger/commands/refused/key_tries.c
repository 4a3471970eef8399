/*
 * key_tries - finds the key that made a signature, for explain. No key leaves the ledger.
 */
#include "base/pack.h"
#include "ledger/commands/ops.h"
#include "ledger/commands/refused/rejected_requests.h"
#include "ledger/rows/keys.h"
#include "wire/key_use.h"
#include "wire/signature.h"

#include <string.h>

/* After about this many hashed bytes the answer is sent, so that other commands run. */
#define TRY_BYTES_MAX (1024 * 1024)
/* What a try costs besides the bytes of the body. */
#define TRY_BYTES_LEAST 512

struct key_trial {
	const struct key_try_cmd *cmd;
	struct key_try_result *result;
	enum keyring_of of; /* of the rows that are visited */
	uint64_t hashed;
};

static bool key_made_it(struct key_trial *trial, const char *secret)
{
	trial->hashed += trial->cmd->body.len + TRY_BYTES_LEAST;
	return key_use_signs(trial->cmd->use, trial->cmd->algorithm, secret, trial->cmd->body,
		trial->cmd->digest);
}

static void answer_owner(struct key_trial *trial, const char *caller_id, const char *key_id,
	int64_t time_ms)
{
	trial->result->found = true;
	trial->result->of = trial->of;
	text_copy(trial->result->caller_id, sizeof(trial->result->caller_id), caller_id);
	text_copy(trial->result->key_id, sizeof(trial->result->key_id), key_id);
	trial->result->time_ms = time_ms;
}

static void try_live(struct key_trial *trial, const char *caller_id,
	const struct dealer_key keys[DEALER_KEYS_MAX])
{
	for (unsigned int i = 0; i < DEALER_KEYS_MAX && !trial->result->found; i++) {
		if (keys[i].key_id[0] && key_made_it(trial, keys[i].secret))
			answer_owner(trial, caller_id, keys[i].key_id, keys[i].created_ms);
	}
}

/* Visits a row of a dealer or of a client. Returns false to end the walk. */
static bool try_caller(void *arg, struct bytes key, const void *row)
{
	struct key_trial *trial = arg;
	struct key_try_result *result = trial->result;
	const struct dealer *dealer = row;
	const struct client *client = row;
	const bool deals = trial->of == KEYRING_DEALERS;
	const char *caller_id = deals ? dealer->casino_id : client->client_id;
	const bool own =
		trial->of == trial->cmd->of && strcmp(caller_id, trial->cmd->caller_id) == 0;

	(void)key;
	if (trial->hashed >= TRY_BYTES_MAX) {
		result->more = true;
		return false;
	}
	if (own != trial->cmd->others)
		try_live(trial, caller_id, deals ? dealer->keys : client->keys);
	text_copy(result->after, sizeof(result->after), caller_id);
	result->after_of = trial->of;
	return !result->found;
}

/* Walks the callers of one kind: one by its @name, or all after @after. */
static enum status walk_callers(struct key_trial *trial, const struct read_context *context,
	const char *name, const char *after)
{
	struct store_range range = {
		.record = trial->of == KEYRING_DEALERS ? RECORD_DEALER : RECORD_CLIENT};
	/* Both kinds of rows have one name as their key. */
	struct dealer key = dealer_named(name[0] ? name : after);
	struct bytes packed;

	buffer_reset(context->cursor);
	if (!pack_key(context->cursor, dealer_fields, 1, &key))
		return STATUS_NOMEM;
	packed = (struct bytes){context->cursor->data, (uint32_t)context->cursor->len};
	if (name[0])
		range.prefix = packed;
	else if (after[0])
		range.after = packed;
	return context->store->scan(context->store, &range, try_caller, trial);
}

static enum status try_others(struct key_trial *trial, const struct read_context *context)
{
	const struct key_try_cmd *cmd = trial->cmd;
	enum status status = STATUS_OK;

	for (trial->of = cmd->after_of; trial->of < KEYRING_OF_COUNT && !status; trial->of++) {
		status = walk_callers(trial, context, "",
			trial->of == cmd->after_of ? cmd->after : "");
		if (trial->result->found || trial->result->more)
			break;
	}
	return status;
}

static enum status try_own(struct key_trial *trial, const struct read_context *context)
{
	const struct key_try_cmd *cmd = trial->cmd;
	const struct retired_key *key;
	enum status status;

	trial->of = cmd->of;
	if (!cmd->caller_id[0])
		return STATUS_OK;
	status = walk_callers(trial, context, cmd->caller_id, "");
	for (uint32_t n = 0; !status && !trial->result->found; n++) {
		key = refused_retired(context->refused, n);
		if (!key)
			break;
		if (key->of != cmd->of || strcmp(key->caller_id, cmd->caller_id) != 0 ||
			!key_made_it(trial, key->secret))
			continue;
		answer_owner(trial, key->caller_id, key->key_id, key->retired_ms);
		trial->result->retired = true;
	}
	return status;
}

enum status key_try_read(const void *arg, const struct read_context *context, void *out)
{
	const struct key_try_cmd *cmd = arg;
	struct key_trial trial = {.cmd = cmd, .result = out};
	enum signature_algorithm algorithm;

	if (!signature_algorithm_of(cmd->digest.len, &algorithm) || algorithm != cmd->algorithm) {
		trial.result->verdict.refusal = REFUSAL_BAD_REQUEST;
		return STATUS_OK;
	}
	return cmd->others ? try_others(&trial, context) : try_own(&trial, context);
}
