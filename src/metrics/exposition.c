#include "metrics/exposition.h"

#include "metrics/exposition_dealers.h"

#include <inttypes.h>
#include <string.h>

static void put_number(struct buffer *out, const char *name, uint64_t value)
{
	buffer_printf(out, PREFIX "%s %" PRIu64 "\n", name, value);
}

/* Writes millionths as a decimal number: 0.0025, 1, 2.5. */
static void put_us(struct buffer *out, uint64_t us)
{
	uint64_t fraction = us % 1000000;
	int digits = 6;

	buffer_printf(out, "%" PRIu64, us / 1000000);
	if (!fraction)
		return;
	for (; fraction % 10 == 0; fraction /= 10)
		digits--;
	buffer_printf(out, ".%0*" PRIu64, digits, fraction);
}
static void put_plain(struct buffer *out, uint64_t number)
{
	buffer_printf(out, "%" PRIu64, number);
}

/* Format of a histogram: its bounds and the unit of its values. */
struct drawing {
	const char *name;
	const struct histogram_scale *scale;
	void (*put)(struct buffer *out, uint64_t value);
};

static void put_histogram(struct buffer *out, const struct drawing *drawing, const char *label,
	const char *value, const struct histogram *histogram)
{
	uint64_t count = 0;

	for (unsigned int i = 0; i <= drawing->scale->count; i++) {
		count += histogram->places[i].count;
		buffer_printf(out, PREFIX "%s_bucket{", drawing->name);
		if (label)
			buffer_printf(out, "%s=\"%s\",", label, value);
		buffer_append_str(out, "le=\"");
		if (i < drawing->scale->count)
			drawing->put(out, drawing->scale->bounds[i]);
		else
			buffer_append_str(out, "+Inf");
		buffer_printf(out, "\"} %" PRIu64 "\n", count);
	}
	for (unsigned int is_count = 0; is_count < 2; is_count++) {
		buffer_printf(out, PREFIX "%s_%s", drawing->name, is_count ? "count" : "sum");
		if (label)
			buffer_printf(out, "{%s=\"%s\"}", label, value);
		buffer_append_str(out, " ");
		if (is_count)
			put_plain(out, count);
		else
			drawing->put(out, histogram->sum);
		buffer_append_str(out, "\n");
	}
}

/* ---- what the workers counted */

static void put_requests(struct buffer *out, const struct counters *counters)
{
	exposition_begin(out, "requests_total", "counter",
		"Requests that were answered, by HTTP status and error id.");
	for (unsigned int i = 0; i < OPERATION_COUNT; i++) {
		for (unsigned int n = 0; n < REFUSAL_COUNT; n++) {
			const struct refusal_info *info = refusal_info((enum refusal)n);

			/*
			 * Start from 0, so that the first success of an operation is visible as a
			 * rise.
			 */
			if (counters->requests[i][n] || (n == REFUSAL_NONE && i != OPERATION_NONE))
				buffer_printf(out,
					PREFIX "requests_total{operation=\"%s\",code=\"%d\","
					       "error=\"%s\"} %" PRIu64 "\n",
					operation_names[i], info->code, info->id,
					counters->requests[i][n]);
		}
	}
}

static void put_latencies(struct buffer *out, const struct counters *counters)
{
	static const struct drawing drawing = {"request_duration_seconds", &histogram_durations_us,
		put_us};

	exposition_begin(out, drawing.name, "histogram",
		"From the whole request to its reply, in the worker.");
	for (unsigned int i = 0; i < OPERATION_COUNT; i++) {
		if (histogram_count(&counters->latency_us[i]))
			put_histogram(out, &drawing, "operation", operation_names[i],
				&counters->latency_us[i]);
	}
}

static void put_auth_failures(struct buffer *out, const struct counters *counters)
{
	exposition_begin(out, "auth_failures_total", "counter",
		"Requests answered 401, by caller and reason.");
	for (unsigned int i = 0; i < CALLER_KIND_COUNT; i++) {
		for (unsigned int n = 0; n < AUTH_FAILURE_COUNT; n++)
			buffer_printf(out,
				PREFIX "auth_failures_total{caller=\"%s\",reason=\"%s\"} %" PRIu64
				       "\n",
				caller_kind_names[i], auth_failure_names[n],
				counters->auth_failures[i][n]);
	}
}

