/*
 * set_schema DIRECTORY VERSION - makes the data in DIRECTORY (a state's db/) look as if a
 * creditbridge of schema VERSION had written it. The ledger must not be running.
 */
#include "set_row.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	struct counter counter = {.name = "schema"};

	if (argc != 3) {
		fprintf(stderr, "usage: set_schema DIRECTORY VERSION\n");
		return 2;
	}
	counter.value = strtoull(argv[2], NULL, 10);
	return set_row(argv[1], RECORD_COUNTER, &counter, true);
}
