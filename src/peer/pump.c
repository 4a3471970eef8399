#include "peer/pump.h"

#include <stdlib.h>
#include <string.h>

bool pump_init(struct pump *pump)
{
	*pump = (struct pump){.data = malloc(PUMP_SIZE)};
	return pump->data != NULL;
}

void pump_free(struct pump *pump)
{
	if (pump->data)
		explicit_bzero(pump->data, PUMP_SIZE);
	free(pump->data);
	*pump = (struct pump){.ended = true};
}

size_t pump_room(const struct pump *pump)
{
	return pump->data ? PUMP_SIZE - pump->len : 0;
}

/* Moves the bytes to the beginning, so that all room is after them. */
static void close_gap(struct pump *pump)
{
	if (pump->start && pump->len)
		memmove(pump->data, pump->data + pump->start, pump->len);
	pump->start = 0;
}

bool pump_put(struct pump *pump, const void *data, size_t len)
{
	if (len > pump_room(pump))
		return false;
	close_gap(pump);
	memcpy(pump->data + pump->len, data, len);
	pump->len += (uint32_t)len;
	return true;
}

bool pump_fill(struct pump *pump, const struct pump_end *source)
{
	ssize_t got;

	if (pump->ended || !pump_room(pump))
		return true;
	close_gap(pump);
	got = source->read(source->context, pump->data + pump->len, pump_room(pump));
	if (got == END_BROKEN)
		return false;
	if (got == 0)
		pump->ended = true;
	else if (got > 0)
		pump->len += (uint32_t)got;
	return true;
}

bool pump_drain(struct pump *pump, const struct pump_end *sink)
{
	ssize_t put;

	while (pump->len) {
		put = sink->write(sink->context, pump->data + pump->start, pump->len);
		if (put == END_BROKEN)
			return false;
		if (put <= 0)
			return true;
		pump->start += (uint32_t)put;
		pump->len -= (uint32_t)put;
	}
	pump->start = 0;
	return true;
}
