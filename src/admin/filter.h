/*
 * filter - selects the rows of a list by dealer, player, game, range of time and a limit.
 */
#ifndef ADMIN_FILTER_H
#define ADMIN_FILTER_H

#include "domain/records.h"

struct filter {
	char casino_id[CASINO_ID_SIZE]; /* "": all */
	char user_id[EXTERNAL_ID_SIZE];
	char player_id[PLAYER_ID_SIZE]; /* the player of user_id */
	char game_id[EXTERNAL_ID_SIZE];
	int64_t since_ms;
	int64_t until_ms; /* exclusive end of the range */
	uint64_t after;   /* only rows with a smaller id; 0: all */
	uint64_t limit;   /* rows that are still wanted */
};

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
