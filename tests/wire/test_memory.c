/*
 * Makes the n-th allocation fail, for n = 1, 2 ... until the call succeeds. Each failure must be
 * reported correctly; nothing may be lost or leaked.
 *
 * The linker replaces the allocations of src/wire, which are also those of Jansson, by the ones
 * below (--wrap). GnuTLS gets its allocator through a variable.
 */
#include "suites.h"

#include "domain/records.h"
#include "wire/body.h"
#include "wire/dealer_answer.h"
#include "wire/render.h"
#include "wire/row_line.h"
#include "wire/signature.h"
#include "wire/webhook.h"

#include <gnutls/gnutls.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *data, size_t size);
void __real_free(void *data);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *data, size_t size);
void __wrap_free(void *data);

static struct {
	bool armed;
	bool lasting;       /* all later allocations fail too */
	unsigned long left; /* allocations before the one that fails */
	unsigned long seen;
	unsigned long failed;
	long live;
} memory;

/* Returns true if this allocation must fail. */
static bool refused(void)
{
	if (!memory.armed)
		return false;
	memory.seen++;
	if (memory.left > 1) {
		memory.left--;
		return false;
	}
	if (memory.left == 1 || memory.lasting) {
		memory.left = 0;
		memory.failed++;
		return true;
	}
	return false;
}

void *__wrap_malloc(size_t size)
{
	void *data = refused() ? NULL : __real_malloc(size);

	memory.live += data != NULL;
	return data;
}

void *__wrap_calloc(size_t count, size_t size)
{
	void *data = refused() ? NULL : __real_calloc(count, size);

	memory.live += data != NULL;
	return data;
}

void *__wrap_realloc(void *data, size_t size)
{
	void *moved = refused() ? NULL : __real_realloc(data, size);

	memory.live += moved && !data;
	return moved;
}

void __wrap_free(void *data)
{
	memory.live -= data != NULL;
	__real_free(data);
}

static void arm(unsigned long n, bool lasting)
{
	memory.armed = true;
	memory.lasting = lasting;
	memory.left = n;
	memory.seen = 0;
	memory.failed = 0;
	memory.live = 0;
}

/*
 * Stops counting. Call it before any assertion, because check allocates too. Returns true if one
 * failed.
 */
static bool disarm(void)
{
	memory.armed = false;
	ck_assert_msg(memory.live == 0, "%ld allocations leaked", memory.live);
	return memory.failed > 0;
}

struct call {
	money_t amount;
	char user_id[129];
};
static const struct body_field call_fields[] = {
	BODY_FIELD(BODY_AMOUNT, call, amount),
	BODY_FIELD(BODY_ID, call, user_id),
	BODY_FIELD_END,
};

/* Parses @text with each allocation failing in turn. Returns the number of allocations. */
static unsigned long starve_parse(const char *text, bool lasting, enum refusal expected,
	struct call *call)
{
	for (unsigned long n = 1;; n++) {
		char detail[BODY_DETAIL_MAX];
		enum refusal refusal;

		memset(call, 0, sizeof(*call));
		arm(n, lasting);
		refusal = body_parse(text, strlen(text), call_fields, call, detail);
		if (!disarm()) {
			ck_assert_int_eq(refusal, expected);
			return memory.seen;
		}
		ck_assert_msg(refusal == REFUSAL_SERVICE_UNAVAILABLE, "%lu of %s: %d, %s", n, text,
			(int)refusal, detail);
		ck_assert_str_eq(detail, "out of memory");
	}
}

