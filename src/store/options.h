/* options - how store_open() opens a store. */
#ifndef STORE_OPTIONS_H
#define STORE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

struct store_claim;
struct store_servers;

struct store_options {
	/* The servers of the store on PostgreSQL; NULL: Berkeley DB in @directory. It outlives the store */
	const struct store_servers *servers;
	/* The ledger that claims the data of servers; NULL: a command of an operator. See claim.h */
	const struct store_claim *claim;
	const char *directory; /* holds the data and nothing else */
	const char
		*name; /* of that directory in messages; NULL: @directory. It outlives the store */
	const char *state_directory; /* contains @directory; not allowed for a backup; NULL: none */
	const char *installation; /* its id, kept in backups; NULL: none. Both outlive the store */
	uint32_t cache_mib;
	uint32_t checkpoint_kib;
	uint32_t checkpoint_interval_ms;
	uint32_t checkpoint_pages; /* earlier if a checkpoint would write more pages; 0: never */
	uint32_t log_keep_mib;
	/*
	 * If less than twice this is free, no old log is kept for roll-forward; if less than this,
	 * none is kept for a backup. No log file is prepared if less than this would stay free.
	 */
	uint64_t low_water_bytes;
	/*
	 * Called once before the process ends with STORE_EXIT_IO or STORE_EXIT_DAMAGED (exit.h), in
	 * the thread that met the failure. From then on no save returns and no other thread ends
	 * the process. NULL: none.
	 */
	void (*before_halt)(void);
	bool ends; /* once the store is open, the process ends when the store cannot continue */
	bool prepare_log; /* prepare the next log file ahead */
	bool fill;   /* with @create: refuse tables that exist, and serve none before filled() */
	bool create; /* create the tables. Otherwise a missing one is STATUS_CONFIG */
};

/* Returns the directory of @options as messages name it. */
static inline const char *store_name(const struct store_options *options)
{
	return options->name ? options->name : options->directory;
}

#endif
