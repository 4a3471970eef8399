/*
 * filter - the options that select rows of a list: --casino --user --game --state --kind --since
 * --until --limit.
 */
#ifndef CMD_CTL_FILTER_H
#define CMD_CTL_FILTER_H

#include "cmd/ctl/ctl.h"

struct filter {
	char casino_id[CASINO_ID_SIZE]; /* "": all */
	char user_id[EXTERNAL_ID_SIZE];
	char player_id[PLAYER_ID_SIZE]; /* the player that --user names */
	char game_id[EXTERNAL_ID_SIZE];
	int64_t since_ms;
	int64_t until_ms; /* exclusive end of the range */
	uint64_t limit;   /* rows still to print */
};

/*
 * Reads the options except --state and --kind (see ctl_choices()). Refuses an unknown dealer or
 * player, because an empty list would look like a good result. @standard: the limit if none is
 * given.
 */
enum outcome filter_read(struct ctl *ctl, uint64_t standard, struct filter *filter);

enum filter_match { FILTER_TAKE, FILTER_SKIP, FILTER_END };

/*
 * Returns whether @time_ms is within the requested range. FILTER_END: in a walk from new to old,
 * all later rows are too old.
 */
enum filter_match filter_time(const struct filter *filter, int64_t time_ms);

/* Returns true if the filter selects rows of this dealer, player and game. */
bool filter_names(const struct filter *filter, const char *casino_id, const char *player_id,
	const char *game_id);

#endif
