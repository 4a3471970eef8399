/*
 * ledger_load - calls of the ledger by its own socket, without a web server.
 *
 *   ledger_load SOCKET register CONNECTIONS CASINO FIRST COUNT   registers u<FIRST> and on
 *   ledger_load SOCKET fill CONNECTIONS CASINO FIRST COUNT       and gives each 1,000,000
 *   ledger_load SOCKET transfer CONNECTIONS CASINO SECONDS PLAYERS RUN   transfers in, at random
 *   ledger_load SOCKET balance CONNECTIONS CASINO SECONDS PLAYERS RUN    balances
 *
 * One command at a time on each connection. Prints one line of JSON; exits with 1 when anything was
 * refused or failed.
 */
#include "base/clock.h"
#include "link/client.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONNECTIONS_MAX 256
#define SAMPLES_MAX     1000000 /* for each connection */
#define DEADLINE_MS     10000
#define CREDIT          (INT64_C(1000000) * 10000)

struct caller {
	pthread_t thread;
	unsigned int number;
	struct link link;
	uint64_t calls;
	uint64_t failed;
	uint32_t *took_us;
	uint64_t random;
};

static const char *socket_path, *casino_id, *run_id;
static unsigned int connections;
static uint64_t first, count, players;
static int64_t end_ns;

static void text_of(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from);
}

static uint64_t next_random(struct caller *caller)
{
	caller->random ^= caller->random << 13;
	caller->random ^= caller->random >> 7;
	caller->random ^= caller->random << 17;
	return caller->random;
}

static bool granted(struct caller *caller, enum command command, const void *cmd, void *result,
	const struct verdict *verdict)
{
	enum status status =
		link_call(&caller->link, command, cmd, result, clock_boot_ms() + DEADLINE_MS);

	caller->calls++;
	if (status == STATUS_OK && verdict->refusal == REFUSAL_NONE)
		return true;
	caller->failed++;
	return false;
}

static bool transfer(struct caller *caller, uint64_t player, money_t amount)
{
	struct transfer_cmd cmd = {.kind = ENTRY_TRANSFER_IN, .amount = amount};
	struct transfer_result result;

	text_of(cmd.casino_id, sizeof(cmd.casino_id), casino_id);
	snprintf(cmd.user_id, sizeof(cmd.user_id), "u%" PRIu64, player);
	snprintf(cmd.request_transaction_id, sizeof(cmd.request_transaction_id), "%s-%u-%" PRIu64,
		run_id, caller->number, caller->calls);
	return granted(caller, COMMAND_TRANSFER, &cmd, &result, &result.verdict);
}

static bool balance(struct caller *caller, uint64_t player)
{
	struct balance_cmd cmd = {0};
	struct balance_result result;

	text_of(cmd.casino_id, sizeof(cmd.casino_id), casino_id);
	snprintf(cmd.user_id, sizeof(cmd.user_id), "u%" PRIu64, player);
	return granted(caller, COMMAND_BALANCE, &cmd, &result, &result.verdict);
}

static void *players_make(struct caller *caller, bool credit)
{
	for (uint64_t i = first + caller->number; i < first + count; i += connections) {
		struct player_register_cmd cmd = {0};
		struct player_register_result result;

		text_of(cmd.casino_id, sizeof(cmd.casino_id), casino_id);
		snprintf(cmd.user_id, sizeof(cmd.user_id), "u%" PRIu64, i);
		/* 20 characters, as random as the real ones, so that pages split as theirs do. */
		for (unsigned int at = 0; at < PLAYER_ID_SIZE - 1; at++)
			cmd.player_id[at] =
				"abcdefghijklmnopqrstuvwxyz234567"[next_random(caller) >> 20 & 31];
		if (!granted(caller, COMMAND_PLAYER_REGISTER, &cmd, &result, &result.verdict) ||
			(credit && !transfer(caller, i, CREDIT)))
			break;
	}
	return NULL;
}

static void *register_(void *caller)
{
	return players_make(caller, false);
}

static void *fill(void *caller)
{
	return players_make(caller, true);
}