static void put_refused_notes(struct buffer *out, const struct counters *counters)
{
	exposition_begin(out, "refused_notes_total", "counter",
		"Answers 400, 401 and user_not_found that creditbridgectl explain keeps, or "
		"not.");
	for (unsigned int i = 0; i < NOTE_END_COUNT; i++)
		buffer_printf(out, PREFIX "refused_notes_total{outcome=\"%s\"} %" PRIu64 "\n",
			refused_note_names[i], counters->refused_notes[i]);
	exposition_begin(out, "refused_calls_total", "counter",
		"Calls answered 4xx that a worker sent to the ledger to be kept, or dropped.");
	for (unsigned int i = 0; i < NOTE_END_COUNT; i++)
		buffer_printf(out, PREFIX "refused_calls_total{outcome=\"%s\"} %" PRIu64 "\n",
			refused_note_names[i], counters->refused_calls[i]);
}

/* ---- the ledger */

/* A member of its status. */
static const struct {
	const char *name;
	const char *type;
	const char *help;
	const char *field;
	void (*put)(struct buffer *out, uint64_t value);
} figures[] = {
	{"ledger_halted", "gauge", "1: the disk failed, nothing is served until resume.", "halted",
		put_plain},
	{"storage_low", "gauge", "1: free space is below the mark, writes are refused.",
		"storage_low", put_plain},
	{"disk_free_bytes", "gauge", "Free space of the ledger's data.", "disk_free_bytes",
		put_plain},
	{"disk_low_water_bytes", "gauge", "The mark below which writes are refused.",
		"disk_low_water_bytes", put_plain},
	{"log_bytes", "gauge", "Size of the database's log.", "log_bytes", put_plain},
	{"engine_uptime_seconds", "gauge", "How long the ledger's engine has been running.",
		"uptime_ms", exposition_put_ms},
	{"engine_starts_total", "counter", "Starts of the ledger's engine.", "engine_starts",
		put_plain},
	{"checkpoints_total", "counter", "Checkpoints of the database.", "checkpoints", put_plain},
	{"connections", "gauge", "Connections to the ledger.", "connections", put_plain},
	{"refused_busy_total", "counter", "Commands that the ledger had no room for.",
		"refused_busy", put_plain},
	{"clients_cut_total", "counter", "Connections that the ledger cut off.", "clients_cut",
		put_plain},
	{"relayed_connections_total", "counter",
		"Connections of other hosts that the peer of the active host passed to the ledger.",
		"relayed", put_plain},
	{"relayed_connections", "gauge", "Those that are open.", "relayed_open", put_plain},
	{"peers_refused_total", "counter",
		"Connections to the peer's port that it refused; the log has the reasons.",
		"peers_refused", put_plain},
	{"dealers", "gauge", "Dealers that there are.", "dealers", put_plain},
	{"held_dealers", "gauge",
		"Dealers to which no callback is sent until they are "
		"released.",
		"held_dealers", put_plain},
	{"unconfirmed_keys", "gauge",
		"Dealers and clients whose keys a restore brought back and that were not confirmed.",
		"unconfirmed_keys", put_plain},
	{"last_sweep_timestamp_seconds", "gauge",
		"When the sweeper last asked what is due; 0: not since the ledger was started.",
		"swept_ms", exposition_put_ms},
	{"last_backup_timestamp_seconds", "gauge",
		"To when the last backup is complete; 0: none was made of this data.", "backup_ms",
		exposition_put_ms},
	{"refused_calls_bytes", "gauge", "Refused calls on disk.", "refused_bytes", put_plain},
	{"refused_calls_bound_bytes", "gauge",
		"The bound of refused calls on disk; 0: none are kept.", "refused_bytes_max",
		put_plain},
	{"refused_calls_oldest_timestamp_seconds", "gauge",
		"When the oldest refused call on disk was answered; 0: there is none, or its file "
		"was not read yet since the start.",
		"refused_oldest_ms", exposition_put_ms},
	{"refused_calls_left_out_total", "counter",
		"Refused calls that the ledger did not keep since its engine started.",
		"refused_left_out", put_plain},
	{"bodies_dropped_total", "counter",
		"Bodies of callbacks and bets that were dropped for their age.", "bodies_dropped",
		put_plain},
};

/* The measures that a store may have. Millionths of a second become seconds. */
static const struct {
	const char *name;
	const char *type;
	const char *help;
	const char *figure; /* its name in the answer of `status` */
} store_figures[] = {
	{"store_trip_seconds", "gauge", "Duration of the last batch that PostgreSQL saved.",
		"trip"},
	{"store_in_doubt_total", "counter",
		"Batches without a clear answer, whose outcome was asked for.", "in_doubt"},
	{"store_reconnects_total", "counter", "Connections to PostgreSQL after the first.",
		"reconnects"},
	{"store_epoch", "gauge", "The epoch under which the ledger writes.", "epoch"},
	{"store_turn", "gauge",
		"The number of commits: batches, claims, and those of an idle ledger.", "turn"},
	{"store_quorum", "gauge", "Standbys that are attached and that a commit may wait for.",
		"quorum"},
	{"store_lag_bytes", "gauge", "Log that the slowest standby has not replayed.", "lag"},
};

