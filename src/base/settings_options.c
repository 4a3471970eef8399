#include "base/settings_options.h"

#include "base/text.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* The default of every list. */
#define EMPTY_LIST "{}"
/*
 * Time that a lease has in addition to the timeout of a call. It covers the time left when the
 * first byte is sent (link/edge_commands.h), and one second to learn of the lease and to connect.
 */
#define LEASE_SPARE_MS 1500

#define OPTION(type_, member_, preset_, min_, max_)                                                \
	{                                                                                          \
#member_, (type_), (uint32_t)offsetof(struct settings, member_),                   \
			(uint32_t)sizeof(((struct settings *)0)->member_), (preset_), (min_),      \
			(max_),                                                                    \
		{                                                                                  \
			NULL, NULL                                                                 \
		}                                                                                  \
	}

#define OPTION_OF(member_, preset_, a_, b_)                                                        \
	{                                                                                          \
#member_, OPTION_CHOICE, (uint32_t)offsetof(struct settings, member_),             \
			(uint32_t)sizeof(((struct settings *)0)->member_), (preset_), 0, 15,       \
		{                                                                                  \
			(a_), (b_)                                                                 \
		}                                                                                  \
	}

const struct option settings_options[] = {
	OPTION(OPTION_DIRECTORY, state_directory, "/var/lib/creditbridge", 0, 3072),
	OPTION(OPTION_DIRECTORY, socket_directory, "/run/creditbridge", 0,
		SETTINGS_SOCKETS_SIZE - 1),
	OPTION(OPTION_NAME, socket_group, "", 0, 63),
	OPTION(OPTION_NAME, read_group, "creditbridge-read", 0, 63),
	OPTION(OPTION_NAME, support_group, "creditbridge-support", 0, 63),
	OPTION(OPTION_TEXT, console_front_file, "/etc/creditbridge/console-front", 0, 511),
	OPTION(OPTION_NAME, console_group, "_creditbridge-console", 0, 63),
	OPTION(OPTION_NUMBER, console_idle_s, "1800", 60, 86400),
	OPTION(OPTION_NUMBER, console_session_s, "43200", 60, 604800),
	OPTION(OPTION_NUMBER, console_code_fresh_s, "600", 5, 86400),
	OPTION(OPTION_NUMBER, console_page_rate, "5", 1, 1000),
	OPTION_OF(console_audit_views, "no", "no", "yes"),
	OPTION(OPTION_NUMBER, desk_share, "10", 1, 100),
	OPTION(OPTION_PREFIX, base_path, "", 0, 255),
	OPTION_OF(log_target, "syslog", "syslog", "stderr"),
	OPTION(OPTION_LEVEL, log_level, "info", 0, 0),
	OPTION(OPTION_NUMBER, request_window_s, "300", 0, 86400),
	/* A worker stops within 7 s, which would cut off a longer call. */
	OPTION(OPTION_NUMBER, ledger_deadline_ms, "5000", 100, 6000),
	OPTION(OPTION_NUMBER, ledger_connections_max, "1024", 1, 65536),
	OPTION(OPTION_NUMBER, ledger_queue_max, "1024", 1, 65536),
	OPTION(OPTION_NUMBER, ledger_gather_us, "400", 0, 10000),
	OPTION_OF(store, "berkeleydb", "berkeleydb", "postgresql"),
	OPTION(OPTION_TEXT, postgresql_hosts, "", 0, 511),
	OPTION(OPTION_NAME, postgresql_database, "creditbridge", 0, 63),
	OPTION(OPTION_NAME, postgresql_user, "creditbridge", 0, 63),
	OPTION(OPTION_NAME, postgresql_schema, "creditbridge", 0, 63),
	OPTION(OPTION_TEXT, postgresql_options, "", 0, 511),
	OPTION_OF(postgresql_durability, "quorum", "quorum", "local"),
	OPTION(OPTION_NUMBER, postgresql_trip_ms, "1000", 100, 60000),
	OPTION(OPTION_NUMBER, postgresql_patience_ms, "30000", 100, 600000),
	OPTION(OPTION_NAME, cell_name, "", 0, 15),
	OPTION(OPTION_CELLS, cells, EMPTY_LIST, 0, SETTINGS_CELLS_MAX),
	OPTION(OPTION_NAME, cell_member, "", 0, 63),
	OPTION(OPTION_TEXT, cell_listen, "", 0, 63),
	OPTION(OPTION_NUMBER, cell_takeover_ms, "2000", 1000, 60000),
	OPTION(OPTION_NUMBER, cell_read_lease_ms, "1000", 500, 59500),
	OPTION(OPTION_DIRECTORY, cell_tls_directory, "/etc/creditbridge/cell", 0, 3072),
	OPTION(OPTION_NUMBER, ledger_cache_mib, "256", 1, 65536),
	OPTION(OPTION_NUMBER, checkpoint_kib, "16384", 64, 1048576),
	OPTION(OPTION_NUMBER, checkpoint_interval_ms, "2000", 100, 3600000),
	OPTION(OPTION_NUMBER, log_keep_mib, "1024", 0, 16777216),
	/* Below LIFE_STRIDE (ledger/rows/life.h). */
	OPTION(OPTION_NUMBER, ledger_number, "0", 0, 15),
	OPTION(OPTION_NUMBER, replay_rate, "50", 1, 1000),
	OPTION(OPTION_NUMBER, retention_days, "180", 0, 36500),
	OPTION(OPTION_NUMBER, retention_pause_s, "3600", 1, 86400),
	OPTION(OPTION_NUMBER, refused_keep_days, "30", 0, 36500),
	OPTION(OPTION_NUMBER, refused_keep_mib, "64", 0, 1024),
	OPTION(OPTION_NUMBER, disk_low_water_mib, "64", 0, 16777216),
	OPTION(OPTION_NUMBER, disk_ballast_mib, "16", 0, 65536),
	/* A stopping worker completes its calls within 7 s. */
	OPTION(OPTION_NUMBER, callback_timeout_ms, "3000", 100, 6000),
	OPTION(OPTION_NUMBER, callback_connect_timeout_ms, "1000", 10, 6000),
	OPTION(OPTION_NUMBER, callback_lease_ms, "10000", 100 + LEASE_SPARE_MS, 600000),
	OPTION(OPTION_NUMBER, callback_owner_patience_ms, "60000", 0, 3600000),
	OPTION(OPTION_NUMBER, result_second_attempt_ms, "5000", 0, 86400000),
	OPTION(OPTION_NUMBER, result_third_attempt_ms, "30000", 0, 86400000),
	OPTION(OPTION_NUMBER, refund_backoff_ms, "1000", 10, 86400000),
	OPTION(OPTION_NUMBER, refund_backoff_max_ms, "300000", 10, 86400000),
	OPTION(OPTION_NUMBER, refund_give_up_s, "86400", 0, 31536000),
	OPTION(OPTION_NUMBER, breaker_open_ms, "30000", 10, 3600000),
	OPTION_OF(callback_keep_answers, "failed", "failed", "none"),
	OPTION(OPTION_NUMBER, sweep_concurrency, "256", 1, 256),
	OPTION(OPTION_NUMBER, sweep_overdue_s, "120", 1, 86400),
	OPTION(OPTION_NETWORKS, callback_networks, EMPTY_LIST, 0, SETTINGS_NETWORKS_MAX),
};
#define OPTION_COUNT (sizeof(settings_options) / sizeof(settings_options[0]))
_Static_assert(OPTION_COUNT <= OPTIONS_MAX, "an option has no place");
const unsigned int settings_option_count = OPTION_COUNT;

