/*
 * split_row - a bet's user_bet apart from the rest of its row.
 *
 * A result changes the state of each bet of its round. A row with a large user_bet lies on pages of its
 * own, and each change writes all of them anew, into the log and into the table: 6 MiB for the largest
 * round. So a user_bet of SPLIT_MIN bytes and more has a row of its own, which is written once: the object.
 * Its key is the row's and a byte 0, so that it follows the row in the table. The values:
 *
 *   whole    version, the members
 *   head     version with the bit SPLIT_HEAD, four bytes with the number of bytes of the members before the
 *            object, the members without the object
 *   object   the byte SPLIT_OBJECT, the object
 *
 * Rows that were written whole stay so until they change. Only the store knows of this: commands and scans
 * see whole rows.
 */
#ifndef STORE_BDB_SPLIT_ROW_H
#define STORE_BDB_SPLIT_ROW_H

#include "base/buffer.h"
#include "domain/records.h"

#define SPLIT_MIN    512
#define SPLIT_HEAD   0x80
#define SPLIT_OBJECT 0 /* no version */

/*
 * Packs @row of kind @record into @value: its version, and all members that are no key. A large object
 * is left out of the value, which is a head then. It is in @object, as long as @row lives. Without one
 * @object is empty, and the value is whole. False: no memory.
 */
bool split_pack(struct buffer *value, enum record record, const void *row, struct bytes *object);

/* What of a row that was read is kept apart if it was split: as @object of split_pack(). */
struct bytes split_object_of(enum record record, const void *row);

bool split_is_head(struct bytes value);
bool split_is_object(enum record record, struct bytes value);

/*
 * Makes @value, a head of *@len bytes with room for @room, whole with the object's value @object. False:
 * they do not fit each other, or the room.
 */
bool split_join(uint8_t *value, uint32_t *len, uint32_t room, struct bytes object);

#endif
