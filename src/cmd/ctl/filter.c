#include "cmd/ctl/filter.h"

#include "admin/list.h"
#include "admin/names.h"
#include "admin/seek.h"
#include "base/text.h"

#include <string.h>

static enum outcome read_times(struct ctl *ctl, struct filter *filter)
{
	const char *since = ctl->options[OPTION_SINCE], *until = ctl->options[OPTION_UNTIL];

	filter->since_ms = INT64_MIN;
	filter->until_ms = INT64_MAX;
	if ((since && !ctl_time(since, &filter->since_ms)) ||
		(until && !ctl_time(until, &filter->until_ms)))
		return ctl_usage(ctl, "a time is YYYY-MM-DD, YYYY-MM-DDTHH:MM[:SS] (UTC) or Unix "
				      "milliseconds");
	return OUTCOME_DONE;
}

enum outcome filter_read(struct ctl *ctl, uint64_t standard, struct filter *filter)
{
	const char *casino = ctl->options[OPTION_CASINO], *user = ctl->options[OPTION_USER],
		   *game = ctl->options[OPTION_GAME];
	struct dealer dealer;
	struct player player;
	enum outcome code;

	memset(filter, 0, sizeof(*filter));
	if (user && !casino)
		return ctl_usage(ctl, "--user goes with --casino");
	code = ctl_limit(ctl, standard, &filter->limit);
	if (code == OUTCOME_DONE)
		code = read_times(ctl, filter);
	if (code == OUTCOME_DONE && game)
		code = names_read_external_id(&ctl->session, "a game id", game, filter->game_id);
	if (code == OUTCOME_DONE && casino)
		code = names_dealer(&ctl->session, casino, &dealer);
	if (code == OUTCOME_DONE && user)
		code = names_player(&ctl->session, casino, user, &player);
	if (code == OUTCOME_DONE && casino)
		memcpy(filter->casino_id, dealer.casino_id, sizeof(filter->casino_id));
	if (code == OUTCOME_DONE && user) {
		memcpy(filter->user_id, player.user_id, sizeof(filter->user_id));
		memcpy(filter->player_id, player.player_id, sizeof(filter->player_id));
	}
	return code;
}

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
