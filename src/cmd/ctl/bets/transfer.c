/*
 * transfer - implements `transfer show` and `transfer list`: finds transactions by their
 * references.
 */
#include "cmd/ctl/common/ctl.h"

#include "admin/list.h"
#include "admin/names.h"
#include "admin/callbacks/stories.h"
#include "admin/transactions.h"
#include "base/text.h"
#include "cmd/ctl/callbacks/owed.h"
#include "cmd/ctl/common/output.h"

#include <stdio.h>
#include <string.h>

/* A transaction with all ids by which it is found. */
struct movement_row {
	uint64_t transaction_id;
	int64_t time_ms;
	char casino_id[CASINO_ID_SIZE];
	char user_id[EXTERNAL_ID_SIZE];
	char player_id[PLAYER_ID_SIZE];
	uint64_t entry_seq;
	enum entry_kind kind;
	money_t amount;
	money_t before_balance;
	money_t current_balance;
	enum request_scope scope;
	char request_transaction_id[REQUEST_KEY_SIZE];
};

static const struct field movement_fields[] = {
	FIELD(FIELD_U64, movement_row, transaction_id),
	FIELD(FIELD_TIME_MS, movement_row, time_ms),
	FIELD(FIELD_STR, movement_row, casino_id),
	FIELD(FIELD_STR, movement_row, user_id),
	FIELD(FIELD_STR, movement_row, player_id),
	FIELD(FIELD_U64, movement_row, entry_seq),
	FIELD_NAMED(movement_row, kind, entry_kind_names, ENTRY_KIND_COUNT),
	FIELD(FIELD_MONEY, movement_row, amount),
	FIELD(FIELD_MONEY, movement_row, before_balance),
	FIELD(FIELD_MONEY, movement_row, current_balance),
	FIELD_NAMED(movement_row, scope, request_scope_names, SCOPE_COUNT),
	FIELD(FIELD_STR, movement_row, request_transaction_id),
	FIELD_END,
};

static const struct output_column list_columns[] = {
	{"TRANSACTION", "transaction_id", OUTPUT_PLAIN},
	{"TIME", "time_ms", OUTPUT_PLAIN},
	{"CASINO", "casino_id", OUTPUT_PLAIN},
	{"USER", "user_id", OUTPUT_PLAIN},
	{"KIND", "kind", OUTPUT_PLAIN},
	{"AMOUNT", "amount", OUTPUT_PLAIN},
	{"BEFORE", "before_balance", OUTPUT_PLAIN},
	{"AFTER", "current_balance", OUTPUT_PLAIN},
	{"REFERENCE", "request_transaction_id", OUTPUT_PLAIN},
	{NULL, NULL, OUTPUT_PLAIN},
};

/* The result of an idempotency key. */
struct transfer_view {
	char casino_id[CASINO_ID_SIZE];
	char user_id[EXTERNAL_ID_SIZE];
	char request_transaction_id[REQUEST_KEY_SIZE];
	enum request_scope scope;
	enum entry_kind kind;
	bool moved;
	enum refusal outcome;
	money_t amount;
	char player_id[PLAYER_ID_SIZE];
	int64_t time_ms;
};

static const struct field transfer_view_fields[] = {
	FIELD(FIELD_STR, transfer_view, casino_id),
	FIELD(FIELD_STR, transfer_view, user_id),
	FIELD(FIELD_STR, transfer_view, player_id),
	FIELD(FIELD_STR, transfer_view, request_transaction_id),
	FIELD_NAMED(transfer_view, scope, request_scope_names, SCOPE_COUNT),
	FIELD_NAMED(transfer_view, kind, entry_kind_names, ENTRY_KIND_COUNT),
	FIELD(FIELD_BOOL, transfer_view, moved),
	FIELD_NAMED(transfer_view, outcome, refusal_ids, REFUSAL_COUNT),
	FIELD(FIELD_MONEY, transfer_view, amount),
	FIELD(FIELD_TIME_MS, transfer_view, time_ms),
	FIELD_END,
};

static const struct output_column transfer_columns[] = {
	{"casino id", "casino_id", OUTPUT_PLAIN},
	{"user id", "user_id", OUTPUT_PLAIN},
	{"player id", "player_id", OUTPUT_PLAIN},
	{"reference", "request_transaction_id", OUTPUT_PLAIN},
	{"made by", "scope", OUTPUT_PLAIN},
	{"kind", "kind", OUTPUT_PLAIN},
	{"moved", "moved", OUTPUT_PLAIN},
	{"refusal", "outcome", OUTPUT_IF_ANY},
	{"asked amount", "amount", OUTPUT_PLAIN},
	{"time", "time_ms", OUTPUT_PLAIN},
	{NULL, NULL, OUTPUT_PLAIN},
};

