/*
 * network - what becomes of a request and of its answer.
 *
 * A request can be lost, late and come twice. One of a betting is not processed bound_ms or later
 * after its connection was closed, which is the assumption of refund_delay; the others may be
 * processed hours later.
 */
#include "sim.h"

enum reply {
	ANSWER_COMES,
	ANSWER_GARBAGE, /* unreadable, 5xx, reset: what the dealer did is not known */
	ANSWER_NONE,    /* or after our timeout */
};

bool dealer_is_off(const struct world *w, uint32_t dealer)
{
	return !w->calm && w->dealers[dealer].off_ms <= w->now_ms &&
		w->now_ms < w->dealers[dealer].on_ms;
}

bool network_refuses(struct world *w, uint32_t dealer, int64_t *in_ms)
{
	bool off = dealer_is_off(w, dealer);

	*in_ms = below(w, 4) ? 1 + below(w, 10) : below(w, 1000);
	return off ? below(w, 4) : fate(w, w->plan.nasty * 2);
}

static uint64_t body_hash(const uint8_t *body, uint32_t len)
{
	uint64_t hash = UINT64_C(14695981039346656037);

	for (uint32_t i = 0; i < len; i++)
		hash = (hash ^ body[i]) * UINT64_C(1099511628211);
	return hash;
}

static const struct callback *callback_of(struct world *w, const struct flight *f)
{
	struct callback key;

	memset(&key, 0, sizeof(key));
	key.event = f->event;
	return world_load(w, RECORD_CALLBACK, &key);
}

/* The attempt is on disk before its first byte leaves. */
static void check_intent(struct world *w, const struct flight *f)
{
	const struct callback *callback = callback_of(w, f);

	if (!callback || callback->attempts < f->attempt || callback->kind != f->kind)
		violate(w, FLAW_INTENT, "%s-%" PRIu64 " attempt %u leaves and is not on disk",
			callback_kind_names[f->kind], f->event, f->attempt);
}

/* What is planted has to be seen from outside. */
void network_check_lease(struct world *w, const struct process *p, const struct flight *f)
{
	const struct schedule_entry *entry;
	const struct callback *callback;

	if (f->kind == CALLBACK_BALANCE_INQUIRE || !f->fenced_ms || w->plant != PLANT_NOTHING ||
		w->now_ms > f->fenced_ms + SIM_TIMEOUT_MS + CALLBACK_FENCE_SPARE_MS)
		return;
	callback = callback_of(w, f);
	if (!callback || callback->state != CALLBACK_SENDING || callback->attempts != f->attempt)
		violate(w, FLAW_LEASE, "%s-%" PRIu64 " attempt %u was ended by another",
			callback_kind_names[f->kind], f->event, f->attempt);
	if (!w->up || w->run != f->run || !p->link || p->link != f->link)
		return;
	entry = schedule_find(&sim_ledger.derived.schedule, f->event);
	if (!entry || entry->owner != p->link)
		violate(w, FLAW_LEASE, "%s-%" PRIu64 " is not its sender's",
			callback_kind_names[f->kind], f->event);
}

/* Attempts keep their distance, unless the operator asked for one. */
static void check_distance(struct world *w, const struct flight *f, const struct note *note)
{
	const struct retry_policy *retry = &w->plan.outbox.retry;
	int64_t least_ms = f->attempt > 1 ? retry->result_delay_ms[f->attempt > 2] : 0;

	if (f->kind == CALLBACK_BETTING_REFUND) {
		least_ms = retry->refund_backoff_ms;
		for (uint32_t i = 2; i < f->attempt && least_ms < retry->refund_backoff_max_ms; i++)
			least_ms *= 2;
		if (least_ms > retry->refund_backoff_max_ms)
			least_ms = retry->refund_backoff_max_ms;
		least_ms = least_ms * 3 / 4;
	}
	/* The wall clock's steps, which count after a reboot. */
	if (w->plan.reboots)
		least_ms -= 2 * w->plan.step_ms;
	/* A process that is stopped after its fence may send an attempt after a later one. */
	if (f->fenced_ms && f->fenced_ms < note->sent_ms)
		return;
	if (note->sent_ms && !note->hurried && w->now_ms - note->sent_ms < least_ms)
		violate(w, FLAW_EARLY,
			"%s-%" PRIu64 " attempt %u comes %" PRId64 " ms behind the one before",
			callback_kind_names[f->kind], f->event, f->attempt,
			w->now_ms - note->sent_ms);
}

