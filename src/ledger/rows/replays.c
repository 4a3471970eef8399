#include "ledger/rows/replays.h"

#include <string.h>

static void set_row(struct running_replay *running, const struct replay *row)
{
	running->row = *row;
	running->row.events.data = running->marked;
	if (running->row.events.len > sizeof(running->marked))
		running->row.events.len = 0;
	if (running->row.events.len)
		memcpy(running->marked, row->events.data, running->row.events.len);
}

static void remove_at(struct replay_book *book, uint32_t at)
{
	book->count--;
	for (; at < book->count; at++) {
		book->list[at] = book->list[at + 1];
		book->list[at].row.events.data = book->list[at].marked;
	}
}

bool replay_book_follow(struct replay_book *book, const struct replay *row)
{
	uint32_t at = 0;

	while (at < book->count && book->list[at].row.id != row->id)
		at++;
	if (row->state != REPLAY_RUNNING) {
		if (at < book->count)
			remove_at(book, at);
		return true;
	}
	if (at == REPLAYS_RUNNING_MAX)
		return false;
	if (at == book->count) {
		book->count++;
		book->list[at].next_ms = 0;
		book->list[at].faults = 0;
	}
	set_row(&book->list[at], row);
	return true;
}
