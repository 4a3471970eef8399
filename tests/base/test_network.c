#include "suites.h"

#include "base/network.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

static void address_of(const char *text, uint8_t address[NETWORK_ADDRESS_SIZE])
{
	ck_assert_msg(network_address_parse(text, address), "%s", text);
}

/* The first and last address of each excluded range, and their neighbours. */
static const struct {
	const char *address;
	bool is_public;
	/* clang-format off: ranges, a few a line */
} addresses[] = {
	{"0.0.0.0", false},
	{"0.255.255.255", false},
	{"1.0.0.0", true},
	{"9.255.255.255", true},
	{"10.0.0.0", false},
	{"10.255.255.255", false},
	{"11.0.0.0", true},
	{"100.63.255.255", true},
	{"100.64.0.0", false},
	{"100.127.255.255", false},
	{"100.128.0.0", true},
	{"126.255.255.255", true},
	{"127.0.0.0", false},
	{"127.0.0.1", false},
	{"127.255.255.255", false},
	{"128.0.0.0", true},
	{"169.253.255.255", true},
	{"169.254.0.0", false},
	{"169.254.169.254", false},
	{"169.255.0.0", true},
	{"172.15.255.255", true},
	{"172.16.0.0", false},
	{"172.31.255.255", false},
	{"172.32.0.0", true},
	{"192.0.0.1", false},
	{"192.0.1.1", true},
	{"192.0.2.1", false},
	{"192.0.3.0", true},
	{"192.88.99.1", false},
	{"192.167.255.255", true},
	{"192.168.0.0", false},
	{"192.168.255.255", false},
	{"192.169.0.0", true},
	{"198.17.255.255", true},
	{"198.18.0.0", false},
	{"198.19.255.255", false},
	{"198.20.0.0", true},
	{"198.51.100.7", false},
	{"203.0.113.7", false},
	{"223.255.255.255", true},
	{"224.0.0.0", false},
	{"239.255.255.255", false},
	{"240.0.0.0", false},
	{"255.255.255.255", false},
	{"8.8.8.8", true},
	/* Other ranges that the registries exclude, and metadata servers of clouds. */
	{"100.100.100.200", false},
	{"168.63.129.15", true},
	{"168.63.129.16", false},
	{"168.63.129.17", true},
	{"192.0.0.192", false},
	{"192.0.0.8", false},
	{"192.0.0.170", false},
	{"192.31.195.255", true},
	{"192.31.196.0", false},
	{"192.31.196.255", false},
	{"192.31.197.0", true},
	{"192.52.193.1", false},
	{"192.52.194.0", true},
	{"192.88.98.255", true},
	{"192.88.99.2", false},
	{"192.88.100.0", true},
	{"192.175.48.6", false},
	{"192.175.49.0", true},
	{"233.252.0.1", false},
	{"fd00:ec2::254", false},
	{"fd20:ce::254", false},
	{"::ffff:168.63.129.16", false},
	{"::ffff:169.254.169.254", false},
	{"64:ff9b::168.63.129.16", false},
	{"64:ff9b::169.254.169.254", false},
	{"64:ff9b:1::a9fe:a9fe", false},
	{"64:ff9b:2::1", false},
	{"100:0:0:1::1", false},
	{"2001:1::1", false},
	{"2001:2::1", false},
	{"2001:3::1", false},
	{"2001:4:112::1", false},
	{"2001:10::1", false},
	{"2001:20::1", false},
	{"2001:30::1", false},
	{"2001:0:a9fe:a9fe::1", false},
	{"2002:a9fe:a9fe::1", false},
	{"2620:4f:7fff::1", true},
	{"2620:4f:8000::1", false},
	{"2620:4f:8001::1", true},
	{"3ffe:ffff::1", true},
	{"3fff:fff:ffff::1", false},
	/* IPv4 addresses mapped into IPv6 */
	{"::ffff:127.0.0.1", false},
	{"::ffff:7f00:1", false},
	{"::ffff:10.1.2.3", false},
	{"::ffff:8.8.8.8", true},
	{"64:ff9b::127.0.0.1", false},
	{"64:ff9b::a01:203", false},
	{"64:ff9b::8.8.8.8", true},
	{"64:ff9b:1::808:808", false},
	{"2002:7f00:1::1", false},
	{"2002:808:808::1", false},
	{"::127.0.0.1", false},
	{"::8.8.8.8", false},
	{"::ffff:0:8.8.8.8", false},
	/* IPv6 */
	{"::", false},
	{"::1", false},
	{"::2", false},
	{"100::1", false},
	{"1fff::1", false},
	{"2000::1", true},
	{"2001::1", false},
	{"2001:1ff::1", false},
	{"2001:200::1", true},
	{"2001:db7::1", true},
	{"2001:db8::1", false},
	{"2001:db9::1", true},
	{"2003::1", true},
	{"2a00:1450::1", true},
	{"3fff::1", false},
	{"3fff:1000::1", true},
	{"4000::1", false},
	{"5f00::1", false},
	{"fbff::1", false},
	{"fc00::1", false},
	{"fd12::1", false},
	{"fe80::1", false},
	{"febf::1", false},
	{"fec0::1", false},
	{"ff02::1", false},
};
/* clang-format on */

