#include "conformance/report.h"

#include "base/clock.h"
#include "base/text.h"
#include "domain/dealer_settings.h"

#include <inttypes.h>
#include <string.h>

bool exam_detail(const struct exam *exam, char detail[EXAM_DETAIL_SIZE])
{
	unsigned int failed = exam->results[EXAM_FAILED], not_run = exam->results[EXAM_NOT_RUN];
	unsigned int not_judged = exam->results[EXAM_NOT_JUDGED];
	int len = snprintf(detail, EXAM_DETAIL_SIZE, "%u of %u cases", failed, exam->count);
	size_t used = len < 0 ? 0 : (size_t)len;

	if (not_judged)
		used += (size_t)snprintf(detail + used, EXAM_DETAIL_SIZE - used,
			"; %u were not judged because of them", not_judged);
	if (not_run && used < EXAM_DETAIL_SIZE)
		snprintf(detail + used, EXAM_DETAIL_SIZE - used, "; %u were not run", not_run);
	return failed || not_run;
}

bool exam_warning(const struct exam *exam, char text[EXAM_WARNING_SIZE])
{
	snprintf(text, EXAM_WARNING_SIZE,
		"%" PRIu32 " of %" PRIu32
		" bets were accepted by an answer without a balance, which the others have: if it "
		"was an error that a framework answered with 200, the bet was free; set "
		"--success-needs-balance if each success has a balance",
		exam->bets_without_balance, exam->bets_with_balance + exam->bets_without_balance);
	return dealer_misses_balance(exam->bets_with_balance, exam->bets_without_balance);
}

/* Describes the balance before and after. */
static void describe_money(const struct exam *exam, char *text, size_t size)
{
	char before[MONEY_TEXT_MAX], after[MONEY_TEXT_MAX], difference[MONEY_TEXT_MAX];

	money_format(exam->first_balance, 2, before);
	money_format(exam->balance, 2, after);
	money_format(exam->balance - exam->first_balance, 2, difference);
	if (exam->has_balance)
		snprintf(text, size, "balance before %s, after %s, difference %s", before, after,
			difference);
	else
		snprintf(text, size, "balance before %s, after: not known", before);
}

void exam_write_tap(const struct exam *exam, FILE *file)
{
	char money[160], warning[EXAM_WARNING_SIZE];

	fprintf(file, "TAP version 13\n1..%u\n", exam->count);
	for (unsigned int i = 0; i < exam->count; i++) {
		const struct exam_row *row = &exam->rows[i];
		bool bad = row->result == EXAM_FAILED || row->result == EXAM_NOT_RUN;
		bool skip = row->result == EXAM_SKIPPED || row->result == EXAM_NOT_JUDGED;

		fprintf(file, "%sok %u - %s%s%s%s\n", bad ? "not " : "", i + 1, row->name,
			skip ? " # SKIP " : "",
			row->result == EXAM_NOT_JUDGED ? "not judged: " : "", skip ? row->why : "");
		if (bad)
			fprintf(file, "# %s: %s\n", exam_result_names[row->result], row->why);
		fprintf(file, "# rule: %s\n# expected: %s\n", row->rule, row->expected);
		if (row->came[0])
			fprintf(file, "# came: %s\n", row->came);
	}
	describe_money(exam, money, sizeof(money));
	fprintf(file, "# %s\n", money);
	if (exam_warning(exam, warning))
		fprintf(file, "# warning: %s\n", warning);
}

/* Writes @text as XML: escapes XML's special characters and replaces control characters. */
static void put_xml(FILE *file, const char *text)
{
	static const struct {
		char character;
		const char *entity;
	} entities[] = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}};
	size_t left = strlen(text), step;
	uint32_t code;

	for (; left; text += step, left -= step) {
		const char *entity = NULL;

		step = text_utf8_len(text, left, &code);
		for (size_t i = 0; i < sizeof(entities) / sizeof(entities[0]); i++)
			entity = *text == entities[i].character ? entities[i].entity : entity;
		if (!step || text_is_control(code) || code == 0xfffe || code == 0xffff)
			entity = "?";
		if (entity)
			fputs(entity, file);
		else
			fwrite(text, 1, step, file);
		step = step ? step : 1;
	}
}

static void put_attribute(FILE *file, const char *name, const char *value)
{
	fprintf(file, " %s=\"", name);
	put_xml(file, value);
	fputc('"', file);
}

static void put_seconds(FILE *file, uint64_t ms)
{
	fprintf(file, " time=\"%" PRIu64 ".%03u\"", ms / 1000, (unsigned int)(ms % 1000));
}

static void put_case(FILE *file, const struct exam_row *row)
{
	/* The JUnit element for each result. */
	static const char *const elements[EXAM_RESULT_COUNT] = {[EXAM_FAILED] = "failure",
		[EXAM_NOT_JUDGED] = "skipped",
		[EXAM_SKIPPED] = "skipped",
		[EXAM_NOT_RUN] = "error"};
	const char *element = elements[row->result];

	fputs("  <testcase", file);
	put_attribute(file, "classname", row->group);
	put_attribute(file, "name", row->name);
	put_seconds(file, row->ms);
	fputs(">\n", file);
	if (element) {
		fprintf(file, "    <%s", element);
		put_attribute(file, "message", row->why);
		fputs("/>\n", file);
	}
	fputs("    <system-out>rule: ", file);
	put_xml(file, row->rule);
	fputs("\nexpected: ", file);
	put_xml(file, row->expected);
	fputs("\ncame: ", file);
	put_xml(file, row->came);
	fputs("</system-out>\n  </testcase>\n", file);
}

static void put_property(FILE *file, const char *name, const char *value)
{
	fputs("    <property", file);
	put_attribute(file, "name", name);
	put_attribute(file, "value", value);
	fputs("/>\n", file);
}

void exam_write_junit(const struct exam *exam, FILE *file)
{
	char now[32], money[160], warning[EXAM_WARNING_SIZE];
	uint64_t ms = 0;

	for (unsigned int i = 0; i < exam->count; i++)
		ms += exam->rows[i].ms;
	text_time(clock_wall_ms(), now);
	describe_money(exam, money, sizeof(money));
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite", file);
	put_attribute(file, "name", "creditbridgectl dealer test");
	put_attribute(file, "timestamp", now);
	fprintf(file, " tests=\"%u\" failures=\"%u\" skipped=\"%u\" errors=\"%u\"", exam->count,
		exam->results[EXAM_FAILED],
		exam->results[EXAM_SKIPPED] + exam->results[EXAM_NOT_JUDGED],
		exam->results[EXAM_NOT_RUN]);
	put_seconds(file, ms);
	fputs(">\n  <properties>\n", file);
	put_property(file, "casino_id", exam->player.casino_id);
	put_property(file, "user_id", exam->player.user_id);
	put_property(file, "url", exam->url);
	put_property(file, "money", money);
	if (exam_warning(exam, warning))
		put_property(file, "warning", warning);
	fputs("  </properties>\n", file);
	for (unsigned int i = 0; i < exam->count; i++)
		put_case(file, &exam->rows[i]);
	fputs("</testsuite>\n", file);
}
