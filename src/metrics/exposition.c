#include "metrics/exposition.h"

#include <inttypes.h>

#define PREFIX "creditbridge_"

static void begin_metric(struct buffer *out, const char *name, const char *type, const char *help)
{
	buffer_printf(out, "# HELP " PREFIX "%s %s\n# TYPE " PREFIX "%s %s\n", name, help, name,
		type);
}

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
/* Writes thousandths as a decimal number. */
static void put_ms(struct buffer *out, uint64_t ms)
{
	buffer_printf(out, "%" PRIu64, ms / 1000);
	if (ms % 1000)
		buffer_printf(out, ".%03" PRIu64, ms % 1000);
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
	begin_metric(out, "requests_total", "counter",
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

	begin_metric(out, drawing.name, "histogram",
		"From the whole request to its reply, in the worker.");
	for (unsigned int i = 0; i < OPERATION_COUNT; i++) {
		if (histogram_count(&counters->latency_us[i]))
			put_histogram(out, &drawing, "operation", operation_names[i],
				&counters->latency_us[i]);
	}
}

static void put_auth_failures(struct buffer *out, const struct counters *counters)
{
	begin_metric(out, "auth_failures_total", "counter",
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
	begin_metric(out, "refused_notes_total", "counter",
		"Answers 400, 401 and user_not_found that creditbridgectl explain keeps, or "
		"not.");
	for (unsigned int i = 0; i < NOTE_END_COUNT; i++)
		buffer_printf(out, PREFIX "refused_notes_total{outcome=\"%s\"} %" PRIu64 "\n",
			refused_note_names[i], counters->refused_notes[i]);
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
		"uptime_ms", put_ms},
	{"engine_starts_total", "counter", "Starts of the ledger's engine.", "engine_starts",
		put_plain},
	{"checkpoints_total", "counter", "Checkpoints of the database.", "checkpoints", put_plain},
	{"connections", "gauge", "Connections to the ledger.", "connections", put_plain},
	{"refused_busy_total", "counter", "Commands that the ledger had no room for.",
		"refused_busy", put_plain},
	{"clients_cut_total", "counter", "Connections that the ledger cut off.", "clients_cut",
		put_plain},
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
		"swept_ms", put_ms},
	{"last_backup_timestamp_seconds", "gauge",
		"To when the last backup is complete; 0: none was made of this data.", "backup_ms",
		put_ms},
	{"bodies_dropped_total", "counter",
		"Bodies of callbacks and bets that were dropped for their age.", "bodies_dropped",
		put_plain},
};

static void put_figures(struct buffer *out, const struct status_result *status)
{
	for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++) {
		const struct field *field = field_find(status_result_fields, figures[i].field);

		begin_metric(out, figures[i].name, figures[i].type, figures[i].help);
		buffer_printf(out, PREFIX "%s ", figures[i].name);
		figures[i].put(out,
			field_load_number((const char *)status + field->offset, field->size));
		buffer_append_str(out, "\n");
	}
	begin_metric(out, "table_bytes", "gauge", "Size of the database's tables.");
	for (unsigned int i = 0; i < RECORD_COUNT; i++)
		buffer_printf(out, PREFIX "table_bytes{table=\"%s\"} %" PRIu64 "\n",
			status->tables[i].name, status->tables[i].bytes);
	begin_metric(out, "ledger_build_info", "gauge",
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

	begin_metric(out, batches.name, "histogram", "Commands that the ledger took in one batch.");
	put_histogram(out, &batches, NULL, NULL, &ledger->batches);
	begin_metric(out, commits.name, "histogram", "What it took to save a batch durably.");
	put_histogram(out, &commits, NULL, NULL, &ledger->commits);
	begin_metric(out, attempts.name, "histogram", "Calls of dealers' servers.");
	for (unsigned int i = 0; i < CALLBACK_KIND_COUNT; i++)
		put_histogram(out, &attempts, "kind", callback_kind_names[i], &ledger->attempts[i]);
}

/* ---- the callbacks */

static const struct {
	const char *state;
	size_t offset;
} queues[] = {
	{"due", offsetof(struct dealer_metrics, due)},
	{"sending", offsetof(struct dealer_metrics, sending)},
	{"held", offsetof(struct dealer_metrics, held)},
	{"parked", offsetof(struct dealer_metrics, parked)},
};
#define QUEUES (sizeof(queues) / sizeof(queues[0]))

static uint64_t queue_of(const struct dealer_metrics *dealer, size_t queue)
{
	return field_load_number((const char *)dealer + queues[queue].offset, sizeof(uint64_t));
}

