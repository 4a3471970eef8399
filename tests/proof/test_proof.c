/*
 * Tests the proof of `creditbridgectl check` with rows made here. A correct world must pass; each
 * single fault in it must be found.
 */
#include "proof_rows.h"
#include "suites.h"

#include <stdio.h>
#include <string.h>
#include <tap.h>

#define PLAYERS 3
#define ENTRIES 7
#define ALL     6 /* the request for a whole balance */
#define SEALED  8 /* the sealed request */
#define DEALERS 2

/* All rows of a ledger with two dealers. */
struct world {
	uint64_t as_of; /* when the sums were read */
	uint64_t now;   /* when all other rows were read */
	struct total totals[DEALERS];
	unsigned int total_count;
	struct dealer dealers[DEALERS];
	unsigned int dealer_count;
	struct player players[PLAYERS];
	unsigned int player_count;
	struct player_name names[PLAYERS];
	unsigned int name_count;
	struct transaction entries[ENTRIES];
	unsigned int entry_count;
	struct request requests[ENTRIES + 2]; /* the last ones were refused and sealed */
	unsigned int request_count;
};

/* The result of a proof. */
struct verdict_of {
	uint64_t problems;
	bool requests_equal;
	bool names_equal;
	bool chains_equal;
	char text[8192];
};

static const uint64_t seed[2] = {UINT64_C(0x0123456789abcdef), UINT64_C(0xfedcba9876543210)};

static void add_player(struct world *world, const char *player_id, const char *casino_id,
	const char *user_id)
{
	struct player *player = &world->players[world->player_count++];
	struct player_name *name = &world->names[world->name_count++];

	strcpy(player->player_id, player_id);
	strcpy(player->casino_id, casino_id);
	strcpy(player->user_id, user_id);
	strcpy(name->player_id, player_id);
	strcpy(name->casino_id, casino_id);
	strcpy(name->user_id, user_id);
}

/* Moves @amount (signed) for player number @index, by transaction @id. */
static void move(struct world *world, unsigned int index, enum entry_kind kind, money_t amount,
	uint64_t id)
{
	struct player *player = &world->players[index];
	struct transaction *entry = &world->entries[world->entry_count++];
	struct request *request = &world->requests[world->request_count++];

	strcpy(entry->casino_id, player->casino_id);
	strcpy(entry->player_id, player->player_id);
	entry->entry_seq = ++player->entry_seq;
	entry->previous = player->entry_transaction_id;
	player->entry_transaction_id = id;
	entry->kind = kind;
	entry->amount = amount;
	entry->before_balance = player->balance;
	entry->current_balance = player->balance += amount;
	entry->transaction_id = id;
	entry->scope = kind == ENTRY_ADJUST ? SCOPE_OPERATOR : SCOPE_DEALER;
	snprintf(entry->request_transaction_id, EXTERNAL_ID_SIZE, "ref-%u", (unsigned int)id);
	request->scope = entry->scope;
	strcpy(request->owner, player->casino_id);
	strcpy(request->request_transaction_id, entry->request_transaction_id);
	request->kind = kind;
	request->amount = kind == ENTRY_TRANSFER_OUT ? -amount : amount;
	strcpy(request->player_id, player->player_id);
	request->entry_seq = entry->entry_seq;
	request->transaction_id = id;
	request->current_balance = entry->current_balance;
}

/* Computes the sums of the transactions up to as_of. */
static void sum_up(struct world *world)
{
	for (unsigned int i = 0; i < world->entry_count; i++) {
		const struct transaction *entry = &world->entries[i];
		struct total *total = &world->totals[entry->player_id[1] == '3'];

		if (entry->transaction_id > world->as_of)
			continue;
		total->balance += entry->amount;
		if (entry->kind == ENTRY_TRANSFER_IN)
			total->transferred_in += entry->amount;
		else if (entry->kind == ENTRY_TRANSFER_OUT)
			total->transferred_out -= entry->amount;
		else
			total->adjusted += entry->amount;
	}
}

