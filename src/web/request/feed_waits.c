#include "web/request/feed_waits.h"

#include "base/text.h"

#include <string.h>

void feed_waits_init(struct feed_waits *waits, unsigned int slots)
{
	memset(waits, 0, sizeof(*waits));
	waits->room = slots / 2 < FEED_WAITS_MAX ? slots / 2 : FEED_WAITS_MAX;
}

static unsigned int count_of(const struct feed_waits *waits, const char *casino_id)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < waits->room; i++)
		count += strcmp(waits->casino_ids[i], casino_id) == 0;
	return count;
}

/* Returns a free place; waits->room if there is none. */
static unsigned int free_place(const struct feed_waits *waits)
{
	unsigned int at = 0;

	while (at < waits->room && waits->casino_ids[at][0])
		at++;
	return at;
}

/* Returns the place of the oldest call of a dealer that has several; waits->room if none has. */
static unsigned int oldest_spare_place(const struct feed_waits *waits)
{
	unsigned int oldest = waits->room;

	for (unsigned int i = 0; i < waits->room; i++) {
		if (oldest < waits->room && waits->numbers[oldest] < waits->numbers[i])
			continue;
		if (count_of(waits, waits->casino_ids[i]) > 1)
			oldest = i;
	}
	return oldest;
}

bool feed_waits_take(struct feed_waits *waits, const char *casino_id, struct feed_place *place)
{
	const unsigned int own = count_of(waits, casino_id);
	unsigned int at = free_place(waits);

	if (own >= FEED_WAITS_DEALER_MAX)
		return false;
	if (at == waits->room && !own)
		at = oldest_spare_place(waits);
	if (at == waits->room)
		return false;
	text_copy(waits->casino_ids[at], CASINO_ID_SIZE, casino_id);
	waits->numbers[at] = ++waits->taken;
	*place = (struct feed_place){at, waits->taken};
	return true;
}

bool feed_waits_holds(const struct feed_waits *waits, const struct feed_place *place)
{
	return waits->casino_ids[place->at][0] && waits->numbers[place->at] == place->number;
}

void feed_waits_give(struct feed_waits *waits, const struct feed_place *place)
{
	if (feed_waits_holds(waits, place))
		waits->casino_ids[place->at][0] = '\0';
}
