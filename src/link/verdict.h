/*
 * verdict - what every result begins with, and who stands behind an operator's command.
 */
#ifndef LINK_VERDICT_H
#define LINK_VERDICT_H

#include "domain/records.h"

/* How the wallet answered: the first member of every result. */
struct verdict {
	enum refusal refusal;
	bool replay;              /* the answer was given before (X-Idempotent-Replay) */
	char field[32];           /* transaction_conflict: the field that differs */
	char detail[128];         /* more than the refusal's own text; "": nothing */
	money_t current_balance;  /* insufficient_balance: the balance when it was refused */
	uint32_t retry_after_s;   /* rate_limited and 503 */
};

/* Who stands behind an admin command; kept in the audit. */
struct operator {
	uint32_t uid;
	uint32_t login_uid;
	char sudo_user[SUDO_USER_SIZE];
	char operation_id[OPERATION_ID_SIZE]; /* random: the same command sent again acts once */
	char reason[REASON_SIZE];
};

extern const struct field verdict_fields[];
extern const struct field operator_fields[];

#endif
