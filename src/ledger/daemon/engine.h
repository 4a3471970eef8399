/*
 * engine - the process that owns the data: opens the store, serves, and ends with an exit code.
 *
 * The supervisor (supervisor.h) restarts it according to that code.
 */
#ifndef LEDGER_DAEMON_ENGINE_H
#define LEDGER_DAEMON_ENGINE_H

#include "base/settings.h"
#include "ledger/daemon/sockets.h"
#include "ledger/desk/sessions.h"
#include "ledger/outbox/metrics.h"
#include "state/lock.h"

enum engine_exit {
	ENGINE_STOPPED = 0,   /* stopped on request: everything is saved, checkpoint written */
	ENGINE_LOST = 70,     /* a batch's outcome is unknown: start again, which recovers */
	ENGINE_RESUMED = 71,  /* was halted; the operator resumed */
	ENGINE_FULL = 72,     /* as ENGINE_LOST; the batch found the disk full */
	ENGINE_NO_SPACE = 73, /* recovery found the disk full */
	ENGINE_HALT = 74,     /* the disk failed (EIO): not to be started again by itself */
	ENGINE_DAMAGED = 76,  /* the data is damaged: likewise */
	ENGINE_FENCED = 77,   /* the ledger of another host serves: stand by again */
	ENGINE_CONFIG = 78,   /* the state cannot be used by this version */
};

/* How the engine is started. */
enum engine_start {
	ENGINE_NORMAL,
	ENGINE_HALTED,     /* the store is not opened; only status and resume are answered */
	ENGINE_AFTER_HALT, /* the operator resumed: the data is read from the disk, not from memory */
};

/*
 * Serves until it is asked to stop. The caller exits with the returned code. @metrics and
 * @sessions outlive engines. The engine serves only the state of @hold. If the name of the state leads to another
 * one, it returns ENGINE_CONFIG. db/ of the state becomes the working directory of the process, so
 * that later changes of the name cannot redirect it. If ledgers of several hosts share the data, it
 * first stands by (standby.h). @run is the number of the supervisor in the claim.
 */
enum engine_exit engine_run(const struct settings *settings, const struct sockets *sockets,
	const struct state_hold *hold, enum engine_start start, int64_t run,
	struct metrics *metrics, struct sessions *sessions);

#endif
