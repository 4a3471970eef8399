#include "web/serve.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "web/handlers/handlers.h"
#include "web/request/headers.h"
#include "web/request/method.h"
#include "wire/trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Longest method that is logged. */
#define METHOD_NAME_MAX 16
/* Longest Content-Encoding that is repeated in an error. */
#define ENCODING_NAME_MAX 16

bool worker_init(struct worker *worker, const struct web_service *service)
{
	bool is_wallet = service->group == SERVE_WALLET;
	bool linked, has_auth, counted;

	memset(worker, 0, sizeof(*worker));
	worker->service = service;
	linked = link_init(&worker->link, service->ledger_path);
	worker->link.mux = muxes_pick(service->muxes);
	if (service->cells)
		worker->cells = cell_links_new(service->cells, &worker->link, !is_wallet);
	has_auth = auth_init(&worker->auth, is_wallet ? KEYRING_DEALERS : KEYRING_CLIENTS);
	worker->auth.flood = service->flood;
	worker->sender = is_wallet ? NULL : sender_new(&service->callbacks);
	counted = counting_init(&worker->counting, service->counters_path);
	if (reply_init(&worker->reply) && linked && has_auth && counted &&
		(is_wallet || worker->sender) && (worker->cells || !service->cells))
		return true;
	worker_free(worker);
	return false;
}

void worker_free(struct worker *worker)
{
	cell_links_free(worker->cells);
	link_close(&worker->link);
	auth_free(&worker->auth);
	sender_free(worker->sender);
	counting_free(&worker->counting);
	reply_free(&worker->reply);
}

static const char *value_of(const struct http_variable *variable)
{
	return variable->value ? variable->value : "";
}

/* The default text of invalid_signature is for dealers. */
static const char flooded[] = "too many calls with a wrong signature; try again later";
#define FLOOD_RETRY_S 1
static const char not_a_client[] = "the client id or the signature is not valid";

/* Names the format of a body that is not JSON, by its headers. */
static void describe_body_by_headers(const struct http_request *request,
	char detail[BODY_DETAIL_MAX])
{
	const char *encoding = value_of(&request->content_encoding);
	const char *type = value_of(&request->content_type);

	if (strncmp(detail, "the body is not valid JSON", 26) != 0)
		return;
	if (text_is_name(encoding, ENCODING_NAME_MAX) && strcasecmp(encoding, "identity") != 0)
		snprintf(detail, BODY_DETAIL_MAX,
			"the body is compressed (Content-Encoding: %s): send it uncompressed",
			encoding);
	else if (strncasecmp(type, "application/x-www-form-urlencoded", 33) == 0 ||
		strncasecmp(type, "multipart/", 10) == 0)
		snprintf(detail, BODY_DETAIL_MAX,
			"the body is a form by its Content-Type: send JSON "
			"with Content-Type: application/json");
}

/* Checks the signature. A dealer's cell becomes that of the request. */
static enum status check_caller(struct worker *worker, struct web_request *web)
{
	const struct http_request *request = web->request;
	enum status status;

	if (!web->cells)
		return auth_check(&worker->auth, &worker->link, request, request->boot_ms,
			web->deadline_ms, &web->caller);
	status =
		cell_auth_check(&worker->auth, web->cells, request, web->deadline_ms, &web->caller);
	if (web->cells->chosen)
		web_request_use_cell(web);
	return status;
}

/* Calls the handler, once more if the player may have moved from the cell that was remembered. */
static void call_handler(const struct route *route, struct web_request *web)
{
	char request_id[REQUEST_ID_SIZE];

	route->handle(web);
	if (!web->cells || web->reply->refusal != REFUSAL_USER_NOT_FOUND ||
		!cell_links_forget(web->cells))
		return;
	text_copy(request_id, sizeof(request_id), web->reply->request_id);
	reply_reset(web->reply, request_id);
	route->handle(web);
}