/* Counts and compares the requests that reach the network. */
static void note(struct world *w, const struct process *p, const struct flight *f)
{
	uint64_t hash = body_hash(f->body, f->len);
	struct note *note = &w->notes[f->event % SIM_EVENTS_MAX];

	if (f->kind != CALLBACK_BALANCE_INQUIRE)
		check_intent(w, f);
	network_check_lease(w, p, f);
	check_distance(w, f, note);
	if (f->fenced_ms > note->sent_ms)
		note->sent_ms = f->fenced_ms;
	if (note->known &&
		(note->hash != hash || note->len != f->len || note->kind != f->kind ||
			note->dealer != f->dealer))
		violate(w, FLAW_BYTES, "%s-%" PRIu64 " is not what it was before",
			callback_kind_names[f->kind], f->event);
	note->known = true;
	note->kind = f->kind;
	note->dealer = f->dealer;
	note->hash = hash;
	note->len = f->len;
	note->sends++;
	if (f->kind == CALLBACK_BETTING && note->sends > 1)
		violate(w, FLAW_BET_SENT_TWICE, "betting-%" PRIu64, f->event);
	if ((f->kind == CALLBACK_BETTING_RESULT || f->kind == CALLBACK_BETTING_CORRECTION) &&
		note->sends > 3 + note->retries)
		violate(w, FLAW_RESULT_SENT_TOO_OFTEN, "%s-%" PRIu64 " %u times",
			callback_kind_names[f->kind], f->event, note->sends);
}

static struct message messages[SIM_MESSAGES_MAX];

static void answered(struct world *w, uint32_t who, uint32_t what)
{
	const struct message *m = &messages[what];
	struct process *p = &sim_processes[who];
	struct flight *f = &p->flights[m->what % SIM_FLIGHTS_MAX];

	if (!f->open || f->connection != m->connection)
		return;
	flight_close(w, p, f, m->answer == ANSWER_COMES ? f->class : CALLBACK_UNKNOWN);
}

static void arrive(struct world *w, uint32_t who, uint32_t what);

/* True: what was sent may be processed now. */
static bool in_time(const struct world *w, const struct message *m)
{
	int64_t closed_ms = w->closed_ms[m->connection];

	return m->kind != CALLBACK_BETTING || closed_ms < 0 ||
		w->now_ms < closed_ms + w->dealers[m->dealer].bound_ms;
}

/* A betting that comes as late as may be waits until that is known. */
static bool put_off(struct world *w, uint32_t number)
{
	struct message *m = &messages[number];
	int64_t closed_ms = w->closed_ms[m->connection], in_ms = 100;

	if (closed_ms >= 0) {
		m->late = false;
		in_ms = closed_ms + w->dealers[m->dealer].bound_ms - w->now_ms - 1 -
			below(w, below(w, 2) ? 100 : 2000);
	}
	if (in_ms <= 0)
		return false;
	world_at(w, in_ms, arrive, 0, number);
	return true;
}

