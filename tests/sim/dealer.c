/*
 * dealer - the other side: its players' credit, and the specification's rules 1 to 4 of B3, both of B4,
 * and those of B5.
 *
 * It reads the bytes that were sent. A transaction_id debits once and credits once; a refund of an
 * unknown bet does nothing, and where the tombstone rule holds bars it; a loss is known from another
 * by its event. It may refuse what it could accept, and a bet that it refused stays refused.
 */
#include "sim.h"

#include <stdlib.h>

/* What follows @key in the body, or NULL. */
static const char *find(const struct flight *f, const char *key)
{
	size_t len = strlen(key);
	const char *at = memmem(f->body, f->len, key, len);

	return at ? at + len : NULL;
}

static bool read_money(const struct flight *f, const char *key, money_t *money)
{
	const char *at = find(f, key), *end = (const char *)f->body + f->len;
	char text[MONEY_TEXT_MAX];
	size_t len = 0;

	while (at && at + len < end && len < sizeof(text) - 1 &&
		(at[len] == '-' || at[len] == '.' || (at[len] >= '0' && at[len] <= '9'))) {
		text[len] = at[len];
		len++;
	}
	text[len] = '\0';
	return money_from_text(text, money);
}

static uint64_t read_number(const struct flight *f, const char *key)
{
	const char *at = find(f, key), *end = (const char *)f->body + f->len;
	uint64_t number = 0;

	for (; at && at < end && *at >= '0' && *at <= '9'; at++)
		number = 10 * number + (uint64_t)(*at - '0');
	return number;
}

static enum round_result read_result(const struct flight *f)
{
	if (find(f, "\"result\":\"win\""))
		return RESULT_WIN;
	if (find(f, "\"result\":\"refund\""))
		return RESULT_REFUND;
	return find(f, "\"result\":\"loss\"") ? RESULT_LOSS : RESULT_NONE;
}

/* The amount is what the payout falls by. */
static bool read_correction(const struct flight *f, struct message *m)
{
	money_t change, before;

	m->transaction_id = read_number(f, "\"transaction_id\":");
	if (!m->transaction_id || m->transaction_id >= SIM_TRANSACTIONS_MAX || !m->revision ||
		!read_money(f, "\"correction_amount\":", &change) ||
		!read_money(f, "\"previous_payout_amount\":", &before) ||
		!read_money(f, "\"payout_amount\":", &m->payout_amount))
		return false;
	m->bet_amount = -change;
	return change < 0 && m->payout_amount - before == change;
}

/* The members that the B3 of a correction has beside a result's. */
static bool read_revision(const struct flight *f, const struct message *m)
{
	return !m->revision ||
		(m->result == RESULT_WIN && m->bet_amount == 0 && m->payout_amount > 0 &&
			read_number(f, "\"corrects_revision\":") + 1 == m->revision);
}

void dealer_read(struct world *w, const struct flight *f, struct message *m)
{
	uint64_t user = read_number(f, "\"user_id\":\"u");
	bool read = user < w->plan.users && w->users[user].dealer == f->dealer;

	m->kind = f->kind;
	m->dealer = f->dealer;
	m->event = f->event;
	m->user = read ? (uint32_t)user : 0;
	m->round = (uint32_t)read_number(f, "\"game_id\":\"g") % SIM_BETS_MAX;
	m->revision = (uint32_t)read_number(f, "\"revision\":");
	if (f->kind == CALLBACK_BETTING_CORRECTION)
		read = read && read_correction(f, m);
	else if (f->kind != CALLBACK_BALANCE_INQUIRE) {
		m->transaction_id = read_number(f, "\"transaction_id\":");
		read = read && find(f, "\"transaction_id\":") &&
			m->transaction_id < SIM_TRANSACTIONS_MAX &&
			read_money(f, "\"bet_amount\":", &m->bet_amount);
	}
	if (f->kind == CALLBACK_BETTING_RESULT) {
		m->result = read_result(f);
		read = read && m->result != RESULT_NONE &&
			read_money(f, "\"payout_amount\":", &m->payout_amount) &&
			(m->result == RESULT_LOSS) == (m->transaction_id == 0) &&
			read_revision(f, m);
	}
	if (!read)
		violate(w, FLAW_BYTES, "%s-%" PRIu64 " cannot be read: %.*s",
			callback_kind_names[f->kind], f->event, (int)f->len, (const char *)f->body);
}

