#include "proof/proof.h"

#include "base/text.h"
#include "proof/chain.h"
#include "proof/links.h"
#include "wire/callback_body.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The rules for each kind of transaction. */
static const struct kind_rule {
	enum request_scope scope;
	int sign;   /* required sign of the amount; 0: any */
	size_t sum; /* in struct proof_dealer; 0: no transaction is of this kind */
} kind_rules[ENTRY_KIND_COUNT] = {
	[ENTRY_TRANSFER_IN] = {SCOPE_DEALER, 1, offsetof(struct proof_dealer, transferred_in)},
	[ENTRY_TRANSFER_OUT] = {SCOPE_DEALER, -1, offsetof(struct proof_dealer, transferred_out)},
	[ENTRY_ADJUST] = {SCOPE_OPERATOR, 0, offsetof(struct proof_dealer, adjusted)},
	[ENTRY_BET] = {SCOPE_CLIENT, -1, offsetof(struct proof_dealer, staked)},
	[ENTRY_PAYOUT] = {SCOPE_CLIENT, 1, offsetof(struct proof_dealer, paid)},
	[ENTRY_CORRECTION] = {SCOPE_CLIENT, 0, offsetof(struct proof_dealer, corrected)},
	[ENTRY_BET_CANCEL] = {SCOPE_CLIENT, 1, offsetof(struct proof_dealer, cancelled)},
	[ENTRY_SEAL] = {SCOPE_DEALER, 0, 0},
	[ENTRY_RESULT_BATCH] = {SCOPE_CLIENT, 0, 0},
};

bool proof_scope_fits(enum entry_kind kind, enum request_scope scope)
{
	/* A payout may be an item of a batch, and an operator may correct a round. */
	return scope == kind_rules[kind].scope || (kind == ENTRY_PAYOUT && scope == SCOPE_BATCH) ||
		(kind == ENTRY_CORRECTION && scope == SCOPE_OPERATOR);
}

bool proof_is_wager(enum entry_kind kind)
{
	return kind == ENTRY_BET || kind == ENTRY_PAYOUT;
}

bool proof_is_linked(enum entry_kind kind)
{
	return proof_is_wager(kind) || kind == ENTRY_CORRECTION || kind == ENTRY_BET_CANCEL;
}

bool proof_names_game(enum entry_kind kind)
{
	return proof_is_linked(kind);
}

bool proof_names_number(enum entry_kind kind)
{
	return proof_names_game(kind) && kind != ENTRY_PAYOUT;
}

money_t proof_entry_asked(const struct transaction *entry)
{
	return kind_rules[entry->kind].sign < 0 ? -entry->amount : entry->amount;
}

void proof_init(struct proof *proof, const uint64_t seed[2], const struct proof_point *point,
	bool (*report)(void *closure, const char *problem), void *closure)
{
	memset(proof, 0, sizeof(*proof));
	proof->seed[0] = seed[0];
	proof->seed[1] = seed[1];
	proof->point = *point;
	proof->read_ms = INT64_MAX;
	proof->report = report;
	proof->closure = closure;
	buffer_init(&proof->body, CALLBACK_BODY_MAX);
}

bool proof_is_since(const struct proof *proof, int64_t time_ms, int64_t moment_ms)
{
	return time_ms >= moment_ms && time_ms <= proof->read_ms;
}

void proof_free(struct proof *proof)
{
	free(proof->dealers);
	proof->dealers = NULL;
	proof->dealer_count = 0;
	buffer_free(&proof->body);
}

static bool __attribute__((format(printf, 2, 0)))
tell(struct proof *proof, const char *format, va_list arguments)
{
	char line[PROOF_LINE_SIZE];

	vsnprintf(line, sizeof(line), format, arguments);
	if (!proof->report(proof->closure, line))
		return false;
	proof->problems++;
	return true;
}

void proof_problem(struct proof *proof, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	tell(proof, format, arguments);
	va_end(arguments);
}

