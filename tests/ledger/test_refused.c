/*
 * Tests rejected requests and retired keys in the ledger's memory
 * (ledger/commands/refused/rejected_requests.h).
 */
#include "case.h"

#include "base/pack.h"
#include "wire/signature.h"

#include <stdio.h>
#include <string.h>

#define OTHER_SECRET "ffeeddccbbaa99887766554433221100ffeeddccbbaa99887766554433221100"

/* Large enough for the largest body. */
static uint8_t body[REFUSED_BODY_MAX + 1];
static struct refused_find_result found;
static struct buffer answer;

static struct refused_note_cmd request(unsigned int number, uint32_t body_len)
{
	struct refused_note_cmd cmd;

	memset(&cmd, 0, sizeof(cmd));
	cmd.request.time_ms = case_now_ms;
	snprintf(cmd.request.request_id, sizeof(cmd.request.request_id), "r%u", number);
	cmd.request.of = KEYRING_DEALERS;
	strcpy(cmd.request.path, "/p");
	cmd.request.refusal = REFUSAL_INVALID_SIGNATURE;
	cmd.request.caller = (struct bytes){(const uint8_t *)"demo", 4};
	cmd.request.body = (struct bytes){body, body_len};
	cmd.request.body_len = body_len;
	return cmd;
}

/* Runs a batch and then answers, as the server does. */
static struct slot *run(enum command command, const void *cmd)
{
	struct slot *slot = case_run(command, cmd);

	buffer_reset(&answer);
	ledger_answer(&case_ledger, slot, 1, &answer);
	ck_assert_int_eq(slot->outcome, FRAME_DONE);
	ck_assert(!answer.failed);
	return slot;
}

static bool note(unsigned int number, uint32_t body_len)
{
	struct refused_note_cmd cmd = request(number, body_len);

	return run(COMMAND_REFUSED_NOTE, &cmd)->result.refused_note.kept;
}

/* Stores a rejected request, independent of the limit per second. */
static void keep(unsigned int number, uint32_t body_len)
{
	if (number % REFUSED_RATE == 0)
		case_boot_ms += 1000;
	ck_assert(note(number, body_len));
}

static unsigned int find(const char *id)
{
	struct refused_find_cmd cmd = {.request_id = ""};

	strcpy(cmd.request_id, id);
	found = run(COMMAND_REFUSED_FIND, &cmd)->result.refused_find;
	return found.matches;
}

static bool is_kept(unsigned int number)
{
	char id[16];

	snprintf(id, sizeof(id), "r%u", number);
	return find(id) != 0;
}

static void open_ring(void)
{
	buffer_init(&answer, 2 * FRAME_MAX);
	case_open(CASE_MEMORY);
}

static void close_ring(void)
{
	buffer_free(&answer);
	case_close();
}

START_TEST(a_request_comes_back)
{
	struct refused_note_cmd cmd = request(1, 5);

	open_ring();
	memcpy(body, "he\0lo", 5);
	cmd.request.body_len = 70000;
	cmd.request.body_broken = true;
	cmd.request.signature = (struct bytes){(const uint8_t *)"a\xff", 2};
	cmd.request.signature_count = 2;
	strcpy(cmd.request.detail, "amount: must be a number");
	ck_assert_uint_eq(find("r1"), 0);
	ck_assert_uint_eq(found.kept, 0);
	ck_assert_int_eq(found.since_ms, 0);
	ck_assert_int_eq(found.started_ms, case_now_ms);
	ck_assert(run(COMMAND_REFUSED_NOTE, &cmd)->result.refused_note.kept);
	ck_assert_uint_eq(find("r1"), 1);
	ck_assert_uint_eq(find("r2"), 0);
	ck_assert_uint_eq(find(""), 0);
	ck_assert_uint_eq(find("r1"), 1);
	ck_assert_uint_eq(found.kept, 1);
	ck_assert_int_eq(found.since_ms, case_now_ms);
	ck_assert_str_eq(found.request.detail, cmd.request.detail);
	ck_assert_uint_eq(found.request.body_len, 70000);
	ck_assert_uint_eq(found.request.signature_count, 2);
	ck_assert(found.request.body_broken);
	ck_assert_uint_eq(found.request.body.len, 5);
	ck_assert_mem_eq(found.request.body.data, "he\0lo", 5);
	ck_assert_uint_eq(found.request.signature.len, 2);
	ck_assert_mem_eq(found.request.signature.data, "a\xff", 2);
	close_ring();
}
END_TEST

