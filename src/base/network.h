/*
 * network - IP addresses and networks: which of them a dealer's server may be at.
 *
 * An address is 16 bytes in network order; IPv4 is kept as IPv4-mapped IPv6 (::ffff:a.b.c.d), so
 * that the two spellings of one address are one.
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
	uint8_t prefix; /* bits that count, of 128; 96 more than IPv4's own */
};

/*
 * Reads "10.0.0.0/8", "fd00::/8" or an address alone. False: it is no network, or has bits set
 * behind its prefix; *network is untouched.
 */
bool network_parse(const char *text, struct network *network);

/* True: @address lies in @network. No IPv4 address lies in a network of IPv6, such as ::/0. */
bool network_contains(const struct network *network, const uint8_t address[NETWORK_ADDRESS_SIZE]);

/* Reads an address as inet_ntop() writes it. */
bool network_address_parse(const char *text, uint8_t address[NETWORK_ADDRESS_SIZE]);

/* False: neither IPv4 nor IPv6. */
bool network_address_of(const struct sockaddr *from, uint8_t address[NETWORK_ADDRESS_SIZE]);

void network_address_format(const uint8_t address[NETWORK_ADDRESS_SIZE],
	char text[NETWORK_TEXT_MAX]);

/*
 * True: an address that hosts on the Internet have. False: private, loopback, link-local, shared
 * (CGNAT), multicast, unspecified, documentation and whatever else the special-purpose registries
 * of RFC 6890 keep apart, or a cloud's metadata server; also where IPv6 only wraps such an IPv4 address.
 */
bool network_is_public(const uint8_t address[NETWORK_ADDRESS_SIZE]);

#endif
