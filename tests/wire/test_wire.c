#include "suites.h"

#include <tap.h>

int main(void)
{
	static Suite *(*const makers[])(void) = {body_suite, callback_body_suite,
		dealer_answer_suite, digest_suite, inspect_suite, memory_suite, render_suite,
		row_line_suite, signature_suite, trace_suite, vectors_suite, webhook_suite, NULL};

	return tap_main(makers);
}
