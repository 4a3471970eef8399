/*
 * network - IP addresses and networks, and which of them a dealer's server may use.
 *
 * An address is 16 bytes in network order. IPv4 is stored as IPv4-mapped IPv6 (::ffff:a.b.c.d), so
 * that both spellings of an address are equal.
 */
#ifndef BASE_NETWORK_H
#define BASE_NETWORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NETWORK_ADDRESS_SIZE 16
#define NETWORK_TEXT_MAX     46 /* of an address, with the NUL */

struct sockaddr;

struct network {
	uint8_t address[NETWORK_ADDRESS_SIZE];
	uint8_t prefix; /* significant bits, of 128; for IPv4 its own prefix plus 96 */
};

/*
 * Reads "10.0.0.0/8", "fd00::/8" or a single address. Returns false if @text is no network or has
 * bits set after the prefix; *network is then unchanged.
 */
bool network_parse(const char *text, struct network *network);

/*
 * Returns true if @address is in @network. A network of IPv6, such as ::/0, contains no IPv4
 * address.
 */
bool network_contains(const struct network *network, const uint8_t address[NETWORK_ADDRESS_SIZE]);

/* Reads an address in the format of inet_ntop(). Returns false if it is none. */
bool network_address_parse(const char *text, uint8_t address[NETWORK_ADDRESS_SIZE]);

/* Returns false if the address is neither IPv4 nor IPv6. */
bool network_address_of(const struct sockaddr *from, uint8_t address[NETWORK_ADDRESS_SIZE]);

void network_address_format(const uint8_t address[NETWORK_ADDRESS_SIZE],
	char text[NETWORK_TEXT_MAX]);

/*
 * Returns true if hosts on the Internet have such an address. Returns false for private, loopback,
 * link-local, shared (CGNAT), multicast, unspecified and documentation addresses. It also returns
 * false for all other special-purpose ranges (RFC 6890), metadata servers of clouds, and IPv6
 * addresses that wrap such an IPv4 address.
 */
bool network_is_public(const uint8_t address[NETWORK_ADDRESS_SIZE]);

#endif
