/* kept - the causes, and which of them a refused call has by what is kept of it on disk. */
#include "explain/explain.h"

const struct explain_cause_info explain_causes[CAUSE_COUNT] = {
#define CAUSE(name, id, rule, remedy) [CAUSE_##name] = {id, rule, remedy},
#include "explain/causes.def"
#undef CAUSE
};

static const struct {
	enum refusal refusal;
	enum explain_cause cause;
} answers[] = {
	{REFUSAL_INSUFFICIENT_BALANCE, CAUSE_BALANCE_LOW},
	{REFUSAL_DEALER_SUSPENDED, CAUSE_CALL_SUSPENDED},
	{REFUSAL_USER_SUSPENDED, CAUSE_CALL_SUSPENDED},
	{REFUSAL_NOT_FOUND, CAUSE_PATH_UNKNOWN},
	{REFUSAL_METHOD_NOT_ALLOWED, CAUSE_METHOD_WRONG},
	{REFUSAL_TRANSACTION_CONFLICT, CAUSE_REFERENCE_REUSED},
	{REFUSAL_TRANSACTION_SEALED, CAUSE_REFERENCE_CLOSED},
	{REFUSAL_BET_CANCELLED, CAUSE_REFERENCE_CLOSED},
	{REFUSAL_WRONG_WALLET_MODE, CAUSE_WALLET_MODE},
	{REFUSAL_PAYLOAD_TOO_LARGE, CAUSE_BODY_TOO_LARGE},
	{REFUSAL_RATE_LIMITED, CAUSE_RATE_EXCEEDED},
	{REFUSAL_BET_REJECTED, CAUSE_DEALER_SAID_NO},
	{REFUSAL_DEALER_REFUSED, CAUSE_DEALER_SAID_NO},
	{REFUSAL_BET_IN_PROGRESS, CAUSE_TRY_AGAIN},
	{REFUSAL_CALLBACK_OPEN, CAUSE_TRY_AGAIN},
};

enum explain_cause explain_refusal(enum refusal refusal)
{
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		if (answers[i].refusal == refusal)
			return answers[i].cause;
	}
	return CAUSE_COUNT;
}

/* By the form of a call: the headers and the clock. */
static const enum explain_cause forms[REFUSED_FORM_COUNT] = {
	[REFUSED_FORM_ID_MISSING] = CAUSE_ID_MISSING,
	[REFUSED_FORM_ID_NOT_SINGLE] = CAUSE_ID_NOT_SINGLE,
	[REFUSED_FORM_SIGNATURE_MISSING] = CAUSE_SIGNATURE_MISSING,
	[REFUSED_FORM_SIGNATURE_NOT_SINGLE] = CAUSE_SIGNATURE_NOT_SINGLE,
	[REFUSED_FORM_CLOCK_UNIT] = CAUSE_CLOCK_UNIT,
	[REFUSED_FORM_CLOCK_ZONE] = CAUSE_CLOCK_ZONE,
	[REFUSED_FORM_CLOCK_AHEAD] = CAUSE_CLOCK_AHEAD,
	[REFUSED_FORM_CLOCK_BEHIND] = CAUSE_CLOCK_BEHIND,
};

enum explain_known explain_counted(const struct refused_cause *counted, enum explain_cause *cause)
{
	*cause = CAUSE_REQUEST_REFUSED;
	if (counted->form != REFUSED_FORM_NONE) {
		*cause = forms[counted->form];
	} else if (counted->why == REFUSED_WHY_FLOOD) {
		*cause = CAUSE_SIGNATURE_FLOOD;
	} else if (counted->why == REFUSED_WHY_SIGNATURE) {
		return EXPLAIN_NEEDS_BODY;
	} else if (counted->why == REFUSED_WHY_CALLER ||
		counted->refusal == REFUSAL_USER_NOT_FOUND) {
		return EXPLAIN_NEEDS_CALL;
	} else if (explain_refusal(counted->refusal) != CAUSE_COUNT) {
		*cause = explain_refusal(counted->refusal);
	} else if (refusal_info(counted->refusal)->code == 400) {
		return EXPLAIN_NEEDS_BODY;
	}
	return EXPLAIN_KNOWN;
}
