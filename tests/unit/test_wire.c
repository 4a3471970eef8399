#include "suites.h"

#include <tap.h>

int main(void)
{
	static Suite *(*const makers[])(void) = {body_suite, memory_suite, render_suite,
		signature_suite, NULL};

	return tap_main(makers);
}