/*
 * A malfunctioning worker sent untruncated data: its row would make an answer too large for a
 * frame.
 */
START_TEST(what_was_not_cut_is_dropped)
{
	const struct {
		size_t member;
		uint32_t most;
	} parts[] = {
		{offsetof(struct refused_request, caller), REFUSED_ID_MAX},
		{offsetof(struct refused_request, signature), REFUSED_SIGNATURE_MAX},
		{offsetof(struct refused_request, query), REFUSED_QUERY_MAX},
		{offsetof(struct refused_request, body), REFUSED_BODY_MAX},
	};

	open_ring();
	for (unsigned int i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		struct refused_note_cmd cmd = request(i, 5);
		struct bytes *part = (void *)((uint8_t *)&cmd.request + parts[i].member);

		*part = (struct bytes){body, parts[i].most + 1};
		ck_assert(!run(COMMAND_REFUSED_NOTE, &cmd)->result.refused_note.kept);
		ck_assert(!is_kept(i));
		part->len--;
		ck_assert(run(COMMAND_REFUSED_NOTE, &cmd)->result.refused_note.kept);
		ck_assert(is_kept(i));
	}
	ck_assert_uint_eq(found.dropped, 4);
	close_ring();
}
END_TEST

START_TEST(the_newest_of_an_id)
{
	open_ring();
	keep(7, 1);
	keep(8, 2);
	keep(7, 3);
	ck_assert_uint_eq(find("r7"), 2);
	ck_assert_uint_eq(found.request.body_len, 3);
	ck_assert_uint_eq(found.kept, 3);
	close_ring();
}
END_TEST

START_TEST(a_thousand_are_kept)
{
	open_ring();
	for (unsigned int i = 0; i < 2 * REFUSED_MAX + 17; i++) {
		keep(i, i % 50);
		find("none");
		ck_assert_uint_eq(found.kept, i < REFUSED_MAX ? i + 1 : REFUSED_MAX);
	}
	ck_assert(!is_kept(REFUSED_MAX + 16));
	ck_assert(is_kept(REFUSED_MAX + 17));
	ck_assert(is_kept(2 * REFUSED_MAX + 16));
	ck_assert_uint_eq(found.request.body_len, (2 * REFUSED_MAX + 16) % 50);
	ck_assert_uint_eq(found.dropped, 0);
	close_ring();
}
END_TEST

/* Returns varying sizes, so that rows end at any position. */
static uint32_t size_of(unsigned int number)
{
	return number % 3 ? REFUSED_BODY_MAX - number * 7919 % 40000 : 100 * (number % 7);
}

/* Returns true if the row is stored byte for byte. */
static bool is_whole(unsigned int number)
{
	if (!is_kept(number) || found.request.body.len != size_of(number))
		return false;
	for (uint32_t n = 0; n < found.request.body.len; n++) {
		if (found.request.body.data[n] != (number & 0xff))
			return false;
	}
	return true;
}

