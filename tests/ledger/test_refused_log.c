/*
 * Tests the files of refused calls (ledger/refused/refused_log.h).
 */
#include "case.h"

#include "base/pack.h"
#include "scratch.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOW_MS INT64_C(1795000000000)
#define DAY_MS INT64_C(86400000)
#define MIB    (1024 * 1024)
#define FLOOD  100000
#define OF_FEW 40
/* A burst fits into the shares after this pause. */
#define PAUSE_MS 5000

static char scratch[64];
static int state;
static struct refused_log kept;
static struct moment now;
static struct buffer packed, rows;
static struct refused_list_result page;

static void open_log(uint32_t mib, uint32_t days)
{
	refused_log_init(&kept);
	ck_assert(refused_log_open(&kept, state, mib, days, &now));
	/* Segments of before the start are read one at each step. */
	while (kept.unknown)
		refused_log_step(&kept, &now);
}

static void setup(void)
{
	scratch_make(scratch);
	state = open(scratch, O_RDONLY | O_DIRECTORY);
	ck_assert_int_ge(state, 0);
	now = (struct moment){.wall_ms = NOW_MS, .boot_ms = 1000000, .boot = 1};
	buffer_init(&packed, REFUSED_KEEP_MAX);
	buffer_init(&rows, FRAME_MAX - 8 * 1024);
	open_log(1, 30);
}

static void teardown(void)
{
	refused_log_close(&kept);
	buffer_free(&packed);
	buffer_free(&rows);
	close(state);
	scratch_remove(scratch);
}

static struct refused_call call_of(const char *caller, unsigned int number)
{
	struct refused_call call;

	memset(&call, 0, sizeof(call));
	call.time_ms = now.wall_ms;
	snprintf(call.request_id, sizeof(call.request_id), "%s-%u", caller, number);
	call.proved = true;
	call.refusal = REFUSAL_INSUFFICIENT_BALANCE;
	strcpy(call.operation, "transfer-out");
	strcpy(call.path, "/wallet-service/credit/transfer-out");
	strcpy(call.caller, caller);
	strcpy(call.casino_id, caller);
	strcpy(call.user_id, "bob");
	snprintf(call.request_transaction_id, sizeof(call.request_transaction_id), "r%u", number);
	strcpy(call.amount, "10.5");
	strcpy(call.address, "192.0.2.1");
	return call;
}

/* A caller without a key, that uses the name of a dealer. */
static struct refused_call stranger_of(unsigned int network, unsigned int number)
{
	struct refused_call call = call_of("quiet", number);

	call.proved = false;
	call.refusal = REFUSAL_INVALID_SIGNATURE;
	call.why = REFUSED_WHY_SIGNATURE;
	snprintf(call.address, sizeof(call.address), "198.51.%u.%u", network / 250, network % 250);
	return call;
}

static struct refused_keep_result keep(const struct refused_call *call)
{
	struct refused_keep_result result;

	memset(&result, 0, sizeof(result));
	buffer_reset(&packed);
	ck_assert(pack_record(&packed, refused_call_fields, call));
	refused_log_keep(&kept, (struct bytes){packed.data, (uint32_t)packed.len}, false, &now,
		&result);
	return result;
}

static void keep_one(const char *caller, unsigned int number)
{
	const struct refused_call call = call_of(caller, number);

	ck_assert_uint_eq(keep(&call).kept, 1);
}

/*
 * Reads all pages of @filter. Asserts that numbers fall, so that no call comes twice. Returns the
 * number of calls; the oldest is in @last.
 */
static unsigned int list(const struct refused_list_cmd *filter, struct refused_call *last)
{
	struct refused_list_cmd cmd = *filter;
	struct refused_call call;
	uint64_t number = UINT64_MAX;
	unsigned int count = 0, of_page;

	do {
		buffer_reset(&rows);
		memset(&page, 0, sizeof(page));
		refused_log_list(&kept, &cmd, &rows, &page);
		of_page = 0;
		while (page.calls.len) {
			ck_assert(unpack_record(&page.calls, refused_call_fields, &call));
			ck_assert_uint_lt(call.number, number);
			number = call.number;
			of_page++;
			if (last)
				*last = call;
		}
		ck_assert(filter->count_only || of_page == page.matches);
		ck_assert_uint_le(of_page, filter->limit ? filter->limit : REFUSED_PAGE_MAX);
		ck_assert(!page.next || !cmd.before || page.next < cmd.before);
		count += filter->count_only ? page.matches : of_page;
		cmd.before = page.next;
	} while (page.next);
	return count;
}

