#include "suites.h"

#include <tap.h>

int main(void)
{
	static Suite *(*const makers[])(void) = {html_suite, console_params_suite,
		console_address_suite, console_view_suite, chart_suite, overview_suite,
		page_rate_suite, refused_request_suite, session_end_suite, NULL};

	return tap_main(makers);
}
