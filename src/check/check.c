/*
 * check - walks every row of a serving ledger and feeds the proof.
 */
#include "check/check.h"

#include "admin/list.h"
#include "base/clock.h"
#include "base/text.h"
#include "domain/row_bounds.h"
#include "proof/links.h"
#include "wire/signature.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_TRIES       6
#define COUNT_PATIENCE_MS 50 /* before the second attempt; doubled before each further one */
#define PROOF_TRIES       3

void check_progress(struct check *check, const char *what, uint64_t rows)
{
	if (check->progress && rows % 64 == 0)
		check->progress(check->progress_closure, what, rows);
}

static bool take_problem(void *closure, const char *problem)
{
	struct check *check = closure;

	for (unsigned int i = 0; i < check->shown_count; i++) {
		if (strcmp(check->shown[i], problem) == 0)
			return false;
	}
	if (check->shown_count < CHECK_PROBLEMS_SHOWN)
		snprintf(check->shown[check->shown_count++], PROOF_LINE_SIZE, "%s", problem);
	return true;
}

bool check_knows_enough(const struct check *check)
{
	return check->proof.problems >= CHECK_PROBLEMS_SHOWN;
}

bool check_search(struct check *check, struct list *list, const char *what, void *row)
{
	if (check_knows_enough(check) || !list_next(list, row))
		return false;
	check_progress(check, what, list->taken);
	return true;
}

enum outcome check_counter(struct check *check, const char *name, uint64_t *value)
{
	struct counter counter = {.value = 0};
	enum outcome code;
	bool found;

	text_copy(counter.name, sizeof(counter.name), name);
	code = list_fetch(check->session, RECORD_COUNTER, &counter, &found, NULL);
	*value = code == OUTCOME_DONE && found ? counter.value : 0;
	return code;
}

enum outcome check_count_events(struct check *check)
{
	return check_counter(check, "event", &check->event_given);
}

/* Starts the proof at the point in time of the first page of sums. */
static enum outcome open_proof(struct check *check, uint64_t as_of)
{
	char random[21];
	uint64_t seed[2];

	if (!signature_random_id(random, sizeof(random)))
		return session_no_random(check->session);
	memcpy(seed, random, sizeof(seed));
	check->point.as_of = as_of;
	proof_init(&check->proof, seed, &check->point, take_problem, check);
	check->open = true;
	return OUTCOME_DONE;
}

static enum outcome no_memory(struct check *check)
{
	return session_no_memory(check->session);
}

/* Returns the moment at which a total row is read, as far as it is known in advance. */
static struct proof_moment moment_now(const struct check *check)
{
	return (struct proof_moment){
		.event_from = check->event_given,
		.from_ms = clock_wall_ms(),
	};
}

/* Completes the moments of the totals added since the last call: they have been read now. */
static enum outcome close_moment(struct check *check)
{
	enum outcome code = check_count_events(check);

	if (code == OUTCOME_DONE)
		proof_dealers_read(&check->proof, check->event_given, clock_wall_ms());
	return code;
}

/* Checks that each row read is within the bounds that commands enforce. */
static void check_row(void *closure, enum record record, const void *row)
{
	struct check *check = closure;
	char why[ROW_BOUNDS_WHY_SIZE], name[ROW_BOUNDS_NAME_SIZE];

	if (!check->open || row_bounds_check(record, row, false, why))
		return;
	row_bounds_name(record, row, name);
	proof_problem(&check->proof, "%s: %s", name, why);
}

static enum outcome walk_totals(struct check *check)
{
	struct list list;
	struct total row;
	struct proof_moment moment;
	enum outcome code = check_counter(check, "audit", &check->audit);

	if (code == OUTCOME_DONE)
		code = check_count_events(check);
	check->point.event = check->event_given;
	moment = moment_now(check);
	list_open(&list, check->session, RECORD_TOTAL, false, 0, NULL);
	while (code == OUTCOME_DONE && list_next(&list, &row)) {
		if (!check->open) {
			code = open_proof(check, list.as_of);
			check_row(check, RECORD_TOTAL, &row);
		}
		moment.as_of = list.as_of;
		if (code == OUTCOME_DONE && !proof_add_dealer(&check->proof, &row, &moment))
			code = no_memory(check);
	}
	if (code == OUTCOME_DONE)
		code = list.code;
	if (code == OUTCOME_DONE && !check->open)
		code = open_proof(check, list.as_of);
	list_close(&list);
	return code == OUTCOME_DONE ? close_moment(check) : code;
}

/* Adds a dealer that was created after the sums were read. */
static enum outcome add_late_dealer(struct check *check, const char *casino_id)
{
	struct total total = {.players = 0};
	struct dealer dealer = {.decimals = 0};
	struct proof_moment moment;
	bool found;
	enum outcome code = check_count_events(check);