static const struct output_column entry_columns[] = {
	{"transaction id", "transaction_id", OUTPUT_PLAIN},
	{"movement number", "entry_seq", OUTPUT_PLAIN},
	{"amount", "amount", OUTPUT_PLAIN},
	{"before", "before_balance", OUTPUT_PLAIN},
	{"after", "current_balance", OUTPUT_PLAIN},
	{NULL, NULL, OUTPUT_PLAIN},
};

/* A sealed key, of which neither the player nor the transfer is known. */
static const struct output_column sealed_columns[] = {
	{"casino id", "casino_id", OUTPUT_PLAIN},
	{"reference", "request_transaction_id", OUTPUT_PLAIN},
	{"moved", "moved", OUTPUT_PLAIN},
	{"refusal", "outcome", OUTPUT_PLAIN},
	{"time", "time_ms", OUTPUT_PLAIN},
	{NULL, NULL, OUTPUT_PLAIN},
};

static enum outcome print_transfer(struct ctl *ctl, const struct request *request,
	const struct transaction *entry, const struct player_name *name)
{
	struct transfer_view view = {
		.scope = request->scope,
		.kind = request->kind,
		.moved = entry,
		.outcome = request->outcome,
		.amount = request->amount,
		.time_ms = request->time_ms,
	};
	struct output_json json;
	struct story story;
	enum outcome code;

	output_json_open(&json, ctl);
	stories_request(request, entry, name, &story);
	owed_print_story(ctl, &story, &json);
	output_title(ctl, "Transfer");
	memcpy(view.casino_id, name->casino_id, sizeof(view.casino_id));
	memcpy(view.user_id, name->user_id, sizeof(view.user_id));
	memcpy(view.player_id, request->player_id, sizeof(view.player_id));
	text_copy(view.request_transaction_id, sizeof(view.request_transaction_id),
		request->request_transaction_id);
	code = output_record(ctl, transfer_view_fields,
		request_is_sealed(request) ? sealed_columns : transfer_columns, &view);
	if (code == OUTCOME_DONE && entry && !ctl->json)
		printf("\n");
	if (code == OUTCOME_DONE && entry)
		code = output_record(ctl, transaction_fields, entry_columns, entry);
	if (code != OUTCOME_DONE) {
		buffer_free(&json.text);
		return code;
	}
	output_json_string(&json, "casino_id", view.casino_id);
	output_json_string(&json, "user_id", view.user_id);
	output_json_record(&json, "request", request_fields, request);
	output_json_record(&json, "entry", transaction_fields, entry);
	return output_json_close(&json);
}

/* Shows the object to which @request points. */
static enum outcome show_request(struct ctl *ctl, const struct request *request)
{
	struct transaction entry;
	struct player_name name = {.player_id = ""};
	enum outcome code = OUTCOME_DONE;

	if (request_is_sealed(request))
		text_copy(name.casino_id, sizeof(name.casino_id), request->owner);
	else
		code = names_of(&ctl->session, request->player_id, &name);
	if (code == OUTCOME_DONE && request->entry_seq)
		code = movement_fetch(&ctl->session, request->transaction_id, &entry);
	if (code != OUTCOME_DONE)
		return code;
	return print_transfer(ctl, request, request->entry_seq ? &entry : NULL, &name);
}

static enum outcome show_transaction(struct ctl *ctl, const char *text)
{
	struct transaction entry;
	struct request request = {.owner = ""};
	uint64_t transaction_id;
	enum outcome code;
	bool found;

	if (!text_unsigned(text, TRANSACTION_ID_MAX, &transaction_id))
		return ctl_usage(ctl,
			"--transaction takes a transaction id, 1 to 2^53-1; not "
			"'%s'",
			text);
	code = transaction_fetch(&ctl->session, transaction_id, &entry, &found);
	if (code == OUTCOME_DONE && (!found || !entry.entry_seq))
		return ctl_fail(ctl, OUTCOME_FAILED, "transfer_not_found",
			"transaction %s moved no credit on the ledger; see `creditbridgectl "
			"bet show %s`",
			text, text);
	if (code != OUTCOME_DONE)
		return code;
	request.scope = entry.scope;
	text_copy(request.owner, sizeof(request.owner), entry_owner(&entry));
	text_copy(request.request_transaction_id, sizeof(request.request_transaction_id),
		entry.request_transaction_id);
	code = list_fetch(&ctl->session, RECORD_REQUEST, &request, &found, NULL);
	if (code == OUTCOME_DONE && !found)
		return names_missing(&ctl->session, "a request key");
	return code == OUTCOME_DONE ? show_request(ctl, &request) : code;
}

enum outcome ctl_transfer_show(struct ctl *ctl)
{
	struct request request;
	enum outcome code = OUTCOME_DONE;
	bool found = false;

