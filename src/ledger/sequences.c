#include "ledger/sequences.h"

#include "base/text.h"
#include "ledger/ops.h"

static const char *const names[] = {"transaction_id", "event"};
#define NAME_COUNT (sizeof(names) / sizeof(names[0]))

void sequences_want(struct ws *ws)
{
	for (size_t i = 0; i < NAME_COUNT; i++)
		counter_want(ws, names[i]);
}

bool sequences_raise(struct ws *ws)
{
	for (size_t i = 0; i < NAME_COUNT; i++) {
		if (counter_read(ws, names[i]) > TRANSACTION_ID_MAX - SEQUENCES_RAISED_BY)
			return false;
	}
	for (size_t i = 0; i < NAME_COUNT; i++) {
		struct counter counter = {
			.value = counter_read(ws, names[i]) + SEQUENCES_RAISED_BY};

		text_copy(counter.name, sizeof(counter.name), names[i]);
		ws_put(ws, RECORD_COUNTER, &counter);
	}
	return true;
}
