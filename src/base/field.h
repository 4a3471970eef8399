/*
 * field - tables that describe the members of a struct.
 *
 * One table for each struct serves every generic loop over the struct. Two of them are the binary
 * codec of the ledger's socket and rows (base/pack.h) and JSON (wire/). A table ends with
 * FIELD_END. FIELD_BYTES and FIELD_JSON are the only pointers in a struct described by a table.
 */
#ifndef BASE_FIELD_H
#define BASE_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum field_type {
	FIELD_NONE = 0, /* ends a table */
	FIELD_BOOL,     /* bool; one byte 0 or 1 */
	FIELD_U8,       /* uint8_t */
	FIELD_U16,      /* uint16_t */
	FIELD_U32,      /* uint32_t */
	FIELD_I32,      /* int32_t */
	FIELD_U64,      /* uint64_t */
	FIELD_ENUM,     /* an enum (unsigned int) below @count, named by @names; one byte */
	FIELD_MONEY,    /* money_t, int64_t of ten-thousandths of a credit */
	FIELD_TIME_MS,  /* int64_t, Unix time in milliseconds */
	FIELD_STR,      /* char[size], NUL-terminated text */
	FIELD_SECRET,   /* as FIELD_STR; never shown to people or in logs */
	FIELD_BYTES,    /* struct bytes; unpacking points into the input */
	FIELD_GROUP,    /* @count structs of @size bytes described by @sub, one after the other */
	FIELD_JSON,     /* as FIELD_BYTES, holding JSON text or nothing (len 0) */
	FIELD_SUM,      /* sum_t, a wide_t (base/wide.h) of ten-thousandths of a credit */
	FIELD_SUM_64,   /* a sum_t stored in 8 bytes by an older row version: only unpacked */
};

/* Bytes that the struct does not own. */
struct bytes {
	const uint8_t *data;
	uint32_t len;
};

struct field {
	const char *name;
	enum field_type type;
	uint32_t offset; /* in the struct */
	uint32_t size;   /* of the member; of one element for a group */
	uint32_t count;  /* elements of a group; number of names of an enum */
	const struct field *sub;
	const char *const *names;
};

#define FIELD(type_, struct_, member_)                                                             \
	{                                                                                          \
		.name = #member_, .type = (type_),                                                 \
		.offset = (uint32_t)offsetof(struct struct_, member_),                             \
		.size = (uint32_t)sizeof(((struct struct_ *)0)->member_)                           \
	}
/* Like FIELD(), for a member shown under another name or inside a nested struct. */
#define FIELD_AS(name_, type_, struct_, member_)                                                   \
	{                                                                                          \
		.name = (name_), .type = (type_),                                                  \
		.offset = (uint32_t)offsetof(struct struct_, member_),                             \
		.size = (uint32_t)sizeof(((struct struct_ *)0)->member_)                           \
	}
#define FIELD_NAMED_AS(name_, struct_, member_, names_, count_)                                    \
	{                                                                                          \
		.name = (name_), .type = FIELD_ENUM,                                               \
		.offset = (uint32_t)offsetof(struct struct_, member_),                             \
		.size = (uint32_t)sizeof(((struct struct_ *)0)->member_), .count = (count_),       \
		.names = (names_)                                                                  \
	}
#define FIELD_NAMED(struct_, member_, names_, count_)                                              \
	{                                                                                          \
		.name = #member_, .type = FIELD_ENUM,                                              \
		.offset = (uint32_t)offsetof(struct struct_, member_),                             \
		.size = (uint32_t)sizeof(((struct struct_ *)0)->member_), .count = (count_),       \
		.names = (names_)                                                                  \
	}
#define FIELD_SUB(struct_, member_, element_, sub_)                                                \
	{                                                                                          \
		.name = #member_, .type = FIELD_GROUP,                                             \
		.offset = (uint32_t)offsetof(struct struct_, member_),                             \
		.size = (uint32_t)sizeof(struct element_),                                         \
		.count = (uint32_t)(sizeof(((struct struct_ *)0)->member_) /                       \
			sizeof(struct element_)),                                                  \
		.sub = (sub_)                                                                      \
	}
#define FIELD_SUB_AS(name_, struct_, member_, element_, sub_)                                      \
	{                                                                                          \
		.name = (name_), .type = FIELD_GROUP,                                              \
		.offset = (uint32_t)offsetof(struct struct_, member_),                             \
		.size = (uint32_t)sizeof(struct element_),                                         \
		.count = (uint32_t)(sizeof(((struct struct_ *)0)->member_) /                       \
			sizeof(struct element_)),                                                  \
		.sub = (sub_)                                                                      \
	}
#define FIELD_END                                                                                  \
	{                                                                                          \
		.name = NULL, .type = FIELD_NONE                                                   \
	}

/* Returns the field named @name in @table, or NULL. */
const struct field *field_find(const struct field *table, const char *name);

/*
 * Read and write a number of @size bytes (1, 2, 4 or 8) at any alignment, in the machine's byte
 * order, as unsigned. A negative number is in two's complement of its own width.
 */
static inline uint64_t field_load_number(const void *member, uint32_t size)
{
	uint8_t u8;
	uint16_t u16;
	uint32_t u32;
	uint64_t u64;

	switch (size) {
	case 1:
		memcpy(&u8, member, 1);
		return u8;
	case 2:
		memcpy(&u16, member, 2);
		return u16;
	case 4:
		memcpy(&u32, member, 4);
		return u32;
	default:
		memcpy(&u64, member, 8);
		return u64;
	}
}

static inline void field_store_number(void *member, uint32_t size, uint64_t value)
{
	uint8_t u8 = (uint8_t)value;
	uint16_t u16 = (uint16_t)value;
	uint32_t u32 = (uint32_t)value;

	switch (size) {
	case 1:
		memcpy(member, &u8, 1);
		break;
	case 2:
		memcpy(member, &u16, 2);
		break;
	case 4:
		memcpy(member, &u32, 4);
		break;
	default:
		memcpy(member, &value, 8);
		break;
	}
}

/*
 * Mixes the names, types, sizes and enum names of @table into @seed (FNV-1a). Builds with different
 * tables have different digests. The protocol version in the ledger's greeting is made from these
 * digests.
 */
uint64_t field_digest(uint64_t seed, const struct field *table);

/* Mixes a name into @seed. */
uint64_t field_digest_name(uint64_t seed, const char *name);

/* Leaves out the members of @row that are JSON or bytes, which point to memory of others. */
void field_drop_bytes(const struct field *fields, void *row);

#endif
