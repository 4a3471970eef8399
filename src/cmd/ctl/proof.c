#include "cmd/ctl/proof.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What each kind of movement must look like. */
static const struct kind_rule {
	enum request_scope scope;
	int sign; /* of the amount; 0: either */
	size_t sum; /* in struct proof_dealer */
} kind_rules[ENTRY_KIND_COUNT] = {
	[ENTRY_TRANSFER_IN] = {SCOPE_DEALER, 1, offsetof(struct proof_dealer, transferred_in)},
	[ENTRY_TRANSFER_OUT] = {SCOPE_DEALER, -1, offsetof(struct proof_dealer, transferred_out)},
	[ENTRY_ADJUST] = {SCOPE_OPERATOR, 0, offsetof(struct proof_dealer, adjusted)},
	[ENTRY_BET] = {SCOPE_CLIENT, -1, offsetof(struct proof_dealer, staked)},
	[ENTRY_PAYOUT] = {SCOPE_CLIENT, 1, offsetof(struct proof_dealer, paid)},
};

void proof_init(struct proof *proof, const uint64_t seed[2], uint64_t as_of,
	void (*report)(void *closure, const char *problem), void *closure)
{
	memset(proof, 0, sizeof(*proof));
	proof->seed[0] = seed[0];
	proof->seed[1] = seed[1];
	proof->as_of = as_of;
	proof->report = report;
	proof->closure = closure;
}

void proof_free(struct proof *proof)
{
	free(proof->dealers);
	proof->dealers = NULL;
	proof->dealer_count = 0;
}

void proof_problem(struct proof *proof, const char *format, ...)
{
	char line[1024];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	proof->problems++;
	proof->report(proof->closure, line);
}

