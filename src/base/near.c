#include "base/near.h"

#include "base/text.h"

#include <string.h>

static unsigned int smaller_of(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

unsigned int near_distance(const char *one, const char *other)
{
	/* rows[i % 3][j]: the distance of the first i bytes of @one to the first j of @other */
	unsigned int rows[3][NEAR_WORD_MAX + 1];
	size_t len = strlen(one), other_len = strlen(other);

	if (len > NEAR_WORD_MAX || other_len > NEAR_WORD_MAX)
		return NEAR_WORD_MAX + 1;
	for (size_t i = 0; i <= len; i++) {
		unsigned int *row = rows[i % 3];
		const unsigned int *above = rows[(i + 2) % 3];

		row[0] = (unsigned int)i;
		for (size_t j = 1; j <= other_len; j++) {
			if (!i) {
				row[j] = (unsigned int)j;
				continue;
			}
			row[j] = smaller_of(smaller_of(above[j], row[j - 1]) + 1,
				above[j - 1] + (one[i - 1] != other[j - 1]));
			if (i > 1 && j > 1 && one[i - 1] == other[j - 2] &&
				one[i - 2] == other[j - 1])
				row[j] = smaller_of(row[j], rows[(i + 1) % 3][j - 2] + 1);
		}
	}
	return rows[len % 3][other_len];
}

void near_begin(struct near *near, const char *given)
{
	*near = (struct near){.given = given, .distance = NEAR_WORD_MAX + 1};
}

void near_offer(struct near *near, const char *word)
{
	unsigned int distance = near_distance(near->given, word);
	size_t len = strlen(word);

	if (distance >= near->distance || distance > (len < 4 ? 1 : (len + 2) / 3))
		return;
	if (text_copy(near->best, sizeof(near->best), word))
		near->distance = distance;
}
