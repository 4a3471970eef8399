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
	bool least; /* not every dealer was added to @all: there may be more */
};

/* Adds the sums of a dealer. */
void ages_take(struct ages_of *of, const struct dealer_metrics *dealer);

/* Reads the sums of the dealer @casino_id, or ("") of all together. A dealer that does not exist has none. */
enum outcome ages_read_of(struct page *page, const char *casino_id, struct ages_of *of);

/*
 * Writes a section with the table of @count dealers @of (at most AGES_DEALERS_MAX). Of each, the ages of @rows parked and
 * held callbacks are counted, of a dealer the oldest: one command of the ledger for CALLBACK_AGES_LOOK_MAX rows. If there
 * are more, their number is that of @of, and the page says which ages were counted. @which ("": nothing) is a sentence
 * below the table, before a link to all callbacks.
 */
enum outcome ages_section(struct page *page, const struct ages_of *of, unsigned int count,
	uint64_t rows, const char *which);

#endif
