/* ages - how long the callbacks that wait have waited, by state: counted in an index, within bounds. */
#ifndef CONSOLE_SECTIONS_AGES_H
#define CONSOLE_SECTIONS_AGES_H

#include "console/common/page.h"
#include "link/metrics_commands.h"

/* Dealers that one table shows. */
#define AGES_DEALERS_MAX 4

/* A dealer, and how many of its callbacks are in each state that waits: the ledger's sums. */
struct ages_of {
	char casino_id[CASINO_ID_SIZE]; /* "": all dealers together */
	uint64_t all[CALLBACK_STATE_COUNT];
	bool least;   /* not every dealer was added to @all: there may be more */
	bool players; /* of one dealer: ages_count() shall count the players that are owed */
	/* Set by ages_count(). */
	uint64_t counts[CALLBACK_STATE_COUNT][CALLBACK_AGES];
	bool more;             /* parked or held ones were not counted */
	bool due_more;         /* due ones or those being sent were not counted */
	uint32_t owed_players; /* with @players: the players that it owes credit */
	bool owed_more;        /* there may be more of them */
};

/* Adds the sums of a dealer. */
void ages_take(struct ages_of *of, const struct dealer_metrics *dealer);

/* Reads the sums of the dealer @casino_id, or ("") of all together. A dealer that does not exist has none. */
enum outcome ages_read_of(struct page *page, const char *casino_id, struct ages_of *of);

/*
 * Counts the ages of the callbacks of the @count dealers @of (at most AGES_DEALERS_MAX): of each, those of @rows parked and held
 * ones, of a dealer the oldest, with one command of the ledger for CALLBACK_AGES_LOOK_MAX rows.
 */
enum outcome ages_count(struct page *page, struct ages_of *of, unsigned int count, uint64_t rows);

/*
 * Writes a section with the table of what ages_count() counted. If there are more callbacks, their number is that of @of, and
 * the page says which ages were counted. @which ("": nothing) is a sentence below the table, before a link to all callbacks.
 */
void ages_section(struct page *page, const struct ages_of *of, unsigned int count, uint64_t rows,
	const char *which);

#endif
