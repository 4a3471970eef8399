/*
 * schema - implements `schema`: reports the schema of the data of a ledger that does not run. An
 * upgrade checks it before it starts the new ledger.
 */
#include "cmd/ctl/common/ctl.h"

#include "cmd/ctl/common/output.h"
#include "cmd/ctl/data/offline.h"
#include "state/directory.h"
#include "state/disk.h"
#include "state/halt.h"
#include "state/identity.h"
#include "store/servers.h"
#include "store/store.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#define CACHE_MIB    8
#define LOCK_WAIT_MS 3000
#define SQL_TEXT_MAX (1024 * 1024)

/*
 * Reads the schema of a state that is not in use. Leaves both values unchanged if no ledger was
 * ever started with the state.
 */
static enum outcome read_schema(struct ctl *ctl, uint64_t *schema, const char **data)
{
	const char *state = ctl->session.settings.state_directory;
	char installation[STATE_INSTALLATION_MAX], directory[SETTINGS_PATH_MAX + 4], why[512] = "";
	struct store_servers servers;
	const struct store_options options = {.directory = directory,
		.cache_mib = CACHE_MIB,
		.servers = store_servers_of(&ctl->session.settings, &servers)};
	enum status status = state_dir_check(state, installation, why, sizeof(why));
	int lock;

	if (status)
		return offline_fail(ctl, status, why);
	lock = state_dir_lock(state, LOCK_WAIT_MS, why, sizeof(why));
	if (lock < 0)
		return offline_fail(ctl, STATUS_BUSY, why);
	snprintf(directory, sizeof(directory), "%s/db", state);
	if (disk_mark_is_set(state, DISK_CREATED)) {
		halt_forget_cached(&ctl->session.settings, directory);
		status = store_read_schema(&options, schema, why, sizeof(why));
		*data = *schema == STORE_SCHEMA  ? "current"
			: *schema < STORE_SCHEMA ? "older"
						 : "newer";
	}
	close(lock);
	return status ? offline_fail(ctl, status, why) : OUTCOME_DONE;
}

/* Prints the statements that make the tables of the store on PostgreSQL. */
static enum outcome print_sql(struct ctl *ctl)
{
	struct store_servers servers;
	char why[512] = "out of memory";
	struct output_json json;
	struct buffer sql;
	enum status status = STATUS_CONFIG;

	buffer_init(&sql, SQL_TEXT_MAX);
	if (store_servers_of(&ctl->session.settings, &servers))
		status = store_servers_sql(&servers, &sql, why, sizeof(why));
	else
		snprintf(why, sizeof(why), "set store = postgresql in the configuration first");
	if (!status && !buffer_append(&sql, "", 1))
		status = STATUS_NOMEM;
	if (status) {
		buffer_free(&sql);
		return offline_fail(ctl, status, why);
	}
	if (!ctl->json)
		fputs((const char *)sql.data, stdout);
	output_json_open(&json, ctl);
	output_json_string(&json, "sql", (const char *)sql.data);
	buffer_free(&sql);
	return output_json_close(&json);
}

static enum outcome report_schema(void *context)
{
	struct ctl *ctl = context;
	struct output_json json;
	const char *data = "none";
	uint64_t schema = STORE_SCHEMA;
	enum outcome code = read_schema(ctl, &schema, &data);

	if (code != OUTCOME_DONE)
		return code;
	if (!ctl->json)
		printf("%s: schema %" PRIu64 " (%s); this creditbridgectl is of schema %d\n",
			ctl->session.settings.state_directory, schema, data, STORE_SCHEMA);
	output_json_open(&json, ctl);
	output_json_string(&json, "state_directory", ctl->session.settings.state_directory);
	output_json_number(&json, "schema", schema);
	output_json_number(&json, "program_schema", STORE_SCHEMA);
	output_json_string(&json, "data", data);
	output_json_string(&json, "store", ctl->session.settings.store);
	return output_json_close(&json);
}

enum outcome ctl_schema(struct ctl *ctl)
{
	enum outcome code = session_settings(&ctl->session);

	if (code == OUTCOME_DONE && ctl->options[OPTION_SQL])
		return print_sql(ctl);
	if (code == OUTCOME_DONE)
		code = offline_check_stopped(ctl);
	if (code == OUTCOME_DONE)
		code = offline_become_owner(ctl, false, NULL);
	return code == OUTCOME_DONE ? offline_run(ctl, report_schema, ctl, "nothing was read", NULL)
				    : code;
}