static unsigned int count_of(const char *casino)
{
	struct refused_list_cmd filter;

	memset(&filter, 0, sizeof(filter));
	strcpy(filter.casino_id, casino);
	return list(&filter, NULL);
}

static void reopen(void)
{
	refused_log_close(&kept);
	open_log(1, 30);
}

START_TEST(calls_come_back_in_order)
{
	struct refused_list_cmd filter;
	struct refused_call last;

	memset(&filter, 0, sizeof(filter));
	ck_assert_uint_eq(list(&filter, NULL), 0);
	for (unsigned int i = 0; i < 700; i++) {
		keep_one("demo", i);
		now.wall_ms += 1000;
	}
	for (unsigned int round = 0; round < 2; round++) {
		filter.limit = round ? 7 : 0;
		ck_assert_uint_eq(list(&filter, &last), 700);
		ck_assert_str_eq(last.request_transaction_id, "r0");
		filter.since_ms = NOW_MS + 100 * 1000;
		ck_assert_uint_eq(list(&filter, &last), 600);
		ck_assert_str_eq(last.request_transaction_id, "r100");
		filter.until_ms = NOW_MS + 150 * 1000;
		ck_assert_uint_eq(list(&filter, &last), 50);
		filter.count_only = true;
		ck_assert_uint_eq(list(&filter, NULL), 50);
		memset(&filter, 0, sizeof(filter));
		strcpy(filter.request_transaction_id, "r333");
		ck_assert_uint_eq(list(&filter, &last), 1);
		ck_assert_str_eq(last.request_id, "demo-333");
		memset(&filter, 0, sizeof(filter));
		reopen();
	}
	ck_assert_uint_eq(count_of("other"), 0);
}
END_TEST

/* A call of a game server that has only a player_id matches the dealer's player. */
START_TEST(a_player_has_two_names)
{
	struct refused_call call = call_of("slots", 1);
	struct refused_list_cmd filter;

	call.casino_id[0] = call.user_id[0] = '\0';
	strcpy(call.player_id, "p1");
	keep(&call);
	memset(&filter, 0, sizeof(filter));
	strcpy(filter.casino_id, "demo");
	strcpy(filter.user_id, "bob");
	ck_assert_uint_eq(list(&filter, NULL), 0);
	strcpy(filter.player_id, "p1");
	ck_assert_uint_eq(list(&filter, NULL), 1);
	strcpy(filter.request_transaction_id, "r2");
	ck_assert_uint_eq(list(&filter, NULL), 0);
}
END_TEST

/* Reads the causes of all pages of @filter. Returns the calls of this cause. */
static uint64_t count_cause(struct refused_list_cmd filter, enum refusal refusal,
	enum refused_why why, uint64_t *proved)
{
	struct refused_cause cause;
	uint64_t calls = 0;

	*proved = 0;
	filter.count_only = filter.by_cause = true;
	do {
		buffer_reset(&rows);
		memset(&page, 0, sizeof(page));
		refused_log_list(&kept, &filter, &rows, &page);
		ck_assert_uint_eq(page.calls.len, 0);
		while (page.causes.len) {
			ck_assert(unpack_record(&page.causes, refused_cause_fields, &cause));
			ck_assert_uint_gt(cause.calls, 0);
			if (cause.refusal != refusal || cause.why != why)
				continue;
			calls += cause.calls;
			*proved += cause.proved;
		}
		filter.before = page.next;
	} while (page.next);
	return calls;
}