static void make_world(struct world *world)
{
	struct request *refused, *sealed;

	memset(world, 0, sizeof(*world));
	world->as_of = world->now = 7;
	world->total_count = world->dealer_count = DEALERS;
	strcpy(world->totals[0].casino_id, "alpha");
	strcpy(world->totals[1].casino_id, "beta");
	world->totals[0].players = 2;
	world->totals[1].players = 1;
	strcpy(world->dealers[0].casino_id, "alpha");
	strcpy(world->dealers[1].casino_id, "beta");
	add_player(world, "p1", "alpha", "ann");
	add_player(world, "p2", "alpha", "bob");
	add_player(world, "p3", "beta", "ann");
	move(world, 0, ENTRY_TRANSFER_IN, 1000000, 1);
	move(world, 0, ENTRY_TRANSFER_OUT, -250000, 3);
	move(world, 0, ENTRY_ADJUST, -50000, 6);
	move(world, 1, ENTRY_TRANSFER_IN, 70000, 2);
	move(world, 2, ENTRY_TRANSFER_IN, 5, 4);
	move(world, 2, ENTRY_ADJUST, 95, 5);
	move(world, 2, ENTRY_TRANSFER_OUT, -100, 7);
	refused = &world->requests[world->request_count++];
	refused->scope = SCOPE_DEALER;
	strcpy(refused->owner, "alpha");
	strcpy(refused->request_transaction_id, "ref-refused");
	refused->kind = ENTRY_TRANSFER_OUT;
	refused->outcome = REFUSAL_INSUFFICIENT_BALANCE;
	refused->amount = 99999999;
	strcpy(refused->player_id, "p1");
	refused->current_balance = 750000;
	sealed = &world->requests[world->request_count++];
	sealed->scope = SCOPE_DEALER;
	strcpy(sealed->owner, "alpha");
	strcpy(sealed->request_transaction_id, "ref-sealed");
	sealed->kind = ENTRY_SEAL;
	sealed->outcome = REFUSAL_TRANSACTION_SEALED;
	/* The transfer out that left nothing asked for the whole balance. */
	world->requests[ALL].all = true;
	sum_up(world);
}

static bool take_line(void *closure, const char *problem)
{
	struct verdict_of *verdict = closure;
	size_t len = strlen(verdict->text);

	snprintf(verdict->text + len, sizeof(verdict->text) - len, "%s\n", problem);
	return true;
}

/* Proves @world. */
static void prove(const struct world *world, struct verdict_of *verdict)
{
	const struct proof_point point = {.as_of = world->as_of};
	const struct proof_moment moment = {.as_of = world->as_of};
	const struct proof_rows rows = {
		.kinds =
			{
				[RECORD_TOTAL] = {world->totals, world->total_count},
				[RECORD_DEALER] = {world->dealers, world->dealer_count},
				[RECORD_PLAYER] = {world->players, world->player_count},
				[RECORD_PLAYER_NAME] = {world->names, world->name_count},
				[RECORD_TRANSACTION] = {world->entries, world->entry_count},
				[RECORD_REQUEST] = {world->requests, world->request_count},
			},
		.transaction_id = world->now,
	};
	struct proof proof;

	memset(verdict, 0, sizeof(*verdict));
	proof_init(&proof, seed, &point, take_line, verdict);
	proof_rows_books(&proof, &rows, &moment);
	proof_rows_wagers(&proof, &rows);
	proof_totals(&proof);
	verdict->problems = proof.problems;
	verdict->requests_equal = fingerprint_equal(&proof.entry_requests, &proof.request_rows);
	verdict->names_equal = fingerprint_equal(&proof.player_rows, &proof.name_rows);
	verdict->chains_equal = proof_chains_equal(&proof);
	proof_free(&proof);
}

