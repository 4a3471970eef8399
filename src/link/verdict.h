/* verdict - the first member of every result, and the operator that issued a command. */
#ifndef LINK_VERDICT_H
#define LINK_VERDICT_H

#include "domain/records.h"

/* The wallet's answer: the first member of every result. */
struct verdict {
	enum refusal refusal;
	bool replay;             /* the same answer was given before (X-Idempotent-Replay) */
	char field[32];          /* for transaction_conflict: the field that differs */
	char detail[128];        /* detail in place of the refusal's text; "": none */
	money_t current_balance; /* for insufficient_balance: the balance at the refusal */
	uint32_t retry_after_s;  /* for rate_limited and 503 */
};

/* The operator that issued an admin command; stored in the audit. */
struct operator
{
	uint32_t uid;
	uint32_t login_uid;
	char sudo_user[SUDO_USER_SIZE];
	char operation_id[OPERATION_ID_SIZE]; /* random; a repeated command acts once */
	char reason[REASON_SIZE];
};

extern const struct field verdict_fields[];
extern const struct field operator_fields[];

#endif
