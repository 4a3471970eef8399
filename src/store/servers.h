/*
 * servers - the servers of the store on PostgreSQL, and the module that knows how to use them.
 *
 * The module store-postgresql.so is loaded only if the configuration names that store, so that a host
 * with Berkeley DB needs no libpq.
 */
#ifndef STORE_SERVERS_H
#define STORE_SERVERS_H

#include "base/buffer.h"
#include "base/settings.h"
#include "store/store.h"

struct store_watch;

struct store_servers {
	const char *hosts; /* HOST[:PORT] or the directory of a socket, separated by commas */
	const char *database;
	const char *user;
	const char *schema;
	const char *options; /* more of a connection string */
	bool quorum;         /* a commit waits for standbys */
	uint32_t trip_ms;
	uint32_t patience_ms;
	uint32_t read_lease_ms;
	const char *state_directory; /* this host remembers there what it has served */
	bool accept_older;           /* serve servers that have less than that */
};

/*
 * Fills @servers from @settings. Returns @servers, or NULL if the store is Berkeley DB. The settings must
 * outlive the store.
 */
const struct store_servers *store_servers_of(const struct settings *settings,
	struct store_servers *servers);

/*
 * Called with each value that a server reports of itself. @server is its place in the list of
 * hosts. Names and values:
 *
 *     failure      why it did not answer; it is then the only one of the server
 *     version      150018 for 15.18
 *     standby      on, off
 *     setting:NAME the value of a setting of the server
 *     position     bytes of the log that were written, or replayed by a standby
 *     copy         NAME STATE of a standby that reads the log here; STATE is that of pg_stat_replication
 *     copy_hidden  the number of standbys whose names this user may not see
 *     tables       on, off: the tables of the ledger are there
 *     superuser    on: the user of the ledger is one
 *     writer       another role that may log in and change rows of the tables
 *     kept         BYTES NAME of a replication slot: log that is kept for it
 *     age          transactions since the oldest row that was not frozen
 *     turn         of its cell, with the epoch
 *     answered     turn and epoch of the newest batch that was answered, as far as this host knows
 *     lacks        on, off: it has less than that. A standby may be late
 */
typedef void store_fact(void *context, unsigned int server, const char *name, const char *value);

/* The functions of a module, which are those of store.h. */
struct store_module {
	const char *version; /* of its package: a module of another version is refused */
	enum status (*open)(const struct store_options *options, struct store **store, char *why,
		size_t why_size);
	enum status (*read_schema)(const struct store_options *options, uint64_t *schema, char *why,
		size_t why_size);
	enum status (*watch_open)(const struct store_options *options, struct store_watch **watch,
		char *why, size_t why_size);
	enum status (*snapshot)(const struct store_options *options, struct store **store,
		char *why, size_t why_size);
	enum status (*inspect)(const struct store_options *options, store_fact *take, void *context,
		char *why, size_t why_size);
	bool (*sql)(const struct store_servers *servers, struct buffer *out);
};
/* The name of the struct store_module in the module. */
#define STORE_MODULE_SYMBOL "creditbridge_store_module"

/* A connection of a ledger that stands by, or of an operator's command. It changes only this host's row of the members. */
struct store_watch {
	/*
	 * Reads the cell. Returns STATUS_OK, STATUS_NOT_FOUND if there are no tables, STATUS_CONFIG if they
	 * are of another installation or schema or were not filled, or STATUS_IO; then with a reason in @why.
	 */
	enum status (*look)(struct store_watch *watch, struct store_cell *cell, char *why,
		size_t why_size);
	/* Notes that this host's ledger runs. @claim has its name and address. */
	enum status (*note)(struct store_watch *watch, const struct store_claim *claim);
	/* Reads the hosts that noted themselves, by name; at most STORE_MEMBERS_MAX. */
	enum status (*members)(struct store_watch *watch, struct store_member *members,
		unsigned int *count);
	void (*close)(struct store_watch *watch);
};

/*
 * Prepares to watch the data of @options, which has servers and outlives the watch. Returns STATUS_OK,
 * STATUS_CONFIG or STATUS_NOMEM, with a reason in @why. Connects at the first call.
 */
enum status store_watch_open(const struct store_options *options, struct store_watch **watch,
	char *why, size_t why_size);

/*
 * store_open() and store_read_schema() for options with servers. They load the module: the file beside the
 * program, otherwise that of the installed package. Without it they return STATUS_CONFIG.
 */
enum status store_servers_open(const struct store_options *options, struct store **store, char *why,
	size_t why_size);
enum status store_servers_read_schema(const struct store_options *options, uint64_t *schema,
	char *why, size_t why_size);

/* Returns whether the rows of one moment can be read while a ledger writes. */
bool store_has_snapshot(const struct settings *settings);

/*
 * Opens the rows of this moment, for reading only: scan() and close() are the only functions. Ends no
 * ledger. Returns the results of store_open(). A scan fails with STATUS_IO if the server cancels it.
 */
enum status store_open_snapshot(const struct store_options *options, struct store **store,
	char *why, size_t why_size);

/*
 * Appends the statements that make the roles, tables and views, for a superuser. Connects to no server.
 * Returns STATUS_CONFIG without the module, STATUS_NOMEM if @out is full.
 */
enum status store_servers_sql(const struct store_servers *servers, struct buffer *out, char *why,
	size_t why_size);

/*
 * Asks each server about itself, one after the other, and changes nothing. A server that does not answer
 * costs at most 3 s. Returns STATUS_CONFIG if the module or the settings are at fault.
 */
enum status store_servers_inspect(const struct store_servers *servers, store_fact *take,
	void *context, char *why, size_t why_size);

#endif
