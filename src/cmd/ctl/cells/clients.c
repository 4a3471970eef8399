/*
 * clients - changes a game server in all cells.
 *
 * A game server has the same keys in all cells, because the cell of a call is known only after its
 * signature was checked. So each cell is asked first, and nothing is changed if one does not answer. If a
 * cell fails after another one was changed, the same command again does what is missing: it compares the
 * keys themselves, so it needs no memory of the call before. The ids of a key may differ between cells.
 */
#include "cmd/ctl/cells/cells.h"

#include "admin/keys.h"
#include "admin/names.h"
#include "base/text.h"
#include "cmd/ctl/common/secret.h"
#include "cmd/ctl/dealers/client.h"

#include <stdio.h>
#include <string.h>

/* A game server in a cell. */
struct client_state {
	bool there;
	struct dealer_key keys[DEALER_KEYS_MAX];
};

struct clients {
	struct ctl *ctl;
	struct ctl_cells *cells;
	char client_id[CLIENT_ID_SIZE];
	struct client_state states[CELLS_MAX];
	unsigned int there;   /* cells that have it */
	unsigned int changed; /* cells that were changed */
};

static const char *name_of(const struct clients *clients, unsigned int at)
{
	return clients->cells->list.cells[at].name;
}

static void enter_cell(struct clients *clients, unsigned int at)
{
	cells_enter(clients->ctl, clients->cells, at);
	ctl_name_cell(clients->ctl->cell);
}

/* After the last call to a ledger: the answer is that of all cells. */
static void leave_cells(struct clients *clients)
{
	clients->ctl->cell = NULL;
	ctl_name_cell(NULL);
}

static unsigned int count_keys(const struct client_state *state)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < DEALER_KEYS_MAX; i++)
		count += state->keys[i].key_id[0] != '\0';
	return count;
}

/* Reads what each cell has of the game server. */
static enum outcome read_states(struct clients *clients)
{
	struct keyring keyring;
	const struct keyring_entry *entry;
	struct client_state *state;
	enum outcome code = OUTCOME_DONE;

	for (unsigned int i = 0; i < clients->cells->list.count && code == OUTCOME_DONE; i++) {
		keyring = (struct keyring){.entries = NULL};
		enter_cell(clients, i);
		code = keys_fetch(&clients->ctl->session, KEYRING_CLIENTS, &keyring);
		entry = code == OUTCOME_DONE ? keyring_find(&keyring, clients->client_id) : NULL;
		state = &clients->states[i];
		if (entry)
			memcpy(state->keys, entry->keys, sizeof(state->keys));
		/* One that was removed has no key; any other one has. */
		state->there = count_keys(state) > 0;
		clients->there += state->there;
		keyring_free(&keyring);
	}
	leave_cells(clients);
	if (code != OUTCOME_DONE)
		ctl_tell(NULL, "nothing was changed: game servers have the same keys in all cells");
	return code;
}

static const struct dealer_key *find_secret(const struct client_state *state, const char *secret)
{
	for (unsigned int i = 0; i < DEALER_KEYS_MAX; i++) {
		if (state->keys[i].key_id[0] && strcmp(state->keys[i].secret, secret) == 0)
			return &state->keys[i];
	}
	return NULL;
}

static enum outcome refuse_different(struct clients *clients, const char *remedy)
{
	return ctl_fail(clients->ctl, OUTCOME_FAILED, "clients_differ",
		"client %s is not the same in all cells, and nothing was changed: %s",
		clients->client_id, remedy);
}

static enum outcome refuse_unknown(struct clients *clients)
{
	return ctl_fail(clients->ctl, OUTCOME_FAILED, "client_not_found",
		"no cell has a client %s; see `creditbridgectl client list`", clients->client_id);
}

/* ---- one change in one cell */