/* With the largest bodies, fewer are stored: the newest without a gap, none damaged. */
START_TEST(sixteen_mebibytes_are_kept)
{
	const unsigned int fit = REFUSED_BYTES_MAX / (REFUSED_BODY_MAX + 300), all = 2500;
	uint64_t bytes = 0;

	open_ring();
	for (unsigned int i = 0; i < all; i++) {
		memset(body, (int)(i & 0xff), sizeof(body));
		keep(i, size_of(i));
		find("none");
		if (i + 1 == found.kept)
			continue;
		ck_assert_uint_ge(found.kept, fit - 1);
		ck_assert(is_whole(i));
		ck_assert(is_whole(i + 1 - found.kept));
		ck_assert(!is_kept(i - found.kept));
	}
	for (unsigned int i = all - found.kept; i < all; i++) {
		ck_assert(is_whole(i));
		bytes += found.request.body.len;
	}
	ck_assert_uint_le(bytes, REFUSED_BYTES_MAX);
	ck_assert_uint_ge(bytes, REFUSED_BYTES_MAX - 4 * REFUSED_BODY_MAX);
	close_ring();
}
END_TEST

/* A flood is dropped and counted; the next second starts anew. */
START_TEST(a_second_has_its_rate)
{
	open_ring();
	case_boot_ms += 5000;
	for (unsigned int i = 0; i < REFUSED_RATE; i++)
		ck_assert(note(i, 10));
	case_boot_ms += 999;
	for (unsigned int i = 0; i < 30; i++)
		ck_assert(!note(5000 + i, 10));
	ck_assert(!is_kept(5000));
	ck_assert_uint_eq(found.dropped, 30);
	ck_assert_uint_eq(found.kept, REFUSED_RATE);
	case_boot_ms += 1;
	ck_assert(note(6000, 10));
	ck_assert(is_kept(6000));
	close_ring();
}
END_TEST

static void change_key(enum key_action action, const char *key_id, enum refusal expected)
{
	struct dealer_key_cmd cmd;

	memset(&cmd, 0, sizeof(cmd));
	cmd.operator= case_operator();
	strcpy(cmd.casino_id, "demo");
	strcpy(cmd.key_id, key_id);
	cmd.action = action;
	if (action == KEY_ADD)
		strcpy(cmd.secret, OTHER_SECRET);
	ck_assert_int_eq(case_run(COMMAND_DEALER_KEY, &cmd)->result.verdict.refusal, expected);
}

/* Asks which key of @caller_id made the signature of "body" with @secret. */
static struct key_try_result try_secret(enum keyring_of of, const char *caller_id,
	const char *secret, bool others)
{
	static const char text[] = "body";
	const struct bytes key = {(const uint8_t *)secret, (uint32_t)strlen(secret)};
	struct key_try_cmd cmd = {.of = of,
		.others = others,
		.algorithm = HMAC_SHA256,
		.use = KEY_AS_ISSUED,
		.body = {(const uint8_t *)text, 4}};
	uint8_t digest[SIGNATURE_DIGEST_MAX];

	strcpy(cmd.caller_id, caller_id);
	cmd.digest = (struct bytes){digest, signature_mac(HMAC_SHA256, key, cmd.body, digest)};
	return run(COMMAND_KEY_TRY, &cmd)->result.key_try;
}

START_TEST(retired_keys_are_kept)
{
	struct key_try_result tried;

	open_ring();
	tried = try_secret(KEYRING_DEALERS, "demo", CASE_SECRET, false);
	ck_assert(tried.found && !tried.retired);
	ck_assert_str_eq(tried.caller_id, "demo");
	ck_assert_str_eq(tried.key_id, "k1");
	change_key(KEY_RETIRE, "k1", REFUSAL_KEY_IN_USE);
	change_key(KEY_RETIRE, "k9", REFUSAL_KEY_NOT_FOUND);
	ck_assert(!try_secret(KEYRING_DEALERS, "demo", OTHER_SECRET, false).found);
	change_key(KEY_ADD, "", REFUSAL_NONE);
	change_key(KEY_USE, "k2", REFUSAL_NONE);
	ck_assert(!try_secret(KEYRING_DEALERS, "demo", CASE_SECRET, false).retired);
	case_now_ms += 4321;
	change_key(KEY_RETIRE, "k1", REFUSAL_NONE);
	tried = try_secret(KEYRING_DEALERS, "demo", CASE_SECRET, false);
	ck_assert(tried.found && tried.retired);
	ck_assert_str_eq(tried.caller_id, "demo");
	ck_assert_str_eq(tried.key_id, "k1");
	ck_assert_int_eq(tried.time_ms, case_now_ms);
	ck_assert_int_eq(tried.of, KEYRING_DEALERS);
	/* The retired keys belong to the caller: another caller has none. */
	ck_assert(!try_secret(KEYRING_DEALERS, "demo2", CASE_SECRET, false).found);
	ck_assert(!try_secret(KEYRING_CLIENTS, "demo", CASE_SECRET, false).found);
	close_ring();
}
END_TEST

