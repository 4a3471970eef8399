/*
 * set_movement DIRECTORY GIVEN TRANSACTION_ID CASINO_ID PLAYER_ID SEQ PREVIOUS BEFORE AMOUNT - adds
 * a movement to which no other row refers to the data in DIRECTORY (a state's db/), and makes GIVEN
 * the last transaction id that was given out. Money in ten-thousandths. The ledger must not be
 * running.
 */
#include "base/text.h"
#include "set_row.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	struct counter counter = {.name = "transaction_id"};
	struct transaction entry;

	if (argc != 10) {
		fprintf(stderr,
			"usage: set_movement DIRECTORY GIVEN TRANSACTION_ID CASINO_ID "
			"PLAYER_ID SEQ PREVIOUS BEFORE AMOUNT\n");
		return 2;
	}
	memset(&entry, 0, sizeof(entry));
	counter.value = strtoull(argv[2], NULL, 10);
	entry.transaction_id = strtoull(argv[3], NULL, 10);
	text_copy(entry.casino_id, sizeof(entry.casino_id), argv[4]);
	text_copy(entry.player_id, sizeof(entry.player_id), argv[5]);
	entry.entry_seq = strtoull(argv[6], NULL, 10);
	entry.previous = strtoull(argv[7], NULL, 10);
	entry.kind = ENTRY_ADJUST;
	entry.scope = SCOPE_OPERATOR;
	entry.before_balance = strtoll(argv[8], NULL, 10);
	entry.amount = strtoll(argv[9], NULL, 10);
	entry.current_balance = entry.before_balance + entry.amount;
	text_copy(entry.request_transaction_id, sizeof(entry.request_transaction_id), "nobody");
	return set_row(argv[1], RECORD_TRANSACTION, &entry, false) ||
		set_row(argv[1], RECORD_COUNTER, &counter, true);
}
