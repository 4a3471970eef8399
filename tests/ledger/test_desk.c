/*
 * Tests the rights over desk.sock: front secret, one-time codes, the lock, sessions, and the rows
 * that FIND returns. The clock is that of the case.
 */
#include "case_wagers.h"

#include "base/pack.h"
#include "base/text.h"
#include "ledger/desk/desk.h"
#include "ledger/desk/share.h"
#include "ledger/rows/codes.h"
#include "link/roles.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECRET_KIM "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ" /* of RFC 6238: "12345678901234567890" */
#define MINUTE_MS  INT64_C(60000)

static const char front[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
static const char other_front[] =
	"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";

static struct desk desk;
static struct slot asked;

static void pass(int64_t ms)
{
	case_now_ms += ms;
	case_boot_ms += ms;
}

static void begin(int store)
{
	case_open(store);
	memset(&desk, 0, sizeof(desk));
	desk.limits = (struct session_limits){30 * MINUTE_MS, 720 * MINUTE_MS, 10 * MINUTE_MS};
	strcpy(desk.front.live[0], front);
	desk.sessions = sessions_new();
	ck_assert_ptr_nonnull(desk.sessions);
	desk.operators = &case_ledger.derived.operators;
	case_now_ms = INT64_C(1800000000000);
}

static struct verdict put(enum operator_action action, const char *name, const char *login,
	enum role role)
{
	struct operator_put_cmd cmd;

	memset(&cmd, 0, sizeof(cmd));
	cmd.operator= case_operator();
	cmd.action = action;
	strcpy(cmd.name, name);
	strcpy(cmd.login, login);
	cmd.role = role;
	if (action == OPERATOR_ADD || action == OPERATOR_NEW_CODE)
		strcpy(cmd.secret, SECRET_KIM);
	return case_run(COMMAND_OPERATOR_PUT, &cmd)->result.verdict;
}

static void add(const char *name, enum role role)
{
	ck_assert_int_eq(put(OPERATOR_ADD, name, name, role).refusal, REFUSAL_NONE);
}

/* Sends a command as the loop does. */
static enum desk_admission ask(enum command command, const void *cmd, const char *session,
	const char *with_front)
{
	struct frame_request request;
	enum desk_admission admission;

	memset(&request, 0, sizeof(request));
	memset(&asked, 0, sizeof(asked));
	asked.command = command;
	asked.link = 1;
	memcpy(&asked.cmd, cmd, command_infos[command].cmd_size);
	strcpy(request.vouch.session, session);
	strcpy(request.vouch.front, with_front);
	admission = desk_admit(&desk, &request, &asked, case_moment());
	if (admission == DESK_RUN) {
		ck_assert_int_eq(ledger_run(&case_ledger, &asked, 1, case_moment()), STATUS_OK);
		desk_executed(&desk, &asked, case_moment());
	}
	return admission;
}

/* The secret of a session, by a number. */
static const char *session_of(unsigned int number)
{
	static char text[2][FRAME_VOUCH_SIZE];
	char *to = text[number % 2];

	snprintf(to, FRAME_VOUCH_SIZE, "%064x", number);
	return to;
}

static enum refusal sign_in(const char *login, const char *code, unsigned int session)
{
	struct session_open_cmd cmd;

	memset(&cmd, 0, sizeof(cmd));
	strcpy(cmd.login, login);
	strcpy(cmd.code, code);
	strcpy(cmd.session, session_of(session));
	ck_assert_int_ne(ask(COMMAND_SESSION_OPEN, &cmd, "", front), DESK_FORBIDDEN);
	return asked.result.verdict.refusal;
}

static const char *code_of(int64_t away_ms)
{
	static char code[CODES_DIGITS + 1];

	ck_assert(code_make(SECRET_KIM, case_now_ms + away_ms, code));
	return code;
}

static enum refusal show(unsigned int session)
{
	const struct session_show_cmd cmd = {false};

	ck_assert_int_eq(ask(COMMAND_SESSION_SHOW, &cmd, session_of(session), front),
		DESK_ANSWERED);
	return asked.result.verdict.refusal;
}

START_TEST(codes_are_those_of_the_rfc)
{
	char code[CODES_DIGITS + 1];

	/* RFC 6238, appendix B: the last six digits of SHA1 at these seconds. */
	ck_assert(code_make(SECRET_KIM, 59 * 1000, code));
	ck_assert_str_eq(code, "287082");
	ck_assert(code_make(SECRET_KIM, INT64_C(1111111109) * 1000, code));
	ck_assert_str_eq(code, "081804");
	ck_assert(code_make(SECRET_KIM, INT64_C(20000000000) * 1000, code));
	ck_assert_str_eq(code, "353130");
}
END_TEST

START_TEST(code_counts_once_and_one_step_around)
{
	char code[CODES_DIGITS + 1];

	begin(_i);
	add("kim", ROLE_READ);
	strcpy(code, code_of(0));
	ck_assert_int_eq(sign_in("kim", code, 1), REFUSAL_NONE);
	ck_assert_int_eq(sign_in("kim", code, 2), REFUSAL_SIGN_IN_REFUSED);
	ck_assert_int_eq(sign_in("kim", code_of(-CODES_STEP_MS), 3), REFUSAL_SIGN_IN_REFUSED);
	ck_assert_int_eq(sign_in("kim", code_of(CODES_STEP_MS), 4), REFUSAL_NONE);
	pass(10 * MINUTE_MS);
	ck_assert_int_eq(sign_in("kim", code_of(2 * CODES_STEP_MS), 5), REFUSAL_SIGN_IN_REFUSED);
	ck_assert_int_eq(sign_in("kim", code_of(-2 * CODES_STEP_MS), 6), REFUSAL_SIGN_IN_REFUSED);
	ck_assert_int_eq(sign_in("kim", code_of(-CODES_STEP_MS), 7), REFUSAL_NONE);
	ck_assert_int_eq(show(7), REFUSAL_NONE);
	ck_assert_str_eq(asked.result.session_show.who.name, "kim");
	ck_assert_int_eq(asked.result.session_show.who.role, ROLE_READ);
	/* The same command again opens nothing new, and is answered alike. */
	ck_assert_int_eq(sign_in("kim", code_of(-CODES_STEP_MS), 7), REFUSAL_NONE);
	ck_assert_int_eq(show(2), REFUSAL_SESSION_NEEDED);
	case_close();
}
END_TEST

static int64_t locked_for_ms(const char *name)
{
	return operators_named(desk.operators, name)->locked_until_ms - case_now_ms;
}

static void try_wrong(unsigned int times, unsigned int session)
{
	for (unsigned int i = 0; i < times; i++)
		ck_assert_int_eq(sign_in("kim", "000000x", session + i), REFUSAL_SIGN_IN_REFUSED);
}

START_TEST(wrong_codes_lock_the_name)
{
	static const int64_t lasts_min[] = {15, 30, 60, 120, 240, 240};

	begin(_i);
	add("kim", ROLE_READ);
	/* Four, and a fifth one when the first is older than 15 minutes. */
	try_wrong(1, 10);
	pass(2 * MINUTE_MS);
	try_wrong(3, 20);
	pass(13 * MINUTE_MS + 1);
	try_wrong(1, 30);
	ck_assert_int_le(locked_for_ms("kim"), 0);
	pass(16 * MINUTE_MS);
	/* Four in each five minutes add up. */
	try_wrong(4, 40);
	pass(5 * MINUTE_MS);
	ck_assert_int_le(locked_for_ms("kim"), 0);
	try_wrong(1, 50);
	ck_assert_int_eq(locked_for_ms("kim"), 15 * MINUTE_MS);
	ck_assert_int_eq(put(OPERATOR_UNLOCK, "kim", "", ROLE_NONE).refusal, REFUSAL_NONE);
	for (unsigned int i = 0; i < 6; i++) {
		try_wrong(DESK_WRONG_MAX, 100 * (i + 1));
		ck_assert_int_eq(locked_for_ms("kim"), lasts_min[i] * MINUTE_MS);
		/* While it is locked nothing is counted, and a right code is refused, too. */
		ck_assert_int_eq(sign_in("kim", code_of(0), 100 * (i + 1) + 50),
			REFUSAL_SIGN_IN_REFUSED);
		ck_assert_int_eq(locked_for_ms("kim"), lasts_min[i] * MINUTE_MS);
		pass(lasts_min[i] * MINUTE_MS);
	}
	ck_assert_int_eq(sign_in("kim", code_of(0), 1000), REFUSAL_NONE);
	pass(MINUTE_MS);
	try_wrong(DESK_WRONG_MAX, 2000);
	ck_assert_int_eq(locked_for_ms("kim"), 15 * MINUTE_MS);
	ck_assert_int_eq(put(OPERATOR_UNLOCK, "kim", "", ROLE_NONE).refusal, REFUSAL_NONE);
	ck_assert_int_eq(sign_in("kim", code_of(0), 3000), REFUSAL_NONE);
	case_close();
}
END_TEST

struct audited {
	unsigned int locks, opens;
	char operator[DESK_NAME_SIZE];
};

static void look_at_audit(void *context, const void *data)
{
	struct audited *seen = context;
	const struct audit *row = data;

	seen->locks += strcmp(row->action, "operator lock") == 0;
	seen->opens += strcmp(row->action, "session open") == 0;
	if (strcmp(row->action, "player suspend") == 0)
		strcpy(seen->operator, row->operator);
}

START_TEST(without_the_front_secret_nothing_happens)
{
	struct session_open_cmd open;
	const struct status_cmd status = {false};

	begin(_i);
	add("kim", ROLE_ADMIN);
	ck_assert_int_eq(sign_in("kim", code_of(0), 1), REFUSAL_NONE);
	memset(&open, 0, sizeof(open));
	strcpy(open.login, "kim");
	strcpy(open.code, "000000");
	strcpy(open.session, session_of(2));
	for (unsigned int i = 0; i < 2 * DESK_WRONG_MAX; i++)
		ck_assert_int_eq(ask(COMMAND_SESSION_OPEN, &open, "", i % 2 ? other_front : ""),
			DESK_FORBIDDEN);
	ck_assert_int_le(locked_for_ms("kim"), 0);
	ck_assert_int_eq(ask(COMMAND_STATUS, &status, session_of(1), other_front), DESK_FORBIDDEN);
	ck_assert_int_eq(ask(COMMAND_STATUS, &status, session_of(1), front), DESK_RUN);
	strcpy(desk.front.live[1], other_front);
	ck_assert_int_eq(ask(COMMAND_STATUS, &status, session_of(1), other_front), DESK_RUN);
	case_close();
}
END_TEST

START_TEST(sessions_end_by_time)
{
	begin(_i);
	add("kim", ROLE_READ);
	ck_assert_int_eq(sign_in("kim", code_of(0), 1), REFUSAL_NONE);
	pass(30 * MINUTE_MS - 1);
	ck_assert_int_eq(show(1), REFUSAL_NONE);
	pass(30 * MINUTE_MS);
	ck_assert_int_eq(show(1), REFUSAL_SESSION_NEEDED);
	ck_assert_int_eq(sign_in("kim", code_of(0), 2), REFUSAL_NONE);
	for (unsigned int i = 0; i < 35; i++) {
		pass(20 * MINUTE_MS);
		ck_assert_int_eq(show(2), REFUSAL_NONE);
	}
	pass(20 * MINUTE_MS - 1);
	ck_assert_int_eq(show(2), REFUSAL_NONE);
	pass(1);
	ck_assert_int_eq(show(2), REFUSAL_SESSION_NEEDED);
	case_close();
}
END_TEST

START_TEST(sessions_end_by_a_change)
{
	static const struct {
		enum operator_action action;
		const char *login;
		enum role role;
		bool ends;
	} changes[] = {
		{OPERATOR_SUSPEND, "", ROLE_NONE, true},
		{OPERATOR_RESUME, "", ROLE_NONE, false},
		{OPERATOR_SET, "", ROLE_FINANCE, true},
		{OPERATOR_SET, "", ROLE_FINANCE, false},
		{OPERATOR_SET, "kim@example", ROLE_NONE, true},
		{OPERATOR_NEW_CODE, "", ROLE_NONE, true},
		{OPERATOR_UNLOCK, "", ROLE_NONE, false},
		{OPERATOR_SIGN_OUT, "", ROLE_NONE, true},
	};
	const char *login = "kim";
	unsigned int session = 1;

	begin(_i);
	add("kim", ROLE_READ);
	add("nok", ROLE_READ);
	ck_assert_int_eq(sign_in("nok", code_of(0), 1000), REFUSAL_NONE);
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		if (changes[i].action != OPERATOR_RESUME)
			ck_assert_int_eq(sign_in(login, code_of(0), ++session), REFUSAL_NONE);
		ck_assert_int_eq(put(changes[i].action, "kim", changes[i].login, changes[i].role)
					 .refusal,
			REFUSAL_NONE);
		if (changes[i].login[0])
			login = changes[i].login;
		if (changes[i].action != OPERATOR_RESUME)
			ck_assert_int_eq(show(session),
				changes[i].ends ? REFUSAL_SESSION_NEEDED : REFUSAL_NONE);
		if (changes[i].action == OPERATOR_SUSPEND)
			ck_assert_int_eq(sign_in(login, code_of(0), ++session),
				REFUSAL_SIGN_IN_REFUSED);
		pass(2 * MINUTE_MS);
	}
	/* Nothing of this concerned the other one. */
	ck_assert_int_eq(show(1000), REFUSAL_NONE);
	case_close();
}
END_TEST