void proof_loose(struct proof *proof, const char *format, ...)
{
	va_list arguments;

	if (proof->incomplete)
		return;
	va_start(arguments, format);
	proof->loose += tell(proof, format, arguments);
	va_end(arguments);
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

bool proof_add_dealer(struct proof *proof, const struct total *total,
	const struct proof_moment *moment)
{
	struct proof_dealer *dealers;

	if (proof_find_dealer(proof, total->casino_id))
		return true;
	dealers = reallocarray(proof->dealers, proof->dealer_count + 1, sizeof(*dealers));
	if (!dealers)
		return false;
	proof->dealers = dealers;
	dealers[proof->dealer_count++] = (struct proof_dealer){.total = *total, .moment = *moment};
	qsort(dealers, proof->dealer_count, sizeof(*dealers), compare_dealers);
	return true;
}

void proof_dealers_read(struct proof *proof, uint64_t event_until, int64_t until_ms)
{
	for (size_t i = 0; i < proof->dealer_count; i++) {
		struct proof_moment *moment = &proof->dealers[i].moment;

		if (moment->until_ms)
			continue;
		moment->event_until = event_until;
		moment->until_ms = until_ms;
	}
}

void proof_dealer(struct proof *proof, const char *casino_id, const char *currency)
{
	struct proof_dealer *dealer = proof_find_dealer(proof, casino_id);

	if (!dealer) {
		proof_problem(proof, "dealer %s has no sums", casino_id);
		return;
	}
	dealer->present = true;
	text_copy(dealer->currency, sizeof(dealer->currency), currency);
}

bool proof_player_count(struct proof *proof, const struct proof_dealer *dealer, uint64_t before,
	uint64_t after)
{
	/* Players are never removed, so the correct count lies between the two. */
	if (dealer->players >= before && dealer->players <= after)
		return before == after;
	proof_problem(proof,
		"dealer %s: %" PRIu64 " players are kept as the number, there are %" PRIu64,
		dealer->total.casino_id, after, dealer->players);
	return true;
}

/* Adds the three fields that the name row and the player row share. */
static void add_identity(struct proof *proof, struct fingerprint *set, const char *player_id,
	const char *casino_id, const char *user_id)
{
	struct row_hash row;

	row_hash_begin(&row, proof->seed);
	row_hash_text(&row, player_id);
	row_hash_text(&row, casino_id);
	row_hash_text(&row, user_id);
	fingerprint_add(set, &row);
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

void proof_name(struct proof *proof, const struct player_name *name, const struct player *player,
	bool settled)
{
	if (!player) {
		proof_problem(proof, "player %s is named as user %s of %s, which does not exist",
			name->player_id, name->user_id, name->casino_id);
		return;
	}
	if (strcmp(player->player_id, name->player_id) != 0)
		proof_problem(proof, "user %s of %s is named by player %s but is player %s",
			name->user_id, name->casino_id, name->player_id, player->player_id);
	if (player->balance < 0 || player->balance > MONEY_MAX)
		proof_problem(proof, "player %s has a balance out of range", name->player_id);
	if (settled)
		add_identity(proof, &proof->name_rows, name->player_id, name->casino_id,
			name->user_id);
}

/* Adds the transaction to its sums and sets. */
static void book_entry(struct proof *proof, const struct transaction *entry)
{
	struct proof_dealer *dealer = proof_find_dealer(proof, entry->casino_id);
	sum_t *sum;

	if (dealer && kind_rules[entry->kind].sum &&
		entry->transaction_id <= dealer->moment.as_of) {
		sum = (sum_t *)(void *)((char *)dealer + kind_rules[entry->kind].sum);
		*sum += proof_entry_asked(entry);
	}
	if (entry->transaction_id > proof->point.as_of)
		return;
	proof->entries++;
	proof_entry_links(proof, entry);
}

/* Checks a transaction by itself. */
static void check_entry(struct proof *proof, const struct transaction *entry)
{
	const struct kind_rule *rule = &kind_rules[entry->kind];
	money_t current;

	if (!rule->sum || entry->amount == 0 || (rule->sign > 0 && entry->amount < 0) ||
		(rule->sign < 0 && entry->amount > 0) ||
		!proof_scope_fits(entry->kind, entry->scope) ||
		(entry->client_id[0] != '\0') != scope_is_of_client(entry->scope))
		proof_problem(proof, "movement %s/%" PRIu64 " is not what a %s can be",
			entry->player_id, entry->entry_seq, entry_kind_names[entry->kind]);
	if (!money_add(entry->before_balance, entry->amount, &current) ||
		current != entry->current_balance)
		proof_problem(proof,
			"movement %s/%" PRIu64
			": the balance before and the amount do not make the balance after",
			entry->player_id, entry->entry_seq);
	if (entry->current_balance < 0 || entry->current_balance > MONEY_MAX)
		proof_problem(proof, "movement %s/%" PRIu64 " leaves a balance out of range",
			entry->player_id, entry->entry_seq);
}

/* Checks the game members of bets and results. */
static void check_game(struct proof *proof, const struct transaction *transaction)
{
	const enum entry_kind kind = transaction->kind;

	if (!transaction->entry_seq && !proof_is_wager(kind) && kind != ENTRY_CORRECTION)
		proof_problem(proof, "transaction %" PRIu64 " is neither movement nor bet",
			transaction->transaction_id);
	else if ((transaction->game_id[0] != '\0') != proof_names_game(kind) ||
		(transaction->bet_number != 0) != proof_names_number(kind))
		proof_problem(proof,
			"transaction %" PRIu64 ": a %s does not name bet number %" PRIu32
			" of game '%s'",
			transaction->transaction_id, entry_kind_names[transaction->kind],
			transaction->bet_number, transaction->game_id);
	if (!transaction->entry_seq &&
		(transaction->previous || transaction->amount || transaction->before_balance ||
			transaction->current_balance || transaction->scope ||
			transaction->request_transaction_id[0] || transaction->client_id[0]))
		proof_problem(proof, "transaction %" PRIu64 " is no movement, but has what one has",
			transaction->transaction_id);
}

void proof_transaction(struct proof *proof, const struct transaction *transaction,
	uint64_t page_as_of)
{
	struct row_hash row;

	if (transaction->transaction_id == 0 || transaction->transaction_id > page_as_of)
		proof_problem(proof, "transaction %" PRIu64 " was never given out",
			transaction->transaction_id);
	proof_days_transaction(proof, transaction);
	check_game(proof, transaction);
	if (transaction->entry_seq) {
		check_entry(proof, transaction);
		proof_chain_entry(proof, transaction);
		book_entry(proof, transaction);
	}
	if (transaction->transaction_id > proof->point.as_of)
		return;
	proof->transactions++;
	if (proof_is_linked(transaction->kind)) {
		proof_hash_transaction(proof, transaction, &row);
		fingerprint_add(&proof->found.transactions, &row);
	}
}

static void check_sum(struct proof *proof, const struct proof_dealer *dealer, const char *what,
	sum_t kept, sum_t found)
{
	char kept_text[SUM_TEXT_MAX], found_text[SUM_TEXT_MAX];

	if (kept == found)
		return;
	sum_format(kept, 2, kept_text);
	sum_format(found, 2, found_text);
	proof_problem(proof, "dealer %s: %s is kept as %s, the movements sum up to %s",
		dealer->total.casino_id, what, kept_text, found_text);
}

static void check_waiting(struct proof *proof, const char *casino_id, const char *what,
	const uint64_t kept[2], uint64_t found)
{
	if (kept[0] == kept[1] && kept[0] != found)
		proof_loose(proof,
			"dealer %s: %s is kept as %" PRIu64 ", %" PRIu64 " callbacks are",
			casino_id, what, kept[0], found);
}

void proof_waiting(struct proof *proof, const struct total *after)
{
	const struct proof_dealer *dealer = proof_find_dealer(proof, after->casino_id);

	if (!dealer)
		return;
	check_waiting(proof, after->casino_id, "parked",
		(const uint64_t[2]){dealer->total.parked, after->parked}, dealer->parked);
	check_waiting(proof, after->casino_id, "held",
		(const uint64_t[2]){dealer->total.held, after->held}, dealer->held);
}

static void check_open(struct proof *proof, const struct proof_dealer *dealer)
{
	uint64_t kept = dealer->total.open_bets;

	if (kept < dealer->open_least)
		proof_loose(proof,
			"dealer %s: open_bets is kept as %" PRIu64 ", %" PRIu64
			" bets and results are open",
			dealer->total.casino_id, kept, dealer->open_least);
	else if (kept > dealer->open_most)
		proof_loose(proof,
			"dealer %s: open_bets is kept as %" PRIu64 ", %" PRIu64
			" bets and results are open",
			dealer->total.casino_id, kept, dealer->open_most);
}

void proof_totals(struct proof *proof)
{
	for (size_t i = 0; i < proof->dealer_count; i++) {
		const struct proof_dealer *dealer = &proof->dealers[i];

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
		check_sum(proof, dealer, "corrected", dealer->total.corrected, dealer->corrected);
		check_sum(proof, dealer, "cancelled", dealer->total.cancelled, dealer->cancelled);
		check_sum(proof, dealer, "balance", dealer->total.balance,
			dealer->transferred_in - dealer->transferred_out + dealer->adjusted -
				dealer->staked + dealer->paid + dealer->corrected +
				dealer->cancelled);
		check_open(proof, dealer);
		proof_bounds_check(proof, dealer);
	}
}
