#include "archive/lines.h"

const struct field export_head_fields[] = {
	FIELD(FIELD_STR, export_head, format),
	FIELD(FIELD_U32, export_head, version),
	FIELD(FIELD_U32, export_head, schema),
	FIELD(FIELD_STR, export_head, program),
	FIELD(FIELD_STR, export_head, installation),
	FIELD(FIELD_TIME_MS, export_head, created_ms),
	FIELD(FIELD_BOOL, export_head, keys),
	FIELD(FIELD_U64, export_head, last_transaction_id),
	FIELD(FIELD_U64, export_head, last_event),
	FIELD_END,
};

const struct field export_counts_fields[] = {
#define RECORD(name, struct_, keys) FIELD(FIELD_U64, export_counts, struct_),
#include "domain/records.def"
#undef RECORD
	FIELD_END,
};

#define TAIL_FIELDS(counted)                                                                       \
	FIELD(FIELD_U64, export_tail, rows),                                                       \
		FIELD_SUB(export_tail, counts, export_counts, counted),                            \
		FIELD(FIELD_STR, export_tail, sha256), FIELD_END

const struct field export_tail_fields[] = {TAIL_FIELDS(export_counts_fields)};

static const struct field export_counts_fields_2[] = {
#define RECORD(name, struct_, keys) FIELD(FIELD_U64, export_counts, struct_),
#define RECORD_3(name, struct_, keys)
#define RECORD_4(name, struct_, keys)
#define RECORD_5(name, struct_, keys)
#define RECORD_6(name, struct_, keys)
#include "domain/records.def"
#undef RECORD
	FIELD_END,
};

static const struct field export_tail_fields_2[] = {TAIL_FIELDS(export_counts_fields_2)};

static const struct field export_counts_fields_3[] = {
#define RECORD(name, struct_, keys) FIELD(FIELD_U64, export_counts, struct_),
#define RECORD_4(name, struct_, keys)
#define RECORD_5(name, struct_, keys)
#define RECORD_6(name, struct_, keys)
#include "domain/records.def"
#undef RECORD
	FIELD_END,
};

static const struct field export_tail_fields_3[] = {TAIL_FIELDS(export_counts_fields_3)};

static const struct field export_counts_fields_4[] = {
#define RECORD(name, struct_, keys) FIELD(FIELD_U64, export_counts, struct_),
#define RECORD_5(name, struct_, keys)
#define RECORD_6(name, struct_, keys)
#include "domain/records.def"
#undef RECORD
	FIELD_END,
};

static const struct field export_tail_fields_4[] = {TAIL_FIELDS(export_counts_fields_4)};

static const struct field export_counts_fields_5[] = {
#define RECORD(name, struct_, keys) FIELD(FIELD_U64, export_counts, struct_),
#define RECORD_6(name, struct_, keys)
#include "domain/records.def"
#undef RECORD
	FIELD_END,
};

static const struct field export_tail_fields_5[] = {TAIL_FIELDS(export_counts_fields_5)};

const struct field *export_tail_fields_of(uint32_t schema)
{
	static const struct field *const older[] = {[2] = export_tail_fields_2,
		[3] = export_tail_fields_3,
		[4] = export_tail_fields_4,
		[5] = export_tail_fields_5};

	if (schema < 2)
		schema = 2;
	return schema < sizeof(older) / sizeof(older[0]) ? older[schema] : export_tail_fields;
}

uint64_t *export_count(struct export_counts *counts, enum record record)
{
	static const size_t offsets[RECORD_COUNT] = {
#define RECORD(name, struct_, keys) offsetof(struct export_counts, struct_),
#include "domain/records.def"
#undef RECORD
	};

	return (uint64_t *)(void *)((char *)counts + offsets[record]);
}
