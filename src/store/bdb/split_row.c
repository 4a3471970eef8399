#include "store/bdb/split_row.h"

#include "base/check.h"
#include "base/pack.h"

#include <stddef.h>
#include <string.h>

#define HEAD_LEN  5 /* of a head, before the members */
#define LEN_BYTES 4 /* of the length before an object (base/pack.h) */
#define MEMBERS   64

/* The non-key members of a bet: up to user_bet, and those after it. */
static struct field before[MEMBERS];
static const struct field *after;

static void put_u32(uint8_t *at, uint32_t number)
{
	for (unsigned int i = 0; i < 4; i++)
		at[i] = (uint8_t)(number >> (24 - 8 * i));
}

static uint32_t get_u32(const uint8_t *at)
{
	uint32_t number = 0;

	for (unsigned int i = 0; i < 4; i++)
		number = number << 8 | at[i];
	return number;
}

/* Fills the two tables. Only one thread uses a store. */
static void make_split_tables(void)
{
	const struct field *field =
		record_infos[RECORD_BET].fields + record_infos[RECORD_BET].key_count;
	unsigned int count = 0;

	while (count < MEMBERS - 1 && field->name && !after) {
		before[count++] = *field;
		if (field->offset == offsetof(struct bet, user_bet))
			after = field + 1;
		field++;
	}
}

struct bytes split_object_of(enum record record, const void *row)
{
	const struct bet *bet = row;

	if (record == RECORD_BET && bet->user_bet.len >= SPLIT_MIN)
		return bet->user_bet;
	return (struct bytes){NULL, 0};
}

bool split_pack(struct buffer *value, enum record record, const void *row, uint32_t left_out,
	struct bytes *object)
{
	const struct record_info *info = &record_infos[record];
	uint8_t head[HEAD_LEN] = {record_version(record)};
	size_t cut;

	*object = split_object_of(record, row);
	buffer_reset(value);
	if (!object->len && !left_out)
		return buffer_append(value, head, 1) &&
			pack_record(value, info->fields + info->key_count, row);
	if (!after)
		make_split_tables();
	CHECK(after);
	head[0] |= SPLIT_HEAD;
	if (!buffer_append(value, head, HEAD_LEN) || !pack_record(value, before, row))
		return false;
	CHECK(!object->len || !left_out);
	CHECK(value->len >= HEAD_LEN + LEN_BYTES + object->len);
	value->len -= object->len;
	cut = value->len - HEAD_LEN;
	put_u32(value->data + 1, (uint32_t)cut);
	if (left_out)
		put_u32(value->data + value->len - LEN_BYTES, left_out);
	return pack_record(value, after, row);
}

bool split_is_head(struct bytes value)
{
	return value.len > HEAD_LEN && (value.data[0] & SPLIT_HEAD);
}

bool split_is_object(enum record record, struct bytes value)
{
	return record == RECORD_BET && value.len && value.data[0] == SPLIT_OBJECT;
}

bool split_join(uint8_t *value, uint32_t *len, uint32_t room, struct bytes object)
{
	uint32_t cut = get_u32(value + 1), rest = *len - HEAD_LEN;

	if (!object.len || object.data[0] != SPLIT_OBJECT || cut > rest ||
		object.len - 1 > room - 1 - rest)
		return false;
	object.data++;
	object.len--;
	value[0] &= (uint8_t)~SPLIT_HEAD;
	memmove(value + 1, value + HEAD_LEN, cut);
	memmove(value + 1 + cut + object.len, value + HEAD_LEN + cut, rest - cut);
	memcpy(value + 1 + cut, object.data, object.len);
	*len = 1 + rest + object.len;
	return true;
}

uint32_t split_leave_out(uint8_t *value, uint32_t *len)
{
	static const uint8_t nothing[] = {SPLIT_OBJECT};
	const uint32_t cut = get_u32(value + 1);
	uint8_t *object_len;
	uint32_t left_out;

	if (cut < LEN_BYTES || cut > *len - HEAD_LEN)
		return 0;
	object_len = value + HEAD_LEN + cut - LEN_BYTES;
	left_out = get_u32(object_len);
	put_u32(object_len, 0);
	return split_join(value, len, *len, (struct bytes){nothing, sizeof(nothing)}) ? left_out
										      : 0;
}
