/*
 * store - checks the servers of the store on PostgreSQL.
 */
#include "doctor/store_facts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#define MIB           (UINT64_C(1024) * 1024)
#define VERSION_LEAST 150000
#define LAG_MIB       16 /* that a standby may be late */
#define KEPT_FACTOR   2  /* log kept for a slot, in sizes of max_wal_size */
#define FREE_MIB      1024
/* Transactions. At 2^31 PostgreSQL refuses writes; autovacuum acts at 200,000,000. */
#define AGE_MAX UINT64_C(1000000000)

#define REMEDY_SEE                                                                                 \
	"as a superuser of PostgreSQL: GRANT pg_read_all_stats, pg_read_all_settings TO %s"

/* ---- store_servers */

static void report_silent(struct doctor *doctor, const struct store_facts *facts,
	unsigned int server, bool served)
{
	doctor_about(doctor, "%s", facts->hosts[server]);
	doctor_add(doctor, served ? DOCTOR_WARN : DOCTOR_FAIL, "it does not answer: %s",
		store_fact_value(facts, server, "failure"));
	doctor_remedy(doctor,
		"see that PostgreSQL runs there, that a firewall lets this host in, and that "
		"pg_hba.conf lets in the user %s",
		doctor->settings->postgresql_user);
}

static void report_old(struct doctor *doctor, const struct store_facts *facts, unsigned int server)
{
	const uint64_t version = store_fact_number(facts, server, "version");

	if (version >= VERSION_LEAST)
		return;
	doctor_about(doctor, "%s", facts->hosts[server]);
	doctor_fail(doctor, "its PostgreSQL is of version %" PRIu64, version / 10000);
	doctor_remedy(doctor, "upgrade it to 15 or later");
}

/* A server that takes writes and lacks what was answered: it was promoted wrongly, or restored. */
static void report_lacking(struct doctor *doctor, const struct store_facts *facts,
	unsigned int primary)
{
	unsigned int holder = 0;

	if (strcmp(store_fact_value(facts, primary, "lacks"), "on") != 0)
		return;
	while (holder < facts->server_count &&
		strcmp(store_fact_value(facts, holder, "lacks"), "off") != 0)
		holder++;
	doctor_fail(doctor,
		"%s takes writes and lacks batches that were answered: it has turn %s, and turn %s "
		"was answered. No ledger serves it",
		facts->hosts[primary], store_fact_value(facts, primary, "turn"),
		store_fact_value(facts, primary, "answered"));
	if (holder < facts->server_count)
		doctor_remedy(doctor,
			"%s has them: stop Patroni on the other servers before they follow, copy its data "
			"directory, and make it lead (patronictl failover --candidate)",
			facts->hosts[holder]);
	else
		doctor_remedy(doctor,
			"look for a server or a copy that has them before anything else; after a restore, "
			"or to accept their loss, stop the ledgers and run creditbridgectl adopt --copied "
			"on one host");
}

static void judge_primary(struct doctor *doctor, const struct store_facts *facts)
{
	const unsigned int primary = store_primary(facts);

	for (unsigned int i = primary + 1; i < facts->server_count; i++) {
		if (!store_takes_writes(facts, i))
			continue;
		doctor_fail(doctor, "two servers take writes: %s and %s", facts->hosts[primary],
			facts->hosts[i]);
		doctor_remedy(doctor,
			"find out which one the cluster follows (patronictl list), and stop the "
			"other before anything else");
	}
	if (primary == facts->server_count) {
		doctor_fail(doctor, "no server takes writes: transfers and bets are not answered");
		doctor_remedy(doctor,
			"see with patronictl list why there is no leader; promote none by hand");
	} else if (strcmp(store_fact_value(facts, primary, "tables"), "off") == 0) {
		doctor_fail(doctor, "the schema %s has no tables",
			doctor->settings->postgresql_schema);
		doctor_remedy(doctor,
			"start the ledger for a new installation; otherwise see postgresql_database "
			"and postgresql_schema");
	} else {
		report_lacking(doctor, facts, primary);
	}
}

void doctor_store_servers(struct doctor *doctor)
{
	const struct store_facts *facts = store_facts_get(doctor);
	const unsigned int primary = facts ? store_primary(facts) : 0;

	if (!facts)
		return;
	for (unsigned int i = 0; i < facts->server_count; i++) {
		if (store_answers(facts, i))
			report_old(doctor, facts, i);
		else
			report_silent(doctor, facts, i, primary < facts->server_count);
	}
	doctor_about(doctor, "%s", "");
	judge_primary(doctor, facts);
	if (!doctor->sheet->count)
		doctor_pass(doctor, "%u answer, %s takes writes, PostgreSQL %" PRIu64 ".%" PRIu64,
			facts->server_count, facts->hosts[primary],
			store_fact_number(facts, primary, "version") / 10000,
			store_fact_number(facts, primary, "version") % 10000);
}

