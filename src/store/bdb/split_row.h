/*
 * split_row - stores a bet's user_bet separately from the rest of its row.
 *
 * A result changes the state of each bet of its round. A row with a large user_bet has pages of
 * its own, and each change writes all of them into the log and into the table: 6 MiB for the
 * largest round. A user_bet of at least SPLIT_MIN bytes, the object, is therefore stored in a
 * separate row that is written once. Its key is the key of the bet and a byte 0, so that it
 * follows the bet in the table. The values:
 *
 *     whole    version, the members
 *     head     version with the bit SPLIT_HEAD, four bytes with the number of bytes of the
 *              members before the object, the members without the object
 *     object   the byte SPLIT_OBJECT, the object
 *
 * A row that was written whole stays whole until it changes. Only the store knows of the split:
 * commands and scans see whole rows.
 */
#ifndef STORE_BDB_SPLIT_ROW_H
#define STORE_BDB_SPLIT_ROW_H

#include "base/buffer.h"
#include "domain/records.h"

#define SPLIT_MIN    512
#define SPLIT_HEAD   0x80
#define SPLIT_OBJECT 0 /* no version */

/*
 * Packs @row of kind @record into @value: its version and all non-key members. A large object is
 * left out, @value is then a head, and @object refers to the object while @row lives. Otherwise
 * @object is empty and @value is whole.
 *
 * If @left_out is not 0, @row has no object, because an object of this many bytes was left out when
 * the row was loaded. It stays in the store: @value is its head, and @object is empty. Returns false
 * if memory is exhausted.
 */
bool split_pack(struct buffer *value, enum record record, const void *row, uint32_t left_out,
	struct bytes *object);

/* Returns the part of a row that split_pack() would separate; empty if none. */
struct bytes split_object_of(enum record record, const void *row);

bool split_is_head(struct bytes value);
bool split_is_object(enum record record, struct bytes value);

/*
 * Completes @value, a head of *@len bytes with room for @room, with the value of its object.
 * Returns false if they do not match or the room is too small.
 */
bool split_join(uint8_t *value, uint32_t *len, uint32_t room, struct bytes object);

/*
 * Makes @value, a head of *@len bytes, a whole value with an empty object. Returns the number of
 * bytes of the object, which is left out; 0 if the head is damaged.
 */
uint32_t split_leave_out(uint8_t *value, uint32_t *len);

#endif