/* No: with an error id that means nothing to the platform. */
static enum callback_class refuse(const char **error_id)
{
	*error_id = "no_thanks";
	return CALLBACK_REFUSED;
}

/* Answers what was performed before: success, or an id that means the same to the platform. */
static enum callback_class again(struct world *w, const struct message *m, const char **error_id)
{
	if (!w->dealers[m->dealer].refuses_repeats)
		return CALLBACK_SUCCESS;
	w->tally.repeats_refused++;
	*error_id = "done_before";
	return CALLBACK_REFUSED;
}

static enum callback_class take_bet(struct world *w, const struct message *m,
	struct sim_transaction *t, const char **error_id)
{
	struct sim_user *user = &w->users[m->user];

	switch (t->stake) {
	case STAKE_NONE:
		t->dealer = m->dealer;
		t->user = m->user;
		t->amount = m->bet_amount;
		if (user->balance < m->bet_amount || fate(w, w->dealers[m->dealer].refusals)) {
			t->stake = STAKE_REFUSED;
			return refuse(error_id);
		}
		t->stake = STAKE_TAKEN;
		break;
	case STAKE_TAKEN:
		if (w->plant == PLANT_FORGETFUL_DEALER)
			break;
		return CALLBACK_SUCCESS;
	case STAKE_BARRED:
		w->tally.tombstones++;
		return refuse(error_id);
	case STAKE_REFUSED:
	case STAKE_RETURNED:
	case STAKE_PAID:
	case STAKE_LOWERED:
		return refuse(error_id);
	}
	t->debits++;
	user->balance -= m->bet_amount;
	return CALLBACK_SUCCESS;
}

static enum callback_class unknown(const struct sim_dealer *dealer, const char **error_id)
{
	static const char *const ids[UNKNOWN_STYLE_COUNT] =
		{[UNKNOWN_STANDARD_ID] = "bet_not_found", [UNKNOWN_OWN_ID] = "no_such_bet"};

	*error_id = ids[dealer->unknown];
	return *error_id ? CALLBACK_REFUSED : CALLBACK_SUCCESS;
}

static enum callback_class take_refund(struct world *w, const struct message *m,
	struct sim_transaction *t, const char **error_id)
{
	const struct sim_dealer *dealer = &w->dealers[m->dealer];

	w->tally.refunds++;
	switch (t->stake) {
	case STAKE_TAKEN:
		if (t->user != m->user || t->amount != m->bet_amount || t->dealer != m->dealer)
			violate(w, FLAW_BYTES, "the refund of %" PRIu64 " is not of its bet",
				m->transaction_id);
		t->stake = STAKE_RETURNED;
		t->returns++;
		w->users[t->user].balance += t->amount;
		return CALLBACK_SUCCESS;
	case STAKE_RETURNED:
		return again(w, m, error_id);
	case STAKE_NONE:
		if (dealer->tombstone)
			*t = (struct sim_transaction){.stake = STAKE_BARRED,
				.dealer = m->dealer,
				.user = m->user,
				.amount = m->bet_amount};
		break;
	case STAKE_REFUSED:
	case STAKE_BARRED:
		break;
	case STAKE_PAID:
	case STAKE_LOWERED:
		violate(w, FLAW_BYTES, "a refund names result %" PRIu64, m->transaction_id);
		break;
	}
	return unknown(dealer, error_id);
}

/* A message that is new to the dealer must be later than all that the dealer had of the round. */
static void take_in_order(struct world *w, const struct message *m, bool first)
{
	struct sim_round *round = &w->rounds[m->round];
	const struct callback *callback;
	struct callback key;

	if (!first)
		return;
	memset(&key, 0, sizeof(key));
	key.event = m->event;
	callback = world_load(w, RECORD_CALLBACK, &key);
	/* A copy of one that the operator cancelled may come at any time. */
	if (m->revision < round->taken && (!callback || callback->state != CALLBACK_CANCELLED))
		violate(w, FLAW_OVERTAKEN, "g%u: revision %u reaches the dealer behind %u",
			m->round, m->revision, round->taken);
	if (round->taken < m->revision)
		round->taken = m->revision;
}