static enum outcome put_client(struct clients *clients, unsigned int at, bool remove,
	const char *secret, char key_id[KEY_ID_SIZE])
{
	struct client_put_cmd cmd = {.operator= clients->ctl->session.operator, .remove = remove };
	struct client_put_result result;
	enum outcome code;

	text_copy(cmd.client_id, sizeof(cmd.client_id), clients->client_id);
	if (secret)
		text_copy(cmd.secret, sizeof(cmd.secret), secret);
	enter_cell(clients, at);
	code = session_do(&clients->ctl->session, COMMAND_CLIENT_PUT, &cmd, &result, NULL);
	explicit_bzero(&cmd, sizeof(cmd));
	if (code == OUTCOME_DONE && key_id)
		memcpy(key_id, result.key_id, KEY_ID_SIZE);
	return code;
}

/* @secret: of the key to add; NULL: none. @key_id: of the key to use or retire, or gets that of the new one. */
static enum outcome change_key(struct clients *clients, unsigned int at, enum key_action action,
	const char *secret, char key_id[KEY_ID_SIZE])
{
	struct client_key_cmd cmd = {.operator= clients->ctl->session.operator, .action = action };
	struct client_key_result result;
	enum outcome code;

	text_copy(cmd.client_id, sizeof(cmd.client_id), clients->client_id);
	if (secret)
		text_copy(cmd.secret, sizeof(cmd.secret), secret);
	else
		text_copy(cmd.key_id, sizeof(cmd.key_id), key_id);
	enter_cell(clients, at);
	code = session_do(&clients->ctl->session, COMMAND_CLIENT_KEY, &cmd, &result, NULL);
	explicit_bzero(&cmd, sizeof(cmd));
	if (code == OUTCOME_DONE && secret)
		memcpy(key_id, result.key_id, KEY_ID_SIZE);
	return code;
}

/* Ends a command of which @code is the outcome in the last cell that was asked. */
static enum outcome end_changes(struct clients *clients, enum outcome code)
{
	leave_cells(clients);
	if (code == OUTCOME_DONE || !clients->changed)
		return code;
	ctl_tell("partly", "%u of %u cells were changed: repeat this command, which does the rest",
		clients->changed, clients->cells->list.count);
	return OUTCOME_PARTLY;
}

/* ---- add */

/*
 * Copies the keys of cell @from to cell @to, which has no such client. If @to is the default cell, @shown_id gets the id
 * that the key @shown has there.
 */
static enum outcome copy_client(struct clients *clients, unsigned int from, unsigned int to,
	const struct dealer_key *shown, char shown_id[KEY_ID_SIZE])
{
	const struct client_state *state = &clients->states[from];
	char key_id[KEY_ID_SIZE];
	bool first = true;
	enum outcome code = OUTCOME_DONE;

	for (unsigned int i = 0; i < DEALER_KEYS_MAX && code == OUTCOME_DONE; i++) {
		if (!state->keys[i].key_id[0])
			continue;
		code = first ? put_client(clients, to, false, state->keys[i].secret, key_id)
			     : change_key(clients, to, KEY_ADD, state->keys[i].secret, key_id);
		clients->changed += code == OUTCOME_DONE && first;
		if (code == OUTCOME_DONE && to == 0 && &state->keys[i] == shown)
			memcpy(shown_id, key_id, KEY_ID_SIZE);
		first = false;
	}
	return code;
}

/* Returns the first cell that has the client. */
static unsigned int first_there(const struct clients *clients)
{
	unsigned int at = 0;

	while (!clients->states[at].there)
		at++;
	return at;
}

/* A client that some cells have gets its keys in the others, too. */
static enum outcome complete_client(struct clients *clients)
{
	const unsigned int from = first_there(clients);
	const struct dealer_key *key;
	char key_id[KEY_ID_SIZE];
	enum outcome code = OUTCOME_DONE;