START_TEST(public_addresses)
{
	uint8_t address[NETWORK_ADDRESS_SIZE];

	address_of(addresses[_i].address, address);
	ck_assert_msg(network_is_public(address) == addresses[_i].is_public, "%s",
		addresses[_i].address);
}
END_TEST

START_TEST(networks_contain)
{
	static const struct {
		const char *network;
		const char *address;
		bool contains;
	} cases[] = {
		{"10.0.0.0/8", "10.255.255.255", true},
		{"10.0.0.0/8", "11.0.0.0", false},
		{"10.0.0.0/8", "::ffff:10.1.1.1", true},
		{"10.0.0.0/8", "::a00:1", false},
		{"127.0.0.1", "127.0.0.1", true},
		{"127.0.0.1", "127.0.0.2", false},
		{"127.0.0.1/32", "127.0.0.1", true},
		{"192.168.4.0/23", "192.168.5.255", true},
		{"192.168.4.0/23", "192.168.6.0", false},
		{"0.0.0.0/0", "1.2.3.4", true},
		{"0.0.0.0/0", "::1", false},
		{"::/0", "::1", true},
		{"::/0", "2a00::1", true},
		{"::/0", "127.0.0.1", false},
		{"::ffff:10.0.0.0/104", "10.9.9.9", true},
		{"::ffff:10.0.0.0/104", "11.9.9.9", false},
		{"fd00::/8", "fdff::1", true},
		{"fd00::/8", "fc00::1", false},
		{"fe80::/10", "febf::1", true},
		{"::1", "::1", true},
		{"::1", "::2", false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint8_t address[NETWORK_ADDRESS_SIZE];
		struct network network;

		ck_assert_msg(network_parse(cases[i].network, &network), "%s", cases[i].network);
		address_of(cases[i].address, address);
		ck_assert_msg(network_contains(&network, address) == cases[i].contains, "%s in %s",
			cases[i].address, cases[i].network);
	}
}
END_TEST

START_TEST(what_is_no_network)
{
	static const char *const texts[] = {"", "/", "/8", "10.0.0.0/", "10.0.0.0/33",
		"10.0.0.0/-1", "10.0.0.0/08", "10.0.0.0/8 ", " 10.0.0.0/8", "10.0.0.0/8/8",
		"10.0.0.1/8", "10/8", "10.0.0/24", "010.0.0.0/8", "0x0a000000/8", "167772160",
		"::/129", "::1/127", ":::", "fe80::1%lo", "dealer.example", "1.2.3.4.5",
		"1111:2222:3333:4444:5555:6666:255.255.255.255.255/128"};
	struct network network, before;

	memset(&network, 0x55, sizeof(network));
	before = network;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		ck_assert_msg(!network_parse(texts[i], &network), "%s", texts[i]);
	ck_assert_mem_eq(&network, &before, sizeof(network));
}
END_TEST

START_TEST(socket_addresses)
{
	struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000001)};
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
	struct sockaddr_un path = {.sun_family = AF_UNIX};
	uint8_t address[NETWORK_ADDRESS_SIZE], other[NETWORK_ADDRESS_SIZE];
	char text[NETWORK_TEXT_MAX];

	ck_assert(network_address_of((struct sockaddr *)&v4, address));
	network_address_format(address, text);
	ck_assert_str_eq(text, "127.0.0.1");
	/* The mapped form is the same address. */
	ck_assert_int_eq(inet_pton(AF_INET6, "::ffff:127.0.0.1", &v6.sin6_addr), 1);
	ck_assert(network_address_of((struct sockaddr *)&v6, other));
	ck_assert_mem_eq(address, other, sizeof(address));
	ck_assert_int_eq(inet_pton(AF_INET6, "fd00::1", &v6.sin6_addr), 1);
	ck_assert(network_address_of((struct sockaddr *)&v6, other));
	network_address_format(other, text);
	ck_assert_str_eq(text, "fd00::1");
	ck_assert(!network_address_of((struct sockaddr *)&path, other));
	ck_assert(!network_address_parse("127.1", other));
	ck_assert(!network_address_parse("", other));
}
END_TEST

Suite *network_suite(void)
{
	const TTest *const tests[] = {networks_contain, what_is_no_network, socket_addresses, NULL};
	Suite *suite = suite_make("network", tests, 10);
	TCase *tcase = tcase_create("public");

	tcase_add_loop_test(tcase, public_addresses, 0,
		(int)(sizeof(addresses) / sizeof(addresses[0])));
	suite_add_tcase(suite, tcase);
	return suite;
}
