/*
 * faults - a script of misbehaviour, for tests and demonstrations. Do not copy it.
 *
 * A rule matches calls of its kind and user (absent: of any). It skips the first @skip matching
 * calls, then applies to each @every-th, at most @times (0: without end), with a probability of
 * @percent. If several faults apply, the first rule counts. Bugs add up.
 *
 *   fault      works  what the platform sees
 *   slow       yes    the work begins after @ms
 *   late       yes    the answer is sent @ms after the work
 *   lost       yes    the connection is closed @ms after the work, without an answer
 *   hang       no     the connection is closed after @ms
 *   cut        no     the connection is closed
 *   status     no     an error page with status @code (500)
 *   refuse     no     an error body dealer_refuses with status @code (409)
 *   empty, html, garbage, truncated
 *              yes    status @code (200) with such a body
 * @works 0 or 1 replaces the second column.
 *
 *   bug                     the dealer
 *   signature_unchecked     takes any signature (whatever the user)
 *   kind_unchecked          takes a body that was replayed under another kind
 *   reject_unicode          refuses ids and bodies that are not ASCII
 *   float_money             returns balances in single precision
 *   debit_twice             debits a repeated bet again
 *   credit_twice            credits a repeated result again
 *   refund_twice            credits a repeated refund again
 *   loss_credits            credits a loss with its stake
 *   loss_once               refuses all losses after the first, as they share a transaction_id
 *   no_tombstone            accepts a bet that arrives after its refund
 *   refund_unknown_credits  credits the refund of an unknown bet
 */
#ifndef TESTS_DEALER_FAULTY_FAULTS_H
#define TESTS_DEALER_FAULTY_FAULTS_H

#include "base/buffer.h"
#include "dealer/rules.h"
#include "wire/body.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define FAULT_RULES_MAX 64
#define FAULT_MS_MAX    60000
#define FAULT_AS_IS     9 /* value of fault_rule.works: by the fault's own column */

enum {
	BUG_SIGNATURE_UNCHECKED = 1 << 0,
	BUG_KIND_UNCHECKED = 1 << 1,
	BUG_REJECT_UNICODE = 1 << 2,
	BUG_FLOAT_MONEY = 1 << 3,
	BUG_DEBIT_TWICE = 1 << 4,
	BUG_CREDIT_TWICE = 1 << 5,
	BUG_REFUND_TWICE = 1 << 6,
	BUG_LOSS_CREDITS = 1 << 7,
	BUG_NO_TOMBSTONE = 1 << 8,
	BUG_REFUND_UNKNOWN = 1 << 9,
	BUG_LOSS_ONCE = 1 << 10,
};

enum fault_answer {
	FAULT_NONE, /* the correct answer */
	FAULT_CUT,
	FAULT_STATUS,
	FAULT_REFUSE,
	FAULT_EMPTY,
	FAULT_HTML,
	FAULT_GARBAGE,
	FAULT_TRUNCATED,
};

/* The fault of one call. */
struct fault_strike {
	int64_t before_ms;
	bool works;
	int64_t after_ms;
	enum fault_answer answer;
	int code;
	unsigned int bugs;
};

struct fault;

struct fault_rule {
	const struct fault *is; /* the row of @fault, once it is known */
	char fault[32];
	char kind[32];
	char user_id[EXTERNAL_ID_SIZE];
	uint64_t skip, every, times, percent, ms, code, works;
	uint64_t seen, struck;
};

struct dealer_faults {
	struct fault_rule rules[FAULT_RULES_MAX];
	unsigned int count;
	uint64_t chance;
	uint64_t losses; /* losses counted by loss_once */
	pthread_mutex_t mutex;
};

void faults_init(struct dealer_faults *faults);

/*
 * Adds the rule in the JSON @body; the fault "none" empties the script. Returns false with the
 * reason in @detail if the rule is invalid.
 */
bool faults_add(struct dealer_faults *faults, const void *body, size_t len,
	char detail[BODY_DETAIL_MAX]);

/* Appends the present script to @out as a JSON array. */
void faults_render(struct dealer_faults *faults, struct buffer *out);

/* Returns the bugs for calls of @kind by any user. */
unsigned int faults_bugs(struct dealer_faults *faults, enum callback_kind kind);

/* Returns the fault for one call, and counts the call. */
struct fault_strike faults_strike(struct dealer_faults *faults, enum callback_kind kind,
	const char *user_id);

/* Returns true if a dealer with @bugs refuses the correct @call. */
bool faults_refuse(struct dealer_faults *faults, unsigned int bugs, const struct dealer_call *call);

/* Changes the rows before the rules see them, as a dealer with @bugs would. */
void faults_blind(unsigned int bugs, const struct dealer_call *call, struct dealer_rows *rows);

#endif
