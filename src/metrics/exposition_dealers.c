#include "metrics/exposition_dealers.h"

#include <inttypes.h>
#include <string.h>

void exposition_begin(struct buffer *out, const char *name, const char *type, const char *help)
{
	buffer_printf(out, "# HELP " PREFIX "%s %s\n# TYPE " PREFIX "%s %s\n", name, help, name,
		type);
}

void exposition_put_ms(struct buffer *out, uint64_t ms)
{
	buffer_printf(out, "%" PRIu64, ms / 1000);
	if (ms % 1000)
		buffer_printf(out, ".%03" PRIu64, ms % 1000);
}

/* ---- requests */

static void put_codes(struct buffer *out, const char *dealer, const uint64_t *requests)
{
	for (unsigned int i = 0; i < COUNTED_CODES; i++) {
		if (requests[i])
			buffer_printf(out,
				PREFIX "dealer_requests_total{dealer=\"%s\",code=\"%d\"} %" PRIu64
				       "\n",
				dealer, counted_codes[i], requests[i]);
	}
}

/* No casino_id has a '+'. */
#define OTHER_DEALERS "+others"

void exposition_put_dealer_requests(struct buffer *out, const struct collection *collection)
{
	exposition_begin(out, "dealer_requests_total", "counter",
		"Requests that were answered to a dealer with a valid signature, by HTTP status. "
		"Dealer " OTHER_DEALERS " is all those beyond the first 512.");
	for (uint32_t i = 0; i < collection->by_dealer_count; i++)
		put_codes(out, collection->by_dealer[i].casino_id,
			collection->by_dealer[i].requests);
	put_codes(out, OTHER_DEALERS, collection->counters.other_dealers);
}

/* ---- money */

/* The sums of a dealer's movements, by the wallet that they belong to. */
static const struct {
	const char *sum;
	enum wallet_mode wallet;
	size_t offset;
} credits[] = {
	{"in", WALLET_TRANSFER, offsetof(struct dealer_metrics, transferred_in)},
	{"out", WALLET_TRANSFER, offsetof(struct dealer_metrics, transferred_out)},
	{"adjusted", WALLET_TRANSFER, offsetof(struct dealer_metrics, adjusted)},
	{"staked", WALLET_TRANSFER, offsetof(struct dealer_metrics, staked)},
	{"paid", WALLET_TRANSFER, offsetof(struct dealer_metrics, paid)},
	{"refunded", WALLET_TRANSFER, offsetof(struct dealer_metrics, cancelled)},
	{"corrected", WALLET_TRANSFER, offsetof(struct dealer_metrics, corrected)},
	{"shortfall", WALLET_TRANSFER, offsetof(struct dealer_metrics, shortfall)},
	{"balance", WALLET_TRANSFER, offsetof(struct dealer_metrics, balance)},
	{"staked", WALLET_SEAMLESS, offsetof(struct dealer_metrics, seamless_staked)},
	{"paid", WALLET_SEAMLESS, offsetof(struct dealer_metrics, seamless_paid)},
	{"refunded", WALLET_SEAMLESS, offsetof(struct dealer_metrics, seamless_refunded)},
};
#define CREDITS (sizeof(credits) / sizeof(credits[0]))

/* Writes the sum at @offset to @text. Returns false if it is 0. */
static bool sum_text_at(const struct dealer_metrics *dealer, size_t offset, char text[SUM_TEXT_MAX])
{
	sum_t sum;

	memcpy(&sum, (const char *)dealer + offset, sizeof(sum));
	sum_format(sum, 0, text);
	return sum != 0;
}

/* A sum of the wallet that the dealer does not have is left out while it is 0. */
static void put_credits(struct buffer *out, const struct dealer_metrics *dealer)
{
	char text[SUM_TEXT_MAX];

	for (size_t i = 0; i < CREDITS; i++) {
		if (!sum_text_at(dealer, credits[i].offset, text) &&
			credits[i].wallet != dealer->mode)
			continue;
		buffer_printf(out,
			PREFIX "dealer_credit{dealer=\"%s\",currency=\"%s\",wallet=\"%s\","
			       "sum=\"%s\"} %s\n",
			dealer->casino_id, dealer->currency, wallet_mode_names[credits[i].wallet],
			credits[i].sum, text);
	}
}

