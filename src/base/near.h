/*
 * near - finds the word that someone has probably meant, for "Did you mean".
 */
#ifndef BASE_NEAR_H
#define BASE_NEAR_H

#include <stddef.h>

/* Longer words are never near another one. */
#define NEAR_WORD_MAX 64

/*
 * Returns the edit distance of two words: the least number of characters to insert, remove,
 * replace, or exchange with the next one. Returns NEAR_WORD_MAX + 1 if a word is longer than
 * NEAR_WORD_MAX bytes.
 */
unsigned int near_distance(const char *one, const char *other);

/* The best word so far. Begin with the word that was given, and best "". */
struct near {
	const char *given;
	unsigned int distance;
	char best[NEAR_WORD_MAX + 1]; /* "": none is near */
};

void near_begin(struct near *near, const char *given);

/* Takes @word if it is nearer than the best one, and near enough: a third of its characters. */
void near_offer(struct near *near, const char *word);

#endif
