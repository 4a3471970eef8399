#include "console/sections/activity.h"

#include "base/pack.h"
#include "base/zone.h"
#include "console/common/view.h"
#include "console/html/chart.h"

#include <inttypes.h>
#include <string.h>

/* Spans of an answer: 24 hours, and the one in which they begin. */
#define SPANS_MAX 97
#define MINUTE_MS 60000

/* A span as the table shows it. Rates are calls a minute. */
struct span_row {
	int64_t begin_ms;
	money_t calls_rate;
	money_t refused_rate;
	money_t failed_rate;
	struct activity_span span;
};

static const struct field span_fields[] = {
	FIELD(FIELD_TIME_MS, span_row, begin_ms),
	FIELD(FIELD_MONEY, span_row, calls_rate),
	FIELD(FIELD_MONEY, span_row, refused_rate),
	FIELD(FIELD_MONEY, span_row, failed_rate),
	FIELD_AS("calls", FIELD_U64, span_row, span.calls),
	FIELD_AS("refused", FIELD_U64, span_row, span.refused),
	FIELD_AS("failed", FIELD_U64, span_row, span.failed),
	FIELD_AS("transfers", FIELD_U64, span_row, span.transfers),
	FIELD_AS("bets", FIELD_U64, span_row, span.bets),
	FIELD_END,
};

static const struct view_column span_columns[] = {
	{"From", "begin_ms", VIEW_PLAIN, NULL},
	{"Calls a minute", "calls_rate", VIEW_PLAIN, NULL},
	{"Refused a minute", "refused_rate", VIEW_PLAIN, NULL},
	{"Failed a minute", "failed_rate", VIEW_PLAIN, NULL},
	{"Calls", "calls", VIEW_COUNT, NULL},
	{"Refused", "refused", VIEW_COUNT, NULL},
	{"Failed", "failed", VIEW_COUNT, NULL},
	{"Transfers", "transfers", VIEW_COUNT, NULL},
	{"Bets", "bets", VIEW_COUNT, NULL},
	VIEW_END,
};

struct spans {
	int64_t since_ms; /* 0: nothing is known */
	uint32_t count;
	uint32_t unknown; /* spans before the last one of which nothing is known */
	struct span_row rows[SPANS_MAX];
	struct activity_span sum;
};

money_t activity_rate(uint64_t count, uint64_t known_ms)
{
	if (known_ms < MINUTE_MS)
		known_ms = MINUTE_MS;
	/* To two decimals. The ledger says at most 2^32 calls of each minute. */
	return (money_t)(((wide_t)count * MINUTE_MS * 100 + known_ms / 2) / known_ms) *
		(MONEY_UNITS_PER_CREDIT / 100);
}

static void add_span(struct spans *spans, const struct activity_span *span)
{
	/* The last span may have begun just now. */
	spans->unknown += spans->count && spans->rows[spans->count - 1].span.known_ms == 0;
	spans->rows[spans->count++] = (struct span_row){
		.begin_ms = span->begin_ms,
		.calls_rate = activity_rate(span->calls, span->known_ms),
		.refused_rate = activity_rate(span->refused, span->known_ms),
		.failed_rate = activity_rate(span->failed, span->known_ms),
		.span = *span,
	};
	spans->sum.calls += span->calls;
	spans->sum.refused += span->refused;
	spans->sum.failed += span->failed;
	spans->sum.transfers += span->transfers;
	spans->sum.bets += span->bets;
}

static enum outcome read_spans(struct page *page, struct spans *spans)
{
	const struct activity_cmd cmd = {.unused = false};
	struct activity_result result;
	struct activity_span span;
	struct bytes rest;
	enum outcome code = session_do(&page->desk.session, COMMAND_ACTIVITY, &cmd, &result, NULL);

	memset(spans, 0, sizeof(*spans));
	if (code != OUTCOME_DONE)
		return code;
	spans->since_ms = result.since_ms;
	rest = result.spans;
	while (rest.len && spans->count < SPANS_MAX &&
		unpack_record(&rest, activity_span_fields, &span))
		add_span(spans, &span);
	return OUTCOME_DONE;
}