/* The player plays at another platform of the dealer, and loses all. */
static void spend_elsewhere(struct sim_user *user)
{
	user->opening -= user->balance;
	user->balance = 0;
}

/* A decrease is taken once, as far as the balance reaches; a repeat is answered as before. */
static enum callback_class take_correction(struct world *w, const struct message *m,
	struct sim_transaction *t, const char **error_id, money_t *shortfall)
{
	struct sim_user *user = &w->users[m->user];
	const bool knows = w->plant != PLANT_TAKES_TWICE && w->plant != PLANT_FORGETFUL_DEALER;
	money_t has;

	if (t->stake == STAKE_LOWERED && knows) {
		*shortfall = t->shortfall;
		return again(w, m, error_id);
	}
	if (t->stake != STAKE_NONE && t->stake != STAKE_LOWERED)
		violate(w, FLAW_BYTES, "a correction names %" PRIu64, m->transaction_id);
	take_in_order(w, m, t->stake == STAKE_NONE);
	if (below(w, 3) == 0)
		spend_elsewhere(user);
	has = user->balance > 0 ? user->balance : 0;
	t->stake = STAKE_LOWERED;
	t->dealer = m->dealer;
	t->user = m->user;
	t->amount = m->bet_amount;
	t->shortfall = m->bet_amount > has ? m->bet_amount - has : 0;
	t->decreases++;
	user->balance -= t->amount - t->shortfall;
	*shortfall = t->shortfall;
	return CALLBACK_SUCCESS;
}

static enum callback_class take_result(struct world *w, const struct message *m,
	struct sim_transaction *t, const char **error_id)
{
	if (m->result == RESULT_LOSS) {
		take_in_order(w, m, !w->notes[m->event % SIM_EVENTS_MAX].losses);
		w->notes[m->event % SIM_EVENTS_MAX].losses++;
		return CALLBACK_SUCCESS;
	}
	if (t->stake == STAKE_PAID && w->plant != PLANT_FORGETFUL_DEALER)
		return again(w, m, error_id);
	if (t->stake != STAKE_NONE && t->stake != STAKE_PAID)
		violate(w, FLAW_BYTES, "a result names bet %" PRIu64, m->transaction_id);
	take_in_order(w, m, t->stake == STAKE_NONE);
	t->stake = STAKE_PAID;
	t->dealer = m->dealer;
	t->user = m->user;
	t->amount = m->payout_amount;
	t->payments++;
	w->users[m->user].balance += m->payout_amount;
	return CALLBACK_SUCCESS;
}

enum callback_class dealer_take(struct world *w, const struct message *m, const char **error_id,
	money_t *shortfall)
{
	struct sim_transaction *t = &w->transactions[m->transaction_id % SIM_TRANSACTIONS_MAX];
	enum callback_class class = CALLBACK_SUCCESS;

	*error_id = "";
	*shortfall = 0;
	if (m->kind == CALLBACK_BETTING)
		class = take_bet(w, m, t, error_id);
	else if (m->kind != CALLBACK_BALANCE_INQUIRE && fate(w, w->dealers[m->dealer].refusals))
		class = refuse(error_id);
	else if (m->kind == CALLBACK_BETTING_REFUND)
		class = take_refund(w, m, t, error_id);
	else if (m->kind == CALLBACK_BETTING_RESULT)
		class = take_result(w, m, t, error_id);
	else if (m->kind == CALLBACK_BETTING_CORRECTION)
		class = take_correction(w, m, t, error_id, shortfall);
	trace(w, "dealer %u takes %s-%" PRIu64 " of %" PRIu64 ": %s %s", m->dealer,
		callback_kind_names[m->kind], m->event, m->transaction_id,
		callback_class_names[class], *error_id);
	return class;
}
