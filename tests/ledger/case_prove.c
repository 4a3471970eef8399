/*
 * case_prove - checks every invariant of src/store/bdb/SCHEMA over all rows. Some are written
 * independently here; the proof of `creditbridgectl check` covers all.
 */
#include "case.h"
#include "domain/aside.h"
#include "proof/statistics.h"
#include "proof_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the books, checked independently */

struct sums {
	sum_t balance;
	sum_t by_kind[ENTRY_KIND_COUNT];
	uint64_t players;
	struct transaction *chain; /* every transaction so far, in the order of @entries */
	uint64_t entries;
	uint64_t moved_requests;
};

static void prove_player(void *context, const void *row)
{
	const struct player *player = row;
	struct sums *sums = context;

	const struct transaction *last = &(const struct transaction){.entry_seq = 0};

	for (uint64_t i = 0; i < sums->entries; i++) {
		if (sums->chain[i].transaction_id == player->entry_transaction_id)
			last = &sums->chain[i];
	}
	ck_assert_uint_eq(last->entry_seq, player->entry_seq);
	ck_assert_int_eq(last->current_balance, player->balance);
	ck_assert_int_ge(player->balance, 0);
	sums->balance += player->balance;
	sums->players++;
}

static void prove_entry(void *context, const void *row)
{
	const struct transaction *entry = row;
	struct sums *sums = context;

	struct transaction last;

	/* A bet or a result that moved nothing here. */
	if (!entry->entry_seq)
		return;
	memset(&last, 0, sizeof(last));
	for (uint64_t i = 0; i < sums->entries; i++) {
		if (strcmp(sums->chain[i].player_id, entry->player_id) == 0)
			last = sums->chain[i];
	}
	ck_assert_uint_eq(entry->entry_seq, last.entry_seq + 1);
	ck_assert_uint_eq(entry->previous, last.transaction_id);
	ck_assert_int_eq(entry->before_balance, last.current_balance);
	ck_assert_int_eq(entry->current_balance, last.current_balance + entry->amount);
	sums->by_kind[entry->kind] += entry->amount;
	sums->chain = reallocarray(sums->chain, sums->entries + 1, sizeof(*sums->chain));
	ck_assert_ptr_nonnull(sums->chain);
	sums->chain[sums->entries++] = *entry;
}

static void prove_request(void *context, const void *row)
{
	const struct request *request = row;
	struct sums *sums = context;

	if (request->kind != ENTRY_PAYOUT && request->kind != ENTRY_BET &&
		request->kind != ENTRY_BET_CANCEL && request->kind != ENTRY_CORRECTION &&
		request->kind != ENTRY_RESULT_BATCH)
		ck_assert_int_eq(request->entry_seq != 0, request->outcome == REFUSAL_NONE);
	sums->moved_requests += request->entry_seq != 0;
}

static void prove_total(void *context, const void *row)
{
	const struct total *total = row;
	struct sums *sums = context;

	ck_assert(total->balance ==
		total->transferred_in - total->transferred_out + total->adjusted - total->staked +
			total->paid + total->corrected + total->cancelled);
	sums->balance -= total->balance;
	sums->by_kind[ENTRY_TRANSFER_IN] -= total->transferred_in;
	sums->by_kind[ENTRY_TRANSFER_OUT] += total->transferred_out;
	sums->by_kind[ENTRY_ADJUST] -= total->adjusted;
	sums->by_kind[ENTRY_BET] += total->staked;
	sums->by_kind[ENTRY_PAYOUT] -= total->paid;
	sums->by_kind[ENTRY_CORRECTION] -= total->corrected;
	sums->by_kind[ENTRY_BET_CANCEL] -= total->cancelled;
	sums->players -= total->players;
}

static void prove_sums(void)
{
	struct sums sums;
	unsigned int transactions;

	memset(&sums, 0, sizeof(sums));
	transactions = case_list(RECORD_TRANSACTION, false, 0, prove_entry, &sums);
	case_list(RECORD_PLAYER, false, 0, prove_player, &sums);
	free(sums.chain);
	case_list(RECORD_REQUEST, false, 0, prove_request, &sums);
	case_list(RECORD_TOTAL, false, 0, prove_total, &sums);
	ck_assert(sums.balance == 0);
	for (unsigned int kind = 0; kind < ENTRY_KIND_COUNT; kind++)
		ck_assert(sums.by_kind[kind] == 0);
	ck_assert_uint_eq(sums.players, 0);
	ck_assert_uint_eq(sums.entries, sums.moved_requests);
	/* Ids of an incarnation have gaps: life.h. */
	if (!case_ledger.ws.id_stride)
		ck_assert_uint_eq(transactions, case_ledger.derived.transaction_id);
}

/* ---- the proof of `check` */

