/*
 * Tests src/link: frames, codecs and the client.
 */
#include "test_link.h"

int main(void)
{
	return tap_main((Suite *(*const[])(void)){frame_suite, client_suite, NULL});
}
