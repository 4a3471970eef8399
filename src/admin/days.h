/*
 * days - the sums of a dealer's days (domain/dealer_day.h) as people read them: `report days` and the
 * web console print the same rows.
 */
#ifndef ADMIN_DAYS_H
#define ADMIN_DAYS_H

#include "admin/session.h"
#include "domain/dealer_day.h"
#include "domain/statistics.h"

#define DAYS_MAX 400 /* days of one call: a year, and more */

struct day_row {
	char casino_id[CASINO_ID_SIZE];
	char currency[CURRENCY_SIZE];
	char date[DATE_SIZE];
	uint32_t number; /* days since 1970-01-01 */
	bool complete;   /* every row of the day was counted; false: the sums began later */
	bool over;       /* the day has ended */
	uint64_t transfers_in;
	sum_t transferred_in;
	uint64_t transfers_out;
	sum_t transferred_out;
	uint64_t adjustments;
	sum_t adjusted;
	uint64_t bets; /* all that were recorded */
	sum_t staked;  /* stakes of those that count: pending, accepted, settled */
	uint64_t payouts;
	sum_t paid;
	uint64_t corrections;
	sum_t corrected;
	uint64_t bets_refunded;
	sum_t refunded;
	uint64_t bets_rejected;
	sum_t rejected;
	uint64_t cancellations;
	sum_t cancelled; /* stakes that cancellations of the day returned here */
	sum_t profit; /* of the dealer: stakes of accepted and settled bets, less paid and corrected */
	uint64_t callbacks;
	uint64_t callbacks_success;
	uint64_t callbacks_refused;
	uint64_t callbacks_unknown;
	uint64_t callbacks_not_sent;
	uint64_t callbacks_waiting;
};
extern const struct field day_row_fields[];

/* Returns the day of @now_ms of the dealer. */
uint32_t days_today(const struct dealer *dealer, int64_t now_ms);

/*
 * Fills @rows with the @count days from @first on (at most DAYS_MAX), oldest first. A day without any
 * row has zeros. Reads @count rows at most.
 */
enum outcome days_read(struct session *session, const struct dealer *dealer, uint32_t first,
	uint32_t count, int64_t now_ms, struct day_row *rows);

/*
 * Fills @rows with the last @days days of each of the @count dealers @ids, oldest first, dealer after dealer. Reads the
 * dealers together, and then the days: @count times @days is at most AHEAD_MAX, and up to 64 are one command.
 */
enum outcome days_last(struct session *session, const char *const *ids, uint32_t count,
	uint32_t days, int64_t now_ms, struct day_row *rows);

#endif