START_TEST(fresh_code_is_needed)
{
	struct dealer_put_cmd suspend = case_dealer_cmd("demo");
	struct session_step_cmd step;

	begin(_i);
	add("kim", ROLE_ADMIN);
	suspend.create = false;
	suspend.mask = 1u << DEALER_SUSPENDED;
	suspend.dealer.suspended = true;
	ck_assert_int_eq(sign_in("kim", code_of(0), 1), REFUSAL_NONE);
	pass(10 * MINUTE_MS);
	ck_assert_int_eq(ask(COMMAND_DEALER_PUT, &suspend, session_of(1), front), DESK_ANSWERED);
	ck_assert_int_eq(asked.result.verdict.refusal, REFUSAL_CODE_NEEDED);
	memset(&step, 0, sizeof(step));
	strcpy(step.operation_id, "step-1");
	strcpy(step.code, "123");
	ck_assert_int_eq(ask(COMMAND_SESSION_STEP, &step, session_of(1), front), DESK_RUN);
	ck_assert_int_eq(asked.result.verdict.refusal, REFUSAL_SIGN_IN_REFUSED);
	strcpy(step.code, code_of(0));
	ck_assert_int_eq(ask(COMMAND_SESSION_STEP, &step, session_of(1), front), DESK_RUN);
	ck_assert_int_eq(asked.result.verdict.refusal, REFUSAL_NONE);
	ck_assert_uint_eq(asked.result.session_step.who.code_age_s, 0);
	ck_assert_int_eq(ask(COMMAND_DEALER_PUT, &suspend, session_of(1), front), DESK_RUN);
	ck_assert_int_eq(asked.result.verdict.refusal, REFUSAL_NONE);
	ck_assert(asked.result.dealer_put.dealer.suspended);
	/* No key comes over desk.sock. */
	for (size_t i = 0; i < DEALER_KEYS_MAX; i++)
		ck_assert_str_eq(asked.result.dealer_put.dealer.keys[i].secret, "");
	/* Other settings of a dealer are not carried. */
	suspend.mask |= 1u << DEALER_URL;
	ck_assert_int_eq(ask(COMMAND_DEALER_PUT, &suspend, session_of(1), front), DESK_FORBIDDEN);
	case_close();
}
END_TEST

