#include "suites.h"

#include <tap.h>

int main(void)
{
	static Suite *(*const makers[])(
		void) = {activity_suite, counters_suite, exposition_suite, NULL};

	return tap_main(makers);
}
