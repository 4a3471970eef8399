/*
 * set_sums DIRECTORY PLAYER_ID lifetime|DAY BET_COUNT TURNOVER PROFIT_LOSS STAKED - sets the sums of a
 * player in the data in DIRECTORY (a state's db/). DAY is the number of days since 1970-01-01, and
 * STAKED is ignored for a day. Money is in ten-thousandths. The ledger must not be running.
 */
#include "base/text.h"
#include "set_row.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	struct statistics sums;
	struct lifetime lifetime;
	struct day day;

	if (argc != 8) {
		fprintf(stderr,
			"usage: set_sums DIRECTORY PLAYER_ID lifetime|DAY BET_COUNT "
			"TURNOVER PROFIT_LOSS STAKED\n");
		return 2;
	}
	sums = (struct statistics){.bet_count = strtoull(argv[4], NULL, 10),
		.turnover = strtoll(argv[5], NULL, 10),
		.profit_loss = strtoll(argv[6], NULL, 10)};
	if (strcmp(argv[3], "lifetime") == 0) {
		lifetime = (struct lifetime){.sums = sums, .staked = strtoll(argv[7], NULL, 10)};
		text_copy(lifetime.player_id, sizeof(lifetime.player_id), argv[2]);
		return set_row(argv[1], RECORD_LIFETIME, &lifetime, false);
	}
	day = (struct day){.number = (uint32_t)strtoul(argv[3], NULL, 10), .sums = sums};
	text_copy(day.player_id, sizeof(day.player_id), argv[2]);
	return set_row(argv[1], RECORD_DAY, &day, false);
}
