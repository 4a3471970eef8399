#include "faulty/faults.h"

#include "wire/render.h"

#include <stdio.h>
#include <string.h>

#define RULE_NUMBER(member_)                                                                       \
	{                                                                                          \
#member_, BODY_INTEGER, false, (uint32_t)offsetof(struct fault_rule, member_), 8,  \
			NULL                                                                       \
	}

static const struct body_field rule_body[] = {
	BODY_FIELD(BODY_NAME, fault_rule, fault),
	{"kind", BODY_NAME, false, offsetof(struct fault_rule, kind), 32, NULL},
	{"user_id", BODY_ID, false, offsetof(struct fault_rule, user_id), EXTERNAL_ID_SIZE, NULL},
	RULE_NUMBER(skip),
	RULE_NUMBER(every),
	RULE_NUMBER(times),
	RULE_NUMBER(percent),
	RULE_NUMBER(ms),
	RULE_NUMBER(code),
	RULE_NUMBER(works),
	BODY_FIELD_END,
};
static const struct field rule_fields[] = {
	FIELD(FIELD_STR, fault_rule, fault),
	FIELD(FIELD_STR, fault_rule, kind),
	FIELD(FIELD_STR, fault_rule, user_id),
	FIELD(FIELD_U64, fault_rule, seen),
	FIELD(FIELD_U64, fault_rule, struck),
	FIELD_END,
};

enum wait { WAIT_NOT, WAIT_BEFORE, WAIT_AFTER };

static const struct fault {
	const char *name;
	unsigned int bug; /* 0: a fault, described by the other columns */
	enum wait wait;
	bool works;
	enum fault_answer answer;
	int code;
} known[] = {
	{"slow", 0, WAIT_BEFORE, true, FAULT_NONE, 200},
	{"late", 0, WAIT_AFTER, true, FAULT_NONE, 200},
	{"lost", 0, WAIT_AFTER, true, FAULT_CUT, 200},
	{"hang", 0, WAIT_BEFORE, false, FAULT_CUT, 200},
	{"cut", 0, WAIT_NOT, false, FAULT_CUT, 200},
	{"status", 0, WAIT_BEFORE, false, FAULT_STATUS, 500},
	{"refuse", 0, WAIT_BEFORE, false, FAULT_REFUSE, 409},
	{"empty", 0, WAIT_BEFORE, true, FAULT_EMPTY, 200},
	{"html", 0, WAIT_BEFORE, true, FAULT_HTML, 200},
	{"garbage", 0, WAIT_BEFORE, true, FAULT_GARBAGE, 200},
	{"truncated", 0, WAIT_BEFORE, true, FAULT_TRUNCATED, 200},
	{"signature_unchecked", BUG_SIGNATURE_UNCHECKED, 0, 0, 0, 0},
	{"kind_unchecked", BUG_KIND_UNCHECKED, 0, 0, 0, 0},
	{"reject_unicode", BUG_REJECT_UNICODE, 0, 0, 0, 0},
	{"float_money", BUG_FLOAT_MONEY, 0, 0, 0, 0},
	{"debit_twice", BUG_DEBIT_TWICE, 0, 0, 0, 0},
	{"credit_twice", BUG_CREDIT_TWICE, 0, 0, 0, 0},
	{"refund_twice", BUG_REFUND_TWICE, 0, 0, 0, 0},
	{"loss_credits", BUG_LOSS_CREDITS, 0, 0, 0, 0},
	{"loss_once", BUG_LOSS_ONCE, 0, 0, 0, 0},
	{"no_tombstone", BUG_NO_TOMBSTONE, 0, 0, 0, 0},
	{"refund_unknown_credits", BUG_REFUND_UNKNOWN, 0, 0, 0, 0},
};

static const struct fault *fault_find(const char *name)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strcmp(known[i].name, name) == 0)
			return &known[i];
	}
	return NULL;
}

static bool kind_is_known(const char *name)
{
	for (unsigned int i = 0; i < CALLBACK_KIND_COUNT; i++) {
		if (strcmp(callback_kind_names[i], name) == 0)
			return true;
	}
	return false;
}

void faults_init(struct dealer_faults *faults)
{
	memset(faults, 0, sizeof(*faults));
	faults->chance = 1; /* the same random sequence in every run */
	pthread_mutex_init(&faults->mutex, NULL);
}

/* Returns what is wrong with @rule, or NULL. */
static const char *rule_wrong(const struct fault_rule *rule)
{
	if (!rule->is)
		return "fault: is not known";
	if (rule->kind[0] && !kind_is_known(rule->kind))
		return "kind: is not known";
	if (rule->ms > FAULT_MS_MAX)
		return "ms: must be at most 60000";
	if (rule->percent > 100 || !rule->every)
		return "percent: must be at most 100; every: at least 1";
	if (rule->code && (rule->code < 200 || rule->code > 599))
		return "code: must be from 200 to 599";
	if (rule->works > 1 && rule->works != FAULT_AS_IS)
		return "works: must be 0 or 1";
	return NULL;
}

bool faults_add(struct dealer_faults *faults, const void *body, size_t len,
	char detail[BODY_DETAIL_MAX])
{
	struct fault_rule rule = {.every = 1, .percent = 100, .works = FAULT_AS_IS};
	const char *wrong = NULL;

	if (body_parse(body, len, rule_body, &rule, detail) != REFUSAL_NONE)
		return false;
	rule.is = fault_find(rule.fault);
	pthread_mutex_lock(&faults->mutex);
	if (strcmp(rule.fault, "none") == 0)
		faults->losses = faults->count = 0;
	else if (faults->count == FAULT_RULES_MAX)
		wrong = "the script is full";
	else
		wrong = rule_wrong(&rule);
	if (!wrong && strcmp(rule.fault, "none") != 0)
		faults->rules[faults->count++] = rule;
	pthread_mutex_unlock(&faults->mutex);
	if (wrong)
		snprintf(detail, BODY_DETAIL_MAX, "%s", wrong);
	return !wrong;
}

