/*
 * pack - structs to bytes and back, by their field tables.
 *
 * Fixed width, big-endian, no padding; strings as two bytes of length and their bytes; a group as
 * its elements one after the other. Used for frames on the ledger's socket and for stored rows.
 *
 * A key (pack_key) sorts as its fields do: numbers big-endian, strings with a closing NUL.
 */
#ifndef BASE_PACK_H
#define BASE_PACK_H

#include "base/buffer.h"
#include "base/field.h"

/* Appends @record, described by @table, to @out. False: @out is full. */
bool pack_record(struct buffer *out, const struct field *table, const void *record);

/*
 * Reads one record from @in (advancing it) into @record, whose described members are all set.
 * False: too short, a string too long for its member or with a NUL in it, an enum or bool out of
 * range. @record is then not to be used. Never reads outside @in, whatever it holds.
 */
bool unpack_record(struct bytes *in, const struct field *table, void *record);

/*
 * Appends the first @count fields of @record as a key. Fewer fields than a row's key name a range
 * ("all players of this dealer").
 */
bool pack_key(struct buffer *out, const struct field *table, unsigned int count, const void *record);

/* Reads the first @count fields of a key back. As strict as unpack_record. */
bool unpack_key(struct bytes *in, const struct field *table, unsigned int count, void *record);

#endif
