/* address - an IP address with a port, as text: "10.0.0.1:7410" or "[fd00::1]:7410". */
#ifndef PEER_ADDRESS_H
#define PEER_ADDRESS_H

#include "ledger/daemon/relay_board.h"

#include <stdbool.h>
#include <sys/socket.h>

struct address {
	struct sockaddr_storage storage;
	socklen_t size;
};

/* Names are refused, and port 0. */
bool address_parse(const char *text, struct address *address);

/* Writes the address that @fd is connected to, or "-". */
void address_of_socket(int fd, char text[RELAY_ADDRESS_SIZE]);

#endif