static void *measure(struct caller *caller, bool (*call)(struct caller *, uint64_t))
{
	for (;;) {
		int64_t start_ns = clock_boot_ns();

		if (start_ns >= end_ns || caller->calls >= SAMPLES_MAX ||
			!call(caller, next_random(caller) % players))
			return NULL;
		caller->took_us[caller->calls - 1] =
			(uint32_t)((clock_boot_ns() - start_ns) / 1000);
	}
}

static bool transfer_one(struct caller *caller, uint64_t player)
{
	return transfer(caller, player, 10000);
}

static void *transfers(void *caller)
{
	return measure(caller, transfer_one);
}

static void *balances(void *caller)
{
	return measure(caller, balance);
}

static const struct kind {
	const char *name;
	void *(*run)(void *caller);
	bool timed;
} kinds[] = {
	{"register", register_, false},
	{"fill", fill, false},
	{"transfer", transfers, true},
	{"balance", balances, true},
};

static int compare(const void *a, const void *b)
{
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

	return left < right ? -1 : left > right;
}

/* Prints what the callers did in @took_ns. */
static bool report(struct caller *callers, bool timed, int64_t took_ns)
{
	uint64_t calls = 0, failed = 0, at = 0;
	uint32_t *all;

	for (unsigned int i = 0; i < connections; i++) {
		calls += callers[i].calls;
		failed += callers[i].failed;
	}
	all = calloc(calls + 1, sizeof(*all));
	if (all == NULL)
		return false;
	for (unsigned int i = 0; timed && i < connections; i++) {
		memcpy(all + at, callers[i].took_us, callers[i].calls * sizeof(*all));
		at += callers[i].calls;
	}
	qsort(all, at, sizeof(*all), compare);
	printf("{\"requests\":%" PRIu64 ",\"seconds\":%.6f,\"p50_ms\":%.3f,\"p99_ms\":%.3f,"
	       "\"p999_ms\":%.3f,\"max_ms\":%.3f,\"refused\":%" PRIu64 ",\"broken\":0,"
	       "\"late\":0}\n",
		calls, (double)took_ns / 1e9, all[at / 2] / 1e3, all[at * 99 / 100] / 1e3,
		all[at * 999 / 1000] / 1e3, all[at > 0 ? at - 1 : 0] / 1e3, failed);
	free(all);
	return failed == 0;
}

int main(int argc, char **argv)
{
	static struct caller callers[CONNECTIONS_MAX];
	const struct kind *kind = NULL;
	int64_t start_ns;
	bool timed, ok;

	for (unsigned int i = 0; argc > 6 && i < sizeof(kinds) / sizeof(*kinds); i++)
		if (strcmp(argv[2], kinds[i].name) == 0)
			kind = &kinds[i];
	if (kind == NULL)
		return 64;
	socket_path = argv[1];
	connections = (unsigned int)strtoul(argv[3], NULL, 10);
	if (connections < 1 || connections > CONNECTIONS_MAX)
		return 64;
	casino_id = argv[4];
	timed = kind->timed;
	start_ns = clock_boot_ns();
	if (timed) {
		end_ns = start_ns + strtoll(argv[5], NULL, 10) * 1000000000;
		players = strtoull(argv[6], NULL, 10);
		run_id = argc > 7 ? argv[7] : "run";
	} else {
		run_id = "first";
		first = strtoull(argv[5], NULL, 10);
		count = strtoull(argv[6], NULL, 10);
	}
	for (unsigned int i = 0; i < connections; i++) {
		struct caller *caller = &callers[i];

		caller->number = i;
		caller->random = (uint64_t)start_ns * (i + 1) | 1;
		caller->took_us = timed ? calloc(SAMPLES_MAX, sizeof(*caller->took_us)) : NULL;
		if (!link_init(&caller->link, socket_path) || (timed && caller->took_us == NULL) ||
			pthread_create(&caller->thread, NULL, kind->run, caller))
			return 1;
	}
	for (unsigned int i = 0; i < connections; i++)
		pthread_join(callers[i].thread, NULL);
	ok = report(callers, timed, clock_boot_ns() - start_ns);
	for (unsigned int i = 0; i < connections; i++) {
		link_close(&callers[i].link);
		free(callers[i].took_us);
	}
	return ok ? 0 : 1;
}
