/*
 * ids - the transaction ids of an exam, which no other call to the dealer has.
 */
#include "conformance/exam.h"

#define ID_BASE      (UINT64_C(1) << 52)
#define SECOND_SHIFT 20
#define NUMBER_SHIFT 12 /* more ids than an exam needs */
/* A prime number: the ledger's numbers are LIFE_STRIDE apart, and a power of two would leave 16 of them. */
#define NUMBERS 251

uint64_t exam_last_id_before(int64_t wall_ms, uint64_t number)
{
	return ID_BASE + ((uint64_t)wall_ms / 1000 << SECOND_SHIFT) +
		(number % NUMBERS << NUMBER_SHIFT);
}

uint64_t exam_id(struct exam *exam)
{
	return ++exam->last_id;
}