static bool sound(const struct verdict_of *verdict)
{
	return !verdict->problems && verdict->requests_equal && verdict->names_equal &&
		verdict->chains_equal;
}

START_TEST(a_sound_world_is_proved)
{
	struct world world;
	struct verdict_of verdict;

	make_world(&world);
	prove(&world, &verdict);
	ck_assert_msg(sound(&verdict), "%s", verdict.text);
}
END_TEST

/* The faults. Each changes one row. */
/* clang-format off: a lie a line */
static void negative_balance(struct world *w)
{
	w->players[1].balance = -1;
}
static void unexplained_credit(struct world *w)
{
	w->entry_count = 0;
	w->players[0].entry_seq = w->players[0].entry_transaction_id = 0;
}
static void no_last(struct world *w)
{
	w->players[0].entry_seq = 0;
	w->players[0].balance = 0;
}
static void gap(struct world *w)
{
	w->entries[1].previous = 0;
}
static void first_is_second(struct world *w)
{
	w->entries[0].entry_seq = 2;
}
static void first_follows(struct world *w)
{
	w->entries[3].previous = 1;
}
static void first_with_credit(struct world *w)
{
	w->entries[0].before_balance -= 1;
	w->entries[0].amount += 1;
}
static void wrong_amount(struct world *w)
{
	w->entries[1].amount -= 1;
}
static void zero_amount(struct world *w)
{
	w->entries[3].amount = 0;
}
static void wrong_sign(struct world *w)
{
	w->entries[1].kind = ENTRY_TRANSFER_IN;
}
static void wrong_entry_scope(struct world *w)
{
	w->entries[1].scope = SCOPE_OPERATOR;
}
static void others_client(struct world *w)
{
	strcpy(w->entries[1].client_id, "slots");
}
static void negative_after(struct world *w)
{
	w->entries[6].current_balance = -1;
}
static void ids_backwards(struct world *w)
{
	w->entries[2].transaction_id = 2;
}
static void itself(struct world *w)
{
	w->entries[2].previous = 6;
}
static void future_id(struct world *w)
{
	w->entries[2].transaction_id = 8;
}
static void late_last(struct world *w)
{
	w->players[1].entry_transaction_id = 9;
}
static void no_player_row(struct world *w)
{
	strcpy(w->players[1].user_id, "eve");
}
static void other_name(struct world *w)
{
	strcpy(w->names[1].user_id, "ann");
}
static void no_total(struct world *w)
{
	w->total_count = 1;
}
static void no_dealer(struct world *w)
{
	w->dealer_count = 1;
}
static void total_in(struct world *w)
{
	w->totals[0].transferred_in += 1;
}
static void total_out(struct world *w)
{
	w->totals[0].transferred_out += 1;
}
static void total_adjusted(struct world *w)
{
	w->totals[1].adjusted -= 1;
}
static void total_balance(struct world *w)
{
	w->totals[1].balance += 1;
}
static void total_players(struct world *w)
{
	w->totals[0].players++;
}
static void zero_id(struct world *w)
{
	w->entries[0].transaction_id = 0;
}
static void with_game(struct world *w)
{
	strcpy(w->entries[0].game_id, "g");
}
static void with_bet(struct world *w)
{
	w->entries[0].bet_number = 3;
}
static void without_game(struct world *w)
{
	w->entries[1].kind = ENTRY_BET;
}
static void unmoved(struct world *w)
{
	w->entries[0].entry_seq = 0;
}
static void unmoved_payout(struct world *w)
{
	w->entries[0].entry_seq = 0;
	w->entries[0].kind = ENTRY_PAYOUT;
	strcpy(w->entries[0].game_id, "g");
}
static void bad_outcome(struct world *w)
{
	w->requests[0].outcome = REFUSAL_BALANCE_LIMIT;
}
static void refused_but_moved(struct world *w)
{
	w->requests[0].outcome = REFUSAL_INSUFFICIENT_BALANCE;
}
static void done_but_unmoved(struct world *w)
{
	w->requests[0].entry_seq = 0;
}
static void wrong_request_scope(struct world *w)
{
	w->requests[0].scope = SCOPE_OPERATOR;
}

