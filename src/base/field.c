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

#define PRIME UINT64_C(0x100000001b3)

static uint64_t mix_number(uint64_t digest, uint32_t number)
{
	for (unsigned int shift = 0; shift < 32; shift += 8)
		digest = (digest ^ (number >> shift & 0xff)) * PRIME;
	return digest;
}

uint64_t field_digest_name(uint64_t seed, const char *name)
{
	/* Include the closing NUL, so that "a", "bc" differs from "ab", "c". */
	for (size_t i = 0; i <= strlen(name); i++)
		seed = (seed ^ (uint8_t)name[i]) * PRIME;
	return seed;
}

uint64_t field_digest(uint64_t seed, const struct field *table)
{
	for (; table->name; table++) {
		seed = field_digest_name(seed, table->name);
		seed = mix_number(seed, (uint32_t)table->type);
		seed = mix_number(seed, table->size);
		seed = mix_number(seed, table->count);
		for (uint32_t i = 0; table->names && i < table->count; i++)
			seed = field_digest_name(seed, table->names[i]);
		if (table->sub)
			seed = field_digest(seed, table->sub);
	}
	return seed;
}

void field_drop_bytes(const struct field *fields, void *row)
{
	const struct bytes none = {.len = 0};

	for (const struct field *field = fields; field->name; field++) {
		if (field->type == FIELD_JSON || field->type == FIELD_BYTES)
			memcpy((uint8_t *)row + field->offset, &none, sizeof(none));
	}
}
