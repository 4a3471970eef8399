/*
 * recon - recon: a dealer's day as CSV.
 */
#include "cmd/ctl/recon.h"

#include "admin/names.h"
#include "base/clock.h"
#include "cmd/ctl/csv.h"
#include "cmd/ctl/output.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define DAY_MS    INT64_C(86400000)
#define MINUTE_MS INT64_C(60000)
#define ROW_MAX  16384

const char *const recon_record_names[RECON_RECORD_COUNT] = {"movement", "bet", "callback"};
const char *const recon_column_names[RECON_COLUMN_COUNT] = {
	"record", "id", "casino_id", "time", "time_ms", "user_id", "player_id", "game_id", "kind",
	"state", "amount", "currency", "transaction_id", "reference", "before_balance",
	"current_balance", "count",
};

/* @member: room for the text of a field, the field then. */
#define NUMBER_TEXT SUM_TEXT_MAX

static const char *text_of(const char *text)
{
	return text ? text : "";
}

static void put_number(const char **field, char text[NUMBER_TEXT], bool has, uint64_t number)
{
	if (!has)
		return;
	snprintf(text, NUMBER_TEXT, "%" PRIu64, number);
	*field = text;
}

static void put_money(const struct recon *recon, const char **field, char text[NUMBER_TEXT],
	bool has, sum_t money)
{
	if (!has)
		return;
	sum_format(money, recon->dealer.decimals, text);
	*field = text;
}

static void put_line(struct recon *recon, const char *const fields[RECON_COLUMN_COUNT])
{
	buffer_reset(&recon->line);
	csv_put(&recon->line, fields, RECON_COLUMN_COUNT);
	if (recon->line.failed)
		recon->out.failed = true;
	else
		outfile_put(&recon->out, recon->line.data, recon->line.len);
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
	};

	if (recon->take) {
		recon->out.failed |= !recon->take(recon->context, row);
		return;
	}
	if (row->time_ms) {
		output_time(row->time_ms, text[COLUMN_TIME]);
		fields[COLUMN_TIME] = text[COLUMN_TIME];
		put_number(&fields[COLUMN_TIME_MS], text[COLUMN_TIME_MS], true,
			(uint64_t)row->time_ms);
	}
	put_money(recon, &fields[COLUMN_AMOUNT], text[COLUMN_AMOUNT], row->has_amount, row->amount);
	put_number(&fields[COLUMN_TRANSACTION_ID], text[COLUMN_TRANSACTION_ID],
		row->has_transaction, row->transaction_id);
	put_money(recon, &fields[COLUMN_BEFORE_BALANCE], text[COLUMN_BEFORE_BALANCE],
		row->has_balances, row->before_balance);
	put_money(recon, &fields[COLUMN_CURRENT_BALANCE], text[COLUMN_CURRENT_BALANCE],
		row->has_balances, row->current_balance);
	put_number(&fields[COLUMN_COUNT], text[COLUMN_COUNT], row->has_count, row->count);
	put_line(recon, fields);
}

/* The day's own row: which it is, and whether it was over when it was read. */
static void put_day(struct recon *recon, bool over)
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
	put_line(recon, recon_column_names);
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

static void put_totals(struct recon *recon)
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

/* The last row: the SHA-256 of all bytes before it. */
static void put_digest(struct recon *recon, char text[DIGEST_TEXT_SIZE])
{
	const char *fields[RECON_COLUMN_COUNT];

	for (unsigned int i = 0; i < RECON_COLUMN_COUNT; i++)
		fields[i] = "";
	outfile_digest(&recon->out, text);
	fields[COLUMN_RECORD] = RECON_SHA256;
	fields[COLUMN_ID] = text;
	put_line(recon, fields);
}

static uint64_t count_of(const struct recon_sum *sums, unsigned int count)
{
	uint64_t all = 0;

	for (unsigned int i = 0; i < count; i++)
		all += sums[i].count;
	return all;
}

static enum outcome tell(struct recon *recon, bool over, const char *digest)
{
	const uint64_t counts[RECON_RECORD_COUNT] = {
		count_of(recon->movements, ENTRY_KIND_COUNT),
		count_of(recon->bets, BET_STATE_COUNT),
		count_of(recon->callbacks[0], CALLBACK_KIND_COUNT * CALLBACK_STATE_COUNT),
	};
	struct output_json json;

