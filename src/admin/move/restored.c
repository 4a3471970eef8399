/*
 * restored - finds out whether the data of the second ledger was replaced since the move began.
 *
 * Its audit has each restore and import. If the data is lost and began anew, no row of the audit is older than the move.
 */
#include "admin/list.h"
#include "admin/move/move.h"

#include <string.h>

/* The most that the clocks of the two hosts may differ. */
#define CLOCKS_DIFFER_MS (INT64_C(10) * 60 * 1000)

/* What replaces the data of a ledger. */
static const char *const replacing[] = {"restore", "import", "adopt"};

static bool is_replacing(const struct audit *row)
{
	for (size_t i = 0; i < sizeof(replacing) / sizeof(replacing[0]); i++) {
		if (strcmp(row->action, replacing[i]) == 0)
			return true;
	}
	return false;
}

enum outcome move_find_restore(struct move *move)
{
	const struct dealer_move *ours = &move->from.now.move;
	const int64_t since_ms = ours->begun_ms - CLOCKS_DIFFER_MS;
	int64_t oldest_ms = INT64_MAX;
	bool is_replaced = false;
	struct audit row;
	struct list list;
	enum outcome code;

	list_open(&list, move->to.session, RECORD_AUDIT, true, 0, NULL);
	while (!is_replaced && oldest_ms >= since_ms && list_next(&list, &row)) {
		oldest_ms = row.time_ms;
		is_replaced = oldest_ms >= since_ms && is_replacing(&row);
	}
	code = list_end(&list, OUTCOME_DONE);
	if (code == OUTCOME_DONE && (is_replaced || oldest_ms > ours->begun_ms))
		move->complete_to_ms = ours->changed_ms;
	return code;
}
