/* arena - memory allocated in pieces and released all at once. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include "base/field.h"

#include <stdbool.h>
#include <stddef.h>

struct arena_block;
struct arena {
	struct arena_block *blocks;
	struct arena_block *block; /* the one in use */
};

void arena_init(struct arena *arena);
void arena_free(struct arena *arena);
/* Releases all pieces. Keeps blocks of the usual size for reuse. */
void arena_reset(struct arena *arena);
/*
 * Returns @size bytes, aligned for any type and valid until arena_reset(). Returns NULL if memory
 * is exhausted.
 */
void *arena_take(struct arena *arena, size_t size);
/*
 * Copies the data of the FIELD_BYTES and FIELD_JSON members of @record to the arena and redirects
 * the members to the copies. Skips the members of groups: no stored row has such groups. Returns
 * false if memory is exhausted.
 */
bool arena_keep_bytes(struct arena *arena, const struct field *table, void *record);

#endif