/* Checks the signature and the shape of the body, then calls the handler. */
static void serve_signed(struct worker *worker, const struct route *route, struct web_request *web)
{
	const struct http_request *request = web->request;
	char detail[BODY_DETAIL_MAX] = "";
	enum refusal refusal;
	enum status status;

	status = check_caller(worker, web);
	if (status != STATUS_OK) {
		reply_fail(web->reply, status, CALL_READS);
		return;
	}
	if (!web->caller && worker->auth.why == AUTH_FLOOD) {
		web->reply->retry_after_s = FLOOD_RETRY_S;
		reply_refuse(web->reply, REFUSAL_RATE_LIMITED, flooded);
		return;
	}
	if (!web->caller) {
		reply_refuse(web->reply, REFUSAL_INVALID_SIGNATURE,
			route->operation->group == SERVE_PLATFORM ? not_a_client : NULL);
		return;
	}
	worker->authenticated = true;
	if (request->body_state == HTTP_BODY_BROKEN) {
		reply_refuse(web->reply, REFUSAL_BAD_REQUEST,
			"body length does not match Content-Length");
		return;
	}
	refusal = body_parse_of(request->body, request->body_len, route->operation->body,
		&web->body, web->caller->decimals, detail);
	if (refusal == REFUSAL_BAD_REQUEST)
		describe_body_by_headers(request, detail);
	if (refusal != REFUSAL_NONE)
		reply_refuse(web->reply, refusal, detail[0] ? detail : NULL);
	else
		call_handler(route, web);
}

static bool is_too_large(const struct route *route, const struct http_request *request)
{
	return request->body_state == HTTP_BODY_TOO_LARGE ||
		request->body_len > http_operation_body_max(route->operation);
}

static void refuse_large(struct http_reply *reply, const struct route *route)
{
	char detail[REPLY_DETAIL_SIZE];

	snprintf(detail, sizeof(detail), "the body is larger than %zu bytes",
		http_operation_body_max(route->operation));
	reply_refuse(reply, REFUSAL_PAYLOAD_TOO_LARGE, detail);
}

static void serve_route(struct worker *worker, const struct route *route,
	const struct http_request *request)
{
	const struct web_service *service = worker->service;
	struct web_request web = {
		.request = request,
		.link = &worker->link,
		.cells = worker->cells,
		.deadline_ms = request->boot_ms + service->ledger_deadline_ms,
		.longest_deadline_ms = request->boot_ms + service->ledger_deadline_ms,
		.ledger_deadline_ms = service->ledger_deadline_ms,
		.request_window_s = service->request_window_s,
		.sender = worker->sender,
		.callback_timeout_ms = service->callbacks.total_timeout_ms,
		.counters_path = service->counters_path,
		.feed_waits = service->feed_waits,
		.member = service->member,
		.sweep_overdue_ms = (int64_t)service->sweep_overdue_s * 1000,
		.reply = &worker->reply,
	};

	if (!(route->operation->methods & method_parse(value_of(&request->method)))) {
		worker->reply.allow = route->operation->methods;
		reply_refuse(&worker->reply, REFUSAL_METHOD_NOT_ALLOWED, NULL);
	} else if (is_too_large(route, request)) {
		refuse_large(&worker->reply, route);
	} else if (route->operation->body) {
		serve_signed(worker, route, &web);
	} else {
		route->handle(&web);
	}
}

/* Logs a body at level debug. */
static void request_trace(const struct http_reply *reply, const char *what, const void *body,
	size_t len)
{
	const struct trace_of of = {.request_id = reply->request_id, .what = what};

	if (len)
		trace_body(&of, (struct bytes){body, (uint32_t)len});
}

/* Returns true if @worker answers without a valid signature. */
static bool is_unauthenticated(const struct worker *worker, const struct http_request *request)
{
	switch (worker->reply.refusal) {
	case REFUSAL_NOT_FOUND:
	case REFUSAL_METHOD_NOT_ALLOWED:
	case REFUSAL_PAYLOAD_TOO_LARGE:
	case REFUSAL_INVALID_SIGNATURE:
		return true;
	case REFUSAL_RATE_LIMITED:
		return worker->auth.why == AUTH_FLOOD;
	default:
		return request->excess;
	}
}

/* Whether the request may be logged. Lines of unauthenticated requests are bounded. */
static bool may_log(const struct worker *worker, const struct http_request *request)
{
	uint64_t left_out;

	if (!worker->service->flood || !is_unauthenticated(worker, request))
		return true;
	if (!flood_may_log(worker->service->flood, request->boot_ms, &left_out))
		return false;
	if (left_out)
		log_line(LOG_LEVEL_WARNING, "requests_not_logged",
			"count=%llu reason=\"too many calls were refused without a signature\"",
			(unsigned long long)left_out);
	return true;
}

