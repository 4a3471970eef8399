/* Readiness: whether an operator must act before this instance can be used. */
#include "web/handlers/handlers.h"

#include "base/clock.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct readiness_check {
	char name[16];
	bool ok;
	char detail[112];
};
static const struct field check_fields[] = {
	FIELD(FIELD_STR, readiness_check, name),
	FIELD(FIELD_BOOL, readiness_check, ok),
	FIELD(FIELD_STR, readiness_check, detail),
	FIELD_END,
};

enum { CHECK_LEDGER, CHECK_DISK, CHECK_SWEEPER, CHECK_COUNT };
static const char *const check_names[CHECK_COUNT] = {"ledger", "disk", "sweeper"};

struct readiness {
	char status[10];
	struct readiness_check checks[CHECK_COUNT];
	struct bytes cells; /* as JSON */
};
#define READINESS                                                                                  \
	FIELD(FIELD_STR, readiness, status),                                                       \
		FIELD_SUB(readiness, checks, readiness_check, check_fields)
static const struct field readiness_fields[] = {
	READINESS,
	FIELD_END,
};
static const struct field readiness_cells_fields[] = {
	READINESS,
	FIELD(FIELD_JSON, readiness, cells),
	FIELD_END,
};

/* A cell of several. */
struct cell_readiness {
	char name[SETTINGS_CELL_NAME_SIZE];
	bool ok;
};
static const struct field cell_readiness_fields[] = {
	FIELD(FIELD_STR, cell_readiness, name),
	FIELD(FIELD_BOOL, cell_readiness, ok),
	FIELD_END,
};
/* Bytes of the text of all cells. */
#define CELLS_TEXT_MAX 1024

/* Sets the detail of a check. */
#define DETAIL(check, ...) snprintf((check)->detail, sizeof((check)->detail), __VA_ARGS__)

/* @member: this host in its cell. */
static void check_ledger(struct readiness_check *check, const struct status_result *status,
	const char *member)
{
	check->ok = !status->halted;
	if (!check->ok)
		DETAIL(check, "halted: its disk failed");
	else if (member[0] && status->member[0] && strcmp(member, status->member) != 0)
		DETAIL(check, "answers; this host is the standby of %s", status->member);
	else
		DETAIL(check, "answers");
}

static void check_disk(struct readiness_check *check, const struct status_result *status)
{
	check->ok = !status->storage_low;
	DETAIL(check, "%" PRIu64 " bytes free, the mark is %" PRIu64, status->disk_free_bytes,
		status->disk_low_water_bytes);
}

static void check_sweeper(struct readiness_check *check, const struct metrics_result *figures,
	int64_t overdue_ms)
{
	check->ok = figures->swept && figures->swept_ms_ago <= (uint64_t)overdue_ms;
	if (figures->swept)
		DETAIL(check, "ran %" PRIu64 " s ago", figures->swept_ms_ago / 1000);
	else
		DETAIL(check, "has not run since the ledger was started");
}

/* Writes whether the ledger of each cell answers. The others' state does not make this worker not ready. */
static void put_cells(struct web_request *web, struct buffer *text, bool own_ok)
{
	struct cell_readiness cell;

	buffer_append_str(text, "[");
	for (unsigned int at = 0; at < web->cells->cells->count; at++) {
		text_copy(cell.name, sizeof(cell.name), web->cells->list[at].cell->name);
		cell.ok = at ? web_request_cell_up(web, at) : own_ok;
		buffer_append_str(text, at ? "," : "");
		render_record(text, cell_readiness_fields, &cell);
	}
	buffer_append_str(text, "]");
}

void handle_readyz(struct web_request *web)
{
	const struct metrics_cmd cmd = {.without_dealers = true};
	struct metrics_result figures = {.swept = false};
	struct readiness readiness = {.status = "ready"};
	struct readiness_check *checks = readiness.checks;
	struct buffer cells;
	enum status status;

	status = web_request_ask_figures(web, 0, &cmd, &figures);
	for (unsigned int i = 0; i < CHECK_COUNT; i++) {
		text_copy(checks[i].name, sizeof(checks[i].name), check_names[i]);
		DETAIL(&checks[i], "not known: the ledger does not answer");
	}
	if (status == STATUS_OK) {
		check_ledger(&checks[CHECK_LEDGER], &figures.status, web->member);
		check_disk(&checks[CHECK_DISK], &figures.status);
		check_sweeper(&checks[CHECK_SWEEPER], &figures, web->sweep_overdue_ms);
	} else {
		DETAIL(&checks[CHECK_LEDGER], "does not answer: %s", status_text(status));
	}
	for (unsigned int i = 0; i < CHECK_COUNT; i++) {
		if (!checks[i].ok)
			text_copy(readiness.status, sizeof(readiness.status), "not_ready");
	}
	buffer_init(&cells, CELLS_TEXT_MAX);
	if (web->cells)
		put_cells(web, &cells, checks[CHECK_LEDGER].ok);
	readiness.cells = (struct bytes){cells.data, (uint32_t)cells.len};
	reply_success(web->reply, web->cells ? readiness_cells_fields : readiness_fields,
		&readiness);
	buffer_free(&cells);
	if (strcmp(readiness.status, "ready") != 0)
		web->reply->refusal = REFUSAL_SERVICE_UNAVAILABLE;
	if (status != STATUS_OK)
		web->reply->status = status;
}