	key = &clients->states[from].keys[0];
	for (unsigned int i = 1; i < DEALER_KEYS_MAX; i++) {
		if (clients->states[from].keys[i].created_ms > key->created_ms)
			key = &clients->states[from].keys[i];
	}
	memcpy(key_id, key->key_id, KEY_ID_SIZE);
	for (unsigned int i = 0; i < clients->cells->list.count && code == OUTCOME_DONE; i++) {
		if (!clients->states[i].there)
			code = copy_client(clients, from, i, key, key_id);
	}
	code = end_changes(clients, code);
	if (code == OUTCOME_DONE)
		code = secret_print_key(clients->ctl, "client", "client_id", clients->client_id,
			key_id, key->secret, "other cells had it already: this is its newest key");
	return code;
}

static enum outcome add_client(struct clients *clients)
{
	char secret[KEY_SECRET_SIZE], key_id[KEY_ID_SIZE], first_id[KEY_ID_SIZE] = "";
	enum outcome code;

	if (clients->there == clients->cells->list.count)
		return ctl_fail(clients->ctl, OUTCOME_FAILED, "already_exists",
			"client %s is in all cells; see `creditbridgectl client list`",
			clients->client_id);
	if (clients->there && !clients->ctl->options[OPTION_KEY_FILE])
		return complete_client(clients);
	code = secret_new_key(clients->ctl, secret);
	if (code == OUTCOME_DONE && clients->there) {
		/* The repetition of a call that failed after the first cell has the same key. */
		code = find_secret(&clients->states[first_there(clients)], secret)
			? complete_client(clients)
			: refuse_different(clients,
				  "`client add` without --key-file gives the other cells the keys that "
				  "it has");
		explicit_bzero(secret, sizeof(secret));
		return code;
	}
	for (unsigned int i = 0; i < clients->cells->list.count && code == OUTCOME_DONE; i++) {
		code = put_client(clients, i, false, secret, i ? key_id : first_id);
		clients->changed += code == OUTCOME_DONE;
	}
	code = end_changes(clients, code);
	if (code == OUTCOME_DONE)
		code = secret_print_key(clients->ctl, "client", "client_id", clients->client_id,
			first_id, secret, NULL);
	explicit_bzero(secret, sizeof(secret));
	return code;
}

/* ---- key-add */

static bool all_have(const struct clients *clients, const struct dealer_key *key)
{
	for (unsigned int i = 0; i < clients->cells->list.count; i++) {
		if (!find_secret(&clients->states[i], key->secret))
			return false;
	}
	return true;
}

/* Returns true if the cell got a key that all have after @key. Then @key was retired elsewhere. */
static bool is_replaced(const struct clients *clients, const struct client_state *state,
	const struct dealer_key *key)
{
	for (unsigned int i = 0; i < DEALER_KEYS_MAX; i++) {
		if (state->keys[i].key_id[0] && state->keys[i].created_ms > key->created_ms &&
			all_have(clients, &state->keys[i]))
			return true;
	}
	return false;
}

/* Returns the newest key that a cell has and another one lacks; NULL if all have the same keys. */
static const struct dealer_key *missing_key(const struct clients *clients)
{
	const struct dealer_key *newest = NULL, *key;

	for (unsigned int i = 0; i < clients->cells->list.count; i++) {
		for (unsigned int n = 0; n < DEALER_KEYS_MAX; n++) {
			key = &clients->states[i].keys[n];
			if (!key->key_id[0] || (newest && key->created_ms <= newest->created_ms))
				continue;
			for (unsigned int other = 0; other < clients->cells->list.count; other++) {
				if (!find_secret(&clients->states[other], key->secret))
					newest = key;
			}
		}
	}
	return newest;
}

/* A key that was retired in some cells never comes back there. */
static enum outcome refuse_replaced(struct clients *clients)
{
	char remedy[256];

