#include "dealer/control.h"

#include "wire/body.h"
#include "wire/render.h"

#include <string.h>

struct user_body {
	char user_id[EXTERNAL_ID_SIZE];
	money_t balance;
};
static const struct body_field user_body_fields[] = {
	BODY_FIELD(BODY_ID, user_body, user_id),
	BODY_FIELD(BODY_PAYOUT, user_body, balance),
	BODY_FIELD_END,
};

struct totals {
	bool conserved;
	money_t granted;
	money_t balances;
	money_t staked;
	money_t paid;
	money_t taken; /* by corrections */
};
static const struct field totals_fields[] = {
	FIELD(FIELD_BOOL, totals, conserved),
	FIELD(FIELD_MONEY, totals, granted),
	FIELD(FIELD_MONEY, totals, balances),
	FIELD(FIELD_MONEY, totals, staked),
	FIELD(FIELD_MONEY, totals, paid),
	FIELD(FIELD_MONEY, totals, taken),
	FIELD_END,
};

/* State of a walk through a table: an array of its rows, and the sums. */
struct walk {
	struct buffer *out;
	enum store_table table;
	const struct field *fields;
	struct totals *totals;
	const char *before;
};

static void totals_add(struct totals *totals, enum store_table table, const void *record)
{
	const struct dealer_user *user = record;
	const struct dealer_transaction *transaction = record;
	bool good = true;

	if (table == STORE_USER) {
		good = money_add(totals->granted, user->granted, &totals->granted);
		good &= money_add(totals->balances, user->balance, &totals->balances);
	} else if (table == STORE_TRANSACTION && transaction->state == TRANSACTION_BET) {
		good = money_add(totals->staked, transaction->amount, &totals->staked);
	} else if (table == STORE_TRANSACTION && transaction->state == TRANSACTION_PAID) {
		good = money_add(totals->paid, transaction->amount, &totals->paid);
	} else if (table == STORE_TRANSACTION && transaction->state == TRANSACTION_CORRECTED) {
		good = money_add(totals->taken, transaction->amount, &totals->taken);
	}
	totals->conserved &= good;
}

static bool row_put(void *context, const void *record)
{
	struct walk *walk = context;

	totals_add(walk->totals, walk->table, record);
	buffer_append_str(walk->out, walk->before);
	walk->before = ",";
	return render_record(walk->out, walk->fields, record);
}

static void serve_state(struct dealer_worker *worker, const struct http_request *request)
{
	struct reference_dealer *dealer = worker->dealer;
	struct totals totals = {.conserved = true};
	struct walk walks[] = {
		{&worker->body, STORE_USER, dealer_user_fields, &totals, "{\"users\":["},
		{&worker->body, STORE_TRANSACTION, dealer_transaction_fields, &totals,
			"],\"transactions\":["},
		{&worker->body, STORE_EVENT, dealer_event_fields, &totals, "],\"events\":["},
	};
	enum status status = STATUS_OK;
	money_t owed;

	(void)request;
	/* Read all of it at one moment. */
	pthread_mutex_lock(&dealer->mutex);
	for (unsigned int i = 0; i < 3 && status == STATUS_OK; i++) {
		buffer_append_str(&worker->body, walks[i].before);
		walks[i].before = "";
		status = store_each(dealer->store, walks[i].table, row_put, &walks[i]);
	}
	pthread_mutex_unlock(&dealer->mutex);
	totals.conserved &= money_add(totals.granted, totals.paid, &owed) &&
		money_add(owed, -totals.staked, &owed) && money_add(owed, -totals.taken, &owed) &&
		owed == totals.balances;
	buffer_append_str(&worker->body, "],\"totals\":");
	render_record(&worker->body, totals_fields, &totals);
	buffer_append_str(&worker->body, "}");
	if (status != STATUS_OK)
		worker_refuse(worker, ANSWER_INTERNAL_ERROR, NULL);
}

static void serve_users(struct dealer_worker *worker, const struct http_request *request)
{
	struct reference_dealer *dealer = worker->dealer;
	char detail[BODY_DETAIL_MAX] = "";
	struct dealer_rows rows;
	struct user_body body;
	enum status status;

	if (body_parse(request->body, request->body_len, user_body_fields, &body, detail) !=
		REFUSAL_NONE) {
		worker_refuse(worker, ANSWER_BAD_REQUEST, detail);
		return;
	}
	pthread_mutex_lock(&dealer->mutex);
	status = store_load(dealer->store, body.user_id, 0, &rows);
	rows.user.granted += body.balance - rows.user.balance;
	rows.user.balance = body.balance;
	rows.user_changed = true;
	if (status == STATUS_OK)
		status = store_commit(dealer->store, &rows);
	pthread_mutex_unlock(&dealer->mutex);
	worker->ended |= status != STATUS_OK;
	if (status == STATUS_OK)
		render_record(&worker->body, dealer_user_fields, &rows.user);
	else
		worker_refuse(worker, ANSWER_INTERNAL_ERROR, NULL);
}

bool control_serve(struct dealer_worker *worker, const char *path, const char *method,
	const struct http_request *request)
{
	static const struct {
		const char *path;
		const char *method;
		void (*serve)(struct dealer_worker *worker, const struct http_request *request);
	} routes[] = {
		{"control/users", "POST", serve_users},
		{"control/state", "GET", serve_state},
	};

	for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++) {
		if (strcmp(routes[i].path, path) != 0)
			continue;
		if (strcmp(routes[i].method, method) != 0)
			worker_refuse(worker, ANSWER_METHOD_NOT_ALLOWED, NULL);
		else if (request->body_state != HTTP_BODY_WHOLE)
			worker_refuse(worker, ANSWER_BAD_REQUEST, NULL);
		else
			routes[i].serve(worker, request);
		return true;
	}
	return false;
}