static void sealed_player(struct world *w)
{
	strcpy(w->requests[SEALED].player_id, "p1");
}
static void sealed_moved(struct world *w)
{
	w->requests[SEALED].transaction_id = w->requests[SEALED].entry_seq = 1;
}
static void sealed_transfer(struct world *w)
{
	w->requests[SEALED].amount = 1;
}
static void sealed_client(struct world *w)
{
	w->requests[SEALED].scope = SCOPE_CLIENT;
}
static void refused_nobody(struct world *w)
{
	w->requests[SEALED - 1].player_id[0] = '\0';
}
static void sealed_kind(struct world *w)
{
	w->requests[SEALED].kind = ENTRY_TRANSFER_IN;
}
static void seal_that_moved(struct world *w)
{
	w->entries[0].kind = ENTRY_SEAL;
}
static void all_of_in(struct world *w)
{
	w->requests[0].all = true;
}
static void all_but_some(struct world *w)
{
	w->requests[1].all = true;
}
static void all_refused(struct world *w)
{
	w->requests[SEALED - 1].all = true;
	w->requests[SEALED - 1].current_balance = 0;
}

static void request_with_game(struct world *w)
{
	strcpy(w->requests[0].game_id, "g");
	w->requests[0].bet_number = 1;
}

static const struct damage {
	void (*make)(struct world *world);
	const char *found; /* part of a problem's line */
} damages[] = {
	{negative_balance, "balance out of range"},
	{unexplained_credit, "credit that no movement explains"},
	{no_last, "has no movement, and transaction 6 as the last one"},
	{gap, "follows transaction 0: there is a gap"},
	{first_is_second, "follows transaction 0: there is a gap"},
	{first_follows, "follows transaction 1: there is a gap"},
	{first_with_credit, "does not begin with the balance"},
	{wrong_amount, "do not make the balance after"},
	{zero_amount, "is not what a transfer_in can be"},
	{wrong_sign, "is not what a transfer_in can be"},
	{wrong_entry_scope, "is not what a transfer_out can be"},
	{others_client, "is not what a transfer_out can be"},
	{negative_after, "leaves a balance out of range"},
	{ids_backwards, "has no greater transaction id"},
	{itself, "has no greater transaction id"},
	{future_id, "was never given out"},
	{late_last, "transaction 9 is not there"},
	{no_player_row, "which does not exist"},
	{other_name, "is named by player p2 but is player p1"},
	{no_total, "dealer beta has no sums"},
	{no_dealer, "dealer beta has sums but is not there"},
	{total_in, "transferred_in is kept as 107.0001, the movements sum up to 107.00"},
	{total_out, "transferred_out is kept as"},
	{total_adjusted, "adjusted is kept as"},
	{total_balance, "balance is kept as"},
	{total_players, "3 players are kept as the number, there are 2"},
	{zero_id, "transaction 0 was never given out"},
	{with_game, "transaction 1: a transfer_in does not name bet number 0 of game 'g'"},
	{with_bet, "transaction 1: a transfer_in does not name bet number 3 of game ''"},
	{without_game, "transaction 3: a bet does not name bet number 0 of game ''"},
	{unmoved, "transaction 1 is neither movement nor bet"},
	{unmoved_payout, "transaction 1 is no movement, but has what one has"},
	{bad_outcome, "with the outcome balance_limit"},
	{refused_but_moved, "outcome and movement do not agree"},
	{done_but_unmoved, "outcome and movement do not agree"},
	{wrong_request_scope, "with the key of another scope"},
	{request_with_game, "does not name bet number 1 of game 'g'"},
	{sealed_player, "ref-sealed of alpha is sealed and names a player"},
	{sealed_moved, "ref-sealed of alpha: outcome and movement do not agree"},
	{sealed_transfer, "ref-sealed of alpha is sealed and holds a transfer"},
	{sealed_kind, "ref-sealed of alpha was recorded with the outcome transaction_sealed"},
	{seal_that_moved, "is not what a seal can be"},
	{sealed_client, "ref-sealed of alpha is a seal with the key of another scope"},
	{refused_nobody, "ref-refused of alpha names no player"},
	{all_of_in, "asked for the whole balance and is no transfer out"},
	{all_but_some, "asked for the whole balance and left credit"},
	{all_refused, "asked for the whole balance and has an amount that does not fit"},
};