/* Keys of others are live ones of both kinds of callers. */
START_TEST(keys_of_others_are_tried)
{
	struct key_try_result tried;
	struct key_try_cmd bad = {.algorithm = HMAC_SHA512};

	open_ring();
	tried = try_secret(KEYRING_CLIENTS, "slots", CASE_SECRET, true);
	ck_assert(tried.found && !tried.retired);
	ck_assert_int_eq(tried.of, KEYRING_DEALERS);
	ck_assert_str_eq(tried.caller_id, "demo");
	ck_assert(!try_secret(KEYRING_DEALERS, "demo", CASE_SECRET, true).found);
	bad.digest = (struct bytes){(const uint8_t *)"short", 5};
	ck_assert_int_eq(run(COMMAND_KEY_TRY, &bad)->result.verdict.refusal, REFUSAL_BAD_REQUEST);
	close_ring();
}
END_TEST

/* When a client is removed, all its keys are listed as retired. */
START_TEST(keys_of_clients_are_kept)
{
	struct key_try_result tried;
	struct client_put_cmd cmd;

	open_ring();
	memset(&cmd, 0, sizeof(cmd));
	cmd.operator= case_operator();
	strcpy(cmd.client_id, "slots");
	strcpy(cmd.secret, OTHER_SECRET);
	ck_assert_int_eq(case_run(COMMAND_CLIENT_PUT, &cmd)->result.verdict.refusal, REFUSAL_NONE);
	cmd.operator= case_operator();
	cmd.remove = true;
	ck_assert_int_eq(case_run(COMMAND_CLIENT_PUT, &cmd)->result.verdict.refusal, REFUSAL_NONE);
	tried = try_secret(KEYRING_CLIENTS, "slots", OTHER_SECRET, false);
	ck_assert(tried.found && tried.retired);
	close_ring();
}
END_TEST

/* A restart of the engine begins with an empty memory. */
START_TEST(nothing_outlives_the_engine)
{
	buffer_init(&answer, 2 * FRAME_MAX);
	case_open(CASE_DISK);
	keep(1, 10);
	ck_assert(is_kept(1));
	case_reopen();
	ck_assert(!is_kept(1));
	ck_assert_uint_eq(found.kept, 0);
	close_ring();
}
END_TEST

Suite *refused_suite(void)
{
	Suite *suite = suite_create("refused");
	TCase *tc = tcase_create("refused");

	tcase_add_test(tc, a_request_comes_back);
	tcase_add_test(tc, what_was_not_cut_is_dropped);
	tcase_add_test(tc, the_newest_of_an_id);
	tcase_add_test(tc, a_thousand_are_kept);
	tcase_add_test(tc, sixteen_mebibytes_are_kept);
	tcase_add_test(tc, a_second_has_its_rate);
	tcase_add_test(tc, retired_keys_are_kept);
	tcase_add_test(tc, keys_of_others_are_tried);
	tcase_add_test(tc, keys_of_clients_are_kept);
	tcase_add_test(tc, nothing_outlives_the_engine);
	tcase_set_timeout(tc, 60);
	suite_add_tcase(suite, tc);
	return suite;
}