	if (code != OUTCOME_DONE)
		return code;
	moment = moment_now(check);
	memcpy(dealer.casino_id, casino_id, sizeof(dealer.casino_id));
	memcpy(total.casino_id, casino_id, sizeof(total.casino_id));
	code = list_fetch(check->session, RECORD_TOTAL, &total, &found, &moment.as_of);
	if (code == OUTCOME_DONE && found && !proof_add_dealer(&check->proof, &total, &moment))
		code = no_memory(check);
	if (code == OUTCOME_DONE)
		code = close_moment(check);
	if (code != OUTCOME_DONE || !found)
		return code;
	code = list_fetch(check->session, RECORD_DEALER, &dealer, &found, NULL);
	if (code == OUTCOME_DONE && found)
		proof_dealer(&check->proof, casino_id, dealer.currency);
	return code;
}

static enum outcome walk_dealers(struct check *check)
{
	struct list list;
	struct dealer row;
	enum outcome code = OUTCOME_DONE;

	list_open(&list, check->session, RECORD_DEALER, false, 0, NULL);
	while (code == OUTCOME_DONE && list_next(&list, &row)) {
		if (!proof_find_dealer(&check->proof, row.casino_id))
			code = add_late_dealer(check, row.casino_id);
		if (code == OUTCOME_DONE)
			proof_dealer(&check->proof, row.casino_id, row.currency);
		if (code == OUTCOME_DONE)
			proof_days_dealer(&check->proof, &row);
	}
	return list_end(&list, code);
}

/* Looks up the name of a player that may be too new for the later walk of names. */
static enum outcome check_new_name(struct check *check, const struct player *player)
{
	struct player_name name = {.player_id = ""};
	enum outcome code;
	bool found;

	memcpy(name.player_id, player->player_id, sizeof(name.player_id));
	code = list_fetch(check->session, RECORD_PLAYER_NAME, &name, &found, NULL);
	if (code == OUTCOME_DONE &&
		(!found || strcmp(name.casino_id, player->casino_id) != 0 ||
			strcmp(name.user_id, player->user_id) != 0))
		proof_problem(&check->proof, "player %s is not found by its name",
			player->player_id);
	return code;
}

static enum outcome walk_players(struct check *check)
{
	struct list list;
	struct player row;
	enum outcome code = OUTCOME_DONE;
	bool settled;

	list_open(&list, check->session, RECORD_PLAYER, false, 0, NULL);
	while (code == OUTCOME_DONE && list_next(&list, &row)) {
		if (!proof_find_dealer(&check->proof, row.casino_id))
			code = add_late_dealer(check, row.casino_id);
		settled = row.created_ms < check->point.begin_ms;
		if (code == OUTCOME_DONE && !settled)
			code = check_new_name(check, &row);
		if (code == OUTCOME_DONE)
			proof_player(&check->proof, &row, settled);
		check_progress(check, "players", check->proof.players);
	}
	return list_end(&list, code);
}

static enum outcome fetch_players(struct check *check, const char *casino_id, uint64_t *players)
{
	struct total total = {.players = 0};
	enum outcome code;
	bool found;

	memcpy(total.casino_id, casino_id, sizeof(total.casino_id));
	code = list_fetch(check->session, RECORD_TOTAL, &total, &found, NULL);
	*players = total.players;
	return code;
}

static enum outcome count_players(struct check *check, struct proof_dealer *dealer)
{
	struct list list;
	struct player row = {.user_id = ""};

	memcpy(row.casino_id, dealer->total.casino_id, sizeof(row.casino_id));
	dealer->players = 0;
	list_open(&list, check->session, RECORD_PLAYER, false, 1, &row);
	while (list_next(&list, &row))
		dealer->players++;
	return list_end(&list, OUTCOME_DONE);
}

/* Recounts a dealer's players if some were added during the count. */
static enum outcome settle_count(struct check *check, struct proof_dealer *dealer)
{
	uint64_t before = dealer->total.players, after;
	int64_t patience_ms = COUNT_PATIENCE_MS;
	enum outcome code = fetch_players(check, dealer->total.casino_id, &after);

	for (int try = 1; code == OUTCOME_DONE; try++, patience_ms *= 2) {
		if (proof_player_count(&check->proof, dealer, before, after))
			return OUTCOME_DONE;
		if (try == COUNT_TRIES) {
			check->unsettled = true;
			return OUTCOME_DONE;
		}
		clock_sleep_ms(patience_ms);
		code = fetch_players(check, dealer->total.casino_id, &before);
		if (code == OUTCOME_DONE)
			code = count_players(check, dealer);
		if (code == OUTCOME_DONE)
			code = fetch_players(check, dealer->total.casino_id, &after);
	}
	return code;
}

static enum outcome settle_counts(struct check *check)
{
	enum outcome code = OUTCOME_DONE;

	for (size_t i = 0; code == OUTCOME_DONE && i < check->proof.dealer_count; i++)
		code = settle_count(check, &check->proof.dealers[i]);
	return code;
}

bool check_may_list(struct check *check, enum record record)
{
	const struct list_cmd cmd = {.record = record, .limit = 1};
	struct list_result result;
	struct failure failure;

	return session_try(check->session, COMMAND_LIST, &cmd, &result, &failure) !=
		OUTCOME_NOT_PERMITTED;
}