static bool set_number(const struct option *option, uint32_t *to, const char *value)
{
	size_t digits = strspn(value, "0123456789");
	unsigned long number;

	if (!digits || digits > 10 || value[digits])
		return false;
	number = strtoul(value, NULL, 10);
	if (number < option->min || number > option->max)
		return false;
	*to = (uint32_t)number;
	return true;
}

static bool directory_ok(const char *value)
{
	return value[0] == '/';
}

/* Returns the count of the elements of a list. */
static uint32_t *list_count(const struct option *option, struct settings *settings)
{
	return option->type == OPTION_CELLS ? &settings->cell_count
					    : &settings->callback_network_count;
}

/* Appends one network of a list. */
static bool add_network(const struct option *option, struct settings *settings, const char *value)
{
	uint32_t *count = list_count(option, settings);

	if (*count >= option->max || !network_parse(value, &settings->callback_networks[*count]))
		return false;
	++*count;
	return true;
}

/* Appends the path of a cell's file. */
static bool add_cell(const struct option *option, struct settings *settings, const char *value)
{
	uint32_t *count = list_count(option, settings);

	if (*count >= option->max || !directory_ok(value) ||
		!text_is_utf8_clean(value, strlen(value)) ||
		!text_copy(settings->cells[*count], SETTINGS_CELL_PATH_SIZE, value))
		return false;
	++*count;
	return true;
}

