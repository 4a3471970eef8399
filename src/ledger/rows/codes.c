#include "ledger/rows/codes.h"

#include "wire/signature.h"

#include <liboath/oath.h>
#include <stdlib.h>
#include <string.h>

/* Writes the code of one step. */
static bool make_code(const char *secret, uint64_t step, char code[CODES_DIGITS + 1])
{
	char *bytes = NULL;
	size_t len = 0;
	bool made = oath_base32_decode(secret, strlen(secret), &bytes, &len) == OATH_OK &&
		oath_hotp_generate(bytes, len, step, CODES_DIGITS, false,
			OATH_HOTP_DYNAMIC_TRUNCATION, code) == OATH_OK;

	if (bytes)
		explicit_bzero(bytes, len);
	free(bytes);
	return made;
}

bool code_make(const char *secret, int64_t wall_ms, char code[CODES_DIGITS + 1])
{
	return make_code(secret, (uint64_t)(wall_ms / CODES_STEP_MS), code);
}

static bool is_same_code(const char *right, const char *given)
{
	return strlen(given) == CODES_DIGITS && signature_equal(right, given, CODES_DIGITS);
}

/* Returns the step of @code around @wall_ms that was not used yet, or 0. */
static uint64_t find_step(const struct desk_operator *row, const char *code, int64_t wall_ms)
{
	const uint64_t now = (uint64_t)(wall_ms / CODES_STEP_MS);
	char right[CODES_DIGITS + 1];
	uint64_t found = 0;

	for (uint64_t step = now ? now - 1 : 0; step <= now + 1; step++) {
		if (make_code(row->secret, step, right) && is_same_code(right, code) &&
			step > row->last_step && !found)
			found = step;
	}
	explicit_bzero(right, sizeof(right));
	return found;
}

/* Adds the time of a wrong code. Returns true if there are now too many. */
static bool count_wrong(struct desk_operator *row, int64_t wall_ms)
{
	const unsigned int room = DESK_WRONG_MAX - 1;
	unsigned int recent = 1;

	for (unsigned int i = 0; i < room; i++)
		recent += row->wrong[i].time_ms > wall_ms - CODES_WRONG_MS;
	memmove(&row->wrong[0], &row->wrong[1], (room - 1) * sizeof(row->wrong[0]));
	row->wrong[room - 1].time_ms = wall_ms;
	return recent >= DESK_WRONG_MAX;
}

static void lock_name(struct desk_operator *row, int64_t wall_ms)
{
	int64_t lasts_ms = CODES_LOCK_MS;

	for (uint32_t i = 0; i < row->locks && lasts_ms < CODES_LOCK_MAX_MS; i++)
		lasts_ms *= 2;
	row->locks++;
	row->locked_until_ms =
		wall_ms + (lasts_ms < CODES_LOCK_MAX_MS ? lasts_ms : CODES_LOCK_MAX_MS);
	memset(row->wrong, 0, sizeof(row->wrong));
}

void code_unlock(struct desk_operator *row)
{
	memset(row->wrong, 0, sizeof(row->wrong));
	row->locks = 0;
	row->locked_until_ms = 0;
}

enum code_result code_judge(struct desk_operator *row, const char *code, int64_t wall_ms)
{
	uint64_t step;

	if (row->suspended || !row->secret[0] || wall_ms < row->locked_until_ms)
		return CODE_IGNORED;
	step = find_step(row, code, wall_ms);
	if (step) {
		code_unlock(row);
		row->last_step = step;
		return CODE_RIGHT;
	}
	if (!count_wrong(row, wall_ms))
		return CODE_WRONG;
	lock_name(row, wall_ms);
	return CODE_LOCKS;
}
