/*
 * arena - memory that is taken piece by piece and given back all at once.
 */
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
/* Gives back everything that was taken. Keeps blocks of the usual size for the next round. */
void arena_reset(struct arena *arena);
/* @size bytes, aligned for anything, valid until arena_reset(). NULL: no memory. */
void *arena_take(struct arena *arena, size_t size);
/*
 * Copies what the FIELD_BYTES and FIELD_JSON members of @record point to into the arena and makes
 * them point there; not those of its groups, which no stored row has. False: no memory.
 */
bool arena_keep_bytes(struct arena *arena, const struct field *table, void *record);

#endif
