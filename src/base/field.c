#include "base/field.h"

#include <string.h>

const struct field *field_find(const struct field *table, const char *name)
{
	for (; table->name; table++) {
		if (strcmp(table->name, name) == 0)
			return table;
	}
	return NULL;
}

static uint64_t mix(uint64_t digest, const void *data, size_t len)
{
	const uint8_t *byte = data;

	for (size_t i = 0; i < len; i++)
		digest = (digest ^ byte[i]) * UINT64_C(0x100000001b3);
	return digest;
}

uint64_t field_digest_name(uint64_t seed, const char *name)
{
	return mix(seed, name, strlen(name) + 1);
}

uint64_t field_digest(uint64_t seed, const struct field *table)
{
	for (; table->name; table++) {
		uint32_t shape[3] = {(uint32_t)table->type, table->size, table->count};

		seed = field_digest_name(seed, table->name);
		seed = mix(seed, shape, sizeof(shape));
		for (uint32_t i = 0; table->names && i < table->count; i++)
			seed = field_digest_name(seed, table->names[i]);
		if (table->sub)
			seed = field_digest(seed, table->sub);
	}
	return seed;
}
