/*
 * codes - one-time codes of operators (RFC 6238: HMAC-SHA-1, 6 digits, 30 seconds), and the lock after
 * wrong ones.
 *
 * A code is accepted from one step before to one step after its own, and once: the row keeps the step of
 * the last one. DESK_WRONG_MAX wrong codes within CODES_WRONG_MS lock the name for CODES_LOCK_MS. Each
 * further lock lasts twice as long, up to CODES_LOCK_MAX_MS, until a code is right.
 */
#ifndef LEDGER_ROWS_CODES_H
#define LEDGER_ROWS_CODES_H

#include "domain/desk_operator.h"

#include <stdbool.h>

#define CODES_STEP_MS     INT64_C(30000)
#define CODES_DIGITS      6
#define CODES_WRONG_MS    INT64_C(900000)
#define CODES_LOCK_MS     INT64_C(900000)
#define CODES_LOCK_MAX_MS INT64_C(14400000)

enum code_result {
	CODE_RIGHT,   /* @row has the step; its wrong codes and locks are forgotten */
	CODE_WRONG,   /* @row has the time of the wrong code */
	CODE_LOCKS,   /* as CODE_WRONG, and the name is locked from now on */
	CODE_IGNORED, /* locked or suspended, or there is no secret: @row is unchanged */
};

/* Judges @code at @wall_ms, and changes @row. */
enum code_result code_judge(struct desk_operator *row, const char *code, int64_t wall_ms);

/* Writes the code of @secret in the step of @wall_ms. Returns false if the library failed. */
bool code_make(const char *secret, int64_t wall_ms, char code[CODES_DIGITS + 1]);

/* Forgets wrong codes and locks. */
void code_unlock(struct desk_operator *row);

#endif