START_TEST(a_damage_is_reported)
{
	struct world world;
	struct verdict_of verdict;

	make_world(&world);
	damages[_i].make(&world);
	prove(&world, &verdict);
	ck_assert_msg(strstr(verdict.text, damages[_i].found) != NULL, "'%s' not in: %s",
		damages[_i].found, verdict.text);
	ck_assert_uint_gt(verdict.problems, 0);
}
END_TEST

/* Faults between rows, which comparing the sets finds. */
static void request_gone(struct world *w)
{
	w->requests[0] = w->requests[--w->request_count];
}
static void request_twice(struct world *w)
{
	w->requests[7] = w->requests[0];
	strcpy(w->requests[7].request_transaction_id, "ref-x");
}
static void request_renamed(struct world *w)
{
	strcpy(w->requests[0].request_transaction_id, "ref-x");
}
static void request_of_other(struct world *w)
{
	strcpy(w->requests[0].owner, "beta");
}
static void request_elsewhere(struct world *w)
{
	w->requests[0].entry_seq = 2;
}
static void request_other_player(struct world *w)
{
	strcpy(w->requests[0].player_id, "p2");
}
static void request_amount(struct world *w)
{
	w->requests[0].amount++;
}
static void request_time(struct world *w)
{
	w->requests[0].time_ms++;
}
static void request_balance(struct world *w)
{
	w->requests[0].current_balance++;
}
static void request_kind(struct world *w)
{
	w->requests[0].kind = ENTRY_TRANSFER_OUT;
}
static void requests_swapped(struct world *w)
{
	uint64_t seq = w->requests[0].entry_seq;

	w->requests[0].entry_seq = w->requests[1].entry_seq;
	w->requests[1].entry_seq = seq;
}
static void one_id_twice(struct world *w)
{
	w->entries[3].transaction_id = w->entries[0].transaction_id;
}
static void one_id_moved(struct world *w)
{
	w->entries[3].transaction_id = 5;
}
static void player_without_name(struct world *w)
{
	w->entry_count = 4;
	w->name_count = 2;
}
/* Faults of chains. */
static void entry_of_other(struct world *w)
{
	strcpy(w->entries[2].casino_id, "beta");
}
static void lower_balance(struct world *w)
{
	w->players[1].balance -= 1;
}
static void forgotten(struct world *w)
{
	w->players[0].entry_seq = 4;
}
static void uncounted(struct world *w)
{
	w->players[0].entry_seq = 2;
	w->players[0].entry_transaction_id = 3;
	w->players[0].balance = 750000;
}
static void other_last(struct world *w)
{
	w->players[0].entry_transaction_id = 3;
}
static void broken_chain(struct world *w)
{
	w->entries[1].before_balance -= 1;
	w->entries[1].amount += 1;
}
static void skipped(struct world *w)
{
	w->entries[2].previous = 1;
}
static void others_chain(struct world *w)
{
	w->entries[5].previous = 2;
}
static void orphan(struct world *w)
{
	strcpy(w->entries[6].player_id, "p4");
}
static void no_name(struct world *w)
{
	w->name_count = 2;
}
static void entry_gone(struct world *w)
{
	w->entries[1] = w->entries[6];
	w->entry_count--;
}
/* A second transaction number 2, which no other one follows. */
static void fork_of(struct world *w)
{
	w->entries[6] = w->entries[1];
	w->entries[6].transaction_id = 7;
}
static void other_dealer(struct world *w)
{
	strcpy(w->names[2].casino_id, "alpha");
	strcpy(w->players[2].casino_id, "alpha");
	strcpy(w->names[2].user_id, "eve");
	strcpy(w->players[2].user_id, "eve");
}
/* clang-format on */

