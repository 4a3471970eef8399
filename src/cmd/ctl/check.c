/*
 * check - check: walks every row of the ledger, while it keeps serving, and feeds the proof.
 */
#include "cmd/ctl/check.h"

#include "base/clock.h"
#include "cmd/ctl/list.h"
#include "cmd/ctl/output.h"
#include "wire/signature.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT_TRIES       6
#define COUNT_PATIENCE_MS 50 /* before the second try; twice as long before each further one */
#define PROGRESS_MS       200

void check_progress(struct check *check, const char *what, uint64_t rows)
{
	int64_t now_ms;

	if (!check->progress || rows % 64)
		return;
	now_ms = clock_boot_ms();
	if (now_ms - check->progress_ms < PROGRESS_MS)
		return;
	check->progress_ms = now_ms;
	fprintf(stderr, "\r\033[K%s: %" PRIu64, what, rows);
	fflush(stderr);
}

static void take_problem(void *closure, const char *problem)
{
	struct check *check = closure;

	if (check->shown_count == CHECK_PROBLEMS_SHOWN)
		return;
	snprintf(check->shown[check->shown_count++], CHECK_PROBLEM_SIZE, "%s", problem);
}

/* Begins the proof at the point in time of the first page of sums. */
static enum ctl_exit open_proof(struct check *check, uint64_t as_of)
{
	char random[21];
	uint64_t seed[2];

	check->open = true;
	if (!signature_random_id(random, sizeof(random)))
		return ctl_fail(check->ctl, CTL_FAILED, "failed", "no random numbers");
	memcpy(seed, random, sizeof(seed));
	proof_init(&check->proof, seed, as_of, take_problem, check);
	return CTL_DONE;
}

static enum ctl_exit no_memory(struct check *check)
{
	return ctl_fail(check->ctl, CTL_FAILED, "failed", "out of memory");
}

static enum ctl_exit walk_totals(struct check *check)
{
	struct list list;
	struct total row;
	enum ctl_exit code = CTL_DONE;

	list_open(&list, check->ctl, RECORD_TOTAL, false, 0, NULL);
	while (code == CTL_DONE && list_next(&list, &row)) {
		if (!check->open)
			code = open_proof(check, list.as_of);
		if (code == CTL_DONE && !proof_add_dealer(&check->proof, &row, list.as_of))
			code = no_memory(check);
	}
	if (code == CTL_DONE)
		code = list.code;
	if (code == CTL_DONE && !check->open)
		code = open_proof(check, list.as_of);
	list_close(&list);
	return code;
}

/* Adds a dealer that was made after the sums were read. */
static enum ctl_exit add_late_dealer(struct check *check, const char *casino_id)
{
	struct total total = {.players = 0};
	struct dealer dealer = {.decimals = 0};
	uint64_t as_of;
	bool found;
	enum ctl_exit code;

	memcpy(dealer.casino_id, casino_id, sizeof(dealer.casino_id));
	memcpy(total.casino_id, casino_id, sizeof(total.casino_id));
	code = list_fetch(check->ctl, RECORD_TOTAL, &total, &found, &as_of);
	if (code == CTL_DONE && found && !proof_add_dealer(&check->proof, &total, as_of))
		code = no_memory(check);
	if (code != CTL_DONE || !found)
		return code;
	code = list_fetch(check->ctl, RECORD_DEALER, &dealer, &found, NULL);
	if (code == CTL_DONE && found)
		proof_dealer(&check->proof, casino_id);
	return code;
}

static enum ctl_exit walk_dealers(struct check *check)
{
	struct list list;
	struct dealer row;
	enum ctl_exit code = CTL_DONE;

	list_open(&list, check->ctl, RECORD_DEALER, false, 0, NULL);
	while (code == CTL_DONE && list_next(&list, &row)) {
		if (!proof_find_dealer(&check->proof, row.casino_id))
			code = add_late_dealer(check, row.casino_id);
		if (code == CTL_DONE)
			proof_dealer(&check->proof, row.casino_id);
	}
	if (code == CTL_DONE)
		code = list.code;
	list_close(&list);
	return code;
}