/* Returns the facts if a server takes writes; otherwise NULL after a SKIP. */
static const struct store_facts *facts_of_primary(struct doctor *doctor)
{
	const struct store_facts *facts = store_facts_get(doctor);

	if (facts && store_primary(facts) < facts->server_count)
		return facts;
	if (facts)
		doctor_skip(doctor, "no server takes writes: see store_servers");
	return NULL;
}

/* ---- store_quorum */

/* Returns how many standbys a commit waits for, by the text of synchronous_standby_names. */
static unsigned long copies_needed(const char *names)
{
	const char *number = strncmp(names, "ANY ", 4) == 0 ? names + 4
		: strncmp(names, "FIRST ", 6) == 0          ? names + 6
							    : names;
	const unsigned long needed = strtoul(number, NULL, 10);

	return needed && strchr(number, '(') ? needed : 1;
}

/* Counts standbys that a commit may wait for. */
static unsigned int copies_attached(const struct store_facts *facts, unsigned int primary)
{
	const struct store_known *copy = NULL;
	unsigned int count = 0;

	while ((copy = store_fact_next(facts, primary, "copy", copy))) {
		const char *state = strrchr(copy->value, ' ');

		count += state && strcmp(state, " async") != 0;
	}
	return count;
}

static void judge_copies(struct doctor *doctor, const struct store_facts *facts,
	unsigned int primary, const char *names)
{
	const unsigned long needed = copies_needed(names);
	const unsigned int attached = copies_attached(facts, primary);

	if (store_fact_number(facts, primary, "copy_hidden")) {
		doctor_warn(doctor, "%s hides its standbys from the user %s", facts->hosts[primary],
			doctor->settings->postgresql_user);
		doctor_remedy(doctor, REMEDY_SEE, doctor->settings->postgresql_user);
	} else if (attached < needed) {
		doctor_fail(doctor,
			"commits wait: %u standbys are attached, and synchronous_standby_names "
			"wants %lu",
			attached, needed);
		doctor_remedy(doctor, "start the missing standby; patronictl list names it");
	} else if (attached == 1) {
		doctor_warn(doctor, "one standby is attached: commits wait when it is lost");
		doctor_remedy(doctor, "add a third server to the cluster");
	} else {
		doctor_pass(doctor, "a commit waits for %lu of %u standbys", needed, attached);
	}
}

void doctor_store_quorum(struct doctor *doctor)
{
	const struct store_facts *facts = facts_of_primary(doctor);
	const unsigned int primary = facts ? store_primary(facts) : 0;
	const char *names;

	if (!facts)
		return;
	names = store_fact_value(facts, primary, "setting:synchronous_standby_names");
	if (strcmp(doctor->settings->postgresql_durability, "quorum") != 0) {
		doctor_pass(doctor, "postgresql_durability = local: a commit waits for one disk");
	} else if (!names[0]) {
		doctor_fail(doctor, "no standby is named that a commit would wait for");
		doctor_remedy(doctor,
			"let Patroni name them (synchronous_mode and synchronous_mode_strict)");
	} else {
		judge_copies(doctor, facts, primary, names);
	}
}

/* ---- store_settings */

static const struct {
	const char *name;
	const char *bad;
	enum doctor_result result;
	const char *harm;
	const char *remedy;
} rules[] = {
	{"fsync", "off", DOCTOR_FAIL, "a power cut loses commits",
		"set fsync = on in postgresql.conf and reload"},
	{"full_page_writes", "off", DOCTOR_FAIL, "a power cut can damage pages",
		"set full_page_writes = on in postgresql.conf and reload"},
	{"synchronous_commit", "off", DOCTOR_WARN,
		"a crash loses what other programs commit; the ledger's own sessions set it to on",
		"set synchronous_commit = on in postgresql.conf and reload"},
	{"synchronous_commit", "local", DOCTOR_WARN,
		"standbys may lack what other programs commit; the ledger's own sessions set it to on",
		"set synchronous_commit = on in postgresql.conf and reload"},
	{"wal_level", "minimal", DOCTOR_WARN,
		"neither a standby nor pg_basebackup can copy this server",
		"set wal_level = replica in postgresql.conf and restart"},
	{"data_checksums", "off", DOCTOR_WARN, "a page that a disk damaged is not noticed",
		"stop the server and run pg_checksums --enable"},
	{"autovacuum", "off", DOCTOR_WARN, "the tables grow without bound",
		"set autovacuum = on in postgresql.conf and reload"},
};

void doctor_store_settings(struct doctor *doctor)
{
	const struct store_facts *facts = facts_of_primary(doctor);

	for (unsigned int i = 0; facts && i < facts->server_count; i++) {
		doctor_about(doctor, "%s", facts->hosts[i]);
		for (size_t rule = 0; rule < sizeof(rules) / sizeof(rules[0]); rule++) {
			char name[64];

			snprintf(name, sizeof(name), "setting:%s", rules[rule].name);
			if (strcmp(store_fact_value(facts, i, name), rules[rule].bad) != 0)
				continue;
			doctor_add(doctor, rules[rule].result, "%s is %s: %s", rules[rule].name,
				rules[rule].bad, rules[rule].harm);
			doctor_remedy(doctor, "%s", rules[rule].remedy);
		}
	}
	doctor_about(doctor, "%s", "");
	if (facts && !doctor->sheet->count)
		doctor_pass(doctor, "no setting loses or hides what was committed");
}