/* The line holds no body and no signature: only own text, or checked names. */
static void request_log(const struct worker *worker, const struct route *route,
	const struct http_request *request)
{
	bool is_wallet = worker->service->group == SERVE_WALLET;
	const struct http_reply *reply = &worker->reply;
	const char *method = value_of(&request->method);
	const char *caller =
		value_of(&request->headers[is_wallet ? HEADER_CASINO_ID : HEADER_CLIENT_ID]);
	const char *refusal = refusal_info(reply->refusal)->id;
	int code = reply_code(reply);
	long long ms = clock_boot_ms() - request->boot_ms;

	if (!may_log(worker, request))
		return;
	log_line(code >= 500 ? LOG_LEVEL_WARNING : LOG_LEVEL_INFO, "request",
		"request_id=%s method=%s path=%s %s=%s code=%d refusal=%s ms=%lld%s%s%s",
		reply->request_id, text_is_name(method, METHOD_NAME_MAX) ? method : "-",
		route ? route->operation->path : "-", is_wallet ? "casino_id" : "client_id",
		text_is_name(caller, CASINO_ID_SIZE - 1) ? caller : "-", code,
		refusal[0] ? refusal : "-", ms, reply->status == STATUS_OK ? "" : " failure=\"",
		reply->status == STATUS_OK ? "" : status_text(reply->status),
		reply->status == STATUS_OK ? "" : "\"");
}

/* True if @worker refused a probe of doctor, which names no caller (metrics/counters.h). */
static bool is_refused_probe(const struct worker *worker, const struct http_request *request)
{
	const struct http_variable *headers = request->headers;

	return is_unauthenticated(worker, request) && headers[HEADER_REQUEST_ID].count == 1 &&
		strncmp(headers[HEADER_REQUEST_ID].value, COUNTERS_DOCTOR_PREFIX,
			sizeof(COUNTERS_DOCTOR_PREFIX) - 1) == 0 &&
		!headers[HEADER_CASINO_ID].count && !headers[HEADER_SIGNATURE].count &&
		!headers[HEADER_CLIENT_ID].count && !headers[HEADER_CLIENT_SIGNATURE].count;
}

/* Counts the reply to a probe of doctor. */
static void probe_count(struct worker *worker, int64_t begun_ns)
{
	counting_request(&worker->counting, OPERATION_DOCTOR, worker->reply.refusal,
		(uint64_t)(clock_boot_ns() - begun_ns) / 1000);
}

/* Counts the reply and its duration since @begun_ns. */
static void request_count(struct worker *worker, const struct route *route,
	const struct http_request *request, int64_t begun_ns)
{
	struct counting *counting = &worker->counting;
	enum refusal refusal = worker->reply.refusal;
	enum caller_kind caller =
		worker->service->group == SERVE_WALLET ? CALLER_DEALER : CALLER_CLIENT;

	if (refusal == REFUSAL_INVALID_SIGNATURE)
		counting_auth_failure(counting, caller, worker->auth.why);
	else if (refusal == REFUSAL_RATE_LIMITED && worker->auth.why == AUTH_FLOOD)
		counting_auth_failure(counting, caller, AUTH_FLOOD);
	else if (refusal == REFUSAL_STALE_REQUEST)
		counting_auth_failure(counting, caller, AUTH_STALE);
	/* The header has the id whose key was proved. */
	if (worker->authenticated && caller == CALLER_DEALER)
		counting_dealer(counting, value_of(&request->headers[HEADER_CASINO_ID]), refusal);
	counting_request(counting, route ? route->operation->number : OPERATION_NONE, refusal,
		(uint64_t)(clock_boot_ns() - begun_ns) / 1000);
}

/* Describes the request for the refusal queue, if it was refused. */
static void refused_take(struct worker *worker, const struct route *route,
	const struct http_request *request)
{
	const struct refused_facts facts = {
		.group = worker->service->group,
		.route = route,
		.request = request,
		.reply = &worker->reply,
		.proved = worker->authenticated,
		.why = worker->auth.why,
	};

	refused_record_take(&worker->refused, &facts);
}

static const char too_many[] = "more calls wait than can be served; nothing was done";

void serve(struct worker *worker, const struct http_request *request)
{
	int64_t begun_ns = clock_boot_ns();
	const struct web_service *service = worker->service;
	const struct http_variable *request_id = &request->headers[HEADER_REQUEST_ID];
	struct http_reply *reply = &worker->reply;
	const struct route *route = route_find(service->group, service->base_path, request->path);

	counting_look(&worker->counting, request->boot_ms);
	worker->authenticated = false;
	reply_reset(reply, request_id->count == 1 ? request_id->value : NULL);
	worker->link.request_id = reply->request_id;
	if (worker->cells)
		cell_links_begin(worker->cells, reply->request_id);
	request_trace(reply, "request", request->body, request->body_len);
	if (request->excess && !(route && route->serves_excess))
		reply_refuse(reply, REFUSAL_SERVICE_UNAVAILABLE, too_many);
	else if (route)
		serve_route(worker, route, request);
	else
		reply_refuse(reply, REFUSAL_NOT_FOUND, NULL);
	if (worker->cells)
		reply->status = cell_links_end(worker->cells, reply->status);
	if (reply->status == STATUS_PROTOCOL)
		worker->ended = true;
	reply_finish(reply);
	worker->rejections.pending = worker->refused.pending = false;
	if (is_refused_probe(worker, request)) {
		probe_count(worker, begun_ns);
	} else {
		rejection_log_record(&worker->rejections, route, request, reply, &worker->counting);
		if (worker->service->refusals)
			refused_take(worker, route, request);
		request_count(worker, route, request, begun_ns);
	}
	request_log(worker, route, request);
	request_trace(reply, "answer", reply_content(reply)->data, reply_content(reply)->len);
}