bool option_is_list(const struct option *option)
{
	return option->type == OPTION_NETWORKS || option->type == OPTION_CELLS;
}

void option_clear(const struct option *option, struct settings *settings)
{
	memset((char *)settings + option->offset, 0, option->size);
	*list_count(option, settings) = 0;
}

bool option_set(const struct option *option, struct settings *settings, const char *value)
{
	char *member = (char *)settings + option->offset;
	size_t len = strlen(value);

	if (option->type != OPTION_NUMBER && option->type != OPTION_LEVEL &&
		!option_is_list(option) && (len > option->max || !text_is_utf8_clean(value, len)))
		return false;
	switch (option->type) {
	case OPTION_NUMBER:
		return set_number(option, (uint32_t *)(void *)member, value);
	case OPTION_DIRECTORY:
		return directory_ok(value) && text_copy(member, option->size, value);
	case OPTION_PREFIX:
		return text_base_path(value, member, option->size);
	case OPTION_NAME:
		return (!len || text_is_name(value, option->max)) &&
			text_copy(member, option->size, value);
	case OPTION_CHOICE:
		return (strcmp(value, option->choices[0]) == 0 ||
			       strcmp(value, option->choices[1]) == 0) &&
			text_copy(member, option->size, value);
	case OPTION_TEXT:
		return text_copy(member, option->size, value);
	case OPTION_LEVEL:
		return log_level_parse(value, (enum log_level *)(void *)member);
	case OPTION_NETWORKS:
		return add_network(option, settings, value);
	case OPTION_CELLS:
		return add_cell(option, settings, value);
	}
	return false;
}

void option_explain(const struct option *option, char message[OPTION_MESSAGE_MAX])
{
	switch (option->type) {
	case OPTION_NUMBER:
		snprintf(message, OPTION_MESSAGE_MAX,
			"%s must be a whole number from %" PRIu32 " to %" PRIu32, option->name,
			option->min, option->max);
		return;
	case OPTION_DIRECTORY:
		snprintf(message, OPTION_MESSAGE_MAX,
			"%s must be an absolute path of at most %" PRIu32 " bytes", option->name,
			option->max);
		return;
	case OPTION_PREFIX:
		snprintf(message, OPTION_MESSAGE_MAX,
			"%s " TEXT_BASE_PATH_RULE " at most %" PRIu32 " bytes", option->name,
			option->max);
		return;
	case OPTION_NAME:
		snprintf(message, OPTION_MESSAGE_MAX,
			"%s must be empty or at most %" PRIu32 " of A-Z a-z 0-9 _ . -",
			option->name, option->max);
		return;
	case OPTION_CHOICE:
		snprintf(message, OPTION_MESSAGE_MAX, "%s must be %s or %s", option->name,
			option->choices[0], option->choices[1]);
		return;
	case OPTION_TEXT:
		snprintf(message, OPTION_MESSAGE_MAX,
			"%s must be text of at most %" PRIu32 " bytes", option->name, option->max);
		return;
	case OPTION_LEVEL:
		snprintf(message, OPTION_MESSAGE_MAX, "%s must be error, warning, info or debug",
			option->name);
		return;
	case OPTION_NETWORKS:
		snprintf(message, OPTION_MESSAGE_MAX,
			"%s must be a list of at most %" PRIu32
			" networks such as \"10.0.0.0/8\" or \"fd00::/8\"",
			option->name, option->max);
		return;
	case OPTION_CELLS:
		snprintf(message, OPTION_MESSAGE_MAX,
			"%s must be a list of at most %" PRIu32
			" absolute paths of at most %d bytes",
			option->name, option->max, SETTINGS_CELL_PATH_SIZE - 1);
		return;
	}
}

const struct option *option_named(const char *name)
{
	const struct option *option = settings_options;

	while (strcmp(option->name, name) != 0)
		option++;
	return option;
}

/*
 * The active ledger must know that it was replaced before another one may serve: its answers are at most
 * as old as the read lease, and its clock may run a little differently.
 */
#define TAKEOVER_SPARE_MS 500

