/*
 * chance - random numbers for tests (splitmix64). They are the same on every run, so that a
 * failure can be repeated.
 */
#ifndef TESTS_LIB_CHANCE_H
#define TESTS_LIB_CHANCE_H

#include <stdint.h>
#include <stdlib.h>

static inline uint64_t chance(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* Returns a number from 0 to @bound - 1. */
static inline uint64_t chance_below(uint64_t *state, uint64_t bound)
{
	return chance(state) % bound;
}

/* Returns how many of @rounds random rounds to run: all, or with $CB_FEWER_ROUNDS=N one in N.
   Suites under valgrind and with sanitizers set it, because a round takes much longer there. */
static inline unsigned int chance_rounds(unsigned int rounds)
{
	const char *fewer = getenv("CB_FEWER_ROUNDS");
	unsigned long divisor = fewer ? strtoul(fewer, NULL, 10) : 1;

	return divisor > 1 && divisor <= rounds ? rounds / (unsigned int)divisor : rounds;
}

#endif