/* ---- store_lag */

void doctor_store_lag(struct doctor *doctor)
{
	const struct store_facts *facts = facts_of_primary(doctor);
	const unsigned int primary = facts ? store_primary(facts) : 0;
	unsigned int standbys = 0;

	for (unsigned int i = 0; facts && i < facts->server_count; i++) {
		const uint64_t written = store_fact_number(facts, primary, "position"),
			       replayed = store_fact_number(facts, i, "position");

		if (i == primary || !store_answers(facts, i))
			continue;
		standbys++;
		if (replayed + LAG_MIB * MIB >= written)
			continue;
		doctor_about(doctor, "%s", facts->hosts[i]);
		doctor_warn(doctor, "it lacks %" PRIu64 " MiB of the log of %s",
			(written - replayed) / MIB, facts->hosts[primary]);
		doctor_remedy(doctor,
			"see pg_stat_replication on %s: a replay that was paused, a slow disk, or a "
			"long query on the standby",
			facts->hosts[primary]);
	}
	doctor_about(doctor, "%s", "");
	if (facts && !doctor->sheet->count)
		doctor_pass(doctor, "%u standbys answer, and none is late", standbys);
}

/* ---- store_roles */

void doctor_store_roles(struct doctor *doctor)
{
	const struct store_facts *facts = facts_of_primary(doctor);
	const unsigned int primary = facts ? store_primary(facts) : 0;
	const struct store_known *writer = NULL;

	if (!facts)
		return;
	if (strcmp(store_fact_value(facts, primary, "superuser"), "on") == 0) {
		doctor_warn(doctor, "the ledger's user %s is a superuser of PostgreSQL",
			doctor->settings->postgresql_user);
		doctor_remedy(doctor,
			"make a role of its own: creditbridgectl schema --sql prints the statements");
	}
	while ((writer = store_fact_next(facts, primary, "writer", writer))) {
		doctor_about(doctor, "%s", writer->value);
		doctor_warn(doctor, "this role can change the ledger's tables");
		doctor_remedy(doctor,
			"REVOKE INSERT, UPDATE, DELETE, TRUNCATE ON ALL TABLES IN SCHEMA %s FROM \"%s\"",
			doctor->settings->postgresql_schema, writer->value);
	}
	doctor_about(doctor, "%s", "");
	if (!doctor->sheet->count)
		doctor_pass(doctor, "no role but %s changes the tables",
			doctor->settings->postgresql_user);
}

/* ---- store_space */

static void judge_slots(struct doctor *doctor, const struct store_facts *facts, unsigned int server)
{
	/* In MiB, as pg_settings has it. */
	const uint64_t most = store_fact_number(facts, server, "setting:max_wal_size") * MIB;
	const struct store_known *slot = NULL;

	while ((slot = store_fact_next(facts, server, "kept", slot))) {
		const uint64_t kept = strtoull(slot->value, NULL, 10);
		const char *name = strchr(slot->value, ' ');

		if (kept <= KEPT_FACTOR * most)
			continue;
		doctor_warn(doctor, "it keeps %" PRIu64 " MiB of log for the slot%s", kept / MIB,
			name ? name : "");
		doctor_remedy(doctor,
			"start the standby that reads the slot, or drop the slot: SELECT "
			"pg_drop_replication_slot(...)");
	}
}

static void judge_server_space(struct doctor *doctor, const struct store_facts *facts,
	unsigned int server)
{
	const char *directory = store_fact_value(facts, server, "setting:data_directory");
	const bool here = facts->hosts[server][0] == '/';
	struct statvfs vfs;

	doctor_about(doctor, "%s", facts->hosts[server]);
	judge_slots(doctor, facts, server);
	if (store_fact_number(facts, server, "age") > AGE_MAX) {
		doctor_warn(doctor, "a database was not vacuumed for %" PRIu64 " transactions",
			store_fact_number(facts, server, "age"));
		doctor_remedy(doctor, "end sessions that stay in a transaction, then VACUUM");
	}
	if (!here || !directory[0] || statvfs(directory, &vfs) < 0)
		return;
	if ((uint64_t)vfs.f_bavail * vfs.f_frsize >= FREE_MIB * MIB)
		return;
	doctor_warn(doctor, "%" PRIu64 " MiB are free at %s",
		(uint64_t)vfs.f_bavail * vfs.f_frsize / MIB, directory);
	doctor_remedy(doctor, "free or add space: a full disk stops the server");
}

void doctor_store_space(struct doctor *doctor)
{
	const struct store_facts *facts = facts_of_primary(doctor);

	for (unsigned int i = 0; facts && i < facts->server_count; i++) {
		if (store_answers(facts, i))
			judge_server_space(doctor, facts, i);
	}
	doctor_about(doctor, "%s", "");
	if (facts && !doctor->sheet->count)
		doctor_pass(doctor, "no log piles up");
}
