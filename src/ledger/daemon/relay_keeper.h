/*
 * relay_keeper - keeps the process of src/peer running beside the engine, if the host belongs to a cell.
 *
 * The engine writes on the board which host is active: this one while it serves.
 */
#ifndef LEDGER_DAEMON_RELAY_KEEPER_H
#define LEDGER_DAEMON_RELAY_KEEPER_H

#include "ledger/daemon/relay_board.h"

struct relay_keeper {
	const struct relay_process *process; /* NULL: this host belongs to no cell */
	const struct settings *settings;
	const struct sockets *sockets;
	const char *cell; /* the installation */
	int listener;
	pid_t pid; /* of the peer; 0: none */
	int64_t started_ms;
	int64_t pause_ms; /* before the next start */
};

/*
 * Prepares the process and makes the board, sockets->relay. Does nothing without settings.cell_listen.
 * All arguments stay valid. Returns as peer_prepare() does.
 */
enum status relay_keeper_open(struct relay_keeper *keeper, const struct relay_process *process,
	const struct settings *settings, struct sockets *sockets, const char *cell, char *why,
	size_t why_size);

/* Starts the process. If that fails, the next relay_keeper_ended() tries again. */
void relay_keeper_start(struct relay_keeper *keeper);

/*
 * To be called with each child that ended. Returns true if it was the peer, which is then started again. A
 * process that ends soon after its start is started with growing pauses, up to 1 s.
 */
bool relay_keeper_ended(struct relay_keeper *keeper, pid_t pid, int status);

/* Ends the process and waits for its end. */
void relay_keeper_stop(struct relay_keeper *keeper);

#endif