/* Calls of two causes and two game servers: each filter selects its own, and the counts agree. */
START_TEST(causes_and_game_servers)
{
	uint64_t forms[REFUSED_FORM_COUNT] = {0};
	struct refused_cause cause;
	struct refused_list_cmd filter;
	struct refused_call call;
	uint64_t proved;

	for (unsigned int i = 0; i < 30; i++) {
		call = call_of("slots", i);
		call.of = i % 3 ? KEYRING_CLIENTS : KEYRING_DEALERS;
		ck_assert_uint_eq(keep(&call).kept, 1);
		now.wall_ms += 1000;
		call = stranger_of(1, i);
		ck_assert_uint_eq(keep(&call).kept, 1);
	}
	memset(&filter, 0, sizeof(filter));
	for (unsigned int round = 0; round < 2; round++) {
		ck_assert_uint_eq(count_cause(filter, REFUSAL_INSUFFICIENT_BALANCE,
					  REFUSED_WHY_NONE, &proved),
			30);
		ck_assert_uint_eq(proved, 30);
		ck_assert_uint_eq(count_cause(filter, REFUSAL_INVALID_SIGNATURE,
					  REFUSED_WHY_SIGNATURE, &proved),
			30);
		ck_assert_uint_eq(proved, 0);
		ck_assert_int_eq(page.looked_ms, NOW_MS);
		ck_assert_uint_eq(count_cause(filter, REFUSAL_INVALID_SIGNATURE,
					  REFUSED_WHY_HEADERS, &proved),
			0);
		reopen();
	}
	ck_assert_int_eq(page.started_ms, NOW_MS + 30 * 1000); /* that of the second round */
	strcpy(filter.client_id, "slots");
	ck_assert_uint_eq(list(&filter, NULL), 20);
	strcpy(filter.client_id, "slot");
	ck_assert_uint_eq(list(&filter, NULL), 0);
	memset(&filter, 0, sizeof(filter));
	filter.of_refusal = true;
	filter.refusal = REFUSAL_INVALID_SIGNATURE;
	ck_assert_uint_eq(list(&filter, NULL), 30);
	filter.of_why = true;
	ck_assert_uint_eq(list(&filter, NULL), 0);
	filter.why = REFUSED_WHY_SIGNATURE;
	ck_assert_uint_eq(list(&filter, NULL), 30);
	/* A time range bounds the counts as it bounds the list. */
	filter.since_ms = NOW_MS + 20 * 1000;
	ck_assert_uint_eq(count_cause(filter, REFUSAL_INVALID_SIGNATURE, REFUSED_WHY_SIGNATURE,
				  &proved),
		list(&filter, NULL));
	ck_assert_uint_eq(list(&filter, NULL), 11);
	/* Calls with one reason and different forms are counted apart. */
	for (unsigned int i = 0; i < 3; i++) {
		call = stranger_of(1, 100 + i);
		call.why = REFUSED_WHY_HEADERS;
		call.caller_count = 1;
		call.signature_count = i ? 0 : 2;
		now.wall_ms += 1000;
		ck_assert_uint_eq(keep(&call).kept, 1);
	}
	memset(&filter, 0, sizeof(filter));
	filter.count_only = filter.by_cause = true;
	buffer_reset(&rows);
	memset(&page, 0, sizeof(page));
	refused_log_list(&kept, &filter, &rows, &page);
	while (page.causes.len) {
		ck_assert(unpack_record(&page.causes, refused_cause_fields, &cause));
		if (cause.why == REFUSED_WHY_HEADERS)
			forms[cause.form] = cause.calls;
	}
	ck_assert_uint_eq(forms[REFUSED_FORM_SIGNATURE_MISSING], 2);
	ck_assert_uint_eq(forms[REFUSED_FORM_SIGNATURE_NOT_SINGLE], 1);
}
END_TEST

/* Opens the newest segment and returns its length. */
static int newest_file(off_t *len)
{
	char path[128];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "%s/refused/%016llx", scratch,
		(unsigned long long)kept.segments[kept.count - 1].first);
	fd = open(path, O_RDWR);
	ck_assert(fd >= 0 && fstat(fd, &st) == 0);
	*len = st.st_size;
	return fd;
}

/* The last write is cut after each of its bytes: the calls before are there, and new ones follow. */
START_TEST(a_torn_tail_is_dropped)
{
	off_t before, len;
	int fd;

	keep_one("demo", 1);
	keep_one("demo", 2);
	close(newest_file(&before));
	for (off_t cut = 1;; cut++) {
		keep_one("demo", 3);
		fd = newest_file(&len);
		if (cut == len - before) {
			close(fd);
			break;
		}
		ck_assert_int_eq(ftruncate(fd, len - cut), 0);
		close(fd);
		reopen();
		ck_assert_uint_eq(count_of("demo"), 2);
	}
	ck_assert_uint_eq(count_of("demo"), 3);
	/* A block of zeros or of garbage follows, as after a power cut. */
	fd = newest_file(&len);
	ck_assert_int_eq(ftruncate(fd, len + 5000), 0);
	ck_assert_int_eq(pwrite(fd, "xxxxxxxxxxxxxxxx", 16, len + 1000), 16);
	close(fd);
	reopen();
	ck_assert_uint_eq(count_of("demo"), 3);
	keep_one("demo", 4);
	reopen();
	ck_assert_uint_eq(count_of("demo"), 4);
}
END_TEST

