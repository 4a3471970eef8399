/*
 * import_target - what the parts of fuzz_import share: the export that is imported, the store that the
 * rows end in, and the clock.
 */
#ifndef TESTS_FUZZ_IMPORT_TARGET_H
#define TESTS_FUZZ_IMPORT_TARGET_H

#include "admin/session.h"
#include "domain/records.h"
#include "store/store.h"

#define IMPORT_LINES_MAX 1024

/* A row of any kind. */
union import_row {
#define RECORD(name, struct_, keys) struct struct_ struct_;
#include "domain/records.def"
#undef RECORD
};

/* The wall and boot clock of everything that is linked; set to its beginning before each input. */
extern int64_t import_wall_ms;
extern int64_t import_boot_ms;

/* The kind of row called @name; RECORD_COUNT if there is none. */
enum record import_record_of(const char *name);

/* Keeps an input that was accepted: most mutations begin with one of the last of these. */
void import_accepted(const uint8_t *data, size_t size);

/*
 * Carries out commands on the rows of @store, an import that was accepted: moves credit in and out,
 * settles every round and ends every callback. @reconciled: each dealer's file was compared before its
 * callbacks are released. Dies if a command fails that the rows promise.
 */
void import_play(struct store *store, bool reconciled);

/* Proves the rows of @store as `creditbridgectl check` does. Dies if there is a problem. */
void import_prove(struct session *session, struct store *store);

#endif
