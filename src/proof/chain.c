#include "proof/chain.h"

#include <inttypes.h>
#include <string.h>

static struct proof_link link_to(const struct transaction *entry)
{
	struct proof_link link;

	memset(&link, 0, sizeof(link));
	memcpy(link.player_id, entry->player_id, sizeof(link.player_id));
	memcpy(link.casino_id, entry->casino_id, sizeof(link.casino_id));
	return link;
}

struct proof_link proof_link_of(const struct transaction *entry)
{
	struct proof_link link = link_to(entry);

	link.seq = entry->entry_seq;
	link.transaction_id = entry->transaction_id;
	link.balance = entry->current_balance;
	return link;
}

struct proof_link proof_link_before(const struct transaction *entry)
{
	struct proof_link link = link_to(entry);

	link.seq = entry->entry_seq - 1;
	link.transaction_id = entry->previous;
	link.balance = entry->before_balance;
	return link;
}

struct proof_link proof_link_last(const struct player *player)
{
	struct proof_link link;

	memset(&link, 0, sizeof(link));
	memcpy(link.player_id, player->player_id, sizeof(link.player_id));
	memcpy(link.casino_id, player->casino_id, sizeof(link.casino_id));
	link.seq = player->entry_seq;
	link.transaction_id = player->entry_transaction_id;
	link.balance = player->balance;
	return link;
}

const char *proof_link_entry(const struct proof_link *link, const struct transaction *entry)
{
	if (!entry)
		return "is not there";
	if (strcmp(entry->player_id, link->player_id) != 0)
		return "is another player's";
	if (strcmp(entry->casino_id, link->casino_id) != 0)
		return "is of another dealer";
	if (entry->entry_seq != link->seq)
		return "is a movement of another number";
	if (entry->current_balance != link->balance)
		return "left another balance";
	return NULL;
}

bool proof_link_is_late(const struct proof *proof, const struct proof_link *last)
{
	return last->transaction_id > proof->point.as_of;
}

bool proof_link_back(struct proof *proof, struct proof_link *last, const struct transaction *entry)
{
	const char *fault = proof_link_entry(last, entry);

	if (!fault && entry->previous >= entry->transaction_id)
		fault = "has no greater transaction id than the one before";
	if (fault) {
		proof_problem(proof, "movement %s/%" PRIu64 ": transaction %" PRIu64 " %s",
			last->player_id, last->seq, last->transaction_id, fault);
		return false;
	}
	last->seq--;
	last->transaction_id = entry->previous;
	last->balance = entry->before_balance;
	return true;
}

static void hash_link(const struct proof *proof, const struct proof_link *link,
	struct row_hash *row)
{
	row_hash_begin(row, proof->seed);
	row_hash_text(row, link->player_id);
	row_hash_text(row, link->casino_id);
	row_hash_number(row, link->seq);
	row_hash_number(row, link->transaction_id);
	row_hash_number(row, (uint64_t)link->balance);
}

static void add_told(struct proof *proof, const struct proof_link *link)
{
	struct row_hash row;

	hash_link(proof, link, &row);
	for (int i = 0; i < 2; i++)
		fingerprint_add(&proof->chains[i][row.state[i] % PROOF_CHAIN_PARTS].expected, &row);
}

bool proof_chains_equal(const struct proof *proof)
{
	for (unsigned int i = 0; i < PROOF_CHAIN_PARTS; i++) {
		if (!fingerprint_equal(&proof->chains[0][i].rows, &proof->chains[0][i].expected))
			return false;
	}
	return true;
}

bool proof_is_untold(const struct proof *proof, const struct transaction *entry)
{
	const struct proof_link link = proof_link_of(entry);
	const struct chain_part *part;
	struct row_hash row;

	hash_link(proof, &link, &row);
	for (int i = 0; i < 2; i++) {
		part = &proof->chains[i][row.state[i] % PROOF_CHAIN_PARTS];
		if (fingerprint_lacks(&part->expected, &part->rows, &row))
			return true;
	}
	return false;
}

void proof_last(struct proof *proof, const struct proof_link *last)
{
	if (last->seq) {
		add_told(proof, last);
		return;
	}
	if (last->transaction_id)
		proof_problem(proof,
			"player %s has no movement, and transaction %" PRIu64 " as the last one",
			last->player_id, last->transaction_id);
	if (last->balance)
		proof_problem(proof, "player %s has credit that no movement explains",
			last->player_id);
}

/* Adds its reference to the previous transaction, and itself as a target of references. */
void proof_chain_entry(struct proof *proof, const struct transaction *entry)
{
	struct proof_link link = proof_link_of(entry);
	struct row_hash row;

	if (entry->transaction_id > proof->point.as_of)
		return;
	hash_link(proof, &link, &row);
	for (int i = 0; i < 2; i++)
		fingerprint_add(&proof->chains[i][row.state[i] % PROOF_CHAIN_PARTS].rows, &row);
	if (entry->previous >= entry->transaction_id)
		proof_problem(proof,
			"movement %s/%" PRIu64 " has no greater transaction id than the one before",
			entry->player_id, entry->entry_seq);
	if (entry->entry_seq > 1 && entry->previous) {
		link = proof_link_before(entry);
		add_told(proof, &link);
	} else if (entry->entry_seq != 1 || entry->previous) {
		proof_problem(proof,
			"movement %s/%" PRIu64 " follows transaction %" PRIu64 ": there is a gap",
			entry->player_id, entry->entry_seq, entry->previous);
	} else if (entry->before_balance) {
		proof_problem(proof,
			"movement %s/%" PRIu64
			" does not begin with the balance that the one before left",
			entry->player_id, entry->entry_seq);
	}
}