/* A damaged or foreign file costs only its own calls. */
START_TEST(other_files_do_no_harm)
{
	char path[128];
	FILE *file;

	keep_one("demo", 1);
	snprintf(path, sizeof(path), "%s/refused/%016llx", scratch, 0xfffULL);
	file = fopen(path, "w");
	fputs("a file of another version, perhaps", file);
	fclose(file);
	snprintf(path, sizeof(path), "%s/refused/new", scratch);
	file = fopen(path, "w");
	fputs("a rewrite that did not complete", file);
	fclose(file);
	reopen();
	ck_assert_uint_eq(count_of("demo"), 1);
	ck_assert_int_ne(access(path, F_OK), 0);
	keep_one("demo", 2);
	reopen();
	ck_assert_uint_eq(count_of("demo"), 2);
}
END_TEST

/* One dealer floods; every call gets through the shares. Another dealer's calls stay. */
START_TEST(a_flood_pushes_out_no_other)
{
	for (unsigned int i = 0; i < FLOOD; i++) {
		now.boot_ms += 5;
		if (i % (FLOOD / OF_FEW) == 0)
			keep_one("quiet", i);
		keep_one("demo", i);
		ck_assert_uint_le(kept.bytes, MIB + 2 * SEGMENT_MAX / 16);
	}
	ck_assert_uint_eq(count_of("quiet"), OF_FEW);
	ck_assert_uint_ge(count_of("demo"), 1000);
	/* Rewritten segments are merged: their number has a bound, too. */
	ck_assert_uint_le(kept.count, 2 * MIB / kept.segment_max + 2);
	reopen();
	ck_assert_uint_eq(count_of("quiet"), OF_FEW);
	ck_assert_uint_ge(count_of("demo"), 1000);
}
END_TEST

/* Returns true if the call with this request id is kept. */
static bool has_request(const char *caller, unsigned int number, bool proved)
{
	struct refused_list_cmd filter;
	struct refused_call last;

	memset(&filter, 0, sizeof(filter));
	snprintf(filter.request_id, sizeof(filter.request_id), "%s-%u", caller, number);
	return list(&filter, &last) && last.proved == proved;
}

/* One address floods; the few calls of another one stay, although neither has a key. */
START_TEST(a_stranger_pushes_out_no_other)
{
	struct refused_call call;
	unsigned int others = 0;

	for (unsigned int i = 0; i < OF_FEW; i++) {
		call = stranger_of(7, i);
		keep(&call);
	}
	for (unsigned int i = OF_FEW; i < FLOOD / 4; i++) {
		now.boot_ms += 35;
		call = stranger_of(1, i);
		ck_assert_uint_eq(keep(&call).kept, 1);
	}
	for (unsigned int i = 0; i < OF_FEW; i++)
		others += has_request("quiet", i, false);
	ck_assert_uint_eq(others, OF_FEW);
	ck_assert(!has_request("quiet", OF_FEW, false));
}
END_TEST

/* Strangers flood from many networks, under the dealer's name. */
START_TEST(strangers_push_out_no_dealer)
{
	struct refused_call call;
	unsigned int dealers = 0;
	char name[16];

	for (unsigned int i = 0; i < OF_FEW; i++)
		keep_one("quiet", i);
	for (unsigned int i = 0; i < FLOOD; i++) {
		now.boot_ms += 5;
		call = stranger_of(i % 500, i);
		keep(&call);
		ck_assert_uint_le(kept.bytes, MIB + 2 * SEGMENT_MAX / 16);
	}
	for (unsigned int i = 0; i < OF_FEW; i++)
		dealers += has_request("quiet", i, true);
	ck_assert_uint_eq(dealers, OF_FEW);
	/* They had the room that no dealer needed. Dealers take it back. */
	ck_assert_uint_gt(kept.networks, MIB / 2);
	for (unsigned int i = 0; i < 20000; i++) {
		snprintf(name, sizeof(name), "dealer%u", i % 40);
		now.boot_ms += 1;
		keep_one(name, i);
	}
	ck_assert_uint_le(kept.networks, MIB / REFUSED_NETWORKS_PART + kept.segment_max);
}
END_TEST

