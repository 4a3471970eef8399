#include "domain/story.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *const story_debt_names[DEBT_COUNT] = {"none", "dealer", "dealer_perhaps",
	"dealer_platform", "player_dealer", "player_platform"};

const struct field story_fields[] = {
	FIELD_NAMED(story, debt, story_debt_names, DEBT_COUNT),
	FIELD(FIELD_MONEY, story, owed),
	FIELD(FIELD_STR, story, happened),
	FIELD(FIELD_STR, story, owes),
	FIELD(FIELD_STR, story, next),
	FIELD_END,
};

enum story_message story_message_of(const struct callback *callback)
{
	static const enum story_message messages[CALLBACK_STATE_COUNT] = {
		[CALLBACK_DUE] = MESSAGE_DUE,
		[CALLBACK_SENDING] = MESSAGE_SENDING,
		[CALLBACK_DELIVERED] = MESSAGE_DELIVERED,
		[CALLBACK_PARKED] = MESSAGE_PARKED,
		[CALLBACK_HELD] = MESSAGE_HELD,
		[CALLBACK_CANCELLED] = MESSAGE_CANCELLED,
		[CALLBACK_FAILED] = MESSAGE_NONE,
	};
	enum story_message message;

	if (!callback || callback->kind == CALLBACK_BETTING ||
		callback->kind == CALLBACK_BALANCE_INQUIRE)
		return MESSAGE_NONE;
	message = messages[callback->state];
	if (callback->adjusted_by)
		return message == MESSAGE_CANCELLED ? MESSAGE_ADJUSTED_ENDED : MESSAGE_ADJUSTED;
	if (message == MESSAGE_DELIVERED && callback->unknown_to_dealer)
		return MESSAGE_UNKNOWN;
	return message == MESSAGE_DELIVERED && callback->known_to_dealer ? MESSAGE_KNOWN : message;
}

bool story_row_fits(const struct story_row *row, const struct story_facts *facts)
{
	return row->subject == facts->subject && row->modes & 1u << facts->mode &&
		row->states & 1u << facts->state && row->messages & 1u << facts->message &&
		row->moves & 1u << facts->move && (facts->flags & row->with) == row->with &&
		!(facts->flags & ~(row->with | row->may));
}

/* ---- the text */

#define PART_MAX 192

static void write_round(const struct story_values *values, char part[PART_MAX])
{
	static const char *const results[ROUND_RESULT_COUNT] = {"has no result", "was won",
		"was lost", "was refunded"};
	const int len = snprintf(part, PART_MAX, "The round %s", results[values->result]);

	if (values->corrections)
		snprintf(part + len, PART_MAX - (size_t)len, ", after %" PRIu32 " correction%s",
			values->corrections, values->corrections == 1 ? "" : "s");
}

static void write_tries(const struct story_values *values, char part[PART_MAX])
{
	if (!values->attempts)
		snprintf(part, PART_MAX, " (no attempt has ended yet)");
	else
		snprintf(part, PART_MAX, " after %" PRIu32 " attempt%s (last: %.48s)",
			values->attempts, values->attempts == 1 ? "" : "s", values->last);
}

static void write_error(const struct story_values *values, char part[PART_MAX])
{
	snprintf(part, PART_MAX, values->error[0] ? " (%.64s)" : "%.0s", values->error);
}

static void write_when(const struct story_values *values, char part[PART_MAX])
{
	snprintf(part, PART_MAX, "%.64s", values->when[0] ? values->when : "soon");
}

/* The text that replaces a placeholder: a text, an amount, a number, or what @write makes. */
struct placeholder {
	const char *name;
	enum { IS_TEXT, IS_MONEY, IS_NUMBER, IS_WRITTEN } type;
	size_t offset; /* in struct story_values */
	void (*write)(const struct story_values *values, char part[PART_MAX]);
};
#define AT(member) offsetof(struct story_values, member)
static const struct placeholder placeholders[] = {
	{"dealer", IS_TEXT, AT(dealer), NULL},
	{"user", IS_TEXT, AT(user), NULL},
	{"client", IS_TEXT, AT(client), NULL},
	{"event", IS_TEXT, AT(event), NULL},
	{"by", IS_TEXT, AT(by), NULL},
	{"refusal", IS_TEXT, AT(refusal), NULL},
	{"amount", IS_MONEY, AT(amount), NULL},
	{"moved", IS_MONEY, AT(moved), NULL},
	{"shortfall", IS_MONEY, AT(shortfall), NULL},
	{"balance", IS_MONEY, AT(balance), NULL},
	{"transaction", IS_NUMBER, AT(transaction_id), NULL},
	{"adjusted", IS_NUMBER, AT(adjusted_by), NULL},
	{"round", IS_WRITTEN, 0, write_round},
	{"tries", IS_WRITTEN, 0, write_tries},
	{"error", IS_WRITTEN, 0, write_error},
	{"when", IS_WRITTEN, 0, write_when},
};

