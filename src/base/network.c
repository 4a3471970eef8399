#include "base/network.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define MAPPED_BITS 96

static const struct network mapped = {{[10] = 0xff, [11] = 0xff}, MAPPED_BITS};
/* The well-known prefix that a translator (NAT64) puts before an IPv4 address. */
static const struct network translated = {{0x00, 0x64, 0xff, 0x9b}, 96};
/* The range that IANA assigns to hosts; all other IPv6 is special or unassigned. */
static const struct network global_unicast = {{0x20}, 3};

#define V4(a, b, c, d, bits)                                                                       \
	{                                                                                          \
		{[10] = 0xff, [11] = 0xff, [12] = a, [13] = b, [14] = c, [15] = d},                \
			MAPPED_BITS + (bits)                                                       \
	}
/* The special-purpose registries of RFC 6890: no addresses of Internet hosts. */
static const struct network special[] = {
	V4(0, 0, 0, 0, 8),              /* "this" network: 0.0.0.0 is this host */
	V4(10, 0, 0, 0, 8),             /* private */
	V4(100, 64, 0, 0, 10),          /* shared by carrier-grade NAT; a cloud's metadata server */
	V4(127, 0, 0, 0, 8),            /* loopback */
	V4(168, 63, 129, 16, 32),       /* a cloud's metadata and DNS server, in no registry */
	V4(169, 254, 0, 0, 16),         /* link-local; the metadata servers of clouds */
	V4(172, 16, 0, 0, 12),          /* private */
	V4(192, 0, 0, 0, 24),           /* protocol assignments */
	V4(192, 0, 2, 0, 24),           /* documentation */
	V4(192, 31, 196, 0, 24),        /* AS112 */
	V4(192, 52, 193, 0, 24),        /* automatic multicast tunneling */
	V4(192, 88, 99, 0, 24),         /* 6to4 relays, withdrawn */
	V4(192, 168, 0, 0, 16),         /* private */
	V4(192, 175, 48, 0, 24),        /* AS112 */
	V4(198, 18, 0, 0, 15),          /* benchmarks */
	V4(198, 51, 100, 0, 24),        /* documentation */
	V4(203, 0, 113, 0, 24),         /* documentation */
	V4(224, 0, 0, 0, 4),            /* multicast */
	V4(240, 0, 0, 0, 4),            /* reserved, and broadcast */
	{{0x20, 0x01}, 23},             /* protocol assignments, Teredo */
	{{0x20, 0x01, 0x0d, 0xb8}, 32}, /* documentation */
	{{0x20, 0x02}, 16},             /* 6to4: wraps an IPv4 address */
	{{0x26, 0x20, 0x00, 0x4f, 0x80, 0x00}, 48}, /* AS112 */
	{{0x3f, 0xff}, 20},                         /* documentation */
};

static bool prefix_equal(const uint8_t *a, const uint8_t *b, unsigned int bits)
{
	unsigned int bytes = bits / 8, rest = bits % 8;

	if (memcmp(a, b, bytes) != 0)
		return false;
	return !rest || ((a[bytes] ^ b[bytes]) >> (8 - rest)) == 0;
}

static bool is_v4(const uint8_t *address)
{
	return prefix_equal(mapped.address, address, mapped.prefix);
}

bool network_contains(const struct network *network, const uint8_t address[NETWORK_ADDRESS_SIZE])
{
	return is_v4(network->address) == is_v4(address) &&
		prefix_equal(network->address, address, network->prefix);
}

bool network_address_parse(const char *text, uint8_t address[NETWORK_ADDRESS_SIZE])
{
	uint8_t bytes[NETWORK_ADDRESS_SIZE];

	if (inet_pton(AF_INET, text, bytes) == 1) {
		memcpy(address, mapped.address, NETWORK_ADDRESS_SIZE);
		memcpy(address + 12, bytes, 4);
		return true;
	}
	if (inet_pton(AF_INET6, text, bytes) != 1)
		return false;
	memcpy(address, bytes, NETWORK_ADDRESS_SIZE);
	return true;
}

bool network_address_of(const struct sockaddr *from, uint8_t address[NETWORK_ADDRESS_SIZE])
{
	const struct sockaddr_in *v4 = (const void *)from;
	const struct sockaddr_in6 *v6 = (const void *)from;

	if (from->sa_family == AF_INET) {
		memcpy(address, mapped.address, NETWORK_ADDRESS_SIZE);
		memcpy(address + 12, &v4->sin_addr, 4);
		return true;
	}
	if (from->sa_family != AF_INET6)
		return false;
	memcpy(address, &v6->sin6_addr, NETWORK_ADDRESS_SIZE);
	return true;
}

void network_address_format(const uint8_t address[NETWORK_ADDRESS_SIZE],
	char text[NETWORK_TEXT_MAX])
{
	bool v4 = is_v4(address);

	if (!inet_ntop(v4 ? AF_INET : AF_INET6, v4 ? address + 12 : address, text,
		    NETWORK_TEXT_MAX))
		text[0] = '\0';
}

/* Reads the number after the slash. */
static bool parse_prefix(const char *text, unsigned int most, unsigned int *bits)
{
	size_t digits = strspn(text, "0123456789");

	if (!digits || digits > 3 || text[digits] || (digits > 1 && text[0] == '0'))
		return false;
	*bits = (unsigned int)strtoul(text, NULL, 10);
	return *bits <= most;
}

bool network_parse(const char *text, struct network *network)
{
	const char *slash = strchr(text, '/');
	size_t len = slash ? (size_t)(slash - text) : strlen(text);
	char address[NETWORK_TEXT_MAX];
	struct network result;
	unsigned int most, bits;

	if (len >= sizeof(address))
		return false;
	memcpy(address, text, len);
	address[len] = '\0';
	if (!network_address_parse(address, result.address))
		return false;
	/* The spelling decides: "::ffff:10.0.0.0/104" is a network of IPv6. */
	most = strchr(address, ':') ? 128 : 32;
	bits = most;
	if (slash && !parse_prefix(slash + 1, most, &bits))
		return false;
	bits += 128 - most;
	for (unsigned int bit = bits; bit < 128; bit++) {
		if (result.address[bit / 8] & (0x80 >> bit % 8))
			return false;
	}
	result.prefix = (uint8_t)bits;
	*network = result;
	return true;
}

bool network_is_public(const uint8_t address[NETWORK_ADDRESS_SIZE])
{
	uint8_t inner[NETWORK_ADDRESS_SIZE];

	if (network_contains(&translated, address)) {
		memcpy(inner, mapped.address, 12);
		memcpy(inner + 12, address + 12, 4);
		return network_is_public(inner);
	}
	for (size_t i = 0; i < sizeof(special) / sizeof(special[0]); i++) {
		if (network_contains(&special[i], address))
			return false;
	}
	return is_v4(address) || network_contains(&global_unicast, address);
}