/* Many dealers: no one has more than its part, and the oldest calls of all go. */
START_TEST(the_oldest_go)
{
	struct refused_list_cmd filter;
	struct refused_call last;
	char name[16];

	for (unsigned int i = 0; i < 20000; i++) {
		snprintf(name, sizeof(name), "dealer%u", i % 40);
		now.boot_ms += 1;
		keep_one(name, i);
		ck_assert_uint_le(kept.bytes, MIB + 2 * SEGMENT_MAX / 16);
	}
	memset(&filter, 0, sizeof(filter));
	ck_assert_uint_ge(list(&filter, &last), MIB / 2 / 300);
	ck_assert_uint_ge(strtoul(last.request_transaction_id + 1, NULL, 10), 10000);
}
END_TEST

START_TEST(a_second_has_its_share)
{
	struct refused_call call;
	unsigned int count = 0;

	for (unsigned int i = 0; i < 3 * REFUSED_CALLER_BURST; i++) {
		call = call_of("demo", i);
		count += keep(&call).kept;
	}
	ck_assert_uint_eq(count, REFUSED_CALLER_BURST);
	keep_one("quiet", 1);
	ck_assert_uint_eq(kept.left_out, 2 * REFUSED_CALLER_BURST);
	/* A stranger from one address, then all strangers. */
	count = 0;
	for (unsigned int i = 0; i < 3 * REFUSED_NETWORK_BURST; i++) {
		call = stranger_of(1, i);
		count += keep(&call).kept;
	}
	ck_assert_uint_eq(count, REFUSED_NETWORK_BURST);
	for (unsigned int i = 0; i < 20 * REFUSED_NETWORKS_BURST; i++) {
		call = stranger_of(i % 5000, i);
		count += keep(&call).kept;
	}
	ck_assert_uint_eq(count, REFUSED_NETWORKS_BURST);
	keep_one("quiet", 2);
	now.boot_ms += PAUSE_MS;
	keep_one("demo", 1);
	call = stranger_of(1, 1);
	ck_assert_uint_eq(keep(&call).kept, 1);
}
END_TEST

/* The disk is full: a write is cut. Nothing of it is listed, and the log goes on when there is room. */
START_TEST(a_full_disk_costs_only_new_calls)
{
	struct rlimit limit, old;
	struct refused_call call = call_of("demo", 9);
	off_t len;

	signal(SIGXFSZ, SIG_IGN);
	keep_one("demo", 1);
	close(newest_file(&len));
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &old), 0);
	limit = old;
	limit.rlim_cur = (rlim_t)len + 50;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	ck_assert_uint_eq(keep(&call).left_out, 1);
	ck_assert_uint_eq(count_of("demo"), 1);
	/* No attempt for a while. */
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &old), 0);
	ck_assert_uint_eq(keep(&call).left_out, 1);
	now.boot_ms += REFUSED_RETRY_MS;
	keep_one("demo", 2);
	ck_assert_uint_eq(count_of("demo"), 2);
	ck_assert_uint_eq(kept.left_out, 2);
	reopen();
	ck_assert_uint_eq(count_of("demo"), 2);
	/* The first segment cannot be begun either. */
	refused_log_close(&kept);
	open_log(0, 0);
	open_log(1, 0);
	limit.rlim_cur = 4;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	ck_assert_uint_eq(keep(&call).left_out, 1);
	ck_assert_uint_eq(kept.count, 0);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &old), 0);
	now.boot_ms += REFUSED_RETRY_MS;
	keep_one("demo", 3);
	ck_assert_uint_eq(count_of("demo"), 1);
}
END_TEST

/* Below the low-water mark, the space is for calls that move credit. */
START_TEST(low_storage_keeps_none)
{
	struct refused_call call = call_of("demo", 1);
	struct refused_keep_result result;

	memset(&result, 0, sizeof(result));
	buffer_reset(&packed);
	ck_assert(pack_record(&packed, refused_call_fields, &call));
	refused_log_keep(&kept, (struct bytes){packed.data, (uint32_t)packed.len}, true, &now,
		&result);
	ck_assert_uint_eq(result.left_out, 1);
	ck_assert_uint_eq(count_of("demo"), 0);
}
END_TEST

