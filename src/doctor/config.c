/*
 * doctor_config - checks the configuration: all processes that need it can read it, and its
 * values are plausible.
 */
#include "doctor/doctor.h"

#include "admin/operator.h"
#include "doctor/process.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void doctor_configuration(struct doctor *doctor)
{
	const char *path = doctor_config(doctor);
	char why[SESSION_WHY];
	enum status status;

	/* Without the file creditbridgectl uses the defaults, but no other program starts. */
	if (access(path, F_OK) < 0 && errno == ENOENT && !doctor->options->config) {
		settings_defaults(doctor->settings);
		*doctor->settings_loaded = true;
		doctor_fail(doctor, "there is no %s: ledger, workers and sweeper do not start",
			path);
		doctor_remedy(doctor,
			"install the sample creditbridge.conf there, or name yours "
			"with --config=FILE");
		return;
	}
	if (access(path, R_OK) < 0) {
		doctor_unseen(doctor, path, errno, "give the right file with --config=FILE");
		return;
	}
	status = session_settings_load(doctor->settings, path, why);
	*doctor->settings_loaded = status == STATUS_OK;
	if (status == STATUS_OK) {
		doctor_pass(doctor, "%s can be read", path);
	} else {
		doctor_fail(doctor, "%s", why);
		doctor_remedy(doctor,
			status == STATUS_NOMEM
				? "see what uses up the machine's processes and memory"
				: status == STATUS_IO
				? "check the disk"
				: "correct that line; no program of creditbridge starts before");
	}
}

/* Returns true if a user other than root and @owner may write to @st. */
static bool open_to_others(const struct stat *st, uid_t owner)
{
	return st->st_mode & S_IWOTH || (st->st_mode & S_IWGRP && st->st_gid != 0) ||
		(st->st_uid != 0 && st->st_uid != owner);
}

uid_t doctor_ledger_uid(const struct doctor *doctor)
{
	struct stat st;

	return stat(doctor->settings->state_directory, &st) == 0 ? st.st_uid : geteuid();
}

void doctor_configuration_file(struct doctor *doctor)
{
	char directory[SETTINGS_PATH_MAX];
	const char *paths[] = {directory, doctor_config(doctor)};
	uid_t owner = doctor_ledger_uid(doctor);
	bool good = true;
	struct stat st;

	snprintf(directory, sizeof(directory), "%s", paths[1]);
	paths[0] = dirname(directory);
	for (unsigned int i = 0; i < 2; i++) {
		if (stat(paths[i], &st) < 0) {
			doctor_unseen(doctor, paths[i], errno, "put the configuration there");
			return;
		}
		if (!open_to_others(&st, owner))
			continue;
		good = false;
		doctor_fail(doctor,
			"%s has mode %04o and belongs to uid %lu: others than root may "
			"change it",
			paths[i], (unsigned int)st.st_mode & 07777, (unsigned long)st.st_uid);
		doctor_remedy(doctor, "chown root:root %s; chmod go-w %s", paths[i], paths[i]);
	}
	if (good)
		doctor_pass(doctor, "only root may change it");
}

static int try_read(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	return fd < 0 ? errno : 0;
}

/* Reports whether the user @identity, which runs @what, can read the configuration. */
static void judge_reader(struct doctor *doctor, const struct process_identity *identity,
	const char *what)
{
	char path[SETTINGS_PATH_MAX];
	int error;

	if (!realpath(doctor_config(doctor), path))
		snprintf(path, sizeof(path), "%s", doctor_config(doctor));
	error = identity_try_as(identity, try_read, path);
	doctor_about(doctor, "%s", what);
	if (error < 0) {
		doctor_skip(doctor, "only root can try as user %s", identity->name);
		doctor_remedy(doctor, "call doctor as root");
	} else if (error) {
		doctor_fail(doctor, "user %s cannot read %s: %s", identity->name, path,
			strerror(error));
		doctor_remedy(doctor,
			"chmod 0644 %s: it holds no secrets; if a folder above is closed, leave it "
			"closed and move the file below /etc/creditbridge",
			path);
	} else {
		doctor_pass(doctor, "user %s reads it", identity->name);
	}
}

