#include "doctor/store_facts.h"

#include "base/text.h"
#include "store/servers.h"

#include <stdlib.h>
#include <string.h>

static void take_fact(void *context, unsigned int server, const char *name, const char *value)
{
	struct store_facts *facts = context;
	struct store_known *known = &facts->facts[facts->count];

	if (facts->count == STORE_FACTS_MAX || server >= facts->server_count)
		return;
	known->server = server;
	text_copy(known->name, sizeof(known->name), name);
	text_copy(known->value, sizeof(known->value), value);
	facts->count++;
}

static void name_hosts(struct store_facts *facts, const char *hosts)
{
	while (*hosts && facts->server_count < STORE_SERVERS_MAX) {
		const size_t len = strcspn(hosts, ",");

		text_copy_len(facts->hosts[facts->server_count],
			sizeof(facts->hosts[facts->server_count]), hosts, len);
		facts->server_count++;
		hosts += len;
		hosts += *hosts == ',';
	}
}

const struct store_facts *store_facts_get(struct doctor *doctor)
{
	static struct store_facts facts;
	struct store_servers servers;
	char why[256] = "";

	name_hosts(&facts, doctor->settings->postgresql_hosts);
	/* A server may know its user by the user of the process. */
	if (session_drop_root(doctor->session) == OUTCOME_DONE &&
		store_servers_inspect(store_servers_of(doctor->settings, &servers), take_fact,
			&facts, why, sizeof(why)) == STATUS_OK)
		return &facts;
	if (doctor->check->look != doctor_store_servers) {
		doctor_skip(doctor, "the servers cannot be asked: see store_servers");
		return NULL;
	}
	doctor_fail(doctor, "the servers cannot be asked: %s",
		why[0] ? why : doctor->session->failure.detail);
	doctor_remedy(doctor,
		"install creditbridge-postgresql in the version of creditbridge, and run "
		"doctor as root");
	return NULL;
}

const struct store_known *store_fact_next(const struct store_facts *facts, unsigned int server,
	const char *name, const struct store_known *after)
{
	const struct store_known *end = facts->facts + facts->count;

	for (const struct store_known *at = after ? after + 1 : facts->facts; at < end; at++) {
		if (at->server == server && strcmp(at->name, name) == 0)
			return at;
	}
	return NULL;
}

const char *store_fact_value(const struct store_facts *facts, unsigned int server, const char *name)
{
	const struct store_known *known = store_fact_next(facts, server, name, NULL);

	return known ? known->value : "";
}

uint64_t store_fact_number(const struct store_facts *facts, unsigned int server, const char *name)
{
	return strtoull(store_fact_value(facts, server, name), NULL, 10);
}

bool store_answers(const struct store_facts *facts, unsigned int server)
{
	return store_fact_value(facts, server, "version")[0] != '\0';
}

bool store_takes_writes(const struct store_facts *facts, unsigned int server)
{
	return strcmp(store_fact_value(facts, server, "standby"), "off") == 0;
}

unsigned int store_primary(const struct store_facts *facts)
{
	unsigned int server = 0;

	while (server < facts->server_count && !store_takes_writes(facts, server))
		server++;
	return server;
}