START_TEST(old_calls_go)
{
	for (unsigned int i = 0; i < 200; i++)
		keep_one("demo", i);
	ck_assert_uint_gt(kept.count, 1);
	now.wall_ms += 31 * DAY_MS;
	now.boot_ms += 31 * DAY_MS;
	keep_one("demo", 1000);
	/* The wall clock is set: it may be wrong, and nothing is deleted for an hour. */
	now.wall_ms += DAY_MS;
	for (unsigned int i = 0; i < 100; i++)
		refused_log_step(&kept, &now);
	ck_assert_uint_eq(count_of("demo"), 201);
	now.wall_ms += REFUSED_CLOCK_REST_MS;
	now.boot_ms += REFUSED_CLOCK_REST_MS;
	for (unsigned int i = 0; i < 100; i++)
		refused_log_step(&kept, &now);
	ck_assert_uint_lt(count_of("demo"), 201);
	ck_assert_uint_ge(count_of("demo"), 1);
}
END_TEST

/* A merge was killed after it had replaced the first segment, and before it deleted the second. */
START_TEST(a_killed_merge_doubles_none)
{
	char from[128], to[128], both[256 * 1024];
	size_t len, more;
	FILE *file;

	for (unsigned int i = 0; kept.count < 3; i++)
		keep_one("demo", i);
	len = count_of("demo");
	snprintf(to, sizeof(to), "%s/refused/%016llx", scratch,
		(unsigned long long)kept.segments[0].first);
	snprintf(from, sizeof(from), "%s/refused/%016llx", scratch,
		(unsigned long long)kept.segments[1].first);
	file = fopen(from, "r");
	more = fread(both, 1, sizeof(both), file);
	fclose(file);
	file = fopen(to, "a");
	fwrite(both + SEGMENT_MAGIC_SIZE, 1, more - SEGMENT_MAGIC_SIZE, file);
	fclose(file);
	refused_log_close(&kept);
	refused_log_init(&kept);
	ck_assert(refused_log_open(&kept, state, 1, 30, &now));
	ck_assert_uint_eq(count_of("demo"), len);
	while (kept.unknown)
		refused_log_step(&kept, &now);
	ck_assert_uint_eq(count_of("demo"), len);
	ck_assert_uint_eq(kept.count, 2);
	ck_assert_int_ne(access(from, F_OK), 0);
}
END_TEST

START_TEST(garbage_is_refused)
{
	struct refused_keep_result result;
	struct refused_call call = call_of("demo", 1);

	memset(&result, 0, sizeof(result));
	buffer_reset(&packed);
	ck_assert(pack_record(&packed, refused_call_fields, &call));
	buffer_append(&packed, "garbage", 7);
	refused_log_keep(&kept, (struct bytes){packed.data, (uint32_t)packed.len}, false, &now,
		&result);
	ck_assert_uint_eq(result.kept, 1);
	ck_assert_uint_eq(count_of("demo"), 1);
}
END_TEST

Suite *refused_log_suite(void)
{
	Suite *suite = suite_create("refused_log");
	TCase *tc = tcase_create("refused_log");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, calls_come_back_in_order);
	tcase_add_test(tc, a_player_has_two_names);
	tcase_add_test(tc, causes_and_game_servers);
	tcase_add_test(tc, a_torn_tail_is_dropped);
	tcase_add_test(tc, other_files_do_no_harm);
	tcase_add_test(tc, a_flood_pushes_out_no_other);
	tcase_add_test(tc, a_stranger_pushes_out_no_other);
	tcase_add_test(tc, strangers_push_out_no_dealer);
	tcase_add_test(tc, the_oldest_go);
	tcase_add_test(tc, a_second_has_its_share);
	tcase_add_test(tc, a_full_disk_costs_only_new_calls);
	tcase_add_test(tc, low_storage_keeps_none);
	tcase_add_test(tc, old_calls_go);
	tcase_add_test(tc, a_killed_merge_doubles_none);
	tcase_add_test(tc, garbage_is_refused);
	tcase_set_timeout(tc, 60);
	suite_add_tcase(suite, tc);
	return suite;
}