void doctor_configuration_access(struct doctor *doctor)
{
	struct process_identity identity;

	if (identity_of(doctor_ledger_uid(doctor), &identity))
		judge_reader(doctor, &identity, "ledger and sweeper");
	doctor_about(doctor, "workers");
	if (identity_worker(doctor, &identity))
		judge_reader(doctor, &identity, "workers");
}

void doctor_configuration_in_use(struct doctor *doctor)
{
	char path[DOCTOR_PATH_MAX];
	struct stat lock, config;

	/* The ledger writes its lock file when it starts. */
	doctor_path(path, doctor->settings->state_directory, "lock");
	if (stat(path, &lock) < 0 || stat(doctor_config(doctor), &config) < 0 ||
		!doctor_ledger_pid(doctor)) {
		doctor_skip(doctor, "no ledger is seen to run");
		return;
	}
	if (config.st_mtim.tv_sec <= lock.st_mtim.tv_sec) {
		doctor_pass(doctor, "it was not changed since the ledger was started");
		return;
	}
	doctor_warn(doctor,
		"it was changed %lld s after the ledger was started, which knows the "
		"former one",
		(long long)(config.st_mtim.tv_sec - lock.st_mtim.tv_sec));
	doctor_remedy(doctor, "restart creditbridge-ledger and reload the web server");
}

/* Values that are allowed but seldom intended. */
#define SUSPICION(member, least, most, why)                                                        \
	{                                                                                          \
#member, offsetof(struct settings, member), least, most, why                       \
	}
static const struct suspicion {
	const char *option;
	size_t offset;
	uint32_t least;
	uint32_t most;
	const char *why; /* for values outside this range */
} suspicions[] = {
	SUSPICION(request_window_s, 1, 3600, "a recorded balance call can be repeated long after"),
	SUSPICION(ledger_deadline_ms, 1000, 6000,
		"a restart of the ledger's engine takes longer, and calls "
		"are answered 503 meanwhile"),
	SUSPICION(ledger_connections_max, 64, 65536, "each worker takes one or more connections"),
	SUSPICION(ledger_queue_max, 64, 65536, "calls are refused as soon as some come at once"),
	SUSPICION(log_keep_mib, 1, UINT32_MAX, "a restored backup cannot be rolled forward"),
	SUSPICION(disk_low_water_mib, 16, UINT32_MAX, "the database meets the end of the disk"),
	SUSPICION(disk_ballast_mib, 1, UINT32_MAX,
		"recovery on a full disk has nothing to give up"),
	SUSPICION(callback_timeout_ms, 1000, 6000,
		"bets of a dealer that is a little slow are refunded"),
	SUSPICION(callback_connect_timeout_ms, 250, 6000,
		"a TLS connection to a far dealer takes longer"),
	SUSPICION(callback_lease_ms, 1, 60000, "bets of a worker that died wait for so long"),
	SUSPICION(refund_give_up_s, 3600, UINT32_MAX,
		"an hour's outage of a dealer parks its refunds"),
	SUSPICION(refund_backoff_max_ms, 1000, 3600000,
		"refunds come late to a dealer that is back"),
	SUSPICION(sweep_overdue_s, 61, 3600, "cron starts the sweeper each minute"),
};

/* Returns the default of an existing option. */
static const char *preset_of(const char *name)
{
	const char *option, *preset = "";

	for (unsigned int i = 0; (option = settings_option(i, &preset)); i++) {
		if (strcmp(option, name) == 0)
			break;
	}
	return preset;
}

