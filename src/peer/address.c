#include "peer/address.h"

#include "base/text.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

/* Cuts @text at its port. Returns the port, or NULL. */
static char *cut_port(char *text)
{
	char *colon = strrchr(text, ':');

	if (!colon)
		return NULL;
	*colon = 0;
	return colon + 1;
}

static bool parse_v6(char *text, uint16_t port, struct address *address)
{
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
	const size_t len = strlen(text);

	if (len < 2 || text[0] != '[' || text[len - 1] != ']')
		return false;
	text[len - 1] = 0;
	if (inet_pton(AF_INET6, text + 1, &v6.sin6_addr) != 1)
		return false;
	memcpy(&address->storage, &v6, sizeof(v6));
	address->size = sizeof(v6);
	return true;
}

bool address_parse(const char *text, struct address *address)
{
	struct sockaddr_in v4 = {.sin_family = AF_INET};
	char copy[RELAY_ADDRESS_SIZE], *port_text;
	uint64_t port;

	memset(address, 0, sizeof(*address));
	if (!text_copy(copy, sizeof(copy), text))
		return false;
	port_text = cut_port(copy);
	if (!port_text || !text_unsigned(port_text, UINT16_MAX, &port) || !port)
		return false;
	if (copy[0] == '[')
		return parse_v6(copy, (uint16_t)port, address);
	v4.sin_port = htons((uint16_t)port);
	if (inet_pton(AF_INET, copy, &v4.sin_addr) != 1)
		return false;
	memcpy(&address->storage, &v4, sizeof(v4));
	address->size = sizeof(v4);
	return true;
}

void address_of_socket(int fd, char text[RELAY_ADDRESS_SIZE])
{
	struct sockaddr_storage storage = {.ss_family = AF_UNSPEC};
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
	socklen_t size = sizeof(storage);
	char ip[INET6_ADDRSTRLEN];

	snprintf(text, RELAY_ADDRESS_SIZE, "-");
	if (getpeername(fd, (struct sockaddr *)&storage, &size) < 0)
		return;
	if (storage.ss_family == AF_INET) {
		memcpy(&v4, &storage, sizeof(v4));
		if (inet_ntop(AF_INET, &v4.sin_addr, ip, sizeof(ip)))
			snprintf(text, RELAY_ADDRESS_SIZE, "%s:%u", ip, ntohs(v4.sin_port));
	} else if (storage.ss_family == AF_INET6) {
		memcpy(&v6, &storage, sizeof(v6));
		if (inet_ntop(AF_INET6, &v6.sin6_addr, ip, sizeof(ip)))
			snprintf(text, RELAY_ADDRESS_SIZE, "[%s]:%u", ip, ntohs(v6.sin6_port));
	}
}