static void write_chart(struct page *page, const struct spans *spans)
{
	sum_t calls[SPANS_MAX], refused[SPANS_MAX], failed[SPANS_MAX];
	char first[TEXT_TIME_SIZE], last[TEXT_TIME_SIZE];
	const struct chart_series series[] = {
		{"All", "line", CHART_LINE, calls},
		{"Refused (4xx)", "three", CHART_BARS, refused},
		{"Failed (5xx)", "four", CHART_BARS, failed},
	};

	for (uint32_t i = 0; i < spans->count; i++) {
		calls[i] = spans->rows[i].calls_rate;
		refused[i] = spans->rows[i].refused_rate;
		failed[i] = spans->rows[i].failed_rate;
	}
	zone_time_short(&page->zone, spans->rows[0].begin_ms, first);
	zone_time_short(&page->zone, spans->rows[spans->count - 1].begin_ms, last);
	chart_write(&page->html,
		&(struct chart){"Calls a minute, by quarter of an hour", series, 3, spans->count,
			first, last, true});
}

static void write_sum(struct page *page, const struct activity_span *sum)
{
	char calls[VIEW_COUNT_SIZE], transfers[VIEW_COUNT_SIZE], bets[VIEW_COUNT_SIZE],
		refused[VIEW_COUNT_SIZE], failed[VIEW_COUNT_SIZE];
	struct html *html = &page->html;
	uint64_t thousandths = sum->calls ? (sum->refused * 1000 + sum->calls / 2) / sum->calls : 0;

	html_open(html, "p");
	html_printf(html,
		"%s calls, of which %s transfers and %s bets were accepted, %s calls were refused (%" PRIu64
		".%" PRIu64 " %%) and %s failed.",
		view_count(sum->calls, calls), view_count(sum->transfers, transfers),
		view_count(sum->bets, bets), view_count(sum->refused, refused), thousandths / 10,
		thousandths % 10, view_count(sum->failed, failed));
	html_close(html);
}

static void write_note(struct page *page, const struct status_result *status,
	const struct spans *spans)
{
	struct html *html = &page->html;

	html_open(html, "p");
	html_attribute(html, "class", "note");
	if (spans->since_ms) {
		html_text(html, "Known since ");
		page_time(page, spans->since_ms);
		html_text(html,
			": the ledger counts in its memory, for 24 hours and since its service was "
			"started.");
	} else {
		html_text(html, "The ledger has found no counters of workers yet.");
	}
	if (spans->unknown)
		html_printf(html,
			" Of %u quarter%s of an hour nothing is known: the ledger of this host did not serve, or "
			"could not read the counters.",
			spans->unknown, spans->unknown == 1 ? "" : "s");
	if (status->member[0]) {
		html_text(html, " Calls to workers of other hosts than ");
		html_foreign(html, status->member);
		html_text(html, " are not counted.");
	}
	html_close(html);
}

enum outcome activity_section(struct page *page, const struct status_result *status)
{
	struct view view = {.fields = span_fields};
	struct html *html = &page->html;
	struct spans spans;
	enum outcome code = read_spans(page, &spans);

	if (code != OUTCOME_DONE)
		return code;
	html_open(html, "section");
	html_element(html, "h2", "", "Calls");
	if (spans.count) {
		write_chart(page, &spans);
		write_sum(page, &spans.sum);
	}
	write_note(page, status, &spans);
	if (spans.count) {
		html_open(html, "details");
		html_element(html, "summary", "", "The calls as a table");
		view_begin(&view, page, "The newest quarter of an hour first", span_columns);
		for (uint32_t i = spans.count; i-- > 0;)
			view_row(&view, &spans.rows[i]);
		view_end(&view, "No call.");
		html_close(html);
	}
	html_close(html);
	return code;
}
