/*
 * batch - a batch of transactions: a thousand rows and about 550 KiB of log.
 */
#ifndef TESTS_STORE_BATCH_H
#define TESTS_STORE_BATCH_H

#include "store/store.h"
#include "store/ws.h"

#include <check.h>
#include <stdint.h>
#include <string.h>

#define BATCH_ROWS 1000

/* Saves the transactions after @last_id, and sets it to the last of them. */
static inline void batch_save(struct store *store, struct ws *ws, uint64_t *last_id)
{
	struct transaction row;

	ws_reset(ws);
	for (unsigned int i = 0; i < BATCH_ROWS; i++) {
		memset(&row, 0, sizeof(row));
		row.transaction_id = ++*last_id;
		memset(row.request_transaction_id, 'r', sizeof(row.request_transaction_id) - 1);
		ws_append(ws, RECORD_TRANSACTION, &row);
	}
	ck_assert_int_eq(store->save(store, ws), SAVE_OK);
}

#endif