	for (unsigned int i = 0; i < clients->cells->list.count; i++) {
		for (unsigned int n = 0; n < DEALER_KEYS_MAX; n++) {
			const struct dealer_key *key = &clients->states[i].keys[n];

			if (!key->key_id[0] || all_have(clients, key) ||
				!is_replaced(clients, &clients->states[i], key))
				continue;
			snprintf(remedy, sizeof(remedy),
				"retire its old key there, too: creditbridgectl client key-retire %s %s --cell %s",
				clients->client_id, key->key_id, name_of(clients, i));
			return refuse_different(clients, remedy);
		}
	}
	return OUTCOME_DONE;
}

static enum outcome add_key(struct clients *clients)
{
	const struct dealer_key *missing = missing_key(clients), *had;
	char secret[KEY_SECRET_SIZE], key_id[KEY_ID_SIZE] = "", first_id[KEY_ID_SIZE] = "";
	enum outcome code = refuse_replaced(clients);

	if (code != OUTCOME_DONE)
		return code;
	if (clients->there < clients->cells->list.count)
		return refuse_different(clients,
			"`creditbridgectl client add` adds it where it is missing");
	if (clients->ctl->options[OPTION_KEY_FILE] || !missing)
		code = secret_new_key(clients->ctl, secret);
	else
		memcpy(secret, missing->secret, KEY_SECRET_SIZE);
	if (code == OUTCOME_DONE && missing && strcmp(missing->secret, secret) != 0)
		code = refuse_different(clients,
			"`client key-add` without --key-file gives all cells the newest key that one lacks");
	for (unsigned int i = 0; i < clients->cells->list.count && code == OUTCOME_DONE; i++) {
		had = find_secret(&clients->states[i], secret);
		if (had) {
			memcpy(i ? key_id : first_id, had->key_id, KEY_ID_SIZE);
			continue;
		}
		code = change_key(clients, i, KEY_ADD, secret, i ? key_id : first_id);
		clients->changed += code == OUTCOME_DONE;
	}
	code = end_changes(clients, code);
	if (code == OUTCOME_DONE)
		code = secret_print_key(clients->ctl, "client", "client_id", clients->client_id,
			first_id, secret,
			missing ? "a cell had this key already; now all have it" : NULL);
	explicit_bzero(secret, sizeof(secret));
	return code;
}

/* ---- key-use, key-retire, key-confirm, remove */

/*
 * Returns the key that the argument names: by its id in the first cell. A key that the first cell has
 * retired already is found by its id in another one.
 */
static const struct dealer_key *named_key(const struct clients *clients)
{
	const char *key_id = clients->ctl->args[1];

	for (unsigned int i = 0; i < clients->cells->list.count; i++) {
		for (unsigned int n = 0; n < DEALER_KEYS_MAX; n++) {
			const struct dealer_key *key = &clients->states[i].keys[n];

			if (key->key_id[0] && strcmp(key->key_id, key_id) == 0 &&
				(i == 0 || !find_secret(&clients->states[0], key->secret)))
				return key;
		}
	}
	return NULL;
}

/*
 * Ends a change of @key after a failure in cell @from. The same command again finds the key by its id in the first
 * cells, which may not have it any more, so each further cell gets a command with its own id.
 */
static enum outcome end_partly(struct clients *clients, unsigned int from,
	const struct dealer_key *key, enum outcome code)
{
	const struct dealer_key *had;

	leave_cells(clients);
	if (!clients->changed)
		return code;
	ctl_tell("partly", "%u of %u cells were changed; these do the rest:", clients->changed,
		clients->cells->list.count);
	for (unsigned int i = from; i < clients->cells->list.count; i++) {
		had = find_secret(&clients->states[i], key->secret);
		if (had)
			ctl_tell(NULL, "creditbridgectl %s %s %s --cell %s",
				clients->ctl->command->name, clients->client_id, had->key_id,
				name_of(clients, i));
	}
	return OUTCOME_PARTLY;
}

static enum outcome use_or_retire(struct clients *clients, enum key_action action, const char *done)
{
	const struct dealer_key *key = named_key(clients), *had;
	char key_id[KEY_ID_SIZE];
	enum outcome code;

