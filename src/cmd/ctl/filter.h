/*
 * filter - what a list is asked for: --casino --user --game --state --kind --since --until --limit.
 */
#ifndef CMD_CTL_FILTER_H
#define CMD_CTL_FILTER_H

#include "cmd/ctl/ctl.h"

struct filter {
	char casino_id[CASINO_ID_SIZE]; /* "": all */
	char user_id[EXTERNAL_ID_SIZE];
	char player_id[PLAYER_ID_SIZE]; /* of user_id */
	char game_id[EXTERNAL_ID_SIZE];
	int64_t since_ms;
	int64_t until_ms; /* the first that is too late */
	uint64_t limit;   /* rows still wanted */
};

/*
 * Reads the options, without --state and --kind (ctl_choices). A dealer or player that is not there
 * is refused: an empty list would look like good news. @standard: the limit, when none is given.
 */
enum outcome filter_read(struct ctl *ctl, uint64_t standard, struct filter *filter);

enum filter_match { FILTER_TAKE, FILTER_SKIP, FILTER_END };

/*
 * Whether a row of @time_ms is in the time asked for. FILTER_END: all behind it, in a walk from new
 * to old, are too early.
 */
enum filter_match filter_time(const struct filter *filter, int64_t time_ms);

/* True: a row of this dealer, player and game is asked for. */
bool filter_names(const struct filter *filter, const char *casino_id, const char *player_id,
	const char *game_id);

#endif
