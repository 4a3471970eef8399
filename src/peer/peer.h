/*
 * peer - the process that carries clients between the hosts of a cell.
 *
 * How the ledger uses it (main() passes peer_process to supervisor_run()):
 *
 *	relay_keeper_open()   the supervisor, once, beside sockets_open(): peer_prepare(), and the board
 *	relay_keeper_start()  forks: in the child peer_run()
 *	relay_board_set(sockets->relay, &view)   the engine, at each change of the active host
 *
 * The supervisor keeps all descriptors open and forks again if the process ends; connections wait in the
 * backlogs meanwhile. A peer that was killed loses the connections it relayed: their clients connect again
 * and repeat their commands, which act once.
 *
 * The board decides the work of the process:
 *
 *   RELAY_UNKNOWN  accepts no local client, refuses the clients of other hosts
 *   RELAY_STANDBY  accepts local clients and relays them to view.address; refuses those of other hosts
 *   RELAY_ACTIVE   accepts no local client (the engine does), relays those of other hosts to peer.sock
 *
 * When the role or the address changes, it closes the connections that the new role would not have. It does not
 * close one because the engine is slow: such clients wait on peer.sock.
 *
 * It refuses: what is not TLS 1.3, what shows no valid certificate of the cell's CA, a removed member, a hello
 * of another cell or of another member than the certificate's, and what has not finished handshake and hello
 * after 2 s. Each refusal is logged (event peer_refused) and counted. Strangers cannot take the place of
 * members: at most PEER_STRANGERS_MAX (host.h) handshakes run at a time, and a further one takes the place of the
 * oldest one of the address that has most.
 */
#ifndef PEER_PEER_H
#define PEER_PEER_H

#include "ledger/daemon/relay_board.h"

/*
 * Reads the certificates and opens the TLS listener of settings.cell_listen, which the caller owns. Returns
 * STATUS_CONFIG with the reason and the remedy in @why if the address is no IP address with a port or cannot
 * be used, or if a certificate or key is missing or unusable.
 */
enum status peer_prepare(const struct settings *settings, int *listener, char *why,
	size_t why_size);

/*
 * Runs until SIGTERM or SIGINT, or until its parent ends. @cell is the id that the hosts of the cell share,
 * [A-Za-z0-9_.-]{1,63}. @sockets are the listeners of the supervisor. Returns the exit code: 0 stopped; 75 no
 * memory or descriptors; 78 the certificates cannot be used. Certificates that change later are read again;
 * while the new ones cannot be used, it keeps the old ones.
 */
int peer_run(const struct settings *settings, const struct sockets *sockets, int listener,
	const char *cell, struct relay_board *board);

extern const struct relay_process peer_process;

#endif
