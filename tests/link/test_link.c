/*
 * Tests src/link: frames, codecs, the client and the table of roles.
 */
#include "test_link.h"

int main(void)
{
	return tap_main((
		Suite *(*const[])(void)){frame_suite, client_suite, roles_suite, jobs_suite, NULL});
}