static void warn_of_value(struct doctor *doctor, const char *name, uint32_t value, const char *why)
{
	doctor_about(doctor, "%s", name);
	doctor_warn(doctor, "it is %u: %s", value, why);
	doctor_remedy(doctor, "set it back to %s, unless you know better", preset_of(name));
}

void doctor_settings(struct doctor *doctor)
{
	const struct settings *settings = doctor->settings;

	for (unsigned int i = 0; i < sizeof(suspicions) / sizeof(suspicions[0]); i++) {
		const struct suspicion *row = &suspicions[i];
		uint32_t value =
			*(const uint32_t *)(const void *)((const char *)settings + row->offset);

		if (value < row->least || value > row->most)
			warn_of_value(doctor, row->option, value, row->why);
	}
	if (settings->callback_connect_timeout_ms >= settings->callback_timeout_ms)
		warn_of_value(doctor, "callback_connect_timeout_ms",
			settings->callback_connect_timeout_ms,
			"it leaves nothing of callback_timeout_ms for the answer");
	if (settings->refund_backoff_ms > settings->refund_backoff_max_ms)
		warn_of_value(doctor, "refund_backoff_ms", settings->refund_backoff_ms,
			"it is more than refund_backoff_max_ms");
	if (settings->log_level == LOG_LEVEL_DEBUG) {
		doctor_about(doctor, "log_level");
		doctor_warn(doctor, "at level debug the log holds the bodies of calls");
		doctor_remedy(doctor, "set log_level = info when you are done");
	}
	if (!doctor->sheet->count)
		doctor_pass(doctor, "no value is suspicious");
}

/* Networks that callbacks should not reach. The first match is reported. */
static const struct {
	const char *address;
	enum doctor_result result;
	const char *what;
} reserved[] = {
	{"169.254.169.254", DOCTOR_FAIL,
		"the metadata service of clouds, which gives out credentials"},
	{"fd00:ec2::254", DOCTOR_WARN,
		"the metadata service of a cloud, which gives out credentials"},
	{"127.0.0.1", DOCTOR_WARN, "the services of this machine itself"},
	{"::1", DOCTOR_WARN, "the services of this machine itself"},
	{"fe80::1", DOCTOR_WARN, "whatever is on the same cable"},
};
#define RESERVED_COUNT (sizeof(reserved) / sizeof(reserved[0]))

static void judge_network(struct doctor *doctor, const struct network *network)
{
	uint8_t address[NETWORK_ADDRESS_SIZE];
	char text[NETWORK_TEXT_MAX];
	bool wraps_ipv4;

	network_address_format(network->address, text);
	wraps_ipv4 = !strchr(text, ':') && network->prefix >= 96;
	doctor_about(doctor, "%s/%u", text, network->prefix - (wraps_ipv4 ? 96u : 0u));
	for (unsigned int i = 0; i < RESERVED_COUNT; i++) {
		if (!network_address_parse(reserved[i].address, address) ||
			!network_contains(network, address))
			continue;
		doctor_add(doctor, reserved[i].result, "a dealer's URL may lead to %s (%s)",
			reserved[i].what, reserved[i].address);
		doctor_remedy(doctor,
			"name in callback_networks only the networks of dealers' "
			"servers");
		return;
	}
	if (network->prefix >= (wraps_ipv4 ? 96 + 8 : 8))
		return;
	doctor_warn(doctor, "it is wider than any network of one's own");
	doctor_remedy(doctor, "public addresses need no entry in callback_networks: narrow it");
}

void doctor_callback_networks(struct doctor *doctor)
{
	const struct settings *settings = doctor->settings;

	for (uint32_t i = 0; i < settings->callback_network_count; i++)
		judge_network(doctor, &settings->callback_networks[i]);
	doctor_about(doctor, "%s", "");
	if (!doctor->sheet->count)
		doctor_pass(doctor,
			settings->callback_network_count
				? "only networks of one's own are allowed besides public addresses"
				: "callbacks go to public addresses only");
}
