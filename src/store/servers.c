#include "store/servers.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MODULE_FILE "store-postgresql.so"

const struct store_servers *store_servers_of(const struct settings *settings,
	struct store_servers *servers)
{
	if (strcmp(settings->store, "postgresql") != 0)
		return NULL;
	*servers = (struct store_servers){
		.hosts = settings->postgresql_hosts,
		.database = settings->postgresql_database,
		.user = settings->postgresql_user,
		.schema = settings->postgresql_schema,
		.options = settings->postgresql_options,
		.quorum = strcmp(settings->postgresql_durability, "quorum") == 0,
		.trip_ms = settings->postgresql_trip_ms,
		.patience_ms = settings->postgresql_patience_ms,
		.state_directory = settings->state_directory,
		.read_lease_ms = settings->cell_read_lease_ms,
	};
	return servers;
}

/* A user that can write to the program's directory can also replace the program. */
static void *open_beside_program(void)
{
	char path[PATH_MAX + sizeof(MODULE_FILE)];
	ssize_t len = readlink("/proc/self/exe", path, PATH_MAX - 1);
	char *slash;

	if (len <= 0)
		return NULL;
	path[len] = '\0';
	slash = strrchr(path, '/');
	if (!slash)
		return NULL;
	memcpy(slash + 1, MODULE_FILE, sizeof(MODULE_FILE));
	return access(path, R_OK) == 0 ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
}

static const struct store_module *load_module(char *why, size_t why_size)
{
	const struct store_module *module;
	void *handle = open_beside_program();

	if (!handle)
		handle = dlopen(STORE_MODULE_DIRECTORY "/" MODULE_FILE, RTLD_NOW | RTLD_LOCAL);
	if (!handle) {
		snprintf(why, why_size,
			"the store on PostgreSQL cannot be loaded: %s (install the package "
			"creditbridge-postgresql)",
			dlerror());
		return NULL;
	}
	module = dlsym(handle, STORE_MODULE_SYMBOL);
	if (module && strcmp(module->version, PACKAGE_VERSION) == 0)
		return module;
	snprintf(why, why_size,
		"%s is of another version than this program: install creditbridge and "
		"creditbridge-postgresql of the same version",
		MODULE_FILE);
	return NULL;
}

enum status store_servers_open(const struct store_options *options, struct store **store, char *why,
	size_t why_size)
{
	const struct store_module *module = load_module(why, why_size);

	return module ? module->open(options, store, why, why_size) : STATUS_CONFIG;
}

enum status store_servers_read_schema(const struct store_options *options, uint64_t *schema,
	char *why, size_t why_size)
{
	const struct store_module *module = load_module(why, why_size);

	return module ? module->read_schema(options, schema, why, why_size) : STATUS_CONFIG;
}

enum status store_watch_open(const struct store_options *options, struct store_watch **watch,
	char *why, size_t why_size)
{
	const struct store_module *module = load_module(why, why_size);

	return module ? module->watch_open(options, watch, why, why_size) : STATUS_CONFIG;
}

enum status store_servers_inspect(const struct store_servers *servers, store_fact *take,
	void *context, char *why, size_t why_size)
{
	const struct store_options options = {.servers = servers};
	const struct store_module *module = load_module(why, why_size);

	return module ? module->inspect(&options, take, context, why, why_size) : STATUS_CONFIG;
}

bool store_has_snapshot(const struct settings *settings)
{
	return strcmp(settings->store, "postgresql") == 0;
}

enum status store_open_snapshot(const struct store_options *options, struct store **store,
	char *why, size_t why_size)
{
	const struct store_module *module = load_module(why, why_size);

	return module ? module->snapshot(options, store, why, why_size) : STATUS_CONFIG;
}

enum status store_servers_sql(const struct store_servers *servers, struct buffer *out, char *why,
	size_t why_size)
{
	const struct store_module *module = load_module(why, why_size);

	if (!module)
		return STATUS_CONFIG;
	return module->sql(servers, out) ? STATUS_OK : STATUS_NOMEM;
}