static void put_store_figures(struct buffer *out, const struct status_result *status)
{
	for (size_t i = 0; i < sizeof(store_figures) / sizeof(store_figures[0]); i++) {
		for (unsigned int n = 0; n < STORE_FIGURES_MAX; n++) {
			const struct store_figure *figure = &status->store[n];

			if (strcmp(figure->name, store_figures[i].figure) != 0)
				continue;
			exposition_begin(out, store_figures[i].name, store_figures[i].type,
				store_figures[i].help);
			buffer_printf(out, PREFIX "%s ", store_figures[i].name);
			(figure->unit == FIGURE_US ? put_us : put_plain)(out, figure->value);
			buffer_append_str(out, "\n");
		}
	}
}

static void put_figures(struct buffer *out, const struct status_result *status)
{
	for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++) {
		const struct field *field = field_find(status_result_fields, figures[i].field);

		exposition_begin(out, figures[i].name, figures[i].type, figures[i].help);
		buffer_printf(out, PREFIX "%s ", figures[i].name);
		figures[i].put(out,
			field_load_number((const char *)status + field->offset, field->size));
		buffer_append_str(out, "\n");
	}
	put_store_figures(out, status);
	exposition_begin(out, "table_bytes", "gauge", "Size of the database's tables.");
	for (unsigned int i = 0; i < RECORD_COUNT; i++)
		buffer_printf(out, PREFIX "table_bytes{table=\"%s\"} %" PRIu64 "\n",
			status->tables[i].name, status->tables[i].bytes);
	exposition_begin(out, "ledger_build_info", "gauge",
		"1, with the version of the ledger in use.");
	buffer_printf(out, PREFIX "ledger_build_info{version=\"%s\",schema=\"%" PRIu32 "\"} 1\n",
		status->version, status->schema);
}

static void put_histograms(struct buffer *out, const struct metrics_result *ledger)
{
	static const struct drawing batches = {"batch_commands", &histogram_sizes, put_plain};
	static const struct drawing commits = {"commit_duration_seconds", &histogram_durations_us,
		put_us};
	static const struct drawing attempts = {"callback_duration_seconds",
		&histogram_durations_us, put_us};

	exposition_begin(out, batches.name, "histogram",
		"Commands that the ledger took in one batch.");
	put_histogram(out, &batches, NULL, NULL, &ledger->batches);
	exposition_begin(out, commits.name, "histogram", "What it took to save a batch durably.");
	put_histogram(out, &commits, NULL, NULL, &ledger->commits);
	exposition_begin(out, attempts.name, "histogram", "Calls of dealers' servers.");
	for (unsigned int i = 0; i < CALLBACK_KIND_COUNT; i++)
		put_histogram(out, &attempts, "kind", callback_kind_names[i], &ledger->attempts[i]);
}

bool exposition_render(struct buffer *out, const struct collection *collection)
{
	exposition_begin(out, "build_info", "gauge",
		"1, with the version of the program that reports "
		"this.");
	buffer_append_str(out, PREFIX "build_info{version=\"" PACKAGE_VERSION "\"} 1\n");
	exposition_begin(out, "counters_readable", "gauge",
		"0: what the workers counted cannot be read.");
	put_number(out, "counters_readable", collection->counted);
	exposition_begin(out, "ledger_up", "gauge", "0: the ledger does not answer.");
	put_number(out, "ledger_up", collection->answered);
	if (collection->counted) {
		put_requests(out, &collection->counters);
		put_latencies(out, &collection->counters);
		put_auth_failures(out, &collection->counters);
		put_refused_notes(out, &collection->counters);
		exposition_put_dealer_requests(out, collection);
	}
	if (collection->answered) {
		put_figures(out, &collection->ledger.status);
		put_histograms(out, &collection->ledger);
	}
	/* A halted ledger answers but cannot read its rows: 0 parked would be wrong. */
	if (collection->answered && !collection->ledger.status.halted) {
		exposition_put_dealer_sums(out, collection);
		exposition_put_callbacks(out, collection);
	}
	return !out->failed;
}

void exposition_put_cell(struct buffer *out, bool is_first, const char *name, bool up)
{
	if (is_first)
		exposition_begin(out, "cell_up", "gauge",
			"0: the ledger of the cell does not answer. Only with several cells.");
	buffer_printf(out, PREFIX "cell_up{cell=\"%s\"} %d\n", name, up);
}
