#include "admin/filter.h"

#include "admin/seek.h"

#include <string.h>

enum filter_match filter_time(const struct filter *filter, int64_t time_ms)
{
	/*
	 * Rows are in the order of their ids. Their times may not be in order if the clock was
	 * set.
	 */
	if (filter->since_ms > INT64_MIN && time_ms < filter->since_ms - SEEK_SLACK_MS)
		return FILTER_END;
	return time_ms < filter->since_ms || time_ms >= filter->until_ms ? FILTER_SKIP
									 : FILTER_TAKE;
}

bool filter_names(const struct filter *filter, const char *casino_id, const char *player_id,
	const char *game_id)
{
	return (!filter->casino_id[0] || strcmp(filter->casino_id, casino_id) == 0) &&
		(!filter->player_id[0] || strcmp(filter->player_id, player_id) == 0) &&
		(!filter->game_id[0] || strcmp(filter->game_id, game_id) == 0);
}
