/*
 * fuzz_import - lines of an export, through the whole import (src/archive) into a store, then commands
 * on what it accepted.
 *
 * Bit 0 of the first byte: the file holds keys; bit 1: dealers are released without their files. The
 * lines follow; the first and the last line of the file are made here. Only the state directory, the
 * clock and randomness are replaced. Rows that the import accepts are rows that the ledger's commands
 * could have made: each command of import_play() succeeds, and the proof of `check` finds no problem
 * afterwards.
 */
#include "fuzz.h"
#include "import_target.h"

#include "archive/import.h"
#include "archive/local.h"
#include "base/clock.h"
#include "base/log.h"
#include "check/check.h"
#include "check/prove.h"
#include "ledger/offline/offline.h"
#include "memory_store.h"
#include "state/disk.h"
#include "state/halt.h"
#include "wire/row_line.h"

#include <stdarg.h>
#include <unistd.h>

#define WALL_BEGIN_MS INT64_C(1893456000000) /* 2030-01-01: after the rows of the corpus */
#define EXPORT_PATH   "the export"
#define BOOT_BEGIN_MS INT64_C(1000000000)

int64_t import_wall_ms;
int64_t import_boot_ms;

static struct store *store;
static void (*store_close)(struct store *store);
static struct buffer file;

enum record import_record_of(const char *name)
{
	unsigned int i = 0;

	while (i < RECORD_COUNT && strcmp(record_infos[i].name, name) != 0)
		i++;
	return (enum record)i;
}

/* ---- the clock, randomness and the log */

struct moment __wrap_clock_now(void);
int64_t __wrap_clock_wall_ms(void);
int64_t __wrap_clock_boot_ms(void);
void __wrap_clock_sleep_ms(int64_t ms);
bool __wrap_signature_random_id(char *id, size_t size);
bool __wrap_signature_new_secret(char secret[KEY_SECRET_SIZE]);
void __wrap_log_line(enum log_level level, const char *event, const char *format, ...);

int64_t __wrap_clock_wall_ms(void)
{
	return import_wall_ms;
}

int64_t __wrap_clock_boot_ms(void)
{
	return import_boot_ms;
}

struct moment __wrap_clock_now(void)
{
	return (struct moment){import_wall_ms, import_boot_ms, 7};
}

void __wrap_clock_sleep_ms(int64_t ms)
{
	import_wall_ms += ms;
	import_boot_ms += ms;
}

bool __wrap_signature_random_id(char *id, size_t size)
{
	memset(id, 'a', size - 1);
	id[size - 1] = '\0';
	return true;
}

bool __wrap_signature_new_secret(char secret[KEY_SECRET_SIZE])
{
	return __wrap_signature_random_id(secret, KEY_SECRET_SIZE);
}

void __wrap_log_line(enum log_level level, const char *event, const char *format, ...)
{
	(void)level;
	(void)event;
	(void)format;
}

/* ---- the state directory */

enum status __wrap_state_dir_check(const char *path, char *installation, char *why,
	size_t why_size);
enum status __wrap_state_dir_restore(const char *path, int *lock, char *why, size_t why_size);
enum status __wrap_state_dir_restored(const char *path, const char *installation, char *why,
	size_t why_size);
enum status __wrap_offline_open(struct store **store, const struct settings *settings,
	const struct offline_options *options, char *why, size_t why_size);
bool __wrap_directory_sync_path(const char *path);
bool __wrap_disk_mark_set(const char *state, enum disk_mark mark);
void __wrap_halt_clear(const struct settings *settings);

enum status __wrap_state_dir_check(const char *path, char *installation, char *why, size_t why_size)
{
	(void)path;
	installation[0] = '\0';
	snprintf(why, why_size, "it is new");
	return STATUS_CONFIG;
}

enum status __wrap_state_dir_restore(const char *path, int *lock, char *why, size_t why_size)
{
	(void)path;
	(void)why;
	(void)why_size;
	*lock = -1;
	return STATUS_OK;
}

enum status __wrap_state_dir_restored(const char *path, const char *installation, char *why,
	size_t why_size)
{
	(void)path;
	(void)installation;
	(void)why;
	(void)why_size;
	return STATUS_OK;
}

/* The import closes the store; the commands still need it. */
static void keep_open(struct store *kept)
{
	(void)kept;
}

enum status __wrap_offline_open(struct store **opened, const struct settings *settings,
	const struct offline_options *options, char *why, size_t why_size)
{
	(void)settings;
	(void)options;
	(void)why;
	(void)why_size;
	store = memory_store_new();
	store_close = store->close;
	store->close = keep_open;
	*opened = store;
	return STATUS_OK;
}

