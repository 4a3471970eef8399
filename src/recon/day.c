/*
 * day - writes the rows of a dealer's day as CSV.
 */
#include "recon/recon.h"

#include "base/text.h"
#include "recon/csv.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *const recon_record_names[RECON_RECORD_COUNT] = {"movement", "bet", "callback"};
const char *const recon_column_names[RECON_COLUMN_COUNT] = {
	"record",
	"id",
	"casino_id",
	"time",
	"time_ms",
	"user_id",
	"player_id",
	"game_id",
	"kind",
	"state",
	"amount",
	"currency",
	"transaction_id",
	"reference",
	"before_balance",
	"current_balance",
	"count",
	"revision",
};

/* For each @member: a buffer for the field's text, and the field. */
#define NUMBER_TEXT SUM_TEXT_MAX

static const char *text_of(const char *text)
{
	return text ? text : "";
}

static void put_number_cell(const char **field, char text[NUMBER_TEXT], bool has, uint64_t number)
{
	if (!has)
		return;
	snprintf(text, NUMBER_TEXT, "%" PRIu64, number);
	*field = text;
}

static void put_money_cell(const struct recon *recon, const char **field, char text[NUMBER_TEXT],
	bool has, sum_t money)
{
	if (!has)
		return;
	sum_format(money, recon->dealer.decimals, text);
	*field = text;
}

static void put_day_line(struct recon *recon, const char *const fields[RECON_COLUMN_COUNT])
{
	buffer_reset(&recon->line);
	csv_put(&recon->line, fields, RECON_COLUMN_COUNT);
	if (recon->line.failed)
		recon->failed = true;
	else
		recon->write(recon->file, recon->line.data, recon->line.len);
}

void recon_put(struct recon *recon, const struct recon_row *row)
{
	char text[RECON_COLUMN_COUNT][NUMBER_TEXT];
	const char *fields[RECON_COLUMN_COUNT] = {
		[COLUMN_RECORD] = row->record,
		[COLUMN_ID] = row->id,
		[COLUMN_CASINO_ID] = recon->dealer.casino_id,
		[COLUMN_TIME] = "",
		[COLUMN_TIME_MS] = "",
		[COLUMN_USER_ID] = text_of(row->user_id),
		[COLUMN_PLAYER_ID] = text_of(row->player_id),
		[COLUMN_GAME_ID] = text_of(row->game_id),
		[COLUMN_KIND] = text_of(row->kind),
		[COLUMN_STATE] = text_of(row->state),
		[COLUMN_AMOUNT] = "",
		[COLUMN_CURRENCY] = recon->dealer.currency,
		[COLUMN_TRANSACTION_ID] = "",
		[COLUMN_REFERENCE] = text_of(row->reference),
		[COLUMN_BEFORE_BALANCE] = "",
		[COLUMN_CURRENT_BALANCE] = "",
		[COLUMN_COUNT] = "",
		[COLUMN_REVISION] = "",
	};

	if (recon->take) {
		recon->failed |= !recon->take(recon->context, row);
		return;
	}
	if (row->time_ms) {
		text_time(row->time_ms, text[COLUMN_TIME]);
		fields[COLUMN_TIME] = text[COLUMN_TIME];
		put_number_cell(&fields[COLUMN_TIME_MS], text[COLUMN_TIME_MS], true,
			(uint64_t)row->time_ms);
	}
	put_money_cell(recon, &fields[COLUMN_AMOUNT], text[COLUMN_AMOUNT], row->has_amount,
		row->amount);
	put_number_cell(&fields[COLUMN_TRANSACTION_ID], text[COLUMN_TRANSACTION_ID],
		row->has_transaction, row->transaction_id);
	put_money_cell(recon, &fields[COLUMN_BEFORE_BALANCE], text[COLUMN_BEFORE_BALANCE],
		row->has_balances, row->before_balance);
	put_money_cell(recon, &fields[COLUMN_CURRENT_BALANCE], text[COLUMN_CURRENT_BALANCE],
		row->has_balances, row->current_balance);
	put_number_cell(&fields[COLUMN_COUNT], text[COLUMN_COUNT], row->has_count, row->count);
	put_number_cell(&fields[COLUMN_REVISION], text[COLUMN_REVISION], row->revision > 0,
		row->revision);
	put_day_line(recon, fields);
}

/* Writes which day it is, and whether it had ended when it was read. */
void recon_put_day(struct recon *recon, bool over)
{
	const int32_t offset = recon->dealer.utc_offset_min;
	const int32_t minutes = offset < 0 ? -offset : offset;
	char zone[16];
	struct recon_row row = {
		.record = RECON_DAY,
		.id = recon->date,
		.time_ms = recon->from_ms,
		.state = over ? "complete" : "running",
		.reference = zone,
	};

	snprintf(zone, sizeof(zone), "%c%02" PRId32 ":%02" PRId32, offset < 0 ? '-' : '+',
		minutes / 60, minutes % 60);
	put_day_line(recon, recon_column_names);
	recon_put(recon, &row);
}

static void put_total(struct recon *recon, enum recon_record record, const char *kind,
	const char *state, const struct recon_sum *sum)
{
	struct recon_row row = {
		.record = RECON_TOTAL,
		.id = recon_record_names[record],
		.kind = kind,
		.state = state,
		.has_amount = true,
		.amount = sum->amount,
		.has_count = true,
		.count = sum->count,
	};

	if (sum->count)
		recon_put(recon, &row);
}

void recon_put_totals(struct recon *recon)
{
	for (unsigned int i = 0; i < ENTRY_KIND_COUNT; i++)
		put_total(recon, RECON_MOVEMENT, entry_kind_names[i], "", &recon->movements[i]);
	for (unsigned int i = 0; i < BET_STATE_COUNT; i++)
		put_total(recon, RECON_BET, "", bet_state_names[i], &recon->bets[i]);
	for (unsigned int i = 0; i < CALLBACK_KIND_COUNT; i++) {
		for (unsigned int j = 0; j < CALLBACK_STATE_COUNT; j++)
			put_total(recon, RECON_CALLBACK, callback_kind_names[i],
				callback_state_names[j], &recon->callbacks[i][j]);
	}
}

void recon_put_digest(struct recon *recon, const char *digest)
{
	const char *fields[RECON_COLUMN_COUNT];

	for (unsigned int i = 0; i < RECON_COLUMN_COUNT; i++)
		fields[i] = "";
	fields[COLUMN_RECORD] = RECON_SHA256;
	fields[COLUMN_ID] = digest;
	put_day_line(recon, fields);
}
