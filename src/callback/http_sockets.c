#include "callback/http_sockets.h"

#include "base/network.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

int http_sockets_open(struct http_sockets *sockets, int family, int type, int protocol)
{
	int fd;

	if (sockets->count >= HTTP_SOCKETS_MAX) {
		errno = EMFILE;
		return -1;
	}
	fd = socket(family, type | SOCK_CLOEXEC, protocol);
	if (fd >= 0)
		sockets->fds[sockets->count++] = fd;
	return fd;
}

int http_sockets_close(struct http_sockets *sockets, int fd)
{
	for (unsigned int i = 0; i < sockets->count; i++) {
		if (sockets->fds[i] == fd) {
			sockets->fds[i] = sockets->fds[--sockets->count];
			break;
		}
	}
	return close(fd);
}

static bool is_address(const union address *address, const uint8_t ip[NETWORK_ADDRESS_SIZE],
	int port)
{
	uint8_t own[NETWORK_ADDRESS_SIZE];

	/* Both families have the port at the same offset. */
	return network_address_of(&address->any, own) && ntohs(address->v4.sin_port) == port &&
		memcmp(own, ip, sizeof(own)) == 0;
}

int http_sockets_find(const struct http_sockets *sockets, const char *own_ip, int own_port,
	const char *peer_ip, int peer_port)
{
	uint8_t own[NETWORK_ADDRESS_SIZE], peer[NETWORK_ADDRESS_SIZE];
	union address address = {.v4 = {.sin_port = 0}};
	socklen_t len;

	if (!network_address_parse(own_ip, own) || !network_address_parse(peer_ip, peer))
		return -1;
	for (unsigned int i = 0; i < sockets->count; i++) {
		len = sizeof(address);
		if (getsockname(sockets->fds[i], &address.any, &len) != 0 ||
			!is_address(&address, own, own_port))
			continue;
		len = sizeof(address);
		if (getpeername(sockets->fds[i], &address.any, &len) == 0 &&
			is_address(&address, peer, peer_port))
			return sockets->fds[i];
	}
	return -1;
}