/* Walks the kinds of rows that the proof does not need. check_row() checks each row by itself. */
static enum outcome walk_others(struct check *check)
{
	static const enum record others[] = {RECORD_COUNTER, RECORD_CLIENT, RECORD_RESULT_BATCH,
		RECORD_DESK_OPERATOR, RECORD_REPLAY, RECORD_DEALER_MOVE};
	union {
		struct counter counter;
		struct client client;
		struct result_batch batch;
		struct desk_operator operator;
		struct replay replay;
		struct dealer_move move;
	} row;
	struct list list;
	enum outcome code = OUTCOME_DONE;

	for (size_t i = 0; code == OUTCOME_DONE && i < sizeof(others) / sizeof(others[0]); i++) {
		if (!check_may_list(check, others[i]))
			continue;
		list_open(&list, check->session, others[i], false, 0, NULL);
		while (list_next(&list, &row))
			;
		code = list_end(&list, code);
	}
	return code;
}

/* The order matters: a later read is at least as new as an earlier one. */
static enum outcome (*const walks[])(struct check *check) = {
	walk_totals,
	walk_others,
	check_walk_retired_digests,
	walk_dealers,
	check_walk_days_before,
	walk_players,
	settle_counts,
	check_walk_names,
	check_walk_requests,
	check_walk_transactions,
	check_walk_rounds,
	check_walk_cancellations,
	check_walk_corrections,
	check_walk_statistics,
	check_walk_bet_index,
	check_walk_events,
	check_walk_asides,
	check_walk_days_after,
};

/*
 * Returns true if a clock that was set back may explain all problems. Those are temporary, so the
 * check is repeated. Rows at rest whose newest time is @newest_ms do not change: another pass finds the same.
 */
static bool is_doubtful(const struct check *check, int64_t newest_ms)
{
	return check->proof.problems && check->proof.problems == check->proof.loose &&
		newest_ms >= check->point.begin_ms;
}

/*
 * Makes a number of the states of all moves of dealers, and of the times of their last changes. The lists leave out a dealer in some states: if one
 * changes during the check, the rows that were read do not belong together.
 */
static enum outcome read_moves(struct check *check, uint64_t *states)
{
	struct dealer_move row;
	struct list list;

	*states = 0;
	list_open(&list, check->session, RECORD_DEALER_MOVE, false, 0, NULL);
	while (list_next(&list, &row))
		*states =
			(*states ^ (uint64_t)row.changed_ms ^ row.state) * UINT64_C(0x100000001b3) +
			list.taken;
	return list_end(&list, OUTCOME_DONE);
}

static enum outcome walk_and_prove(struct check *check)
{
	uint64_t moves_before, moves_after = 0;
	enum outcome code = read_moves(check, &moves_before);

	check->passes++;
	check->open = check->unsettled = check->waiting_left_out = false;
	check->days_left_out = 0;
	check->shown_count = 0;
	check->resent_count = 0;
	check->event_given = 0;
	check->last_transaction_id = 0;
	memset(&check->batch, 0, sizeof(check->batch));
	memset(&check->point, 0, sizeof(check->point));
	check->point.begin_ms = clock_wall_ms();
	for (size_t i = 0; code == OUTCOME_DONE && i < sizeof(walks) / sizeof(walks[0]); i++)
		code = walks[i](check);
	if (code == OUTCOME_DONE)
		code = read_moves(check, &moves_after);
	if (code != OUTCOME_DONE)
		return code;
	check->moved = moves_before != moves_after;
	proof_totals(&check->proof);
	code = check_find_links(check);
	if (code == OUTCOME_DONE)
		code = check_find_wagers(check);
	return code == OUTCOME_DONE && check->proof.no_memory ? no_memory(check) : code;
}

enum outcome check_open(struct check *check, struct session *session, int64_t newest_ms,
	void (*progress)(void *closure, const char *what, uint64_t rows), void *progress_closure)
{
	enum outcome code;

	*check = (struct check){
		.session = session,
		.progress = progress,
		.progress_closure = progress_closure,
	};
	check->shown = calloc(CHECK_PROBLEMS_SHOWN, PROOF_LINE_SIZE);
	if (!check->shown)
		return no_memory(check);
	session->row_read = check_row;
	session->row_closure = check;
	code = walk_and_prove(check);
	for (int try = 1; code == OUTCOME_DONE && (check->moved || is_doubtful(check, newest_ms)) &&
		try < PROOF_TRIES;
		try++) {
		proof_free(&check->proof);
		code = walk_and_prove(check);
	}
	session->row_read = NULL;
	if (code == OUTCOME_DONE && check->moved)
		return session_fail(session, OUTCOME_FAILED, "failed",
			"the move of a dealer went on during each pass of the check: repeat the check when it has "
			"ended");
	return code;
}

void check_close(struct check *check)
{
	if (check->open)
		proof_free(&check->proof);
	free(check->clients);
	free(check->resent);
	free(check->shown);
}
