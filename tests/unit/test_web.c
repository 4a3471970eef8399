/* The unit tests of the web floor. */
#include "web_case.h"

int main(void)
{
	static Suite *(*const makers[])(void) = {web_http_suite, web_serve_suite, web_replies_suite,
		web_reports_suite, web_platform_suite, web_errand_suite, web_figures_suite,
		web_refused_suite, web_fcgi_suite, web_fcgi_conn_suite, web_doors_suite,
		web_flood_suite, NULL};

	return tap_main(makers);
}
