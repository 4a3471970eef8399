#include "suites.h"

#include <tap.h>

int main(void)
{
	static Suite *(*const makers[])(void) = {callback_names_suite, money_suite, movement_suite,
		records_suite, refusal_suite, story_suite, wager_suite, NULL};

	return tap_main(makers);
}