/* What desk.sock carries; a command that is added later is carried by no one. */
static const enum command carried[] = {COMMAND_STATUS, COMMAND_METRICS, COMMAND_LIST, COMMAND_FIND,
	COMMAND_ACTIVITY, COMMAND_CALLBACK_AGES, COMMAND_DEALER_STATE, COMMAND_REFUSED_LIST,
	COMMAND_REFUSED_FIND, COMMAND_CALLBACK_OPERATE, COMMAND_REPLAY_PREVIEW,
	COMMAND_REPLAY_START, COMMAND_REPLAY_STOP, COMMAND_SESSION_STEP, COMMAND_SESSION_SHOW,
	COMMAND_SESSION_CLOSE, COMMAND_SESSION_COUNT};

START_TEST(each_command_and_role_over_the_desk)
{
	static const union any_cmd empty;
	char name[DESK_NAME_SIZE];
	unsigned int session = 0;

	begin(_i);
	for (unsigned int role = ROLE_READ; role < ROLE_COUNT; role++) {
		snprintf(name, sizeof(name), "op-%u", role);
		add(name, (enum role)role);
		for (unsigned int command = 0; command < COMMAND_COUNT; command++) {
			enum desk_admission admission;
			bool is_carried = false;

			for (size_t i = 0; i < sizeof(carried) / sizeof(carried[0]); i++)
				is_carried |= carried[i] == (enum command)command;
			if (command == COMMAND_SESSION_OPEN)
				continue;
			pass(MINUTE_MS);
			ck_assert_int_eq(sign_in(name, code_of(0), ++session), REFUSAL_NONE);
			admission = ask((enum command)command, &empty, session_of(session), front);
			if (!is_carried) {
				ck_assert_msg(admission == DESK_FORBIDDEN, "%s",
					command_infos[command].name);
				continue;
			}
			ck_assert_int_ne(admission, DESK_FORBIDDEN);
			if (command_infos[command].socket != SOCKET_DESK)
				ck_assert_msg((asked.result.verdict.refusal ==
						      REFUSAL_ROLE_NEEDED) ==
						!role_may((enum role)role, command, &empty),
					"%s as %s", command_infos[command].name, role_names[role]);
		}
	}
	case_close();
}
END_TEST