static void write_part(const struct placeholder *placeholder, const struct story_values *values,
	char part[PART_MAX])
{
	const void *at = (const char *)values + placeholder->offset;
	char money[MONEY_TEXT_MAX];

	switch (placeholder->type) {
	case IS_TEXT:
		snprintf(part, PART_MAX, "%s", *(const char *const *)at);
		break;
	case IS_MONEY:
		money_format(*(const money_t *)at, 2, money);
		snprintf(part, PART_MAX, "%s", money);
		break;
	case IS_NUMBER:
		snprintf(part, PART_MAX, "%" PRIu64, *(const uint64_t *)at);
		break;
	case IS_WRITTEN:
		placeholder->write(values, part);
		break;
	}
}

static const struct placeholder *find_placeholder(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof(placeholders) / sizeof(placeholders[0]); i++) {
		if (strlen(placeholders[i].name) == len &&
			memcmp(placeholders[i].name, name, len) == 0)
			return &placeholders[i];
	}
	return NULL;
}

/* Writes @sentence with its placeholders replaced, as far as it fits. */
static void write_sentence(const char *sentence, const struct story_values *values,
	char text[STORY_TEXT_MAX])
{
	const struct placeholder *placeholder;
	size_t len = 0, span;
	char part[PART_MAX];

	text[0] = '\0';
	while (*sentence && len < STORY_TEXT_MAX) {
		span = strcspn(sentence, "{");
		len += (size_t)snprintf(text + len, STORY_TEXT_MAX - len, "%.*s", (int)span,
			sentence);
		sentence += span;
		if (!*sentence || len >= STORY_TEXT_MAX)
			break;
		span = strcspn(sentence, "}");
		placeholder = find_placeholder(sentence + 1, span - 1);
		part[0] = '\0';
		if (placeholder)
			write_part(placeholder, values, part);
		len += (size_t)snprintf(text + len, STORY_TEXT_MAX - len, "%s", part);
		sentence += span + (sentence[span] == '}');
	}
}

/* ---- the debt */

static const char *const debts[DEBT_COUNT] = {
	[DEBT_NONE] = "Nothing is owed.",
	[DEBT_DEALER] = "{dealer} owes {user} {moved}.",
	[DEBT_DEALER_PERHAPS] = "If {dealer} debited the bet, it owes {user} {moved}.",
	[DEBT_DEALER_PLATFORM] = "{dealer} owes the platform {moved}.",
	[DEBT_PLAYER_DEALER] = "{user} owes {dealer} {moved}.",
	[DEBT_PLAYER_PLATFORM] = "{user} owes the platform {moved}.",
};

/*
 * A round's debt is that of its result. The refund of a bet is a debt of that bet, so a round that has such bets
 * must not seem to be free of debt.
 */
static void add_refunds(uint32_t refunds, enum story_debt debt, char owes[STORY_TEXT_MAX])
{
	size_t len;

	if (debt == DEBT_NONE)
		text_copy(owes, STORY_TEXT_MAX, "Nothing is owed for the result.");
	len = strlen(owes);
	if (refunds == 1)
		text_copy(owes + len, STORY_TEXT_MAX - len,
			" One bet of the round has a refund: see what is owed for that bet.");
	else
		snprintf(owes + len, STORY_TEXT_MAX - len,
			" %" PRIu32 " bets of the round have refunds: see what is owed for each.",
			refunds);
}

/* Returns the amount of the debt: of the message while it is open, and what is missing. */
static money_t debt_amount(const struct story_facts *facts, const struct story_values *values,
	enum story_debt debt)
{
	const unsigned int open = 1u << MESSAGE_DUE | 1u << MESSAGE_SENDING | 1u << MESSAGE_PARKED |
		1u << MESSAGE_HELD;
	money_t owed = values->moved;

	if (debt == DEBT_NONE)
		return 0;
	if (debt == DEBT_PLAYER_PLATFORM)
		return values->shortfall;
	if (debt != DEBT_PLAYER_DEALER)
		return owed;
	if (!(open & 1u << facts->message))
		owed = 0;
	/* Both are within MONEY_MAX. */
	return owed + values->shortfall;
}

/* The next step for a message that is due while nothing is sent to its dealer. */
static const char release_dealer[] =
	"No callback is sent to {dealer}: all are held, by a restore or by an operator. Find out why; then: "
	"creditbridgectl release {dealer} --reason TEXT";

bool story_make(const struct story_facts *facts, const struct story_values *values,
	struct story *story)
{
	struct story_values debt = *values;
	const struct story_row *row = NULL;

	memset(story, 0, sizeof(*story));
	text_copy(story->event, sizeof(story->event), values->event);
	for (unsigned int i = 0; i < story_row_count && !row; i++) {
		if (story_row_fits(&story_rows[i], facts))
			row = &story_rows[i];
	}
	if (!row) {
		text_copy(story->happened, STORY_TEXT_MAX,
			"The states of these rows contradict each other.");
		text_copy(story->owes, STORY_TEXT_MAX, "What is owed is not known.");
		text_copy(story->next, STORY_TEXT_MAX, "Run `creditbridgectl check`.");
		return false;
	}
	story->debt = row->debt;
	story->owed = debt.moved = debt_amount(facts, values, row->debt);
	write_sentence(row->happened, values, story->happened);
	write_sentence(debts[row->debt], &debt, story->owes);
	if (facts->subject == STORY_ROUND && values->refunds)
		add_refunds(values->refunds, row->debt, story->owes);
	write_sentence(values->dealer_held && facts->message == MESSAGE_DUE ? release_dealer
									    : row->next,
		values, story->next);
	return true;
}