static void put_queues(struct buffer *out, const struct collection *collection)
{
	struct dealer_metrics sum;

	collection_sum(collection, &sum);
	begin_metric(out, "callbacks", "gauge", "Callbacks that have not ended, of all dealers.");
	for (size_t i = 0; i < QUEUES; i++)
		buffer_printf(out, PREFIX "callbacks{state=\"%s\"} %" PRIu64 "\n", queues[i].state,
			queue_of(&sum, i));
	begin_metric(out, "callback_overdue_seconds", "gauge",
		"How long the callback that waits longest has been due.");
	buffer_append_str(out, PREFIX "callback_overdue_seconds ");
	put_ms(out, sum.overdue_ms);
	buffer_append_str(out, "\n");
	begin_metric(out, "dealer_callbacks", "gauge", "Callbacks that have not ended, by dealer.");
	for (uint32_t n = 0; n < collection->dealer_count; n++) {
		for (size_t i = 0; i < QUEUES; i++)
			buffer_printf(out,
				PREFIX "dealer_callbacks{dealer=\"%s\",state=\"%s\"} %" PRIu64 "\n",
				collection->dealers[n].casino_id, queues[i].state,
				queue_of(&collection->dealers[n], i));
	}
}

static void put_attempts(struct buffer *out, struct dealer_metrics *dealer)
{
	for (unsigned int i = 0; i < CALLBACK_KIND_COUNT; i++) {
		for (unsigned int n = 0; n < CALLBACK_CLASS_COUNT; n++) {
			uint64_t count = *dealer_attempts(dealer, (enum callback_kind)i,
				(enum callback_class)n);

			if (count)
				buffer_printf(out,
					PREFIX "callback_attempts_total{dealer=\"%s\","
					       "kind=\"%s\",outcome=\"%s\"} %" PRIu64 "\n",
					dealer->casino_id, callback_kind_names[i],
					callback_class_names[n], count);
		}
	}
}

static void put_dealers(struct buffer *out, const struct collection *collection)
{
	struct dealer_metrics *dealers = collection->dealers;
	uint32_t count = collection->dealer_count;

	begin_metric(out, "dealer_callback_overdue_seconds", "gauge",
		"How long the dealer's callback that waits longest has been due.");
	for (uint32_t i = 0; i < count; i++) {
		buffer_printf(out, PREFIX "dealer_callback_overdue_seconds{dealer=\"%s\"} ",
			dealers[i].casino_id);
		put_ms(out, dealers[i].overdue_ms);
		buffer_append_str(out, "\n");
	}
	begin_metric(out, "dealer_breaker", "gauge",
		"The dealer's breaker: 0 closed, 1 open (no call), 2 half-open (one call).");
	for (uint32_t i = 0; i < count; i++)
		buffer_printf(out, PREFIX "dealer_breaker{dealer=\"%s\"} %u\n",
			dealers[i].casino_id, (unsigned int)dealers[i].breaker);
	begin_metric(out, "dealer_inflight", "gauge", "Calls of the dealer's server under way.");
	for (uint32_t i = 0; i < count; i++)
		buffer_printf(out, PREFIX "dealer_inflight{dealer=\"%s\"} %" PRIu32 "\n",
			dealers[i].casino_id, dealers[i].inflight);
	begin_metric(out, "callback_attempts_total", "counter",
		"Calls of dealers' servers that ended, by what came of them.");
	for (uint32_t i = 0; i < count; i++)
		put_attempts(out, &dealers[i]);
}

bool exposition_render(struct buffer *out, const struct collection *collection)
{
	begin_metric(out, "build_info", "gauge",
		"1, with the version of the program that reports "
		"this.");
	buffer_append_str(out, PREFIX "build_info{version=\"" PACKAGE_VERSION "\"} 1\n");
	begin_metric(out, "counters_readable", "gauge",
		"0: what the workers counted cannot be read.");
	put_number(out, "counters_readable", collection->counted);
	begin_metric(out, "ledger_up", "gauge", "0: the ledger does not answer.");
	put_number(out, "ledger_up", collection->answered);
	if (collection->counted) {
		put_requests(out, &collection->counters);
		put_latencies(out, &collection->counters);
		put_auth_failures(out, &collection->counters);
		put_refused_notes(out, &collection->counters);
	}
	if (collection->answered) {
		put_figures(out, &collection->ledger.status);
		put_histograms(out, &collection->ledger);
	}
	/* A halted ledger answers but cannot read its rows: 0 parked would be wrong. */
	if (collection->answered && !collection->ledger.status.halted) {
		put_queues(out, collection);
		put_dealers(out, collection);
	}
	return !out->failed;
}
