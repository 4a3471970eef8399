#include "store/pg/proof.h"

#include "base/clock.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRY_MS   700 /* of one attempt to connect, or of one question */
#define PAUSE_MS 20  /* between two questions to a server */

static const char question[] = "SELECT epoch::text, barrier::text FROM cell WHERE id = 1";

enum step { STEP_PAUSE, STEP_CONNECT, STEP_ASK };

/* A server that may be a standby. */
struct witness {
	PGconn *conn; /* NULL only in STEP_PAUSE */
	enum step step;
	PostgresPollingStatusType wants;
	int64_t since_ms; /* of the step */
};

static void begin_step(struct witness *witness, enum step step, int64_t now_ms)
{
	witness->step = step;
	witness->since_ms = now_ms;
}

static void give_up(struct witness *witness, int64_t now_ms)
{
	PQfinish(witness->conn);
	witness->conn = NULL;
	begin_step(witness, STEP_PAUSE, now_ms);
}

static void ask_witness(struct witness *witness, int64_t now_ms)
{
	if (!PQsendQuery(witness->conn, question) || PQflush(witness->conn) < 0)
		give_up(witness, now_ms);
	else
		begin_step(witness, STEP_ASK, now_ms);
}

static void go_on_connecting(struct witness *witness, int64_t now_ms)
{
	witness->wants = PQconnectPoll(witness->conn);
	if (witness->wants == PGRES_POLLING_OK && connection_is_standby(witness->conn))
		ask_witness(witness, now_ms);
	else if (witness->wants == PGRES_POLLING_OK || witness->wants == PGRES_POLLING_FAILED)
		give_up(witness, now_ms);
}

/* Returns whether @result shows the barrier. */
static bool shows_barrier(const PGresult *result, const struct cell *cell)
{
	return PQresultStatus(result) == PGRES_TUPLES_OK && PQntuples(result) == 1 &&
		strtoll(PQgetvalue(result, 0, 0), NULL, 10) == cell->epoch &&
		strtoll(PQgetvalue(result, 0, 1), NULL, 10) >= cell->barrier;
}

static bool take_answer(struct witness *witness, const struct cell *cell, int64_t now_ms)
{
	bool shown = false;
	PGresult *result;

	if (PQflush(witness->conn) < 0 || !PQconsumeInput(witness->conn)) {
		give_up(witness, now_ms);
		return false;
	}
	while (!PQisBusy(witness->conn)) {
		result = PQgetResult(witness->conn);
		if (!result) {
			begin_step(witness, STEP_PAUSE, now_ms);
			break;
		}
		shown = shown || shows_barrier(result, cell);
		PQclear(result);
	}
	return shown;
}

/* Advances one server. Returns true if it shows the barrier. */
static bool advance_witness(struct witness *witness, const struct pg_options *options,
	unsigned int server, const struct cell *cell, bool ready)
{
	const int64_t now_ms = clock_boot_ms();

	if (witness->step == STEP_PAUSE) {
		if (witness->since_ms && now_ms < witness->since_ms + PAUSE_MS)
			return false;
		if (witness->conn) {
			ask_witness(witness, now_ms);
			return false;
		}
		witness->conn = connection_start(options, server);
		witness->wants = PGRES_POLLING_WRITING;
		begin_step(witness, STEP_CONNECT, now_ms);
		if (!witness->conn || PQstatus(witness->conn) == CONNECTION_BAD)
			give_up(witness, now_ms);
		return false;
	}
	if (now_ms >= witness->since_ms + TRY_MS) {
		give_up(witness, now_ms);
		return false;
	}
	if (ready && witness->step == STEP_CONNECT)
		go_on_connecting(witness, now_ms);
	return ready && witness->step == STEP_ASK && take_answer(witness, cell, now_ms);
}

/* Waits until a server can go on, or a pause is over. Returns true if the process is to end. */
static bool wait_for_any(const struct pg_options *options, const struct witness *witnesses,
	bool *ready)
{
	struct pollfd fds[PG_SERVERS_MAX + 1];

	for (unsigned int i = 0; i < options->server_count; i++) {
		const struct witness *witness = &witnesses[i];
		const bool writes =
			witness->step == STEP_CONNECT && witness->wants == PGRES_POLLING_WRITING;

		fds[i] =
			(struct pollfd){.fd = witness->step == STEP_PAUSE ? -1
									  : PQsocket(witness->conn),
				.events = writes ? POLLOUT : POLLIN};
	}
	fds[options->server_count] = (struct pollfd){.fd = options->stop_fd, .events = POLLIN};
	poll(fds, options->server_count + 1, PAUSE_MS);
	for (unsigned int i = 0; i < options->server_count; i++)
		ready[i] = fds[i].revents != 0;
	return options->stop_fd >= 0 && fds[options->server_count].revents;
}

bool proof_await(const struct pg_options *options, const struct cell *cell, int64_t deadline_ms,
	char *why, size_t why_size)
{
	struct witness witnesses[PG_SERVERS_MAX] = {{NULL, STEP_PAUSE, 0, 0}};
	bool ready[PG_SERVERS_MAX] = {false};
	bool shown = false, ends = false;

	while (!shown && !ends && clock_boot_ms() < deadline_ms) {
		for (unsigned int i = 0; i < options->server_count && !shown; i++)
			shown = advance_witness(&witnesses[i], options, i, cell, ready[i]);
		if (!shown)
			ends = wait_for_any(options, witnesses, ready);
	}
	for (unsigned int i = 0; i < options->server_count; i++)
		PQfinish(witnesses[i].conn);
	if (!shown)
		snprintf(why, why_size,
			"no standby of postgresql_hosts shows barrier %" PRId64 " of epoch %" PRId64
			": see that a standby replays what the server with the writes has",
			cell->barrier, cell->epoch);
	return shown;
}