START_TEST(parse)
{
	static const char text[] =
		"{\"amount\":12.5,\"user_id\":\"alice\",\"x\":[1,2.5,true,null,{\"y\":\"z\"}],"
		"\"a\":0,\"b\":1,\"c\":2,\"d\":3,\"e\":4,\"f\":5,\"g\":6,\"h\":7,\"i\":8,\"j\":9,"
		"\"list\":[1,2,3,4,5,6,7,8,9,10],\"large\":1e400,\"larger\":99999999999999999999}";
	struct call call;

	ck_assert_uint_gt(starve_parse(text, _i, REFUSAL_NONE, &call), 50);
	ck_assert_int_eq(call.amount, 125000);
	ck_assert_str_eq(call.user_id, "alice");
	ck_assert_uint_gt(starve_parse("[1,[2]]", _i, REFUSAL_BAD_REQUEST, &call), 3);
	ck_assert_uint_gt(starve_parse("{\"amount\":1,\"amount\":1}", _i, REFUSAL_BAD_REQUEST,
				  &call),
		3);
	ck_assert_uint_gt(starve_parse("{\"amount\":1}", _i, REFUSAL_BAD_REQUEST, &call), 3);
	ck_assert_uint_gt(starve_parse("{\"amount\":0,\"user_id\":\"a\"}", _i,
				  REFUSAL_INVALID_AMOUNT, &call),
		3);
}
END_TEST

/* Tests strings and numbers of every length, so that any byte may be the first without room. */
START_TEST(parse_every_length)
{
	for (int len = 1; len <= 128; len++) {
		char text[640], id[129], number[129];
		struct call call;

		memset(id, 'a', (size_t)len);
		id[len] = '\0';
		memset(number, '0', (size_t)len);
		number[len] = '\0';
		snprintf(text, sizeof(text),
			"{\"k%s\":\"\\\\%s\",\"amount\":5.5%s,\"user_id\":\"%s\"}", id, id, number,
			id);
		starve_parse(text, _i, REFUSAL_NONE, &call);
		ck_assert_int_eq(call.amount, 55000);
		ck_assert_str_eq(call.user_id, id);
	}
}
END_TEST

START_TEST(render)
{
	struct dealer dealer;
	struct error_body error = {.refusal = REFUSAL_TRANSACTION_CONFLICT,
		.request_id = "r",
		.field = "amount",
		.has_balance = true,
		.current_balance = 5};
	unsigned long n;

	memset(&dealer, 0, sizeof(dealer));
	memset(dealer.url, 'u', sizeof(dealer.url) - 1);
	strcpy(dealer.keys[0].key_id, "k1");
	for (int which = 0; which < 2; which++) {
		for (n = 1;; n++) {
			struct buffer out;
			bool done, failed;
			size_t len;

			buffer_init(&out, 1 << 20);
			arm(n, _i);
			done = which ? render_error(&out, &error)
				     : render_record(&out, dealer_fields, &dealer);
			failed = out.failed;
			len = out.len;
			buffer_free(&out);
			ck_assert(disarm() == !done);
			ck_assert(failed == !done);
			ck_assert(done == (len != 0));
			if (done)
				break;
		}
		ck_assert_uint_ge(n, 2);
	}
}
END_TEST

START_TEST(signature)
{
	static const char good[] =
		"wLEYQUrMwq7Xva9ynK9zZGZz33B91cjHL4pjDRC95/Lx75qe14F+FBSXFOzL0l/M"
		"xHGoRkLyscpRqMNT8j2CGQ==";
	static const char secret[] =
		"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
	const struct signature zeros = {.algorithm = HMAC_SHA512};
	char text[SIGNATURE_TEXT_MAX];
	struct signature given;
	unsigned long n;

	ck_assert(signature_read(good, &given));
	gnutls_malloc = __wrap_malloc;
	gnutls_calloc = __wrap_calloc;
	gnutls_realloc = __wrap_realloc;
	gnutls_free = __wrap_free;
	for (n = 1;; n++) {
		bool made, verified;

		arm(n, _i);
		made = signature_make(HMAC_SHA512, ENCODING_BASE64, secret, "", 0, text);
		ck_assert(disarm() == !made);
		ck_assert_str_eq(text, made ? good : "");
		arm(n, _i);
		verified = signature_verify(&given, secret, "", 0);
		ck_assert(disarm() == !verified);
		/* A signature that could not be computed must not match, not even all zeros. */
		arm(n, _i);
		verified = signature_verify(&zeros, secret, "", 0);
		disarm();
		ck_assert(!verified);
		if (made)
			break;
	}
	/* GnuTLS used this allocator. */
	ck_assert_uint_ge(n, 2);
}
END_TEST

