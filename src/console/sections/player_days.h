/* player_days - the sums of a player's last days: a chart with the same figures in a table. */
#ifndef CONSOLE_SECTIONS_PLAYER_DAYS_H
#define CONSOLE_SECTIONS_PLAYER_DAYS_H

#include "console/common/page.h"

/*
 * Writes the sums of the STATISTICS_DAYS days up to today, in the dealer's time zone, which the ledger keeps for each player. On a
 * page of CSV, writes only the table.
 */
enum outcome player_days(struct page *page, const struct player *player,
	const struct dealer *dealer);

#endif
