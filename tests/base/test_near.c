#include "suites.h"

#include "base/near.h"

#include <string.h>

START_TEST(distances)
{
	static const struct {
		const char *one, *other;
		unsigned int distance;
	} cases[] = {
		{"", "", 0},
		{"", "abc", 3},
		{"list", "list", 0},
		{"lst", "list", 1},
		{"lsit", "list", 1},
		{"dealer", "daeler", 1},
		{"show", "shwo", 1},
		{"kitten", "sitting", 3},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ck_assert_uint_eq(near_distance(cases[i].one, cases[i].other), cases[i].distance);
		ck_assert_uint_eq(near_distance(cases[i].other, cases[i].one), cases[i].distance);
	}
}
END_TEST

START_TEST(long_words_are_near_nothing)
{
	char longest[NEAR_WORD_MAX + 1], longer[NEAR_WORD_MAX + 2];
	struct near near;

	memset(longest, 'a', sizeof(longest));
	longest[NEAR_WORD_MAX] = '\0';
	memset(longer, 'a', sizeof(longer));
	longer[NEAR_WORD_MAX + 1] = '\0';
	ck_assert_uint_eq(near_distance(longest, longest), 0);
	ck_assert_uint_eq(near_distance(longest, longer), NEAR_WORD_MAX + 1);
	near_begin(&near, longer);
	near_offer(&near, longest);
	ck_assert_str_eq(near.best, "");
}
END_TEST

START_TEST(the_nearest_word_is_offered)
{
	struct near near;

	near_begin(&near, "dealr");
	near_offer(&near, "player");
	near_offer(&near, "dealer");
	near_offer(&near, "deal");
	ck_assert_str_eq(near.best, "dealer");
	near_begin(&near, "xyz");
	near_offer(&near, "dealer");
	near_offer(&near, "bet");
	ck_assert_str_eq(near.best, "");
}
END_TEST

Suite *near_suite(void)
{
	const TTest *const tests[] = {distances, long_words_are_near_nothing,
		the_nearest_word_is_offered, NULL};

	return suite_make("near", tests, 10);
}