static bool cell_agrees(const struct settings *settings, const struct option *between[2],
	char message[OPTION_MESSAGE_MAX])
{
	if (strcmp(settings->store, "postgresql") != 0)
		return true;
	between[0] = option_named("cell_takeover_ms");
	if (settings->cell_takeover_ms < settings->cell_read_lease_ms + TAKEOVER_SPARE_MS) {
		between[1] = option_named("cell_read_lease_ms");
		snprintf(message, OPTION_MESSAGE_MAX,
			"cell_takeover_ms must be at least cell_read_lease_ms + %d, which is %" PRIu32,
			TAKEOVER_SPARE_MS, settings->cell_read_lease_ms + TAKEOVER_SPARE_MS);
		return false;
	}
	if (settings->postgresql_trip_ms < settings->cell_takeover_ms)
		return true;
	between[1] = option_named("postgresql_trip_ms");
	snprintf(message, OPTION_MESSAGE_MAX,
		"postgresql_trip_ms must be less than cell_takeover_ms, which is %" PRIu32,
		settings->cell_takeover_ms);
	return false;
}

/* The units of a cell make /run/creditbridge-NAME. The console and lighttpd have such directories, too. */
static bool cell_name_agrees(const struct settings *settings, const struct option *between[2],
	char message[OPTION_MESSAGE_MAX])
{
	static const char *const taken[] = {"console", "lighttpd"};

	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++) {
		if (strcmp(settings->cell_name, taken[i]) != 0)
			continue;
		between[0] = option_named("cell_name");
		between[1] = between[0];
		snprintf(message, OPTION_MESSAGE_MAX,
			"cell_name must not be %s: /run/creditbridge-%s is the directory of another "
			"program",
			taken[i], taken[i]);
		return false;
	}
	return true;
}

bool options_agree(const struct settings *settings, const struct option *between[2],
	char message[OPTION_MESSAGE_MAX])
{
	uint32_t least = settings->callback_timeout_ms + LEASE_SPARE_MS;

	if (strcmp(settings->store, "postgresql") == 0 && !settings->postgresql_hosts[0]) {
		between[0] = option_named("store");
		between[1] = option_named("postgresql_hosts");
		snprintf(message, OPTION_MESSAGE_MAX,
			"store = postgresql needs postgresql_hosts, the servers' addresses");
		return false;
	}
	if (strstr(settings->postgresql_options, "password")) {
		between[0] = option_named("postgresql_options");
		between[1] = option_named("store");
		snprintf(message, OPTION_MESSAGE_MAX,
			"postgresql_options must hold no password: every worker reads this file. "
			"Name a file of the ledger's user by passfile=PATH");
		return false;
	}
	if (!cell_agrees(settings, between, message) ||
		!cell_name_agrees(settings, between, message))
		return false;
	if (settings->cell_count && !settings->cell_name[0]) {
		between[0] = option_named("cells");
		between[1] = option_named("cell_name");
		snprintf(message, OPTION_MESSAGE_MAX,
			"cells needs cell_name, the name of this file's own cell");
		return false;
	}
	if (settings->cell_listen[0] && !settings->cell_member[0]) {
		between[0] = option_named("cell_listen");
		between[1] = option_named("cell_member");
		snprintf(message, OPTION_MESSAGE_MAX,
			"cell_listen needs cell_member, the name in this host's certificate");
		return false;
	}
	if (settings->console_front_file[0] && settings->console_front_file[0] != '/') {
		between[0] = option_named("console_front_file");
		between[1] = option_named("console_group");
		snprintf(message, OPTION_MESSAGE_MAX,
			"console_front_file must be empty or an absolute path");
		return false;
	}
	if (settings->callback_lease_ms >= least)
		return true;
	between[0] = option_named("callback_lease_ms");
	between[1] = option_named("callback_timeout_ms");
	snprintf(message, OPTION_MESSAGE_MAX,
		"callback_lease_ms must be at least "
		"callback_timeout_ms + %d, which is %" PRIu32,
		LEASE_SPARE_MS, least);
	return false;
}

const char *settings_option(unsigned int number, const char **preset)
{
	if (number >= OPTION_COUNT)
		return NULL;
	*preset = settings_options[number].preset;
	return settings_options[number].name;
}

void settings_defaults(struct settings *settings)
{
	memset(settings, 0, sizeof(*settings));
	for (size_t i = 0; i < OPTION_COUNT; i++) {
		/* A default outside its own range is a bug of the table. */
		if (!option_is_list(&settings_options[i]) &&
			!option_set(&settings_options[i], settings, settings_options[i].preset))
			abort();
	}
}