	if (!over)
		ctl_tell(NULL, "warning: %s has not ended in %s's time zone; later "
			"transactions are missing", recon->date,
			recon->dealer.casino_id);
	if (!recon->out.path)
		return OUTCOME_DONE;
	output_json_open(&json, recon->ctl);
	output_json_string(&json, "file", recon->out.path);
	output_json_string(&json, "casino_id", recon->dealer.casino_id);
	output_json_string(&json, "date", recon->date);
	output_json_number(&json, "from_ms", (uint64_t)recon->from_ms);
	output_json_number(&json, "until_ms", (uint64_t)recon->until_ms);
	output_json_bool(&json, "complete", over);
	output_json_number(&json, "movements", counts[RECON_MOVEMENT]);
	output_json_number(&json, "bets", counts[RECON_BET]);
	output_json_number(&json, "callbacks", counts[RECON_CALLBACK]);
	output_json_string(&json, "sha256", digest);
	if (!recon->ctl->json)
		printf("%s: %" PRIu64 " movements, %" PRIu64 " bets, %" PRIu64
			" callbacks\nsha256 %s\n", recon->out.path, counts[RECON_MOVEMENT],
			counts[RECON_BET], counts[RECON_CALLBACK], digest);
	return output_json_close(&json);
}

static enum outcome write_day(struct recon *recon)
{
	char digest[DIGEST_TEXT_SIZE] = "";
	const bool over = clock_wall_ms() >= recon->until_ms;
	enum outcome code;

	put_day(recon, over);
	code = recon_write_transactions(recon);
	if (code == OUTCOME_DONE && recon->records & UINT32_C(1) << RECON_CALLBACK)
		code = recon_write_callbacks(recon);
	if (code == OUTCOME_DONE) {
		put_totals(recon);
		put_digest(recon, digest);
	}
	code = outfile_close(&recon->out, code);
	return code == OUTCOME_DONE ? tell(recon, over, digest) : code;
}

/* Reads --date: a day of the dealer's. */
static enum outcome read_day(struct recon *recon)
{
	int64_t midnight_ms;

	/* ctl_time() reads more than a date. */
	if (strlen(recon->date) != strlen("2025-01-31") || !ctl_time(recon->date, &midnight_ms) ||
		recon->date[4] != '-')
		return ctl_usage(recon->ctl, "--date takes a day, YYYY-MM-DD; not '%s'",
			recon->date);
	recon->from_ms = midnight_ms - recon->dealer.utc_offset_min * MINUTE_MS;
	recon->until_ms = recon->from_ms + DAY_MS;
	if (recon->from_ms <= 0)
		return ctl_usage(recon->ctl, "--date takes a day after 1970-01-01");
	if (recon->from_ms > clock_wall_ms())
		return ctl_usage(recon->ctl, "%s has not begun for %s", recon->date,
			recon->dealer.casino_id);
	return OUTCOME_DONE;
}

static enum outcome make(struct ctl *ctl)
{
	struct recon *recon = calloc(1, sizeof(*recon));
	enum outcome code;

	if (!recon)
		return ctl_no_memory(ctl);
	recon->ctl = ctl;
	recon->date = ctl->options[OPTION_DATE];
	recon->names = calloc(RECON_NAMES, sizeof(*recon->names));
	buffer_init(&recon->line, ROW_MAX);
	code = recon->names ? ctl_choices(ctl, OPTION_KIND, recon_record_names, RECON_RECORD_COUNT,
					&recon->records)
			    : ctl_no_memory(ctl);
	if (code == OUTCOME_DONE)
		code = outfile_open(&recon->out, ctl, ctl->arg_count > 1 ? ctl->args[1] : NULL,
			false);
	if (code == OUTCOME_DONE) {
		code = names_dealer(&ctl->session, ctl->args[0], &recon->dealer);
		if (code == OUTCOME_DONE)
			code = read_day(recon);
		code = code == OUTCOME_DONE ? write_day(recon) : outfile_close(&recon->out, code);
	}
	buffer_free(&recon->line);
	free(recon->names);
	free(recon);
	return code;
}

enum outcome ctl_recon(struct ctl *ctl)
{
	if (ctl->options[OPTION_COMPARE] && (ctl->options[OPTION_DATE] || ctl->arg_count != 2))
		return ctl_usage(ctl, "--compare takes two files, OUR and THEIR");
	if (ctl->options[OPTION_COMPARE])
		return recon_compare(ctl);
	if (!ctl->options[OPTION_DATE])
		return ctl_usage(ctl, "give --date, or --compare and two files");
	return make(ctl);
}