/* FNV-1a over the bytes, then a finalizer (splitmix64), so that sums of hashes do not cancel. */
static uint64_t hash(uint64_t seed, const void *data, size_t len)
{
	const uint8_t *byte = data;

	seed ^= UINT64_C(0xcbf29ce484222325);
	for (size_t i = 0; i < len; i++)
		seed = (seed ^ byte[i]) * UINT64_C(0x100000001b3);
	seed = (seed ^ seed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	seed = (seed ^ seed >> 27) * UINT64_C(0x94d049bb133111eb);
	return seed ^ seed >> 31;
}

/* Hashes are chained: each begins with the one before. */
static void hash_text(uint64_t state[2], const char *text)
{
	for (int i = 0; i < 2; i++)
		state[i] = hash(state[i], text, strlen(text) + 1);
}

static void hash_number(uint64_t state[2], uint64_t number)
{
	for (int i = 0; i < 2; i++)
		state[i] = hash(state[i], &number, sizeof(number));
}

static void fingerprint_add(struct fingerprint *set, const uint64_t state[2])
{
	set->count++;
	set->sum[0] += state[0];
	set->sum[1] += state[1];
}

bool fingerprint_equal(const struct fingerprint *a, const struct fingerprint *b)
{
	return a->count == b->count && a->sum[0] == b->sum[0] && a->sum[1] == b->sum[1];
}

static int compare_dealers(const void *a, const void *b)
{
	const struct proof_dealer *one = a, *other = b;

	return strcmp(one->total.casino_id, other->total.casino_id);
}

struct proof_dealer *proof_find_dealer(const struct proof *proof, const char *casino_id)
{
	struct proof_dealer key;

	memset(&key, 0, sizeof(key));
	if (!proof->dealer_count ||
		!text_copy(key.total.casino_id, sizeof(key.total.casino_id), casino_id))
		return NULL;
	return bsearch(&key, proof->dealers, proof->dealer_count, sizeof(key), compare_dealers);
}

bool proof_add_dealer(struct proof *proof, const struct total *total, uint64_t as_of)
{
	struct proof_dealer *dealers;

	if (proof_find_dealer(proof, total->casino_id))
		return true;
	dealers = reallocarray(proof->dealers, proof->dealer_count + 1, sizeof(*dealers));
	if (!dealers)
		return false;
	proof->dealers = dealers;
	dealers[proof->dealer_count++] = (struct proof_dealer){.total = *total, .as_of = as_of};
	qsort(dealers, proof->dealer_count, sizeof(*dealers), compare_dealers);
	return true;
}

void proof_dealer(struct proof *proof, const char *casino_id)
{
	struct proof_dealer *dealer = proof_find_dealer(proof, casino_id);

	if (dealer)
		dealer->present = true;
	else
		proof_problem(proof, "dealer %s has no sums", casino_id);
}

bool proof_player_count(struct proof *proof, const struct proof_dealer *dealer, uint64_t before,
	uint64_t after)
{
	/* Players are never removed: a true count lies between the two. */
	if (dealer->players >= before && dealer->players <= after)
		return before == after;
	proof_problem(proof, "dealer %s: %" PRIu64 " players are kept as the number, there are %"
		PRIu64, dealer->total.casino_id, after, dealer->players);
	return true;
}

/* The three fields that name and player row share. */
static void add_identity(struct proof *proof, struct fingerprint *set, const char *player_id,
	const char *casino_id, const char *user_id)
{
	uint64_t state[2] = {proof->seed[0], proof->seed[1]};

	hash_text(state, player_id);
	hash_text(state, casino_id);
	hash_text(state, user_id);
	fingerprint_add(set, state);
}

void proof_player(struct proof *proof, const struct player *player, bool settled)
{
	struct proof_dealer *dealer = proof_find_dealer(proof, player->casino_id);

	proof->players++;
	if (dealer)
		dealer->players++;
	else
		proof_problem(proof, "player %s belongs to dealer %s, which is not there",
			player->player_id, player->casino_id);
	if (settled)
		add_identity(proof, &proof->player_rows, player->player_id, player->casino_id,
			player->user_id);
}

void proof_begin(struct proof *proof, const struct player_name *name, const struct player *player,
	uint64_t as_of, bool settled)
{
	memset(&proof->player, 0, sizeof(proof->player));
	memset(&proof->last, 0, sizeof(proof->last));
	proof->player_as_of = as_of;
	memcpy(proof->player.player_id, name->player_id, sizeof(name->player_id));
	memcpy(proof->player.casino_id, name->casino_id, sizeof(name->casino_id));
	if (!player) {
		proof_problem(proof, "player %s is named as user %s of %s, who is not there",
			name->player_id, name->user_id, name->casino_id);
		return;
	}
	if (strcmp(player->player_id, name->player_id) != 0)
		proof_problem(proof, "user %s of %s is named by player %s but is player %s",
			name->user_id, name->casino_id, name->player_id, player->player_id);
	proof->player.balance = player->balance;
	proof->player.entry_seq = player->entry_seq;
	if (player->balance < 0 || player->balance > MONEY_MAX)
		proof_problem(proof, "player %s has a balance out of range", name->player_id);
	if (player->entry_seq == 0 && player->balance != 0)
		proof_problem(proof, "player %s has credit that no movement explains",
			name->player_id);
	if (settled)
		add_identity(proof, &proof->name_rows, name->player_id, name->casino_id,
			name->user_id);
}

/* Sums and sets that the movement belongs to. */
static void book_entry(struct proof *proof, const struct entry *entry)
{
	struct proof_dealer *dealer = proof_find_dealer(proof, proof->player.casino_id);
	const struct kind_rule *rule = &kind_rules[entry->kind];
	uint64_t state[2] = {proof->seed[0], proof->seed[1]};
	money_t asked = rule->sign < 0 ? -entry->amount : entry->amount;

	if (dealer && entry->transaction_id <= dealer->as_of) {
		money_t *sum = (money_t *)(void *)((char *)dealer + rule->sum);

		if (!money_add(*sum, asked, sum))
			dealer->overflow = true;
	}
	if (entry->transaction_id > proof->as_of)
		return;
	proof->entries++;
	hash_text(state, entry->player_id);
	hash_number(state, entry->seq);
	hash_number(state, entry->transaction_id);
	hash_text(state, proof->player.casino_id);
	fingerprint_add(&proof->entry_transactions, state);
	memcpy(state, proof->seed, sizeof(state));
	hash_text(state, entry->player_id);
	hash_number(state, entry->seq);
	hash_number(state, entry->transaction_id);
	hash_number(state, entry->scope);
	hash_text(state, entry_owner(entry, proof->player.casino_id));
	hash_text(state, entry->request_transaction_id);
	hash_number(state, entry->kind);
	hash_number(state, (uint64_t)asked);
	hash_number(state, (uint64_t)entry->current_balance);
	fingerprint_add(&proof->entry_requests, state);
}

/* What a movement must be by itself. */
static void check_entry(struct proof *proof, const struct entry *entry)
{
	const struct kind_rule *rule = &kind_rules[entry->kind];
	money_t current;

	if (entry->amount == 0 || (rule->sign > 0 && entry->amount < 0) ||
		(rule->sign < 0 && entry->amount > 0) || entry->scope != rule->scope)
		proof_problem(proof, "movement %s/%" PRIu64 " is not what a %s can be",
			entry->player_id, entry->seq, entry_kind_names[entry->kind]);
	if (!money_add(entry->before_balance, entry->amount, &current) ||
		current != entry->current_balance)
		proof_problem(proof, "movement %s/%" PRIu64
			": the balance before and the amount do not make the balance after",
			entry->player_id, entry->seq);
	if (entry->current_balance < 0 || entry->current_balance > MONEY_MAX)
		proof_problem(proof, "movement %s/%" PRIu64 " leaves a balance out of range",
			entry->player_id, entry->seq);
}

/* What it must be after the movement before it. */
static void check_chain(struct proof *proof, const struct entry *entry)
{
	if (entry->seq != proof->last.seq + 1)
		proof_problem(proof, "movement %s/%" PRIu64 " follows number %" PRIu64
			": there is a gap", entry->player_id, entry->seq, proof->last.seq);
	if (entry->before_balance != proof->last.current_balance)
		proof_problem(proof, "movement %s/%" PRIu64
			" does not begin with the balance that the one before left",
			entry->player_id, entry->seq);
	if (entry->transaction_id <= proof->last.transaction_id)
		proof_problem(proof, "movement %s/%" PRIu64
			" has no greater transaction id than the one before", entry->player_id,
			entry->seq);
}

void proof_entry(struct proof *proof, const struct entry *entry, uint64_t page_as_of)
{
	if (entry->transaction_id > page_as_of)
		proof_problem(proof, "movement %s/%" PRIu64 " has transaction id %" PRIu64
			", which was never given out", entry->player_id, entry->seq,
			entry->transaction_id);
	if (entry->seq > proof->player.entry_seq) {
		/* Made after the player was read; else the player row does not know of it. */
		if (entry->transaction_id <= proof->player_as_of)
			proof_problem(proof, "movement %s/%" PRIu64
				" is not counted by the player, who has %" PRIu64,
				entry->player_id, entry->seq, proof->player.entry_seq);
		else
			return;
	}
	check_entry(proof, entry);
	check_chain(proof, entry);
	if (entry->seq == proof->player.entry_seq &&
		entry->current_balance != proof->player.balance)
		proof_problem(proof, "player %s has another balance than the last movement left",
			entry->player_id);
	book_entry(proof, entry);
	proof->last = *entry;
}

void proof_end(struct proof *proof)
{
	if (proof->last.seq < proof->player.entry_seq)
		proof_problem(proof, "player %s has %" PRIu64 " movements, found were %" PRIu64,
			proof->player.player_id, proof->player.entry_seq, proof->last.seq);
}

void proof_orphan(struct proof *proof, const struct entry *entry, uint64_t names_as_of)
{
	/* A player made after the names were read is left to a later check. */
	if (entry->transaction_id > names_as_of)
		return;
	proof_problem(proof, "movement %s/%" PRIu64 " belongs to no player", entry->player_id,
		entry->seq);
}

void proof_request(struct proof *proof, const struct request *request)
{
	uint64_t state[2] = {proof->seed[0], proof->seed[1]};
	const char *id = request->request_transaction_id;
	bool moved = request->outcome == REFUSAL_NONE;
	/* A result that pays nothing moves nothing; a loss has no transaction id either. */
	bool quiet = moved && request->kind == ENTRY_PAYOUT && request->amount == 0;

	if (!moved && request->outcome != REFUSAL_INSUFFICIENT_BALANCE)
		proof_problem(proof, "request %s of %s was recorded with the outcome %s", id,
			request->owner, refusal_ids[request->outcome]);
	if (!quiet &&
		(moved != (request->entry_seq != 0) || moved != (request->transaction_id != 0)))
		proof_problem(proof, "request %s of %s: outcome and movement do not agree", id,
			request->owner);
	if (request->scope != kind_rules[request->kind].scope)
		proof_problem(proof, "request %s of %s is a %s with the key of another scope", id,
			request->owner, entry_kind_names[request->kind]);
	if (request->transaction_id > proof->as_of)
		return;
	proof->requests++;
	if (!request->entry_seq)
		return;
	hash_text(state, request->player_id);
	hash_number(state, request->entry_seq);
	hash_number(state, request->transaction_id);
	hash_number(state, request->scope);
	hash_text(state, request->owner);
	hash_text(state, id);
	hash_number(state, request->kind);
	hash_number(state, (uint64_t)request->amount);
	hash_number(state, (uint64_t)request->current_balance);
	fingerprint_add(&proof->request_rows, state);
}

void proof_transaction(struct proof *proof, const struct transaction *transaction,
	uint64_t page_as_of)
{
	uint64_t state[2] = {proof->seed[0], proof->seed[1]};

	if (transaction->transaction_id == 0 || transaction->transaction_id > page_as_of)
		proof_problem(proof, "transaction %" PRIu64 " was never given out",
			transaction->transaction_id);
	if (transaction->transaction_id > proof->as_of)
		return;
	proof->transactions++;
	if (!transaction->entry_seq) {
		if (!transaction->game_id[0])
			proof_problem(proof, "transaction %" PRIu64 " is neither movement nor bet",
				transaction->transaction_id);
		return;
	}
	hash_text(state, transaction->player_id);
	hash_number(state, transaction->entry_seq);
	hash_number(state, transaction->transaction_id);
	hash_text(state, transaction->casino_id);
	fingerprint_add(&proof->transaction_rows, state);
}

static void check_sum(struct proof *proof, const struct proof_dealer *dealer, const char *what,
	money_t kept, money_t found)
{
	char kept_text[MONEY_TEXT_MAX], found_text[MONEY_TEXT_MAX];

	if (kept == found)
		return;
	money_format(kept, 2, kept_text);
	money_format(found, 2, found_text);
	proof_problem(proof, "dealer %s: %s is kept as %s, the movements sum up to %s",
		dealer->total.casino_id, what, kept_text, found_text);
}

void proof_totals(struct proof *proof)
{
	for (size_t i = 0; i < proof->dealer_count; i++) {
		const struct proof_dealer *dealer = &proof->dealers[i];
		money_t balance = 0;

		if (!dealer->present)
			proof_problem(proof, "dealer %s has sums but is not there",
				dealer->total.casino_id);
		check_sum(proof, dealer, "transferred_in", dealer->total.transferred_in,
			dealer->transferred_in);
		check_sum(proof, dealer, "transferred_out", dealer->total.transferred_out,
			dealer->transferred_out);
		check_sum(proof, dealer, "adjusted", dealer->total.adjusted, dealer->adjusted);
		check_sum(proof, dealer, "staked", dealer->total.staked, dealer->staked);
		check_sum(proof, dealer, "paid", dealer->total.paid, dealer->paid);
		if (dealer->overflow ||
			!money_add(dealer->transferred_in, dealer->adjusted, &balance) ||
			!money_add(balance, -dealer->transferred_out, &balance) ||
			!money_add(balance, -dealer->staked, &balance) ||
			!money_add(balance, dealer->paid, &balance))
			proof_problem(proof, "dealer %s: the sums of the movements overflow",
				dealer->total.casino_id);
		else
			check_sum(proof, dealer, "balance", dealer->total.balance, balance);
	}
}

const char *proof_entry_request(const struct entry *entry, const char *casino_id,
	const struct request *request)
{
	money_t asked = kind_rules[entry->kind].sign < 0 ? -entry->amount : entry->amount;

	if (!request)
		return "its request key is missing";
	if (strcmp(request->owner, entry_owner(entry, casino_id)) != 0 ||
		request->scope != entry->scope ||
		strcmp(request->request_transaction_id, entry->request_transaction_id) != 0)
		return "its request key is another one";
	if (strcmp(request->player_id, entry->player_id) != 0 || request->entry_seq != entry->seq)
		return "its request key points to another movement";
	if (request->transaction_id != entry->transaction_id)
		return "its request key holds another transaction id";
	if (request->kind != entry->kind || request->amount != asked)
		return "its request key asked for something else";
	if (request->current_balance != entry->current_balance)
		return "its request key holds another balance";
	return NULL;
}

const char *proof_entry_transaction(const struct entry *entry, const char *casino_id,
	const struct transaction *transaction)
{
	if (!transaction)
		return "its transaction row is missing";
	if (strcmp(transaction->player_id, entry->player_id) != 0 ||
		transaction->entry_seq != entry->seq)
		return "its transaction row points to another movement";
	if (strcmp(transaction->casino_id, casino_id) != 0)
		return "its transaction row names another dealer";
	return NULL;
}
