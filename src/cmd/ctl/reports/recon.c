/*
 * recon - implements `recon`: writes one day of a dealer to a file.
 */
#include "cmd/ctl/reports/recon.h"

#include "admin/names.h"
#include "base/clock.h"
#include "base/zone.h"
#include "cmd/ctl/common/outfile.h"
#include "cmd/ctl/common/output.h"
#include "recon/recon.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define DAY_MS    INT64_C(86400000)
#define MINUTE_MS INT64_C(60000)
#define ROW_MAX   16384

/* A file that is being written. */
struct making {
	struct ctl *ctl;
	struct outfile out;
	struct recon recon;
};

static uint64_t count_of(const struct recon_sum *sums, unsigned int count)
{
	uint64_t all = 0;

	for (unsigned int i = 0; i < count; i++)
		all += sums[i].count;
	return all;
}

static enum outcome report_day(struct making *making, bool over, const char *digest)
{
	const struct recon *recon = &making->recon;
	struct ctl *ctl = making->ctl;
	const uint64_t counts[RECON_RECORD_COUNT] = {
		count_of(recon->movements, ENTRY_KIND_COUNT),
		count_of(recon->bets, BET_STATE_COUNT),
		count_of(recon->callbacks[0], CALLBACK_KIND_COUNT * CALLBACK_STATE_COUNT),
	};
	struct output_json json;

	if (!over)
		ctl_tell(NULL,
			"warning: %s has not ended in %s's time zone; later "
			"transactions are missing",
			recon->date, recon->dealer.casino_id);
	if (!making->out.path)
		return OUTCOME_DONE;
	output_json_open(&json, ctl);
	output_json_string(&json, "file", making->out.path);
	output_json_string(&json, "casino_id", recon->dealer.casino_id);
	output_json_string(&json, "date", recon->date);
	output_json_number(&json, "from_ms", (uint64_t)recon->from_ms);
	output_json_number(&json, "until_ms", (uint64_t)recon->until_ms);
	output_json_bool(&json, "complete", over);
	output_json_number(&json, "movements", counts[RECON_MOVEMENT]);
	output_json_number(&json, "bets", counts[RECON_BET]);
	output_json_number(&json, "callbacks", counts[RECON_CALLBACK]);
	output_json_string(&json, "sha256", digest);
	if (!ctl->json)
		printf("%s: %" PRIu64 " movements, %" PRIu64 " bets, %" PRIu64
		       " callbacks\nsha256 %s\n",
			making->out.path, counts[RECON_MOVEMENT], counts[RECON_BET],
			counts[RECON_CALLBACK], digest);
	return output_json_close(&json);
}

static enum outcome write_day(struct making *making)
{
	struct recon *recon = &making->recon;
	char digest[DIGEST_TEXT_SIZE] = "";
	const bool over = clock_wall_ms() >= recon->until_ms;
	enum outcome code;

	recon_put_day(recon, over);
	/* The first row may take long to find. With the header, the reader of a pipe sees that the
	 * file has begun. */
	making->out.failed |= fflush(making->out.file) != 0;
	code = recon_write_transactions(recon);
	if (code == OUTCOME_DONE && recon->records & UINT32_C(1) << RECON_CALLBACK)
		code = recon_write_callbacks(recon);
	if (code == OUTCOME_DONE) {
		recon_put_totals(recon);
		outfile_digest(&making->out, digest);
		recon_put_digest(recon, digest);
	}
	making->out.failed |= recon->failed;
	code = outfile_close(&making->out, code);
	return code == OUTCOME_DONE ? report_day(making, over, digest) : code;
}

/* Reads --date, a day in the dealer's time zone. */
static enum outcome read_day(struct ctl *ctl, struct recon *recon)
{
	const struct zone utc = zone_offset(0);
	int64_t midnight_ms;

	/* zone_read() accepts other formats than a date. */
	if (strlen(recon->date) != strlen("2025-01-31") || recon->date[4] != '-' ||
		!zone_read(&utc, recon->date, 0, false, &midnight_ms))
		return ctl_usage(ctl, "--date takes a day, YYYY-MM-DD; not '%s'", recon->date);
	recon->from_ms = midnight_ms - recon->dealer.utc_offset_min * MINUTE_MS;
	recon->until_ms = recon->from_ms + DAY_MS;
	if (recon->from_ms <= 0)
		return ctl_usage(ctl, "--date takes a day after 1970-01-01");
	if (recon->from_ms > clock_wall_ms())
		return ctl_usage(ctl, "%s has not begun for %s", recon->date,
			recon->dealer.casino_id);
	return OUTCOME_DONE;
}

static void write_out(void *file, const void *data, size_t len)
{
	outfile_put(file, data, len);
}

static enum outcome make_day(struct ctl *ctl)
{
	struct making *making = calloc(1, sizeof(*making));
	struct recon *recon = making ? &making->recon : NULL;
	enum outcome code;

	if (!making)
		return ctl_no_memory(ctl);
	making->ctl = ctl;
	recon->session = &ctl->session;
	recon->write = write_out;
	recon->file = &making->out;
	recon->date = ctl->options[OPTION_DATE];
	recon->names = calloc(RECON_NAMES, sizeof(*recon->names));
	buffer_init(&recon->line, ROW_MAX);
	code = recon->names ? ctl_choices(ctl, OPTION_KIND, recon_record_names, RECON_RECORD_COUNT,
				      &recon->records)
			    : ctl_no_memory(ctl);
	if (code == OUTCOME_DONE)
		code = outfile_open(&making->out, ctl, ctl->arg_count > 1 ? ctl->args[1] : NULL,
			false);
	if (code == OUTCOME_DONE) {
		code = names_dealer(&ctl->session, ctl->args[0], &recon->dealer);
		if (code == OUTCOME_DONE)
			code = read_day(ctl, recon);
		code = code == OUTCOME_DONE ? write_day(making) : outfile_close(&making->out, code);
	}
	buffer_free(&recon->line);
	free(recon->names);
	free(making);
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
	return make_day(ctl);
}