START_TEST(support_suspends_a_player)
{
	struct player_put_cmd cmd;
	struct audited seen = {0};

	begin(_i);
	add("nok", ROLE_SUPPORT);
	add("ann", ROLE_READ);
	ck_assert_int_eq(sign_in("nok", code_of(0), 1), REFUSAL_NONE);
	ck_assert_int_eq(sign_in("ann", code_of(0), 2), REFUSAL_NONE);
	memset(&cmd, 0, sizeof(cmd));
	cmd.operator= case_operator();
	strcpy(cmd.casino_id, "demo");
	strcpy(cmd.user_id, "alice");
	cmd.change_suspended = cmd.suspended = true;
	ck_assert_int_eq(ask(COMMAND_PLAYER_PUT, &cmd, session_of(2), front), DESK_ANSWERED);
	ck_assert_int_eq(asked.result.verdict.refusal, REFUSAL_ROLE_NEEDED);
	ck_assert_int_eq(ask(COMMAND_PLAYER_PUT, &cmd, session_of(1), front), DESK_RUN);
	ck_assert_int_eq(asked.result.verdict.refusal, REFUSAL_NONE);
	cmd.change_suspended = false;
	ck_assert_int_eq(ask(COMMAND_PLAYER_PUT, &cmd, session_of(1), front), DESK_FORBIDDEN);
	case_list(RECORD_AUDIT, false, 0, look_at_audit, &seen);
	ck_assert_str_eq(seen.operator, "nok");
	ck_assert_uint_eq(seen.opens, 2);
	case_close();
}
END_TEST