/* All rows of a kind, with copies of their bytes. */
struct kept {
	enum record record;
	uint8_t *rows;
	unsigned int count;
	unsigned int room;
};

static void keep_row(void *context, const void *row)
{
	struct kept *kept = context;
	const struct record_info *info = &record_infos[kept->record];
	uint8_t *place;

	if (kept->count == kept->room) {
		kept->room = kept->room ? 2 * kept->room : 64;
		kept->rows = realloc(kept->rows, (size_t)kept->room * info->size);
		ck_assert_ptr_nonnull(kept->rows);
	}
	place = kept->rows + (size_t)kept->count++ * info->size;
	memcpy(place, row, info->size);
	for (const struct field *field = info->fields; field->name; field++) {
		struct bytes bytes;
		uint8_t *copy;

		if (field->type != FIELD_JSON && field->type != FIELD_BYTES)
			continue;
		memcpy(&bytes, place + field->offset, sizeof(bytes));
		copy = malloc(bytes.len + 1);
		ck_assert_ptr_nonnull(copy);
		memcpy(copy, bytes.data, bytes.len);
		bytes.data = copy;
		memcpy(place + field->offset, &bytes, sizeof(bytes));
	}
}

static void kept_free(struct kept *kept)
{
	const struct record_info *info = &record_infos[kept->record];

	for (unsigned int i = 0; i < kept->count; i++) {
		for (const struct field *field = info->fields; field->name; field++) {
			struct bytes bytes;

			if (field->type != FIELD_JSON && field->type != FIELD_BYTES)
				continue;
			memcpy(&bytes, kept->rows + (size_t)i * info->size + field->offset,
				sizeof(bytes));
			free((void *)(uintptr_t)bytes.data);
		}
	}
	free(kept->rows);
}

static bool take_problem(void *closure, const char *problem)
{
	(void)closure;
	fprintf(stderr, "problem: %s\n", problem);
	return true;
}

/* Returns how many attempts after the third the row allows. */
static uint32_t allowed_by(const struct audit *audit)
{
	unsigned int attempts;

	if (strcmp(audit->action, "callback retry") == 0 ||
		strcmp(audit->action, "callback resend") == 0)
		return 1;
	/* Of another cell, from which the dealer came. */
	return strcmp(audit->action, CALLBACK_MOVED_ACTION) == 0 &&
			sscanf(audit->detail, "attempts=%u", &attempts) == 1 &&
			attempts > PROOF_RESULT_ATTEMPTS
		? attempts - PROOF_RESULT_ATTEMPTS
		: 0;
}

/* Betting-results that were sent more than three times because they were retried. */
static void check_retries(const struct kept *callbacks, const struct kept *audits)
{
	const struct callback *rows = (const void *)callbacks->rows;
	const struct audit *audit = (const void *)audits->rows;
	char object[CALLBACK_EVENT_ID_SIZE];

	for (unsigned int i = 0; i < callbacks->count; i++) {
		uint32_t most = PROOF_RESULT_ATTEMPTS;

		if (rows[i].kind != CALLBACK_BETTING_RESULT)
			continue;
		callback_event_id(rows[i].kind, rows[i].event, object);
		for (unsigned int a = 0; a < audits->count; a++)
			most += strcmp(audit[a].object, object) == 0 ? allowed_by(&audit[a]) : 0;
		ck_assert_uint_le(rows[i].attempts, most);
	}
}

static uint64_t counter_of(const struct kept *counters, const char *name)
{
	const struct counter *rows = (const void *)counters->rows;

	for (unsigned int i = 0; i < counters->count; i++) {
		if (strcmp(rows[i].name, name) == 0)
			return rows[i].value;
	}
	return 0;
}

static void print_problem(void *closure, const char *problem)
{
	take_problem(closure, problem);
}

static void feed_rounds(struct proof_statistics *proof, const struct proof_rows *rows,
	const char *player_id)
{
	const struct round *rounds = rows->kinds[RECORD_ROUND].rows;
	const struct bet *bets = rows->kinds[RECORD_BET].rows;

	for (unsigned int i = 0; i < rows->kinds[RECORD_ROUND].count; i++) {
		if (strcmp(rounds[i].player_id, player_id) != 0)
			continue;
		proof_statistics_round(proof, &rounds[i]);
		for (unsigned int n = 0; n < rows->kinds[RECORD_BET].count; n++) {
			if (strcmp(bets[n].player_id, player_id) == 0 &&
				strcmp(bets[n].game_id, rounds[i].game_id) == 0)
				proof_statistics_bet(proof, &bets[n]);
		}
	}
}

