/*
 * lines - the first and the last line of an export. Between them, each line is one row of
 * the ledger (wire/row_line.h). See creditbridge-export(5).
 */
#ifndef ARCHIVE_LINES_H
#define ARCHIVE_LINES_H

#include "domain/records.h"
#include "state/identity.h"
#include "wire/digest.h"

#define EXPORT_HEAD    "export" /* record of the first line */
#define EXPORT_TAIL    "end"    /* record of the last line */
#define EXPORT_FORMAT  "creditbridge-export"
#define EXPORT_VERSION 1
/* Maximum bytes of a line: a row with a body of 64 KiB, each byte escaped as six characters. */
#define EXPORT_LINE_MAX (2u * 1024 * 1024)

struct export_head {
	char format[24];
	uint32_t version; /* of the export format */
	uint32_t schema;  /* of the rows */
	char program[32]; /* the program that wrote the export */
	char installation[STATE_INSTALLATION_MAX];
	int64_t created_ms;
	bool keys;                    /* the export contains keys */
	uint64_t last_transaction_id; /* the last id assigned at the time of the export */
	uint64_t last_event;
};

/* The number of rows of each kind. */
struct export_counts {
#define RECORD(name, struct_, keys) uint64_t struct_;
#include "domain/records.def"
#undef RECORD
};

struct export_tail {
	uint64_t rows;
	struct export_counts counts;
	char sha256[DIGEST_TEXT_SIZE]; /* of all preceding lines */
};

extern const struct field export_head_fields[];
extern const struct field export_counts_fields[];
extern const struct field export_tail_fields[];
/* The last line as a program of that schema wrote it: it counts the kinds of rows that the schema has. */
const struct field *export_tail_fields_of(uint32_t schema);

/* Returns the counter for rows of @record in @counts. */
uint64_t *export_count(struct export_counts *counts, enum record record);

#endif