/* A request reaches the dealer. */
static void arrive(struct world *w, uint32_t who, uint32_t what)
{
	const struct message *m = &messages[what];
	struct process *p = &sim_processes[m->process];
	struct flight *f = &p->flights[m->what % SIM_FLIGHTS_MAX];
	const struct timer back = {.at_ms = w->now_ms + 1 + below(w, below(w, 8) ? 20 : 3000),
		.run = answered,
		.kind = TIMER_STEADY,
		.who = m->process,
		.life = m->life,
		.what = what};
	enum callback_class class;
	const char *error_id;
	money_t shortfall;

	(void)who;
	if (m->late && put_off(w, what))
		return;
	if (dealer_is_off(w, m->dealer) || !in_time(w, m))
		return;
	if (w->closed_ms[m->connection] >= 0 && m->kind == CALLBACK_BETTING)
		w->tally.lates++;
	class = dealer_take(w, m, &error_id, &shortfall);
	if (m->answer == ANSWER_NONE || p->life != m->life || !f->open ||
		f->connection != m->connection)
		return;
	f->class = class;
	f->error_id = error_id;
	f->shortfall = shortfall;
	f->has_balance = below(w, 2);
	f->balance = w->users[m->user].balance;
	world_push(w, &back);
}

/* How a request that comes late does so. */
static int64_t late_ms(struct world *w, struct message *m)
{
	if (m->kind != CALLBACK_BETTING)
		return below(w, below(w, 4) ? 2 * SIM_MINUTE : 120 * SIM_MINUTE);
	m->late = below(w, 3) != 0;
	return below(w, SIM_TIMEOUT_MS + (m->late ? 0 : (uint64_t)w->dealers[m->dealer].bound_ms));
}

static void post(struct world *w, const struct message *m, int64_t in_ms)
{
	if (w->message_count == SIM_MESSAGES_MAX) {
		violate(w, FLAW_HARNESS, "too many messages");
		return;
	}
	messages[w->message_count] = *m;
	world_at(w, in_ms, arrive, 0, w->message_count++);
}

/* What becomes of it, once it has left. */
static void carry(struct world *w, struct message *m)
{
	uint32_t nasty = w->calm ? 0 : w->plan.nasty;
	int64_t in_ms = 1 + below(w, 15);

	m->answer = ANSWER_COMES;
	if (below(w, 100) < nasty / 2) {
		m->answer = below(w, 2) ? ANSWER_GARBAGE : ANSWER_NONE;
		trace(w, "its answer is %s", m->answer == ANSWER_NONE ? "lost" : "garbage");
	}
	if (below(w, 100) >= nasty) {
		post(w, m, in_ms);
	} else if (below(w, 2)) {
		trace(w, "it is late");
		m->answer = ANSWER_NONE;
		post(w, m, late_ms(w, m));
	} else {
		trace(w, "it is lost");
	}
	if (below(w, 100) < nasty / 3) {
		trace(w, "a copy of it is late");
		m->answer = ANSWER_NONE;
		post(w, m, late_ms(w, m));
	}
}

void network_send(struct world *w, struct process *p, struct flight *f)
{
	struct message m;

	if (w->plant == PLANT_OTHER_BYTES && f->attempt > 1)
		f->body[f->len - 1] = ' ';
	note(w, p, f);
	if (w->connection_count + 1 >= SIM_MESSAGES_MAX) {
		violate(w, FLAW_HARNESS, "too many connections");
		return;
	}
	memset(&m, 0, sizeof(m));
	dealer_read(w, f, &m);
	w->notes[f->event % SIM_EVENTS_MAX].bet_amount = m.bet_amount;
	f->connection = m.connection = ++w->connection_count;
	w->closed_ms[f->connection] = -1;
	m.process = p->index;
	m.life = p->life;
	m.what = (uint32_t)(f - p->flights);
	trace(w, "p%u sends %s-%" PRIu64 " attempt %u", p->index, callback_kind_names[f->kind],
		f->event, f->attempt);
	carry(w, &m);
	if (w->plant == PLANT_SENT_AGAIN && f->kind == CALLBACK_BETTING && below(w, 10) == 0) {
		note(w, p, f);
		carry(w, &m);
	}
}
