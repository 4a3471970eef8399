/*
 * module - the entry of store-postgresql.so: the functions of store.h, for the servers of the
 * settings.
 */
#include "base/text.h"
#include "store/pg/cell.h"
#include "store/pg/ddl.h"
#include "store/pg/inspect.h"
#include "store/pg/pg.h"
#include "store/pg/watch.h"
#include "store/servers.h"

#include <stdio.h>
#include <string.h>

#define CONNINFO_SIZE 2048

/* Built once: a program has one store. Connection strings outlive it. */
static char conninfos[PG_SERVERS_MAX][CONNINFO_SIZE];

/* Writes " NAME='VALUE'" with the quotes of a connection string. Returns false if there is no room. */
static bool add_value(char conninfo[CONNINFO_SIZE], const char *name, const char *value, size_t len)
{
	size_t at = strlen(conninfo);

	at += (size_t)snprintf(conninfo + at, CONNINFO_SIZE - at, " %s='", name);
	for (size_t i = 0; i < len && at + 4 < CONNINFO_SIZE; i++) {
		if (value[i] == '\'' || value[i] == '\\')
			conninfo[at++] = '\\';
		conninfo[at++] = value[i];
	}
	if (at + 4 >= CONNINFO_SIZE)
		return false;
	memcpy(conninfo + at, "'", 2);
	return true;
}

static bool add_options(char conninfo[CONNINFO_SIZE], const char *options)
{
	const size_t at = strlen(conninfo), room = CONNINFO_SIZE - at;

	return (size_t)snprintf(conninfo + at, room, " %s", options) < room;
}

/* Makes the connection string of one of the hosts: HOST, HOST:PORT, [ADDRESS]:PORT or /DIRECTORY. */
static bool make_conninfo(char conninfo[CONNINFO_SIZE], const struct store_servers *servers,
	const char *host, size_t len)
{
	const char *colon = host[0] == '/' ? NULL : memrchr(host, ':', len);
	size_t host_len = colon ? (size_t)(colon - host) : len;

	if (colon && memchr(host, ':', host_len) && host[0] != '[')
		host_len = len; /* an IPv6 address without a port */
	conninfo[0] = '\0';
	if (host_len < len && !add_value(conninfo, "port", host + host_len + 1, len - host_len - 1))
		return false;
	if (host[0] == '[' && host_len > 2 && host[host_len - 1] == ']') {
		host++;
		host_len -= 2;
	}
	return host_len && add_value(conninfo, "host", host, host_len) &&
		add_value(conninfo, "dbname", servers->database, strlen(servers->database)) &&
		add_value(conninfo, "user", servers->user, strlen(servers->user)) &&
		add_options(conninfo, servers->options);
}

static enum status read_servers(const struct store_servers *servers, struct pg_options *options,
	char *why, size_t why_size)
{
	const char *host = servers->hosts;

	while (*host) {
		const size_t len = strcspn(host, ",");

		if (options->server_count == PG_SERVERS_MAX ||
			!make_conninfo(conninfos[options->server_count], servers, host, len)) {
			snprintf(why, why_size,
				"postgresql_hosts must be at most %d of HOST, HOST:PORT or "
				"/DIRECTORY, separated by commas",
				PG_SERVERS_MAX);
			return STATUS_CONFIG;
		}
		options->servers[options->server_count] = conninfos[options->server_count];
		options->server_count++;
		host += len;
		host += *host == ',';
	}
	return STATUS_OK;
}

static enum status make_options(const struct store_options *given, struct pg_options *options,
	char *why, size_t why_size)
{
	const struct store_servers *servers = given->servers;

	*options = (struct pg_options){
		.schema = servers->schema,
		.installation = given->installation,
		.claim = given->claim,
		.durability = servers->quorum ? PG_QUORUM : PG_LOCAL,
		.trip_ms = servers->trip_ms,
		.patience_ms = servers->patience_ms,
		.read_lease_ms = servers->read_lease_ms,
		.stop_fd = given->claim ? given->claim->stop_fd : -1,
		.state_directory = servers->state_directory,
		.accept_older = servers->accept_older,
		.create = given->create,
		.fill = given->fill,
	};
	return read_servers(servers, options, why, why_size);
}

static enum status module_open(const struct store_options *given, struct store **store, char *why,
	size_t why_size)
{
	static struct pg_options options;
	enum status status = make_options(given, &options, why, why_size);

	return status ? status : pg_store_open(&options, store, why, why_size);
}

static enum status module_read_schema(const struct store_options *given, uint64_t *schema,
	char *why, size_t why_size)
{
	struct pg_options options;
	enum status status = make_options(given, &options, why, why_size);

	return status ? status : cell_read_schema(&options, schema, why, why_size);
}

static enum status module_watch_open(const struct store_options *given, struct store_watch **watch,
	char *why, size_t why_size)
{
	static struct pg_options options;
	enum status status = make_options(given, &options, why, why_size);

	if (status)
		return status;
	*watch = watch_new(&options);
	if (*watch)
		return STATUS_OK;
	snprintf(why, why_size, "out of memory");
	return STATUS_NOMEM;
}

static enum status module_snapshot(const struct store_options *given, struct store **store,
	char *why, size_t why_size)
{
	static struct pg_options options;
	enum status status = make_options(given, &options, why, why_size);

	return status ? status : pg_snapshot_open(&options, store, why, why_size);
}

static enum status module_inspect(const struct store_options *given, store_fact *take,
	void *context, char *why, size_t why_size)
{
	struct pg_options options;
	enum status status = make_options(given, &options, why, why_size);

	if (!status)
		pg_inspect(&options, take, context);
	return status;
}

static bool module_sql(const struct store_servers *servers, struct buffer *out)
{
	return ddl_put(out, servers->schema, servers->user);
}

extern const struct store_module creditbridge_store_module;
const struct store_module creditbridge_store_module = {PACKAGE_VERSION, module_open,
	module_read_schema, module_watch_open, module_snapshot, module_inspect, module_sql};
