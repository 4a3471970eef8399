/*
 * segment - a file of kept calls: a magic number, then records.
 *
 *     record  length:u32 sum:u32 payload    the payload is a packed refused_call
 *
 * Numbers are big-endian. A record is valid if its sum matches. Reading ends at the first invalid
 * record, which is the tail of a write that did not complete. A change of refused_call_fields
 * changes the magic number, so that files of another version are not read. The names of the enums
 * in it may grow at their ends (domain/refusal.def).
 */
#ifndef LEDGER_REFUSED_SEGMENT_H
#define LEDGER_REFUSED_SEGMENT_H

#include "base/buffer.h"
#include "link/refused_calls.h"

#define SEGMENT_MAGIC_SIZE  8
#define SEGMENT_RECORD_SIZE 8 /* of a record without its payload */
/* The largest file; one command reads at most about as much. */
#define SEGMENT_MAX (256 * 1024)

/* The magic number of this version. */
void segment_magic(uint8_t magic[SEGMENT_MAGIC_SIZE]);

/* Appends @call as a record to @out. Returns false if @out is full. */
bool segment_put(struct buffer *out, const struct refused_call *call);

/*
 * Reads the next record of @in into @call and advances @in. @record gets its bytes. Returns false
 * at the end; in->len is then the number of bytes that are no valid record.
 */
bool segment_get(struct bytes *in, struct refused_call *call, struct bytes *record);

/*
 * Reads the file @name in the directory @dir into @file and checks its magic number. @in gets the
 * records. Returns false if it cannot be read or is of another version.
 */
bool segment_read(int dir, const char *name, struct buffer *file, struct bytes *in);

#endif