/* Credit that a seamless dealer has not confirmed: a dealer that was one may still have it. */
static void put_owed(struct buffer *out, const struct dealer_metrics *dealer)
{
	static const struct {
		const char *of;
		size_t offset;
	} owed[] = {
		{"payouts", offsetof(struct dealer_metrics, owed_payouts)},
		{"refunds", offsetof(struct dealer_metrics, owed_refunds)},
	};
	char text[SUM_TEXT_MAX];

	for (size_t i = 0; i < sizeof(owed) / sizeof(owed[0]); i++) {
		if (sum_text_at(dealer, owed[i].offset, text) || dealer->mode == WALLET_SEAMLESS)
			buffer_printf(out,
				PREFIX "dealer_owed{dealer=\"%s\",currency=\"%s\",of=\"%s\"} "
				       "%s\n",
				dealer->casino_id, dealer->currency, owed[i].of, text);
	}
}

void exposition_put_dealer_sums(struct buffer *out, const struct collection *collection)
{
	exposition_begin(out, "dealer_credit", "gauge",
		"Running sums of a dealer since its first movement, in credits. A correction or a "
		"cancelled bet may lower them.");
	for (uint32_t i = 0; i < collection->dealer_count; i++)
		put_credits(out, &collection->dealers[i]);
	exposition_begin(out, "dealer_owed", "gauge",
		"Payouts and refunds that a seamless dealer has not confirmed, in credits.");
	for (uint32_t i = 0; i < collection->dealer_count; i++)
		put_owed(out, &collection->dealers[i]);
}

/* ---- callbacks */

static const struct {
	const char *state;
	size_t offset;
} queues[] = {
	{"due", offsetof(struct dealer_metrics, due)},
	{"sending", offsetof(struct dealer_metrics, sending)},
	{"held", offsetof(struct dealer_metrics, held)},
	{"parked", offsetof(struct dealer_metrics, parked)},
};
#define QUEUES (sizeof(queues) / sizeof(queues[0]))

static uint64_t queue_of(const struct dealer_metrics *dealer, size_t queue)
{
	return field_load_number((const char *)dealer + queues[queue].offset, sizeof(uint64_t));
}

static void put_all_queues(struct buffer *out, const struct collection *collection)
{
	struct dealer_metrics sum;

	collection_sum(collection, &sum);
	exposition_begin(out, "callbacks", "gauge",
		"Callbacks that have not ended, of all dealers.");
	for (size_t i = 0; i < QUEUES; i++)
		buffer_printf(out, PREFIX "callbacks{state=\"%s\"} %" PRIu64 "\n", queues[i].state,
			queue_of(&sum, i));
	exposition_begin(out, "callback_overdue_seconds", "gauge",
		"How long the callback that waits longest has been due.");
	buffer_append_str(out, PREFIX "callback_overdue_seconds ");
	exposition_put_ms(out, sum.overdue_ms);
	buffer_append_str(out, "\n");
}

static void put_queues(struct buffer *out, struct dealer_metrics *dealer)
{
	for (size_t i = 0; i < QUEUES; i++)
		buffer_printf(out,
			PREFIX "dealer_callbacks{dealer=\"%s\",state=\"%s\"} %" PRIu64 "\n",
			dealer->casino_id, queues[i].state, queue_of(dealer, i));
}

static void put_overdue(struct buffer *out, struct dealer_metrics *dealer)
{
	buffer_printf(out, PREFIX "dealer_callback_overdue_seconds{dealer=\"%s\"} ",
		dealer->casino_id);
	exposition_put_ms(out, dealer->overdue_ms);
	buffer_append_str(out, "\n");
}