static void count_secrets(void *context, const void *data)
{
	const struct desk_operator *row = data;

	*(unsigned int *)context += row->secret[0] && strcmp(row->secret, LIST_SECRET_KEPT) != 0;
}

START_TEST(operators_are_listed_without_secrets)
{
	unsigned int secrets = 0;

	begin(_i);
	add("kim", ROLE_READ);
	add("nok", ROLE_READ);
	ck_assert_uint_eq(case_list(RECORD_DESK_OPERATOR, false, 0, count_secrets, &secrets), 2);
	ck_assert_uint_eq(secrets, 0);
	ck_assert_int_eq(put(OPERATOR_ADD, "kim", "x", ROLE_READ).refusal, REFUSAL_ALREADY_EXISTS);
	ck_assert_int_eq(put(OPERATOR_ADD, "ann", "nok", ROLE_READ).refusal,
		REFUSAL_ALREADY_EXISTS);
	ck_assert_int_eq(put(OPERATOR_SET, "ann", "", ROLE_READ).refusal,
		REFUSAL_OPERATOR_NOT_FOUND);
	ck_assert_int_eq(put(OPERATOR_ADD, "a b", "ab", ROLE_READ).refusal, REFUSAL_BAD_REQUEST);
	ck_assert_int_eq(put(OPERATOR_ADD, "ann", "ann", ROLE_NONE).refusal, REFUSAL_BAD_REQUEST);
	case_close();
}
END_TEST