bool __wrap_directory_sync_path(const char *path)
{
	(void)path;
	return true;
}

bool __wrap_disk_mark_set(const char *state, enum disk_mark mark)
{
	(void)state;
	(void)mark;
	return true;
}

void __wrap_halt_clear(const struct settings *settings)
{
	(void)settings;
}

/* ---- an operator's program */

static void report_failure(void *closure, enum outcome outcome, const struct failure *failure)
{
	(void)closure;
	(void)outcome;
	must(failure->detail[0]);
	must(strcmp(failure->detail, "out of memory") != 0);
	if (getenv("CB_TRACE"))
		fprintf(stderr, "%s\n", failure->detail);
}

static void ignore_progress(void *context, const char *what, uint64_t rows)
{
	(void)context;
	(void)what;
	(void)rows;
}

/* ---- the file */

static void count_line(struct export_tail *tail, const char *text, size_t len)
{
	static const char begin[] = "{\"record\":\"";
	const size_t from = sizeof(begin) - 1;
	char name[ROW_LINE_NAME_SIZE];
	enum record record;
	const char *end;

	tail->rows++;
	if (len <= from || memcmp(text, begin, from) != 0)
		return;
	end = memchr(text + from, '"', len - from);
	if (!end || (size_t)(end - text) - from >= sizeof(name))
		return;
	memcpy(name, text + from, (size_t)(end - text) - from);
	name[(size_t)(end - text) - from] = '\0';
	record = import_record_of(name);
	if (record < RECORD_COUNT)
		++*export_count(&tail->counts, record);
}

/* Writes a whole export around the lines of @in into @file. */
static void make_file(bool keys, struct bytes in)
{
	struct export_head head = {.format = EXPORT_FORMAT,
		.version = EXPORT_VERSION,
		.schema = STORE_SCHEMA,
		.program = "fuzz",
		.created_ms = import_wall_ms,
		.keys = keys};
	struct export_tail tail;
	struct digest digest;

	memset(head.installation, 'a', sizeof(head.installation) - 1);
	memset(&tail, 0, sizeof(tail));
	must(row_line_put(&file, EXPORT_HEAD, export_head_fields, &head, true));
	while (in.len) {
		const uint8_t *end = memchr(in.data, '\n', in.len);
		const uint32_t len = end ? (uint32_t)(end - in.data) : in.len;

		count_line(&tail, (const char *)in.data, len);
		must(buffer_append(&file, in.data, len) && buffer_append(&file, "\n", 1));
		fuzz_take(&in, len + 1);
	}
	digest_begin(&digest);
	digest_add(&digest, file.data, file.len);
	must(digest_text(&digest, tail.sha256));
	digest_end(&digest);
	must(row_line_put(&file, EXPORT_TAIL, export_tail_fields, &tail, true));
}

FILE *__real_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode)
{
	return strcmp(path, EXPORT_PATH) == 0 ? fmemopen(file.data, file.len, "r")
					      : __real_fopen(path, mode);
}

void import_prove(struct session *session, struct store *rows)
{
	struct check_found found;
	struct local local;

	local_begin(&local, session, rows, TRANSACTION_ID_MAX);
	must(check_prove(session, CHECK_SERVING, &found, ignore_progress, NULL) == OUTCOME_DONE);
	local_end(&local, session);
	if (found.problems)
		fprintf(stderr, "problem: %s\n", found.first);
	must(!found.problems);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct session session;
	static struct archive_import importing;
	struct bytes in = {data, (uint32_t)size};
	const uint8_t options = fuzz_byte(&in);
	enum outcome code;

	session = (struct session){.report = report_failure, .settings_loaded = true};
	settings_defaults(&session.settings);
	import_wall_ms = WALL_BEGIN_MS;
	import_boot_ms = BOOT_BEGIN_MS;
	buffer_init(&file, 2 * FUZZ_ROW_MAX);
	make_file(options & 1, in);
	store = NULL;
	must(archive_import_open(&importing, &session, EXPORT_PATH) == OUTCOME_DONE);
	importing.progress = ignore_progress;
	code = archive_import_run(&importing);
	archive_import_close(&importing);
	if (code == OUTCOME_DONE) {
		import_accepted(data, size);
		import_play(store, !(options & 2));
		import_prove(&session, store);
	}
	if (store)
		store_close(store);
	buffer_free(&file);
	return 0;
}
