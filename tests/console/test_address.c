#include "suites.h"

#include "console/common/page.h"
#include "console/html/address.h"
#include "console/pages/routes.h"

#include <stdint.h>
#include <string.h>

START_TEST(values_are_encoded)
{
	struct page_address address;
	char long_value[ADDRESS_MAX];

	address_begin(&address, "/console", "/bets");
	address_number(&address, 17);
	address_add(&address, "id", "a/b?c&d=\"<\xc3\xa9");
	address_add(&address, "none", "");
	address_add_number(&address, "after", 3);
	ck_assert_str_eq(address.text, "/console/bets/17?id=a%2Fb%3Fc%26d%3D%22%3C%C3%A9&after=3");
	ck_assert_uint_eq(address.len, strlen(address.text));
	memset(long_value, '/', sizeof(long_value));
	long_value[sizeof(long_value) - 1] = '\0';
	address_add(&address, "long", long_value);
	ck_assert(!strstr(address.text, "long"));
}
END_TEST

START_TEST(only_own_addresses_lead_back)
{
	static const struct {
		const char *text;
		bool own;
	} cases[] = {
		{"/console/", true},
		{"/console/bets/1?after=2&user=a%2Fb", true},
		{"/console", false},
		{"/consolex/", false},
		{"/console//evil", false},
		{"/console/a\r\nb", false},
		{"/console/<", false},
		{"/console/\\evil", false},
		{"//evil/console/", false},
		{"https://evil/console/", false},
		{"", false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ck_assert(address_is_own(cases[i].text, "/console") == cases[i].own);
	ck_assert(address_is_own("/", ""));
	ck_assert(!address_is_own("//evil/", ""));
}
END_TEST

START_TEST(routes_match_whole_paths)
{
	static const struct {
		const char *path, *route;
		uint64_t number;
	} cases[] = {
		{"/", "/", 0},
		{"/bets/17", "/bets/#", 17},
		{"/callbacks/9223372036854775807/act", "/callbacks/#/act", INT64_MAX},
		{"/callbacks.csv", "/callbacks.csv", 0},
		{"/bets/", NULL, 0},
		{"/bets/0", NULL, 0},
		{"/bets/017", NULL, 0},
		{"/bets/-1", NULL, 0},
		{"/bets/9223372036854775808", NULL, 0},
		{"/bets/99999999999999999999999", NULL, 0},
		{"/bets/17/", NULL, 0},
		{"/bets/17x", NULL, 0},
		{"/bets", NULL, 0},
		{"/callbacks/17/acts", NULL, 0},
		{"/bets/#", NULL, 0},
		{"", NULL, 0},
	};
	uint64_t number;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct console_route *route = routes_find(cases[i].path, &number);

		ck_assert_msg((route != NULL) == (cases[i].route != NULL), "%s", cases[i].path);
		if (!route)
			continue;
		ck_assert_str_eq(route->path, cases[i].route);
		ck_assert_uint_eq(number, cases[i].number);
	}
}
END_TEST

START_TEST(routes_are_safe)
{
	const struct console_route *route;

	for (unsigned int i = 0; (route = routes_number(i)) != NULL; i++) {
		/* Only the sign-in needs no session, and only forms change something. */
		ck_assert(route->open == (strcmp(route->path, "/sign-in") == 0));
		ck_assert(!route->csv || route->methods == ROUTE_GET);
		ck_assert(route->show != NULL);
		ck_assert(strstr(route->path, "/act") == NULL ||
			(route->methods == ROUTE_POST && route->least >= ROLE_SUPPORT));
	}
}
END_TEST

START_TEST(offsets)
{
	static const struct {
		const char *text;
		int minutes; /* INT32_MAX: refused */
	} cases[] = {
		{"+07:00", 420},
		{"-03:30", -210},
		{"+14:00", 840},
		{"+14:01", INT32_MAX},
		{"+01:60", INT32_MAX},
		{"+1:00", INT32_MAX},
		{"07:00", INT32_MAX},
		{"+07:00x", INT32_MAX},
		{"+a7:00", INT32_MAX},
		{"", INT32_MAX},
	};
	struct zone zone;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool read = page_read_offset(cases[i].text, &zone);

		ck_assert_msg(read == (cases[i].minutes != INT32_MAX), "%s", cases[i].text);
		ck_assert(!read || zone.offset_min == cases[i].minutes);
	}
}
END_TEST

Suite *console_address_suite(void)
{
	const TTest *const tests[] = {values_are_encoded, only_own_addresses_lead_back,
		routes_match_whole_paths, routes_are_safe, offsets, NULL};

	return suite_make("address", tests, 10);
}
