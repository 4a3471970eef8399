#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK_SIZE (64 * 1024)

struct arena_block {
	struct arena_block *next;
	size_t size;
	size_t used;
	_Alignas(16) uint8_t bytes[];
};

void arena_init(struct arena *arena)
{
	*arena = (struct arena){NULL, NULL};
}

void arena_free(struct arena *arena)
{
	struct arena_block *block = arena->blocks, *next;

	for (; block; block = next) {
		next = block->next;
		free(block);
	}
	arena_init(arena);
}

void arena_reset(struct arena *arena)
{
	struct arena_block **at = &arena->blocks;

	while (*at) {
		struct arena_block *block = *at;

		if (block->size > BLOCK_SIZE) {
			*at = block->next;
			free(block);
		} else {
			at = &block->next;
		}
	}
	arena->block = arena->blocks;
	if (arena->block)
		arena->block->used = 0;
}

/* Returns a block after the current one that has room for @size bytes. */
static struct arena_block *next_block(struct arena *arena, size_t size)
{
	struct arena_block *block = arena->block;
	struct arena_block **link = block ? &block->next : &arena->blocks;
	struct arena_block *next = *link;

	if (!next || next->size < size) {
		size_t room = size > BLOCK_SIZE ? size : BLOCK_SIZE;

		next = malloc(sizeof(*next) + room);
		if (!next)
			return NULL;
		next->next = *link;
		next->size = room;
		*link = next;
	}
	next->used = 0;
	arena->block = next;
	return next;
}

void *arena_take(struct arena *arena, size_t size)
{
	struct arena_block *block = arena->block;
	void *memory;

	if (size > SIZE_MAX / 2)
		return NULL;
	size = (size + 15) & ~(size_t)15;
	if (!block || block->size - block->used < size)
		block = next_block(arena, size);
	if (!block)
		return NULL;
	memory = block->bytes + block->used;
	block->used += size;
	return memory;
}

bool arena_keep_bytes(struct arena *arena, const struct field *table, void *record)
{
	for (; table->name; table++) {
		struct bytes bytes;
		void *copy;

		if (table->type != FIELD_BYTES && table->type != FIELD_JSON)
			continue;
		memcpy(&bytes, (uint8_t *)record + table->offset, sizeof(bytes));
		if (!bytes.len)
			continue;
		copy = arena_take(arena, bytes.len);
		if (!copy)
			return false;
		memcpy(copy, bytes.data, bytes.len);
		bytes.data = copy;
		memcpy((uint8_t *)record + table->offset, &bytes, sizeof(bytes));
	}
	return true;
}