	if (!key)
		return ctl_fail(clients->ctl, OUTCOME_FAILED, "key_not_found",
			"client %s has no key '%.80s'; see `creditbridgectl client list`",
			clients->client_id, clients->ctl->args[1]);
	for (unsigned int i = 0; action == KEY_RETIRE && i < clients->cells->list.count; i++) {
		if (find_secret(&clients->states[i], key->secret) &&
			count_keys(&clients->states[i]) == 1)
			return ctl_fail(clients->ctl, OUTCOME_FAILED, "key_in_use",
				"cell %s has no other key of client %s: `creditbridgectl client key-add`, then "
				"key-use the new key, comes first",
				name_of(clients, i), clients->client_id);
	}
	for (unsigned int i = 0; i < clients->cells->list.count; i++) {
		had = find_secret(&clients->states[i], key->secret);
		if (!had)
			continue;
		memcpy(key_id, had->key_id, KEY_ID_SIZE);
		code = change_key(clients, i, action, NULL, key_id);
		if (code != OUTCOME_DONE)
			return end_partly(clients, i, key, code);
		clients->changed++;
	}
	leave_cells(clients);
	return secret_print_done(clients->ctl, "client", "client_id", clients->client_id,
		clients->ctl->args[1], done);
}

static enum outcome use_key(struct clients *clients)
{
	return use_or_retire(clients, KEY_USE, "is noted as the one in use");
}

static enum outcome retire_key(struct clients *clients)
{
	return use_or_retire(clients, KEY_RETIRE, "is retired");
}

static enum outcome confirm_keys(struct clients *clients)
{
	char none[KEY_ID_SIZE] = "";
	enum outcome code = OUTCOME_DONE;

	for (unsigned int i = 0; i < clients->cells->list.count && code == OUTCOME_DONE; i++) {
		if (!clients->states[i].there)
			continue;
		code = change_key(clients, i, KEY_CONFIRM, NULL, none);
		clients->changed += code == OUTCOME_DONE;
	}
	code = end_changes(clients, code);
	return code == OUTCOME_DONE
		? secret_print_confirmed(clients->ctl, "client", "client_id", clients->client_id)
		: code;
}

static enum outcome remove_client(struct clients *clients)
{
	enum outcome code = OUTCOME_DONE;

	for (unsigned int i = 0; i < clients->cells->list.count && code == OUTCOME_DONE; i++) {
		enter_cell(clients, i);
		code = client_may_remove(clients->ctl, clients->client_id);
	}
	for (unsigned int i = 0; i < clients->cells->list.count && code == OUTCOME_DONE; i++) {
		if (!clients->states[i].there)
			continue;
		code = put_client(clients, i, true, NULL, NULL);
		clients->changed += code == OUTCOME_DONE;
	}
	code = end_changes(clients, code);
	return code == OUTCOME_DONE ? client_print_removed(clients->ctl, clients->client_id) : code;
}

static const struct deed {
	const char *command;
	enum outcome (*run)(struct clients *clients);
	bool adds; /* for a client that no cell has, too */
} deeds[] = {
	{"client add", add_client, true},
	{"client key-add", add_key, false},
	{"client key-use", use_key, false},
	{"client key-retire", retire_key, false},
	{"client key-confirm", confirm_keys, false},
	{"client remove", remove_client, false},
};

enum outcome cells_client(struct ctl *ctl, struct ctl_cells *cells)
{
	static struct clients clients;
	const struct deed *deed = deeds;
	enum outcome code;

	while (strcmp(deed->command, ctl->command->name) != 0)
		deed++;
	clients = (struct clients){.ctl = ctl, .cells = cells};
	code = names_read_client_id(&ctl->session, ctl->args[0], clients.client_id);
	if (code == OUTCOME_DONE)
		code = read_states(&clients);
	if (code == OUTCOME_DONE)
		code = clients.there || deed->adds ? deed->run(&clients) : refuse_unknown(&clients);
	explicit_bzero(clients.states, sizeof(clients.states));
	return code;
}
