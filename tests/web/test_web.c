/*
 * The unit tests of src/web.
 */
#include "web_case.h"

int main(void)
{
	static Suite *(*const makers[])(void) = {fcgi_request_suite, web_serve_suite,
		web_replies_suite, web_reports_suite, web_feed_suite, web_platform_suite,
		web_send_callback_suite, web_figures_suite, web_refusal_queue_suite,
		web_rejection_log_suite, web_cells_suite, fcgi_server_suite, fcgi_connection_suite,
		fcgi_listeners_suite, web_flood_suite, NULL};

	return tap_main(makers);
}