static const struct set_damage {
	void (*make)(struct world *world);
	bool requests;
	bool names;
	bool chains;
} set_damages[] = {
	{request_gone, true, false, false},
	{request_twice, true, false, false},
	{request_renamed, true, false, false},
	{request_of_other, true, false, false},
	{request_elsewhere, true, false, false},
	{request_other_player, true, false, false},
	{request_amount, true, false, false},
	{request_time, true, false, false},
	{request_balance, true, false, false},
	{request_kind, true, false, false},
	{requests_swapped, true, false, false},
	{one_id_twice, true, false, true},
	{one_id_moved, true, false, true},
	{player_without_name, true, true, false},
	{lower_balance, false, false, true},
	{forgotten, false, false, true},
	{uncounted, false, false, true},
	{other_last, false, false, true},
	{broken_chain, true, false, true},
	{skipped, false, false, true},
	{others_chain, false, false, true},
	{orphan, true, false, true},
	{no_name, false, true, true},
	{entry_gone, true, false, true},
	{fork_of, true, false, true},
	{other_dealer, false, false, true},
	{entry_of_other, true, false, true},
};

START_TEST(sets_that_differ_are_told)
{
	const struct set_damage *damage = &set_damages[_i];
	struct world world;
	struct verdict_of verdict;

	make_world(&world);
	damage->make(&world);
	prove(&world, &verdict);
	ck_assert_int_eq(!verdict.requests_equal, damage->requests);
	ck_assert_int_eq(!verdict.names_equal, damage->names);
	ck_assert_int_eq(!verdict.chains_equal, damage->chains);
}
END_TEST

/* Rows added during the check must not disturb it. */
START_TEST(later_movements_are_left_out)
{
	struct world world;
	struct verdict_of verdict;

	for (uint64_t as_of = 0; as_of <= 7; as_of++) {
		make_world(&world);
		/* The sums are those of that time; all other rows are current. */
		world.as_of = as_of;
		for (unsigned int i = 0; i < DEALERS; i++) {
			world.totals[i].balance = world.totals[i].transferred_in = 0;
			world.totals[i].transferred_out = world.totals[i].adjusted = 0;
		}
		sum_up(&world);
		prove(&world, &verdict);
		ck_assert_msg(sound(&verdict), "as of %u: %s", (unsigned int)as_of, verdict.text);
	}
}
END_TEST

START_TEST(a_player_read_earlier_than_his_movements_is_proved)
{
	struct world world;
	struct verdict_of verdict;

	make_world(&world);
	world.as_of = 5;
	for (unsigned int i = 0; i < DEALERS; i++) {
		world.totals[i].balance = world.totals[i].transferred_in = 0;
		world.totals[i].transferred_out = world.totals[i].adjusted = 0;
	}
	sum_up(&world);
	world.players[0].entry_seq = 2;
	world.players[0].entry_transaction_id = 3;
	world.players[0].balance = 750000;
	world.players[2].entry_seq = 2;
	world.players[2].entry_transaction_id = 5;
	world.players[2].balance = 100;
	prove(&world, &verdict);
	ck_assert_msg(sound(&verdict), "%s", verdict.text);
}
END_TEST

