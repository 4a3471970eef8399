#include "suites.h"

#include <tap.h>

int main(void)
{
	static Suite *(*const makers[])(void) = {isolated_suite, buffer_suite, cells_suite,
		clock_suite, columns_suite, fiber_suite, acl_suite, group_suite, histogram_suite,
		log_suite, network_suite, near_suite, pack_suite, settings_suite, text_suite,
		zone_suite, NULL};

	return tap_main(makers);
}