START_TEST(operators_are_known_after_a_start)
{
	begin(CASE_DISK);
	add("kim", ROLE_READ);
	ck_assert_int_eq(sign_in("kim", code_of(0), 1), REFUSAL_NONE);
	case_reopen();
	/* The book is that of the new ledger; the sessions survived. */
	ck_assert_int_eq(show(1), REFUSAL_NONE);
	ck_assert_int_eq(sign_in("kim", code_of(0), 2), REFUSAL_SIGN_IN_REFUSED);
	/* A halted ledger reads no row. */
	desk.operators = NULL;
	ck_assert_int_eq(show(1), REFUSAL_NONE);
	case_close();
}
END_TEST

START_TEST(one_session_more_ends_the_idlest)
{
	begin(_i);
	add("kim", ROLE_READ);
	for (unsigned int i = 1; i <= SESSIONS_EACH; i++) {
		ck_assert_int_eq(sign_in("kim", code_of(0), i), REFUSAL_NONE);
		pass(MINUTE_MS);
	}
	ck_assert_int_eq(show(1), REFUSAL_NONE);
	pass(1);
	ck_assert_int_eq(sign_in("kim", code_of(0), 100), REFUSAL_NONE);
	ck_assert_int_eq(show(1), REFUSAL_NONE);
	ck_assert_int_eq(show(2), REFUSAL_SESSION_NEEDED);
	ck_assert_int_eq(show(3), REFUSAL_NONE);
	case_close();
}
END_TEST

START_TEST(share_of_the_loop)
{
	struct share share = {.percent = 10};
	const int64_t now = 1000000;

	/* Without other commands, it never waits. */
	share_spend(&share, now, 200);
	ck_assert_int_eq(share_wait_us(&share, now), 0);
	/* Beside others, it may use what it saved, 200 us fewer than in the beginning. */
	share_others(&share, now - 100);
	share_spend(&share, now, SHARE_SAVED_US - 200);
	ck_assert_int_eq(share_wait_us(&share, now), 0);
	/* Then it has 200 us of every 2,000 us. */
	share_spend(&share, now, 200);
	ck_assert_int_eq(share_wait_us(&share, now), 1800);
	ck_assert_int_eq(share_wait_us(&share, now + 1799), 1);
	ck_assert_int_eq(share_wait_us(&share, now + 1800), 0);
	/* Also if several desk commands follow each other. */
	share_spend(&share, now + 1900, 100);
	ck_assert_int_eq(share_wait_us(&share, now + 1900), 900);
	/* After a long command, until the others have been away for a while. */
	share_spend(&share, now + 2000, 50000);
	ck_assert_int_eq(share_wait_us(&share, now + 2000), 7900);
	ck_assert_int_eq(share_wait_us(&share, now - 100 + SHARE_IDLE_US), 0);
	share = (struct share){.percent = 100};
	share_others(&share, now + 20000);
	share_spend(&share, now + 20000, 500);
	ck_assert_int_eq(share_wait_us(&share, now + 20000), 0);
}
END_TEST

