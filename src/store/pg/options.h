/* options - how the store on PostgreSQL reaches its servers. */
#ifndef STORE_PG_OPTIONS_H
#define STORE_PG_OPTIONS_H

#include "store/claim.h"

#include <stdbool.h>
#include <stdint.h>

#define PG_SERVERS_MAX 8

enum pg_durability {
	PG_QUORUM, /* a commit waits for the standbys that synchronous_standby_names lists */
	PG_LOCAL,  /* one server; a commit waits for its own disk */
};

enum pg_purpose {
	PG_WRITES, /* a server that takes writes */
	PG_READS,  /* also a standby; each transaction reads what there was when it began */
	PG_LOOKS,  /* also a standby; the session has the server's own settings */
};

struct pg_options {
	enum pg_purpose purpose;
	/* Connection strings of libpq, one for each server, without a password on the command line. */
	const char *servers[PG_SERVERS_MAX];
	unsigned int server_count;
	const char *schema;       /* the PostgreSQL schema of the tables; NULL: creditbridge */
	const char *installation; /* its id; NULL: not compared */
	const struct store_claim *claim; /* NULL: of an operator's command */
	enum pg_durability durability;
	uint32_t trip_ms;       /* the longest round trip before its outcome is in doubt */
	uint32_t patience_ms;   /* how long a save or load looks for a server */
	uint32_t read_lease_ms; /* store.h */
	/* Readable: stop looking for a server, and ask no server again; -1: none. A round trip
	 * still ends. */
	int stop_fd;
	/* Where this host remembers what it served (served.h); NULL: nowhere */
	const char *state_directory;
	bool accept_older; /* serve even if the servers have less than this host served */
	bool create;       /* make the tables if there are none */
	bool fill; /* with @create: there must be none; they are served only after filled() */
};

#endif