void faults_render(struct dealer_faults *faults, struct buffer *out)
{
	pthread_mutex_lock(&faults->mutex);
	for (unsigned int i = 0; i < faults->count; i++) {
		buffer_append_str(out, i ? "," : "[");
		render_record(out, rule_fields, &faults->rules[i]);
	}
	buffer_append_str(out, faults->count ? "]" : "[]");
	pthread_mutex_unlock(&faults->mutex);
}

/* @user_id is NULL if unknown; then only rules for all users match. */
static bool rule_fits(const struct fault_rule *rule, enum callback_kind kind, const char *user_id)
{
	return (!rule->kind[0] || strcmp(rule->kind, callback_kind_names[kind]) == 0) &&
		(!rule->user_id[0] || (user_id && strcmp(rule->user_id, user_id) == 0));
}

/* xorshift64. */
static bool chance_hits(uint64_t *chance, uint64_t percent)
{
	*chance ^= *chance << 13;
	*chance ^= *chance >> 7;
	*chance ^= *chance << 17;
	return *chance % 100 < percent;
}

static bool rule_strikes(struct fault_rule *rule, uint64_t *chance)
{
	uint64_t seen = rule->seen++;

	if (seen < rule->skip || (seen - rule->skip) % rule->every != 0 ||
		(rule->times && rule->struck >= rule->times) || !chance_hits(chance, rule->percent))
		return false;
	rule->struck++;
	return true;
}

static void strike_set(struct fault_strike *strike, const struct fault_rule *rule,
	const struct fault *fault)
{
	strike->answer = fault->answer;
	strike->before_ms = fault->wait == WAIT_BEFORE ? (int64_t)rule->ms : 0;
	strike->after_ms = fault->wait == WAIT_AFTER ? (int64_t)rule->ms : 0;
	strike->works = rule->works == FAULT_AS_IS ? fault->works : rule->works == 1;
	strike->code = rule->code ? (int)rule->code : fault->code;
}

unsigned int faults_bugs(struct dealer_faults *faults, enum callback_kind kind)
{
	unsigned int bugs = 0;

	pthread_mutex_lock(&faults->mutex);
	for (unsigned int i = 0; i < faults->count; i++) {
		if (rule_fits(&faults->rules[i], kind, NULL))
			bugs |= faults->rules[i].is->bug;
	}
	pthread_mutex_unlock(&faults->mutex);
	return bugs;
}

struct fault_strike faults_strike(struct dealer_faults *faults, enum callback_kind kind,
	const char *user_id)
{
	struct fault_strike strike = {.works = true, .code = 200};
	const struct fault *fault;
	bool found = false;

	pthread_mutex_lock(&faults->mutex);
	for (unsigned int i = 0; i < faults->count; i++) {
		fault = faults->rules[i].is;
		if ((found && !fault->bug) || !rule_fits(&faults->rules[i], kind, user_id) ||
			!rule_strikes(&faults->rules[i], &faults->chance))
			continue;
		strike.bugs |= fault->bug;
		if (fault->bug)
			continue;
		strike_set(&strike, &faults->rules[i], fault);
		found = true;
	}
	pthread_mutex_unlock(&faults->mutex);
	return strike;
}

bool faults_refuse(struct dealer_faults *faults, unsigned int bugs, const struct dealer_call *call)
{
	bool refused;

	if (!(bugs & BUG_LOSS_ONCE) || call->result != OUTCOME_LOSS)
		return false;
	pthread_mutex_lock(&faults->mutex);
	refused = faults->losses++;
	pthread_mutex_unlock(&faults->mutex);
	return refused;
}

void faults_blind(unsigned int bugs, const struct dealer_call *call, struct dealer_rows *rows)
{
	/* A state that calls of one kind treat as another state. */
	static const struct {
		unsigned int bug;
		enum callback_kind kind;
		enum dealer_state is, seems;
	} blinds[] = {
		{BUG_DEBIT_TWICE, CALLBACK_BETTING, TRANSACTION_BET, TRANSACTION_NONE},
		{BUG_CREDIT_TWICE, CALLBACK_BETTING_RESULT, TRANSACTION_PAID, TRANSACTION_NONE},
		{BUG_REFUND_TWICE, CALLBACK_BETTING_REFUND, TRANSACTION_REFUNDED, TRANSACTION_BET},
		{BUG_NO_TOMBSTONE, CALLBACK_BETTING, TRANSACTION_TOMBSTONE, TRANSACTION_NONE},
		{BUG_REFUND_UNKNOWN, CALLBACK_BETTING_REFUND, TRANSACTION_NONE, TRANSACTION_BET},
	};
	struct dealer_transaction *transaction = &rows->transaction;

	for (size_t i = 0; i < sizeof(blinds) / sizeof(blinds[0]); i++) {
		if (!(bugs & blinds[i].bug) || call->kind != blinds[i].kind ||
			transaction->state != blinds[i].is)
			continue;
		if (transaction->state == TRANSACTION_NONE)
			*transaction = rules_content(call);
		transaction->state = blinds[i].seems;
		break;
	}
	if ((bugs & BUG_LOSS_CREDITS) && call->result == OUTCOME_LOSS) {
		rows->user.balance += call->payout_amount + call->bet_amount;
		rows->user_is_new = true; /* to be written */
	}
}
