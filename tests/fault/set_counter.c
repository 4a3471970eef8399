/*
 * set_counter DIRECTORY NAME VALUE - sets what was given out last of a sequence (transaction_id, event),
 * in the data in DIRECTORY (a state's db/). The ledger must not be running.
 */
#include "base/text.h"
#include "set_row.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	struct counter counter = {0};

	if (argc != 4) {
		fprintf(stderr, "usage: set_counter DIRECTORY NAME VALUE\n");
		return 2;
	}
	text_copy(counter.name, sizeof(counter.name), argv[2]);
	counter.value = strtoull(argv[3], NULL, 10);
	return set_row(argv[1], RECORD_COUNTER, &counter, true);
}