START_TEST(players_added_meanwhile_are_counted_again)
{
	const struct proof_point point = {.as_of = 0};
	struct proof proof;
	struct verdict_of verdict = {.problems = 0};
	struct proof_dealer dealer = {.players = 5};

	proof_init(&proof, seed, &point, take_line, &verdict);
	ck_assert(!proof_player_count(&proof, &dealer, 4, 6));
	ck_assert(!proof_player_count(&proof, &dealer, 5, 6));
	ck_assert_uint_eq(proof.problems, 0);
	ck_assert(proof_player_count(&proof, &dealer, 5, 5));
	ck_assert_uint_eq(proof.problems, 0);
	ck_assert(proof_player_count(&proof, &dealer, 6, 7));
	ck_assert(proof_player_count(&proof, &dealer, 3, 4));
	ck_assert_uint_eq(proof.problems, 2);
	proof_free(&proof);
}
END_TEST

START_TEST(links_are_named)
{
	struct world w;
	const struct transaction *entry = &w.entries[1];
	struct request *request = &w.requests[1];

	make_world(&w);
	ck_assert_ptr_null(proof_entry_request(entry, request));
	ck_assert_str_eq(proof_entry_request(entry, NULL), "its request key is missing");
	strcpy(request->owner, "beta");
	ck_assert_str_eq(proof_entry_request(entry, request), "its request key is another one");
	strcpy(request->owner, "alpha");
	request->amount++;
	ck_assert_str_eq(proof_entry_request(entry, request),
		"its request key asked for something else");
	request->amount--;
	request->current_balance--;
	ck_assert_str_eq(proof_entry_request(entry, request),
		"its request key holds another balance");
	request->current_balance++;
	request->time_ms++;
	ck_assert_str_eq(proof_entry_request(entry, request), "its request key is of another time");
	request->transaction_id++;
	ck_assert_str_eq(proof_entry_request(entry, request),
		"its request key holds another transaction id");
	request->entry_seq++;
	ck_assert_str_eq(proof_entry_request(entry, request),
		"its request key points to another movement");
}
END_TEST

START_TEST(a_link_names_its_fault)
{
	struct world w;
	struct proof_link link;

	make_world(&w);
	link = proof_link_before(&w.entries[1]);
	ck_assert_ptr_null(proof_link_entry(&link, &w.entries[0]));
	ck_assert_str_eq(proof_link_entry(&link, NULL), "is not there");
	w.entries[0].current_balance++;
	ck_assert_str_eq(proof_link_entry(&link, &w.entries[0]), "left another balance");
	w.entries[0].entry_seq = 0;
	ck_assert_str_eq(proof_link_entry(&link, &w.entries[0]), "is a movement of another number");
	strcpy(w.entries[0].casino_id, "beta");
	ck_assert_str_eq(proof_link_entry(&link, &w.entries[0]), "is of another dealer");
	strcpy(w.entries[0].player_id, "p2");
	ck_assert_str_eq(proof_link_entry(&link, &w.entries[0]), "is another player's");
}
END_TEST

static Suite *proof_suite(void)
{
	Suite *suite = suite_create("proof");
	TCase *tcase = tcase_create("proof");

	tcase_add_test(tcase, a_sound_world_is_proved);
	tcase_add_loop_test(tcase, a_damage_is_reported, 0, sizeof(damages) / sizeof(damages[0]));
	tcase_add_loop_test(tcase, sets_that_differ_are_told, 0,
		sizeof(set_damages) / sizeof(set_damages[0]));
	tcase_add_test(tcase, later_movements_are_left_out);
	tcase_add_test(tcase, a_player_read_earlier_than_his_movements_is_proved);
	tcase_add_test(tcase, players_added_meanwhile_are_counted_again);
	tcase_add_test(tcase, links_are_named);
	tcase_add_test(tcase, a_link_names_its_fault);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	static Suite *(*const makers[])(
		void) = {proof_suite, proof_wagers_suite, proof_changes_suite, NULL};

	return tap_main(makers);
}