START_TEST(alone_the_desk_owes_one_command)
{
	struct share share = {.percent = 10};
	int64_t now = 1000000;

	for (unsigned int i = 0; i < 1000; i++) {
		now += 1100;
		ck_assert_int_eq(share_wait_us(&share, now), 0);
		share_spend(&share, now, 1000);
	}
	share_others(&share, now);
	ck_assert_int_eq(share_wait_us(&share, now), 9000);
}
END_TEST

START_TEST(share_is_saved_up_to_a_bound)
{
	struct share share = {.percent = 10};
	const int64_t later = 3600000000;

	share_others(&share, later);
	share_spend(&share, later, 10);
	ck_assert_int_eq(share_wait_us(&share, later), 0);
	share_spend(&share, later, SHARE_SAVED_US);
	/* The 10 us are used, too. */
	ck_assert_int_eq(share_wait_us(&share, later), 90);
}
END_TEST

static struct find_result find(const char *text, const char *after)
{
	static struct buffer answer;
	struct find_cmd cmd;

	memset(&cmd, 0, sizeof(cmd));
	strcpy(cmd.text, text);
	strcpy(cmd.after, after);
	ck_assert_int_eq(ask(COMMAND_FIND, &cmd, session_of(1), front), DESK_RUN);
	/* A read takes place while its answer is written. */
	buffer_free(&answer);
	buffer_init(&answer, 4 * FRAME_MAX);
	ledger_answer(&case_ledger, &asked, 1, &answer);
	ck_assert_int_eq(asked.outcome, FRAME_DONE);
	return asked.result.find;
}

/* Goes through all pages and counts the hits of each kind. */
static void find_all(const char *text, unsigned int hits[FIND_KIND_COUNT], unsigned int *pages)
{
	char after[FIND_AFTER_SIZE] = "";

	memset(hits, 0, FIND_KIND_COUNT * sizeof(hits[0]));
	*pages = 0;
	do {
		struct find_result result = find(text, after);
		struct find_hit hit;

		ck_assert_uint_le(result.dealers + result.clients, FIND_OWNERS_MAX);
		while (result.hits.len) {
			ck_assert(unpack_record(&result.hits, find_hit_fields, &hit));
			hits[hit.of]++;
		}
		strcpy(after, result.next);
		++*pages;
	} while (after[0] && *pages < 10);
}

/* The next bet of a player in a game. */
static void place_in_game(const char *user_id, const char *game_id)
{
	static unsigned int count;
	struct bet_place_cmd cmd;
	char id[24];

	snprintf(id, sizeof(id), "bet-%u", ++count);
	cmd = case_bet_cmd(id, game_id, MONEY_UNITS_PER_CREDIT);
	text_copy(cmd.player.user_id, sizeof(cmd.player.user_id), user_id);
	ck_assert_int_eq(case_run(COMMAND_BET_PLACE, &cmd)->result.verdict.refusal, REFUSAL_NONE);
}