/* A player too new to be surely among the names walked later: its name is looked up now. */
static enum ctl_exit check_new_name(struct check *check, const struct player *player)
{
	struct player_name name = {.player_id = ""};
	enum ctl_exit code;
	bool found;

	memcpy(name.player_id, player->player_id, sizeof(name.player_id));
	code = list_fetch(check->ctl, RECORD_PLAYER_NAME, &name, &found, NULL);
	if (code == CTL_DONE && (!found || strcmp(name.casino_id, player->casino_id) != 0 ||
					strcmp(name.user_id, player->user_id) != 0))
		proof_problem(&check->proof, "player %s is not found by its name",
			player->player_id);
	return code;
}

static enum ctl_exit walk_players(struct check *check)
{
	struct list list;
	struct player row;
	enum ctl_exit code = CTL_DONE;
	bool settled;

	list_open(&list, check->ctl, RECORD_PLAYER, false, 0, NULL);
	while (code == CTL_DONE && list_next(&list, &row)) {
		if (!proof_find_dealer(&check->proof, row.casino_id))
			code = add_late_dealer(check, row.casino_id);
		settled = row.created_ms < check->begin_ms;
		if (code == CTL_DONE && !settled)
			code = check_new_name(check, &row);
		if (code == CTL_DONE)
			proof_player(&check->proof, &row, settled);
		check_progress(check, "players", check->proof.players);
	}
	if (code == CTL_DONE)
		code = list.code;
	list_close(&list);
	return code;
}

static enum ctl_exit fetch_players(struct check *check, const char *casino_id, uint64_t *players)
{
	struct total total = {.players = 0};
	enum ctl_exit code;
	bool found;

	memcpy(total.casino_id, casino_id, sizeof(total.casino_id));
	code = list_fetch(check->ctl, RECORD_TOTAL, &total, &found, NULL);
	*players = total.players;
	return code;
}

static enum ctl_exit count_players(struct check *check, struct proof_dealer *dealer)
{
	struct list list;
	struct player row = {.user_id = ""};
	enum ctl_exit code;

	memcpy(row.casino_id, dealer->total.casino_id, sizeof(row.casino_id));
	dealer->players = 0;
	list_open(&list, check->ctl, RECORD_PLAYER, false, 1, &row);
	while (list_next(&list, &row))
		dealer->players++;
	code = list.code;
	list_close(&list);
	return code;
}

/* Counts a dealer's players again while some are added. */
static enum ctl_exit settle_count(struct check *check, struct proof_dealer *dealer)
{
	uint64_t before = dealer->total.players, after;
	int64_t patience_ms = COUNT_PATIENCE_MS;
	enum ctl_exit code = fetch_players(check, dealer->total.casino_id, &after);

	for (int try = 1; code == CTL_DONE; try++, patience_ms *= 2) {
		if (proof_player_count(&check->proof, dealer, before, after))
			return CTL_DONE;
		if (try == COUNT_TRIES) {
			check->unsettled = true;
			return CTL_DONE;
		}
		clock_sleep_ms(patience_ms);
		code = fetch_players(check, dealer->total.casino_id, &before);
		if (code == CTL_DONE)
			code = count_players(check, dealer);
		if (code == CTL_DONE)
			code = fetch_players(check, dealer->total.casino_id, &after);
	}
	return code;
}

static enum ctl_exit settle_counts(struct check *check)
{
	enum ctl_exit code = CTL_DONE;

	for (size_t i = 0; code == CTL_DONE && i < check->proof.dealer_count; i++)
		code = settle_count(check, &check->proof.dealers[i]);
	return code;
}

static enum ctl_exit walk_requests(struct check *check)
{
	struct list list;
	struct request row;
	enum ctl_exit code;

	list_open(&list, check->ctl, RECORD_REQUEST, false, 0, NULL);
	while (list_next(&list, &row)) {
		proof_request(&check->proof, &row);
		check_progress(check, "request keys", check->proof.requests);
	}
	code = list.code;
	list_close(&list);
	return code;
}

