/*
 * connection - one connection to the server that takes writes, and round trips with a deadline.
 *
 * The store has several possible servers. connection_open() tries all of them at the same time and takes
 * the first that is not a standby. A round trip sends any number of prepared statements and one
 * synchronisation. The statements of a trip are one transaction, which commits at the synchronisation.
 *
 * A trip ends with one of three outcomes. TRIP_DONE: the server committed, and every copy that it must
 * wait for has the commit. TRIP_FAILED: the server refused a statement, so that nothing of the trip
 * happened. TRIP_DOUBT: the connection broke, the deadline passed, or the server committed with a
 * warning. The transaction may then exist, and it may still come to exist later.
 */
#ifndef STORE_PG_CONNECTION_H
#define STORE_PG_CONNECTION_H

#include "base/buffer.h"
#include "store/pg/options.h"

#include <libpq-fe.h>
#include <stdbool.h>
#include <stdint.h>

#define SQLSTATE_SIZE         6
#define STATEMENT_PARAMS_MAX  128
#define SQLSTATE_DUPLICATE    "23505" /* a row that must be new exists */
#define SQLSTATE_NO_TABLE     "42P01"
#define SQLSTATE_NOT_ALLOWED  "42501"
#define SQLSTATE_LOCKED       "55P03" /* another session kept the lock of a row for too long */
#define SQLSTATE_FULL         "53100"
#define SQLSTATE_ZERO_DIVISOR "22012" /* a condition of the statement did not hold */

struct pg_connection {
	const struct pg_options *options;
	PGconn *conn; /* NULL: not connected */
	bool warned;  /* a warning arrived during the trip */
	char sqlstate[SQLSTATE_SIZE];
	char why[256]; /* of the last failure; holds no value of a row */
};

enum trip { TRIP_DONE, TRIP_FAILED, TRIP_DOUBT };

/* Parameters of one statement. Each value is in binary form. */
struct pg_params {
	unsigned int count;
	uint32_t types[STATEMENT_PARAMS_MAX]; /* object ids; only for connection_query() */
	size_t offsets[STATEMENT_PARAMS_MAX]; /* in @values */
	int lengths[STATEMENT_PARAMS_MAX];
	struct buffer values;
};

void params_init(struct pg_params *params);
void params_free(struct pg_params *params);
void params_reset(struct pg_params *params);
/* Appends a number as an int8. */
bool params_add_number(struct pg_params *params, int64_t number);
/* Appends a text. */
bool params_add_text(struct pg_params *params, const char *text);
/* Ends a parameter whose value the caller has appended to @values from @begin on. */
bool params_end(struct pg_params *params, uint32_t type, size_t begin);

/*
 * Connects until @deadline_boot_ms. Returns STATUS_OK, or STATUS_IO with the reason in @why. The caller
 * prepares the statements (batch.h).
 */
enum status connection_open(struct pg_connection *connection, int64_t deadline_boot_ms);
/* Begins to connect to one server, without waiting; as PQconnectStartParams() returns. */
PGconn *connection_start(const struct pg_options *options, unsigned int server);
/* Returns true if the server reported itself as a standby when @conn was opened. */
bool connection_is_standby(PGconn *conn);
void connection_close(struct pg_connection *connection);
/* Waits for @ms. Returns true, at once, if the process is to end. */
bool connection_pause(const struct pg_options *options, uint32_t ms);

/* Begins a round trip. Returns false if the connection is broken: the trip's outcome is TRIP_DOUBT. */
bool trip_begin(struct pg_connection *connection);
/* Adds a prepared statement. Returns false as trip_begin() does. */
bool trip_add(struct pg_connection *connection, const char *name, const struct pg_params *params);

/*
 * Called with the result of each statement, in their order. Returns false if the result is not what the
 * caller can use; the trip then ends with TRIP_FAILED and the SQLSTATE "". The transaction may exist.
 */
typedef bool trip_result(void *context, unsigned int number, const PGresult *result);

/* Sends the trip and waits for its end, at most for options->trip_ms. @take may be NULL. */
enum trip trip_end(struct pg_connection *connection, trip_result *take, void *context);

/*
 * Runs one statement that is not prepared, in a trip of its own. Returns the outcome. For TRIP_DONE,
 * the caller frees *@result.
 */
enum trip connection_query(struct pg_connection *connection, const char *sql,
	const struct pg_params *params, PGresult **result);

/* Returns the int8 at this place of a result. */
int64_t result_number(const PGresult *result, int row, int column);

/* Runs statements without parameters, separated by semicolons, as one transaction. */
enum trip connection_run(struct pg_connection *connection, const char *sql);

#endif
