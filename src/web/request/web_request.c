#include "web/request/web_request.h"

#include <stdio.h>
#include <stdlib.h>

/* A timestamp in another unit is recognised within this distance from now. */
#define UNIT_NEAR_S    INT64_C(100000)
#define HOUR_S         3600
#define ZONE_HOURS_MAX 14

/* Returns the unit in which @timestamp is near @now_ms, or NULL if milliseconds are meant. */
static const char *timestamp_unit(int64_t timestamp, int64_t now_ms)
{
	static const struct {
		const char *name;
		int64_t of_second;
	} units[] = {{"seconds", 1}, {"microseconds", 1000000}, {"nanoseconds", 1000000000}};
	int64_t second;

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		second = timestamp / units[i].of_second;
		if (second > now_ms / 1000 - UNIT_NEAR_S && second < now_ms / 1000 + UNIT_NEAR_S)
			return units[i].name;
	}
	return NULL;
}

/* Describes a refused request_timestamp: its unit, the time here, and the difference. */
static void describe_stale_timestamp(int64_t timestamp, int64_t now_ms, int64_t window_ms,
	char detail[REPLY_DETAIL_SIZE])
{
	const char *unit = timestamp_unit(timestamp, now_ms);
	int64_t off_s = (timestamp > now_ms ? timestamp - now_ms : now_ms - timestamp) / 1000;
	int64_t hours = (off_s + HOUR_S / 2) / HOUR_S;
	bool is_zone = hours >= 1 && hours <= ZONE_HOURS_MAX &&
		llabs(off_s - hours * HOUR_S) * 1000 <= window_ms;

	if (unit)
		snprintf(detail, REPLY_DETAIL_SIZE,
			"request_timestamp is in %s: send milliseconds since "
			"1970 (UTC), %lld now",
			unit, (long long)now_ms);
	else
		snprintf(detail, REPLY_DETAIL_SIZE,
			"request_timestamp is %lld s %s the time here, %lld "
			"ms since 1970 (UTC); at most %lld s%s",
			(long long)off_s, timestamp > now_ms ? "after" : "before",
			(long long)now_ms, (long long)(window_ms / 1000),
			is_zone ? "; is it in local time?" : "");
}

bool web_request_is_fresh(struct web_request *web, int64_t timestamp_ms)
{
	int64_t window_ms = (int64_t)web->request_window_s * 1000;
	int64_t now_ms = web->request->wall_ms;
	char detail[REPLY_DETAIL_SIZE];

	if (!window_ms ||
		(timestamp_ms >= now_ms - window_ms && timestamp_ms <= now_ms + window_ms))
		return true;
	describe_stale_timestamp(timestamp_ms, now_ms, window_ms, detail);
	reply_refuse(web->reply, REFUSAL_STALE_REQUEST, detail);
	return false;
}

bool web_request_is_within(struct web_request *web, const char *name, int64_t value, int64_t least,
	int64_t most)
{
	char detail[REPLY_DETAIL_SIZE];

	if (value >= least && value <= most)
		return true;
	snprintf(detail, sizeof(detail), "%s must be an integer from %lld to %lld", name,
		(long long)least, (long long)most);
	reply_refuse(web->reply, REFUSAL_BAD_REQUEST, detail);
	return false;
}

void web_request_use_cell(struct web_request *web)
{
	web->link = web->cells->list[web->cells->at].link;
	web->deadline_ms =
		cell_links_deadline_ms(web->cells, web->cells->at, web->longest_deadline_ms);
	/* A callback's report is not cut short: its ledger answered a moment ago. */
	if (!web->sender)
		web->ledger_deadline_ms = web->deadline_ms == web->longest_deadline_ms
			? web->cells->cells->ledger_deadline_ms
			: CELL_SILENT_MS;
}

void web_request_rest(struct web_request *web)
{
	if (web->cells)
		cell_links_rest(web->cells);
}

enum status web_request_resume(struct web_request *web)
{
	enum status status = STATUS_OK;

	if (!web->cells)
		return status;
	status = cell_links_choose(web->cells, web->cells->at);
	web_request_use_cell(web);
	return status;
}

bool web_request_route(struct web_request *web, const struct player_ref *player)
{
	enum status status = STATUS_OK;

	if (!web->cells)
		return true;
	status = cell_links_route(web->cells, player, web->longest_deadline_ms);
	if (status) {
		reply_fail(web->reply, status, CALL_READS);
		return false;
	}
	web_request_use_cell(web);
	return true;
}

void web_request_answer(struct web_request *web, enum status status, enum call_kind kind,
	const struct verdict *verdict, const struct field *table, const void *record)
{
	if (status != STATUS_OK)
		reply_fail(web->reply, status, kind);
	else if (verdict->refusal == REFUSAL_DEALER_NOT_FOUND)
		reply_refuse(web->reply, REFUSAL_INVALID_SIGNATURE, NULL);
	else
		reply_verdict(web->reply, verdict, table, record);
}