static enum ctl_exit walk_transactions(struct check *check)
{
	struct list list;
	struct transaction row;
	enum ctl_exit code;

	list_open(&list, check->ctl, RECORD_TRANSACTION, false, 0, NULL);
	while (list_next(&list, &row)) {
		proof_transaction(&check->proof, &row, list.as_of);
		check_progress(check, "transactions", check->proof.transactions);
	}
	code = list.code;
	list_close(&list);
	return code;
}

/* In this order: what is read later is at least as new, and never less. */
static enum ctl_exit (*const walks[])(struct check *check) = {
	walk_totals, walk_dealers, walk_players, settle_counts, check_walk_entries,
	walk_requests, walk_transactions,
};

static void print_text(const struct check *check)
{
	const struct proof *proof = &check->proof;

	printf("as of transaction %" PRIu64 "\n", proof->as_of);
	printf("dealers       %zu\n", proof->dealer_count);
	printf("players       %" PRIu64 "\n", proof->players);
	printf("movements     %" PRIu64 "\n", proof->entries);
	printf("request keys  %" PRIu64 "\n", proof->requests);
	printf("transactions  %" PRIu64 "\n", proof->transactions);
	for (unsigned int i = 0; i < check->shown_count; i++)
		printf("problem: %s\n", check->shown[i]);
	if (proof->problems > check->shown_count)
		printf("... and %" PRIu64 " more\n", proof->problems - check->shown_count);
	printf("problems      %" PRIu64 "\n", proof->problems);
	if (!proof->problems && !check->unsettled)
		printf("Every balance is the sum of its movements, and every row agrees.\n");
}

static enum ctl_exit print_json(const struct check *check)
{
	const struct proof *proof = &check->proof;
	struct output_json json;

	output_json_open(&json, check->ctl);
	output_json_bool(&json, "ok", !proof->problems && !check->unsettled);
	output_json_number(&json, "as_of", proof->as_of);
	output_json_number(&json, "players", proof->players);
	output_json_number(&json, "entries", proof->entries);
	output_json_number(&json, "requests", proof->requests);
	output_json_number(&json, "transactions", proof->transactions);
	output_json_list_open(&json, "dealers");
	for (size_t i = 0; i < proof->dealer_count; i++)
		output_json_item(&json, total_fields, &proof->dealers[i].total);
	output_json_list_close(&json);
	output_json_number(&json, "problem_count", proof->problems);
	output_json_list_open(&json, "problems");
	for (unsigned int i = 0; i < check->shown_count; i++)
		output_json_item_string(&json, check->shown[i]);
	output_json_list_close(&json);
	return output_json_close(&json);
}

static enum ctl_exit print_result(const struct check *check)
{
	if (check->progress)
		fprintf(stderr, "\r\033[K");
	if (!check->ctl->json)
		print_text(check);
	if (print_json(check) != CTL_DONE || check->proof.problems)
		return CTL_FAILED;
	if (!check->unsettled)
		return CTL_DONE;
	fprintf(stderr, "creditbridgectl: players were added faster than they could be counted; "
			"nothing else was found: run the check again\n");
	return CTL_BUSY;
}

enum ctl_exit ctl_check(struct ctl *ctl)
{
	struct check check = {
		.ctl = ctl,
		.begin_ms = clock_wall_ms(),
		.progress = isatty(STDERR_FILENO) && !ctl->json,
	};
	enum ctl_exit code = CTL_DONE;

	check.shown = calloc(CHECK_PROBLEMS_SHOWN, CHECK_PROBLEM_SIZE);
	if (!check.shown)
		return no_memory(&check);
	for (size_t i = 0; code == CTL_DONE && i < sizeof(walks) / sizeof(walks[0]); i++)
		code = walks[i](&check);
	if (code == CTL_DONE) {
		proof_totals(&check.proof);
		code = check_find_links(&check);
	}
	if (code == CTL_DONE)
		code = print_result(&check);
	proof_free(&check.proof);
	free(check.shown);
	return code;
}