/* The sums of A4 of each player. */
static void prove_statistics(const struct proof_rows *rows)
{
	const struct player *players = rows->kinds[RECORD_PLAYER].rows;
	const struct lifetime *lifetimes = rows->kinds[RECORD_LIFETIME].rows;
	const struct day *days = rows->kinds[RECORD_DAY].rows;
	struct proof_statistics proof;

	proof_statistics_init(&proof, print_problem, NULL);
	for (unsigned int i = 0; i < rows->kinds[RECORD_PLAYER].count; i++) {
		const char *player_id = players[i].player_id;

		proof_statistics_begin(&proof, player_id);
		feed_rounds(&proof, rows, player_id);
		for (unsigned int n = 0; n < rows->kinds[RECORD_LIFETIME].count; n++) {
			if (strcmp(lifetimes[n].player_id, player_id) == 0)
				proof_statistics_lifetime(&proof, &lifetimes[n]);
		}
		for (unsigned int n = 0; n < rows->kinds[RECORD_DAY].count; n++) {
			if (strcmp(days[n].player_id, player_id) == 0)
				proof_statistics_day(&proof, &days[n]);
		}
		ck_assert(proof_statistics_end(&proof));
	}
	ck_assert_uint_eq(proof.differences, 0);
	proof_statistics_free(&proof);
}

/* Each callback that is parked or held has its row (domain/aside.h), and no other has one. */
static void prove_asides(const struct kept *callbacks, const struct kept *asides)
{
	const struct callback *callback = (const void *)callbacks->rows;
	const struct aside *aside = (const void *)asides->rows;
	struct aside made;
	unsigned int wanted = 0, found = 0;

	for (unsigned int i = 0; i < callbacks->count; i++) {
		if (!callback_is_aside(callback[i].state))
			continue;
		wanted++;
		made = aside_of(&callback[i]);
		for (unsigned int n = 0; n < asides->count; n++)
			found += memcmp(&aside[n], &made, sizeof(made)) == 0;
	}
	ck_assert_uint_eq(found, wanted);
	ck_assert_uint_eq(asides->count, wanted);
}

static void prove_rows(const struct proof_rows *rows)
{
	static const uint64_t seed[2] = {1, 2};
	/* All rows existed before this point. */
	const struct proof_point point = {rows->transaction_id, rows->event, case_now_ms + 1};
	const struct proof_moment moment = {rows->transaction_id, rows->event, rows->event,
		point.begin_ms, point.begin_ms};
	struct proof proof;

	proof_init(&proof, seed, &point, take_problem, NULL);
	proof_rows_books(&proof, rows, &moment);
	proof_rows_wagers(&proof, rows);
	for (size_t i = 0; i < proof.dealer_count; i++)
		proof_waiting(&proof, &proof.dealers[i].total);
	proof_totals(&proof);
	ck_assert(!proof.no_memory);
	ck_assert_uint_eq(proof.problems, 0);
	for (size_t i = 0; i < proof.dealer_count; i++) {
		for (unsigned int part = 0; part < PROOF_DAY_PARTS; part++)
			ck_assert(!proof_days_differ(&proof.dealers[i], part));
	}
	ck_assert(fingerprint_equal(&proof.player_rows, &proof.name_rows));
	ck_assert(proof_chains_equal(&proof));
	ck_assert(fingerprint_equal(&proof.entry_requests, &proof.request_rows));
	ck_assert(fingerprint_equal(&proof.wanted.requests, &proof.found.requests));
	ck_assert(fingerprint_equal(&proof.wanted.transactions, &proof.found.transactions));
	ck_assert(fingerprint_equal(&proof.wanted.bet_index, &proof.found.bet_index));
	ck_assert(fingerprint_equal(&proof.wanted.callbacks, &proof.found.callbacks));
	ck_assert(fingerprint_equal(&proof.wanted.ends, &proof.found.ends));
	proof_free(&proof);
}

void case_prove(void)
{
	static struct kept kept[RECORD_COUNT];
	struct proof_rows rows;

	prove_sums();
	memset(&rows, 0, sizeof(rows));
	memset(kept, 0, sizeof(kept));
	for (unsigned int i = 0; i < RECORD_COUNT; i++) {
		kept[i].record = (enum record)i;
		case_list(kept[i].record, false, 0, keep_row, &kept[i]);
		rows.kinds[i].rows = kept[i].rows;
		rows.kinds[i].count = kept[i].count;
	}
	rows.transaction_id = case_ledger.derived.transaction_id;
	rows.event = counter_of(&kept[RECORD_COUNTER], "event");
	prove_rows(&rows);
	prove_statistics(&rows);
	check_retries(&kept[RECORD_CALLBACK], &kept[RECORD_AUDIT]);
	prove_asides(&kept[RECORD_CALLBACK], &kept[RECORD_ASIDE]);
	for (unsigned int i = 0; i < RECORD_COUNT; i++)
		kept_free(&kept[i]);
}
