/* store_facts - the settings and states that the PostgreSQL servers report, for the checks of the
 * store. */
#ifndef DOCTOR_STORE_FACTS_H
#define DOCTOR_STORE_FACTS_H

#include "doctor/doctor.h"

#define STORE_FACTS_MAX   256 /* further ones are left out */
#define STORE_SERVERS_MAX 8

struct store_known {
	unsigned int server;
	char name[48];
	char value[256];
};

struct store_facts {
	unsigned int server_count;
	char hosts[STORE_SERVERS_MAX][128];
	unsigned int count;
	struct store_known facts[STORE_FACTS_MAX];
};

/*
 * Asks all servers, as the user of the ledger. Returns NULL after a finding if that cannot be done; only
 * store_servers reports the reason. The result lives as long as the process.
 */
const struct store_facts *store_facts_get(struct doctor *doctor);

/* Returns the first value of @name after @after (NULL: from the beginning) of a server, or NULL. */
const struct store_known *store_fact_next(const struct store_facts *facts, unsigned int server,
	const char *name, const struct store_known *after);

/* Returns the value of @name, or "". */
const char *store_fact_value(const struct store_facts *facts, unsigned int server,
	const char *name);
uint64_t store_fact_number(const struct store_facts *facts, unsigned int server, const char *name);

bool store_answers(const struct store_facts *facts, unsigned int server);
bool store_takes_writes(const struct store_facts *facts, unsigned int server);

/* Returns the first server that takes writes, or @facts->server_count. */
unsigned int store_primary(const struct store_facts *facts);

#endif
