#include "ledger/rows/counters.h"

#include "base/text.h"

static struct counter counter_key(const char *name)
{
	struct counter key = {.value = 0};

	text_copy(key.name, sizeof(key.name), name);
	return key;
}

void counter_want(struct ws *ws, const char *name)
{
	struct counter key = counter_key(name);

	ws_want(ws, RECORD_COUNTER, &key);
}

uint64_t counter_read(struct ws *ws, const char *name)
{
	struct counter key = counter_key(name);
	const struct counter *counter = ws_get(ws, RECORD_COUNTER, &key);

	return counter ? counter->value : 0;
}

void counter_write(struct ws *ws, const char *name, uint64_t value)
{
	struct counter counter = counter_key(name);

	counter.value = value;
	ws_put(ws, RECORD_COUNTER, &counter);
}

uint64_t counter_next(struct ws *ws, const char *name)
{
	struct counter counter = counter_key(name);

	counter.value = counter_read(ws, name) + 1;
	ws_put(ws, RECORD_COUNTER, &counter);
	return counter.value;
}