static void put_breaker(struct buffer *out, struct dealer_metrics *dealer)
{
	buffer_printf(out, PREFIX "dealer_breaker{dealer=\"%s\"} %u\n", dealer->casino_id,
		(unsigned int)dealer->breaker);
}

static void put_inflight(struct buffer *out, struct dealer_metrics *dealer)
{
	buffer_printf(out, PREFIX "dealer_inflight{dealer=\"%s\"} %" PRIu32 "\n", dealer->casino_id,
		dealer->inflight);
}

/* A dealer without a server of its own accepts no bets. */
static void put_accepted(struct buffer *out, struct dealer_metrics *dealer)
{
	static const char *const labels[] = {"no", "yes"};
	const uint64_t counts[] = {dealer->bets_without_balance, dealer->bets_with_balance};

	if (!counts[0] && !counts[1])
		return;
	for (unsigned int i = 0; i < 2; i++)
		buffer_printf(out,
			PREFIX "dealer_bets_accepted_total{dealer=\"%s\",balance=\"%s\"} %" PRIu64
			       "\n",
			dealer->casino_id, labels[i], counts[i]);
}

/* Few dealers ever answer so. */
static void put_ended_by_error(struct buffer *out, struct dealer_metrics *dealer)
{
	static const char *const labels[] = {"unknown", "known"};
	const uint64_t counts[] = {dealer->unknown_to_dealer, dealer->known_to_dealer};

	for (unsigned int i = 0; i < 2; i++) {
		if (counts[i])
			buffer_printf(out,
				PREFIX "dealer_ended_by_error_total{dealer=\"%s\","
				       "error=\"%s\"} %" PRIu64 "\n",
				dealer->casino_id, labels[i], counts[i]);
	}
}

static void put_attempts(struct buffer *out, struct dealer_metrics *dealer)
{
	for (unsigned int i = 0; i < CALLBACK_KIND_COUNT; i++) {
		for (unsigned int n = 0; n < CALLBACK_CLASS_COUNT; n++) {
			uint64_t count = *dealer_attempts(dealer, (enum callback_kind)i,
				(enum callback_class)n);

			if (count)
				buffer_printf(out,
					PREFIX "callback_attempts_total{dealer=\"%s\","
					       "kind=\"%s\",outcome=\"%s\"} %" PRIu64 "\n",
					dealer->casino_id, callback_kind_names[i],
					callback_class_names[n], count);
		}
	}
}

/* A metric of dealers' callbacks: a line or more for each dealer that has or had callbacks. */
static const struct {
	const char *name;
	const char *type;
	const char *help;
	void (*put)(struct buffer *out, struct dealer_metrics *dealer);
} called[] = {
	{"dealer_callbacks", "gauge", "Callbacks that have not ended, by dealer.", put_queues},
	{"dealer_callback_overdue_seconds", "gauge",
		"How long the dealer's callback that waits longest has been due.", put_overdue},
	{"dealer_breaker", "gauge",
		"The dealer's breaker: 0 closed, 1 open (no call), 2 half-open (one call).",
		put_breaker},
	{"dealer_inflight", "gauge", "Calls of the dealer's server under way.", put_inflight},
	{"dealer_bets_accepted_total", "counter",
		"Bets that the dealer accepted, by whether its answer had a balance.",
		put_accepted},
	{"dealer_ended_by_error_total", "counter",
		"Callbacks that ended because the dealer answered that it does not know the bet "
		"(unknown), or has the callback already (known).",
		put_ended_by_error},
	{"callback_attempts_total", "counter",
		"Calls of dealers' servers that ended, by what came of them.", put_attempts},
};

void exposition_put_callbacks(struct buffer *out, const struct collection *collection)
{
	put_all_queues(out, collection);
	for (size_t i = 0; i < sizeof(called) / sizeof(called[0]); i++) {
		exposition_begin(out, called[i].name, called[i].type, called[i].help);
		for (uint32_t n = 0; n < collection->dealer_count; n++) {
			if (collection->dealers[n].called)
				called[i].put(out, &collection->dealers[n]);
		}
	}
}