void serve_after(struct worker *worker)
{
	struct cell_links *cells = worker->cells;
	const struct web_service *service = worker->service;
	/* The cell of the dealer, or the default cell. */
	const struct cell_link *entry = cells ? &cells->list[cells->at] : NULL;

	rejection_log_send(&worker->rejections, entry ? entry->link : &worker->link,
		&worker->counting);
	refused_record_queue(&worker->refused, entry ? entry->cell->refusals : service->refusals,
		entry ? entry->cell->ledger_path : service->ledger_path, &worker->counting);
}

static void *program_open(void *context)
{
	struct worker *worker = malloc(sizeof(*worker));

	if (worker && worker_init(worker, context))
		return worker;
	free(worker);
	errno = ENOMEM;
	return NULL;
}

static void program_close(void *worker)
{
	worker_free(worker);
	free(worker);
}

static void program_serve(void *context, const struct http_request *request,
	struct fcgi_reply *reply)
{
	struct worker *worker = context;

	serve(worker, request);
	reply->head = &worker->reply.head;
	reply->body = reply_content(&worker->reply);
	reply->ended = worker->ended;
}

static void program_after(void *worker)
{
	serve_after(worker);
}

/* The refusal queue has a fiber that sends, over a connection that the requests use, too. */
static bool add_refusals(struct refusal_queue *refusals, struct fibers *fibers, struct muxes *muxes,
	const char *ledger_path)
{
	return !refusals ||
		refusal_queue_add_fiber(refusals, fibers, muxes_pick(muxes), ledger_path);
}

/* Each connection to a ledger has a fiber that sends and receives. */
static bool add_pumps(struct fibers *fibers, struct muxes *muxes)
{
	for (unsigned int i = 0; i < muxes->count; i++) {
		if (!fibers_add(fibers, mux_pump, &muxes->list[i], true))
			return false;
	}
	return true;
}

static bool program_fibers(void *context, struct fibers *fibers)
{
	const struct web_service *service = context;
	struct web_cells *cells = service->cells;
	bool added;

	added = add_pumps(fibers, service->muxes) &&
		add_refusals(service->refusals, fibers, service->muxes, service->ledger_path);
	/* The first cell is that of the service itself. */
	for (unsigned int at = 1; added && cells && at < cells->count; at++) {
		struct web_cell *cell = &cells->list[at];

		added = add_pumps(fibers, cell->muxes) &&
			add_refusals(cell->refusals, fibers, cell->muxes, cell->ledger_path);
	}
	return added;
}

/* Returns how many fibers program_fibers() adds for a cell. */
static unsigned int fibers_of(const struct muxes *muxes, const struct refusal_queue *refusals)
{
	return muxes->count + (refusals != NULL);
}

static unsigned int count_fibers(const struct web_service *service)
{
	const struct web_cells *cells = service->cells;
	unsigned int count = fibers_of(service->muxes, service->refusals);

	for (unsigned int at = 1; cells && at < cells->count; at++)
		count += fibers_of(cells->list[at].muxes, cells->list[at].refusals);
	return count;
}

struct fcgi_program web_service_program(const struct web_service *service)
{
	struct fcgi_program program = {.context = (void *)(uintptr_t)service,
		.format = service->group == SERVE_PLATFORM ? &web_platform_format : &web_format,
		.open = program_open,
		.close = program_close,
		.serve = program_serve,
		.after = program_after,
		.refuses_excess = true,
		.fibers = service->muxes ? program_fibers : NULL,
		.background_fibers = service->muxes ? count_fibers(service) : 0};

	if (service->refusals)
		refusal_queue_begin(service->refusals);
	for (unsigned int at = 1; service->cells && at < service->cells->count; at++) {
		if (service->cells->list[at].refusals)
			refusal_queue_begin(service->cells->list[at].refusals);
	}
	return program;
}
