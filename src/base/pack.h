/*
 * pack - converts structs to bytes and back by their field tables.
 *
 * Numbers have a fixed width and are big-endian, without padding. A string is two bytes of length
 * and its bytes. A group is its elements in order. Frames on the ledger's socket and stored rows
 * use this format.
 *
 * A key (pack_key()) sorts as its fields do: numbers are big-endian and strings end with a NUL.
 */
#ifndef BASE_PACK_H
#define BASE_PACK_H

#include "base/buffer.h"
#include "base/field.h"

/* Appends @record, described by @table, to @out. Returns false if @out is full. */
bool pack_record(struct buffer *out, const struct field *table, const void *record);

/*
 * Reads one record from @in, advances @in, and sets every described member of @record. Returns
 * false if the input is too short, or an enum or bool is out of range. Also false: a string
 * contains a NUL or is too long for its member. @record is then unusable. Never reads outside @in,
 * whatever bytes it has.
 */
bool unpack_record(struct bytes *in, const struct field *table, void *record);

/*
 * Appends the first @count fields of @record as a key. With fewer fields than the row's key it is
 * the prefix of a range ("all players of this dealer").
 */
bool pack_key(struct buffer *out, const struct field *table, unsigned int count,
	const void *record);

/* Reads the first @count fields of a key. Fails in the same cases as unpack_record(). */
bool unpack_key(struct bytes *in, const struct field *table, unsigned int count, void *record);

#endif