START_TEST(ids_are_found_everywhere)
{
	unsigned int hits[FIND_KIND_COUNT], pages;
	struct transfer_result moved;
	char number[24], casino_id[CASINO_ID_SIZE], user_id[EXTERNAL_ID_SIZE];

	begin(_i);
	add("kim", ROLE_READ);
	ck_assert_int_eq(sign_in("kim", code_of(0), 1), REFUSAL_NONE);
	moved = case_in("alice", "in-1", 100 * MONEY_UNITS_PER_CREDIT);
	for (unsigned int i = 0; i < FIND_OWNERS_MAX; i++) {
		struct dealer_put_cmd cmd;

		snprintf(casino_id, sizeof(casino_id), "d%u", i);
		cmd = case_dealer_cmd(casino_id);
		ck_assert_int_eq(case_run(COMMAND_DEALER_PUT, &cmd)->result.verdict.refusal,
			REFUSAL_NONE);
	}
	case_player_add("d63", "alice");
	find_all("alice", hits, &pages);
	ck_assert_uint_eq(hits[FIND_PLAYER], 2);
	ck_assert_uint_eq(pages, 3);
	find_all("demo/alice", hits, &pages);
	ck_assert_uint_eq(hits[FIND_PLAYER], 1);
	find_all(moved.player_id, hits, &pages);
	ck_assert_uint_eq(hits[FIND_PLAYER], 1);
	find_all("in-1", hits, &pages);
	ck_assert_uint_eq(hits[FIND_REQUEST], 1);
	snprintf(number, sizeof(number), "%llu", (unsigned long long)moved.transaction_id);
	find_all(number, hits, &pages);
	ck_assert_uint_eq(hits[FIND_TRANSACTION], 1);
	find_all("demo", hits, &pages);
	ck_assert_uint_eq(hits[FIND_DEALER], 1);
	for (unsigned int i = 0; i <= FIND_ROUNDS_MAX; i++) {
		snprintf(user_id, sizeof(user_id), "player-%03u", i);
		case_player_add("demo", user_id);
		case_in(user_id, user_id, 100 * MONEY_UNITS_PER_CREDIT);
		place_in_game(user_id, "table-7");
		/* A second bet of the round, and a game whose id begins alike. */
		place_in_game(user_id, i ? "table-70" : "table-7");
		find_all("table-7", hits, &pages);
		ck_assert_uint_eq(hits[FIND_ROUND], i < FIND_ROUNDS_MAX ? i + 1 : FIND_ROUNDS_MAX);
		ck_assert_int_eq(find("table-7", "").rounds_more, i == FIND_ROUNDS_MAX);
	}
	find_all("nothing", hits, &pages);
	for (unsigned int i = 0; i < FIND_KIND_COUNT; i++)
		ck_assert_uint_eq(hits[i], 0);
	case_close();
}
END_TEST

Suite *desk_suite(void)
{
	Suite *suite = suite_create("desk");
	TCase *tcase = tcase_create("desk");

	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, codes_are_those_of_the_rfc);
	tcase_add_test(tcase, share_of_the_loop);
	tcase_add_test(tcase, share_is_saved_up_to_a_bound);
	tcase_add_test(tcase, alone_the_desk_owes_one_command);
	tcase_add_test(tcase, operators_are_known_after_a_start);
	tcase_add_loop_test(tcase, code_counts_once_and_one_step_around, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tcase, wrong_codes_lock_the_name, 0, 1);
	tcase_add_loop_test(tcase, without_the_front_secret_nothing_happens, 0, 1);
	tcase_add_loop_test(tcase, sessions_end_by_time, 0, 1);
	tcase_add_loop_test(tcase, sessions_end_by_a_change, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tcase, fresh_code_is_needed, 0, 1);
	tcase_add_loop_test(tcase, each_command_and_role_over_the_desk, 0, 1);
	tcase_add_loop_test(tcase, support_suspends_a_player, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tcase, operators_are_listed_without_secrets, 0, CASE_STORE_COUNT);
	tcase_add_loop_test(tcase, one_session_more_ends_the_idlest, 0, 1);
	tcase_add_loop_test(tcase, ids_are_found_everywhere, 0, CASE_STORE_COUNT);
	suite_add_tcase(suite, tcase);
	return suite;
}
