#include "domain/round_list.h"

#include "base/check.h"

#include <string.h>

#define ENTRY 4

static uint32_t load_entry(const struct round *round, uint32_t at)
{
	const uint8_t *entry = round->listed.data + (size_t)at * ENTRY;

	return (uint32_t)entry[0] << 24 | (uint32_t)entry[1] << 16 | (uint32_t)entry[2] << 8 |
		entry[3];
}

static void save_entry(uint8_t *room, uint32_t at, uint32_t value)
{
	uint8_t *entry = room + (size_t)at * ENTRY;

	entry[0] = (uint8_t)(value >> 24);
	entry[1] = (uint8_t)(value >> 16);
	entry[2] = (uint8_t)(value >> 8);
	entry[3] = (uint8_t)value;
}

uint32_t round_list_count(const struct round *round)
{
	return round->listed.len / ENTRY;
}

uint32_t round_list_at(const struct round *round, uint32_t at)
{
	return load_entry(round, at) >> 1;
}

uint32_t round_list_find(const struct round *round, uint32_t number)
{
	uint32_t at = 0;

	while (at < round_list_count(round) && round_list_at(round, at) != number)
		at++;
	return at;
}

uint32_t round_list_waits(const struct round *round)
{
	uint32_t at = 0;

	while (at < round_list_count(round) && (load_entry(round, at) & 1))
		at++;
	return at;
}

bool round_list_sane(const struct round *round)
{
	uint32_t before = 0;

	if (round->listed.len % ENTRY || round_list_count(round) > ROUND_BETS_MAX)
		return false;
	for (uint32_t at = 0; at < round_list_count(round); at++) {
		const uint32_t number = round_list_at(round, at);

		if (number <= before || number > round->bets)
			return false;
		before = number;
	}
	return true;
}

uint32_t round_list_shown(const struct round *round, uint32_t after)
{
	const uint32_t others = ROUND_BETS_MAX - round_list_count(round);
	/* From this number on, all bets are shown. */
	const uint32_t newest = round->bets > others ? round->bets - others + 1 : 1;
	uint32_t at = 0;

	while (at < round_list_count(round) && round_list_at(round, at) <= after)
		at++;
	if (after + 1 < newest)
		return at < round_list_count(round) && round_list_at(round, at) < newest
			? round_list_at(round, at)
			: newest <= round->bets ? newest
						: 0;
	return after < round->bets ? after + 1 : 0;
}

/* Copies the unchanged list to @room. */
static void move_list(struct round *round, uint8_t room[ROUND_LIST_SIZE])
{
	if (round->listed.len > ROUND_LIST_SIZE)
		round->listed.len = ROUND_LIST_SIZE;
	if (round->listed.len && round->listed.data != room)
		memcpy(room, round->listed.data, round->listed.len);
	round->listed.data = room;
}

void round_list_add(struct round *round, uint32_t number, bool accepted,
	uint8_t room[ROUND_LIST_SIZE])
{
	CHECK(number && number <= round->bets);
	CHECK(!round->listed.len || round_list_at(round, round_list_count(round) - 1) < number);
	move_list(round, room);
	if (round->listed.len == ROUND_LIST_SIZE)
		return;
	save_entry(room, round_list_count(round), number << 1 | accepted);
	round->listed.len += ENTRY;
}

void round_list_accept(struct round *round, uint32_t number, uint8_t room[ROUND_LIST_SIZE])
{
	const uint32_t at = round_list_find(round, number);

	move_list(round, room);
	if (at < round_list_count(round))
		save_entry(room, at, number << 1 | 1);
}

void round_list_remove(struct round *round, uint32_t number, uint8_t room[ROUND_LIST_SIZE])
{
	const uint32_t at = round_list_find(round, number), count = round_list_count(round);

	move_list(round, room);
	if (at == count)
		return;
	memmove(room + (size_t)at * ENTRY, room + (size_t)(at + 1) * ENTRY,
		(size_t)(count - at - 1) * ENTRY);
	round->listed.len -= ENTRY;
}

/* A list of all bets, none known to be accepted. */
#define N1(n)  0, 0, (n) >> 7, (n) << 1 & 0xff
#define N4(n)  N1(n), N1((n) + 1), N1((n) + 2), N1((n) + 3)
#define N16(n) N4(n), N4((n) + 4), N4((n) + 8), N4((n) + 12)
#define N64(n) N16(n), N16((n) + 16), N16((n) + 32), N16((n) + 48)
static const uint8_t all[ROUND_LIST_SIZE] = {N64(1), N64(65), N64(129), N64(193)};

void round_list_make(struct round *round)
{
	const uint32_t count = round->bets < ROUND_BETS_MAX ? round->bets : ROUND_BETS_MAX;

	round->listed = (struct bytes){all, count * ENTRY};
}