	if (ctl->options[OPTION_TRANSACTION] && ctl->arg_count == 0)
		return show_transaction(ctl, ctl->options[OPTION_TRANSACTION]);
	if (ctl->options[OPTION_TRANSACTION] || ctl->arg_count != 2)
		return ctl_usage(ctl, "give CASINO and REFERENCE, or --transaction ID");
	/*
	 * Try a dealer's reference first, then an operator's (the operation id of an adjustment).
	 */
	for (unsigned int scope = 0; code == OUTCOME_DONE && !found && scope < SCOPE_COUNT;
		scope++) {
		memset(&request, 0, sizeof(request));
		request.scope = scope;
		code = names_read_casino_id(&ctl->session, ctl->args[0], request.owner);
		if (code == OUTCOME_DONE)
			code = names_read_external_id(&ctl->session, "a reference", ctl->args[1],
				request.request_transaction_id);
		if (code == OUTCOME_DONE)
			code = list_fetch(&ctl->session, RECORD_REQUEST, &request, &found, NULL);
	}
	if (code == OUTCOME_DONE && !found)
		return ctl_fail(ctl, OUTCOME_FAILED, "transfer_not_found",
			"dealer '%s' has no transfer '%s'; see `creditbridgectl transfer list`",
			ctl->args[0], ctl->args[1]);
	return code == OUTCOME_DONE ? show_request(ctl, &request) : code;
}

static void add_transfer_row(struct output_list *out, const struct player_name *name,
	const struct transaction *entry)
{
	struct movement_row row = {
		.transaction_id = entry->transaction_id,
		.time_ms = entry->time_ms,
		.entry_seq = entry->entry_seq,
		.kind = entry->kind,
		.amount = entry->amount,
		.before_balance = entry->before_balance,
		.current_balance = entry->current_balance,
		.scope = entry->scope,
	};

	memcpy(row.casino_id, name->casino_id, sizeof(row.casino_id));
	memcpy(row.user_id, name->user_id, sizeof(row.user_id));
	memcpy(row.player_id, name->player_id, sizeof(row.player_id));
	text_copy(row.request_transaction_id, sizeof(row.request_transaction_id),
		entry->request_transaction_id);
	output_list_add(out, &row);
}

/* Lists the transactions of all players, or of one dealer, by their transaction ids. */
static enum outcome list_transactions(struct ctl *ctl, struct filter *filter,
	struct output_list *out)
{
	struct list list;
	struct transaction row;
	struct player_name name = {.player_id = ""};
	enum filter_match match;
	enum outcome code = OUTCOME_DONE;

	list_open(&list, &ctl->session, RECORD_TRANSACTION, true, 0, NULL);
	row.transaction_id = filter->after;
	if (filter->after)
		list_behind(&list, &row);
	while (code == OUTCOME_DONE && filter->limit && list_next(&list, &row)) {
		match = filter_time(filter, row.time_ms);
		if (match == FILTER_END)
			break;
		/* A bet of a seamless wallet moves nothing here, and a result may pay nothing. */
		if (match == FILTER_SKIP || !row.entry_seq ||
			!filter_names(filter, row.casino_id, row.player_id, row.game_id))
			continue;
		code = names_of(&ctl->session, row.player_id, &name);
		if (code == OUTCOME_DONE)
			add_transfer_row(out, &name, &row);
		filter->limit--;
	}
	return list_end(&list, code);
}

/* Lists the transactions of one player. */
static enum outcome list_entries(struct ctl *ctl, struct filter *filter, struct output_list *out)
{
	struct movements movements;
	struct player_name name = {.player_id = ""};
	struct player player;
	struct transaction row;
	enum filter_match match;
	enum outcome code =
		names_player(&ctl->session, filter->casino_id, filter->user_id, &player);

	if (code != OUTCOME_DONE)
		return code;
	memcpy(name.player_id, filter->player_id, sizeof(name.player_id));
	memcpy(name.casino_id, filter->casino_id, sizeof(name.casino_id));
	memcpy(name.user_id, filter->user_id, sizeof(name.user_id));
	movements_open(&movements, &ctl->session, &player);
	while (filter->limit && movements_next(&movements, &row)) {
		match = filter_time(filter, row.time_ms);
		if (match == FILTER_END)
			break;
		if (match == FILTER_SKIP || (filter->after && row.transaction_id >= filter->after))
			continue;
		add_transfer_row(out, &name, &row);
		filter->limit--;
	}
	return movements_end(&movements, OUTCOME_DONE);
}

enum outcome ctl_transfer_list(struct ctl *ctl)
{
	struct output_list out;
	struct filter filter;
	enum outcome code = ctl_filter(ctl, 50, &filter);

	if (code != OUTCOME_DONE)
		return code;
	output_list_open(&out, ctl, "transfers", "movements", movement_fields, list_columns);
	code = ctl->options[OPTION_USER] ? list_entries(ctl, &filter, &out)
					 : list_transactions(ctl, &filter, &out);
	return output_list_close(&out, code);
}