START_TEST(webhook)
{
	static const struct dealer_key keys[DEALER_KEYS_MAX] = {{"k1", "a", 0}, {"k2", "b", 0}};
	char text[WEBHOOK_SIGNATURE_MAX];
	unsigned long n;

	gnutls_malloc = __wrap_malloc;
	gnutls_calloc = __wrap_calloc;
	gnutls_realloc = __wrap_realloc;
	gnutls_free = __wrap_free;
	for (n = 1;; n++) {
		bool made;

		arm(n, _i);
		made = webhook_sign(keys, "k2", "betting-1", 1, "{}", 2, text);
		ck_assert(disarm() == !made);
		ck_assert_uint_eq(strlen(text), made ? WEBHOOK_SIGNATURE_MAX - 1 : 0);
		if (made)
			break;
	}
	ck_assert_uint_ge(n, 3);
}
END_TEST

/*
 * An answer that could not be read because memory is exhausted is unreadable, never an empty
 * success.
 */
START_TEST(dealer_answer)
{
	static const char text[] = "{\"id\":\"a\",\"detail\":\"b\",\"x\":[1e99,{}]}";
	unsigned long n;

	for (n = 1;; n++) {
		struct callback_outcome outcome;
		enum dealer_answer_shape shape;

		memset(&outcome, 0, sizeof(outcome));
		arm(n, _i);
		shape = dealer_answer_read(text, strlen(text), &outcome);
		if (!disarm()) {
			ck_assert_int_eq(shape, DEALER_ANSWER_ERROR);
			break;
		}
		ck_assert_int_eq(shape, DEALER_ANSWER_UNREADABLE);
		ck_assert(strstr(outcome.note, "out of memory") != NULL);
	}
	ck_assert_uint_ge(n, 5);
}
END_TEST

/* A row is written and read completely, or exhausted memory is reported. */
START_TEST(row_lines)
{
	const struct callback_body row = {.event = 7, .body = {(const uint8_t *)"a\0b", 3}};
	struct buffer out;
	unsigned long n;

	for (n = 1;; n++) {
		bool done;

		buffer_init(&out, 1 << 20);
		arm(n, _i);
		done = row_line_put(&out, "callback_body", callback_body_fields, &row, true);
		memory.armed = false;
		ck_assert(done == !out.failed && done == !memory.failed);
		if (done)
			break;
		buffer_free(&out);
	}
	for (n = 1;; n++) {
		enum row_line_status status;
		struct callback_body back;
		char why[ROW_LINE_WHY_SIZE] = "";
		struct row_line line;

		row_line_init(&line);
		arm(n, _i);
		status = row_line_read(&line, (const char *)out.data, out.len - 1, why);
		if (!status)
			status = row_line_take(&line, callback_body_fields, sizeof(back), &back,
				true, why);
		if (!status)
			status = back.event == 7 && back.body.len == 3 ? ROW_LINE_DONE
								       : ROW_LINE_BAD;
		row_line_free(&line);
		if (!disarm()) {
			ck_assert_int_eq(status, ROW_LINE_DONE);
			break;
		}
		ck_assert_msg(status == ROW_LINE_NO_MEMORY, "%lu: %s", n, why);
	}
	ck_assert_uint_ge(n, 5);
	buffer_free(&out);
}
END_TEST

Suite *memory_suite(void)
{
	Suite *suite = suite_create("memory");
	TCase *tcase = tcase_create("memory");

	tcase_set_timeout(tcase, 120);
	/* 0: one allocation fails; 1: it and all after it. */
	tcase_add_loop_test(tcase, parse, 0, 2);
	tcase_add_loop_test(tcase, parse_every_length, 0, 2);
	tcase_add_loop_test(tcase, render, 0, 2);
	tcase_add_loop_test(tcase, signature, 0, 2);
	tcase_add_loop_test(tcase, webhook, 0, 2);
	tcase_add_loop_test(tcase, dealer_answer, 0, 2);
	tcase_add_loop_test(tcase, row_lines, 0, 2);
	suite_add_tcase(suite, tcase);
	return suite;
}
