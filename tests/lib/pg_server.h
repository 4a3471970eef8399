/* pg_server - a private PostgreSQL for a test program, and a schema of its own for each case. */
#ifndef TESTS_LIB_PG_SERVER_H
#define TESTS_LIB_PG_SERVER_H

#include "store/pg/options.h"

#include <stdbool.h>

/*
 * Starts the server of this program, or prints why it cannot. It ends with the program. Call it before
 * check forks, in main().
 */
bool pg_server_start(void);
void pg_server_stop(void);
/* The folder of the server's socket, and the connection string. */
const char *pg_server_directory(void);
const char *pg_server_conninfo(void);

/* Makes an empty schema and fills @options for it; pg_server_drop() removes it. */
void pg_server_schema(struct pg_options *options);
void pg_server_drop(void);

/* Runs SQL in that schema as another client; the case fails if the SQL does. Returns rows affected. */
int pg_server_run(const char *sql);

/*
 * Waits until a commit waits for a standby. The checkpointer makes synchronous_standby_names valid, some time
 * after the server was asked to read it.
 */
void pg_server_await_waiting(void);

#endif
