/*
 * plan - the choices of a seed: its actors, and the chances of the faults.
 *
 * Each kind of fault is absent from many seeds, so that the others are seen without it too.
 */
#include "sim.h"

/* A fault's chance: none in some seeds, up to @most in others. */
static uint32_t perhaps(struct world *w, uint32_t most)
{
	return below(w, 3) ? 1 + below(w, most) : 0;
}

static void draw_faults(struct world *w)
{
	struct plan *plan = &w->plan;

	plan->die = perhaps(w, 25);
	plan->stop = perhaps(w, 20);
	plan->stop_sending = perhaps(w, 150);
	plan->stop_ms = 1 + below(w, below(w, 4) ? 20000 : 200000);
	plan->fence_to_close_ms = 3500 + below(w, below(w, 3) ? 2000 : 30000);
	plan->link_break = perhaps(w, 20);
	plan->kill_before = perhaps(w, 10);
	plan->kill_after = perhaps(w, 15);
	plan->save_fails = perhaps(w, 20);
	plan->slow_start = perhaps(w, 300);
	plan->turn_ms = below(w, 3) ? 3 : 60;
	plan->reboots = below(w, 4) == 0;
	plan->storage_low = below(w, 8) == 0;
	/* Without these a worker may be stopped for as long as its sender's patience lasts. */
	if (below(w, 5) == 0) {
		plan->link_break = plan->kill_before = plan->kill_after = plan->save_fails = 0;
		plan->reboots = false;
		plan->stop_sending = 300;
		plan->fence_to_close_ms = 3500 + below(w, 70000);
	}
	plan->nasty = below(w, 5) ? below(w, 60) : 0;
	plan->steps = below(w, 4) ? 0 : 1 + below(w, 4);
	plan->operations = below(w, 3) ? 0 : 1 + below(w, 40);
}

/*
 * The wall clock's steps move what is due only over a reboot: then they are small, and bound_ms
 * leaves room for them. Large ones would also move a refund that is held before its first attempt.
 */
#define STEP_MS 500

static bool steps_matter(const struct plan *plan)
{
	return plan->reboots;
}

/* Whether a worker that still sends can lose its lease without its connection being closed. */
static bool links_are_lost(const struct plan *plan)
{
	return plan->link_break || plan->kill_before || plan->kill_after || plan->save_fails;
}

/* By how much a betting may leave later than its lease allows for (PLANT_LONG_STOP). */
static int64_t excess_ms(const struct plan *plan)
{
	int64_t allowed_ms = SIM_TIMEOUT_MS + CALLBACK_FENCE_SPARE_MS;

	if (!links_are_lost(plan))
		allowed_ms += plan->outbox.owner_patience_ms;
	return plan->fence_to_close_ms > allowed_ms ? plan->fence_to_close_ms - allowed_ms : 0;
}

static void draw_dealer(struct world *w, struct sim_dealer *dealer)
{
	static const uint32_t delays_s[] = {60, 60, 30, 20};
	int64_t spare_ms;

	dealer->seamless = below(w, 5) != 0;
	dealer->tombstone = below(w, 3) == 0;
	dealer->unknown = (enum unknown_style)below(w, UNKNOWN_STYLE_COUNT);
	dealer->decimals = (uint8_t)below(w, 5);
	/* Not drawn, so that a seed draws what it drew before. */
	dealer->refuses_repeats = dealer->decimals & 1;
	dealer->refund_delay_s = delays_s[below(w, 4)];
	dealer->max_inflight = below(w, 3) ? 20 : 1 + below(w, 3);
	dealer->refusals = perhaps(w, 200);
	spare_ms = (int64_t)dealer->refund_delay_s * 1000 - excess_ms(&w->plan) -
		(steps_matter(&w->plan) ? 2 * STEP_MS : 0);
	dealer->bound_ms = spare_ms > 0 ? spare_ms : 0;
	if (dealer->tombstone) {
		dealer->refund_delay_s = below(w, 2) ? 0 : dealer->refund_delay_s;
		dealer->bound_ms = 10 * SIM_MINUTE;
	}
	dealer->off_ms = dealer->on_ms = 0;
}

/* What is planted changes what is drawn, so that it can be seen. */
static void draw_planted(struct world *w)
{
	struct plan *plan = &w->plan;

	switch (w->plant) {
	case PLANT_NO_FENCE:
		plan->stop = 150;
		plan->stop_ms = 10 * SIM_MINUTE;
		break;
	case PLANT_EARLY_ANSWER:
		plan->save_fails = 60;
		plan->kill_after = 40;
		break;
	case PLANT_LONG_STOP:
		plan->fence_to_close_ms = 3 * SIM_MINUTE;
		plan->stop_sending = 500;
		plan->link_break = plan->kill_after = 30;
		break;
	case PLANT_NO_COMPARE:
		plan->stop = 150;
		plan->stop_ms = 5 * SIM_MINUTE;
		plan->link_break = 60;
		break;
	case PLANT_HELD_AGAIN:
		plan->link_break = 200;
		plan->kill_after = 30;
		plan->operations = 80;
		break;
	case PLANT_HELD_STARTS:
		plan->operations = 80;
		break;
	case PLANT_BLIND_SEAL:
		plan->stop = 100;
		plan->link_break = 100;
		plan->die = 40;
		break;
	case PLANT_NO_BATCH_ROW:
	case PLANT_NO_OPERATION:
		plan->link_break = plan->kill_after = 60;
		break;
	case PLANT_ANSWERED_EARLY:
	case PLANT_NO_TAKEOVER:
		plan->die = 60;
		break;
	case PLANT_NO_REFUND_DELAY:
	case PLANT_LATE_DEALER:
	case PLANT_LATE_TOMBSTONE:
	case PLANT_SENT_AGAIN:
	case PLANT_OTHER_BYTES:
	case PLANT_UNKNOWN_IS_OK:
	case PLANT_UNKNOWN_IS_NO:
	case PLANT_FORGETFUL_DEALER:
	case PLANT_NO_OPEN_CHECK:
	case PLANT_TAKES_TWICE:
		plan->nasty = 60;
		break;
	case PLANT_NO_TOMBSTONE:
	case PLANT_NO_REVISION:
	case PLANT_NOTHING:
	case PLANT_COUNT:
		break;
	}
}

static void plant_in_dealer(struct world *w, struct sim_dealer *dealer)
{
	int64_t delay_ms = (int64_t)dealer->refund_delay_s * 1000;

	switch (w->plant) {
	case PLANT_NO_REFUND_DELAY:
		dealer->tombstone = false;
		dealer->bound_ms = SIM_MINUTE;
		dealer->refund_delay_s = 0;
		break;
	case PLANT_LATE_DEALER:
	case PLANT_LATE_TOMBSTONE:
		dealer->tombstone = w->plant == PLANT_LATE_TOMBSTONE;
		dealer->bound_ms = delay_ms + 5 * SIM_MINUTE;
		break;
	case PLANT_NO_FENCE:
	case PLANT_LONG_STOP:
		dealer->tombstone = false;
		dealer->refund_delay_s = 20;
		break;
	default:
		break;
	}
}

/* Some dealers are switched off for hours: what is sent to them is parked. */
static void switch_off(struct world *w)
{
	struct plan *plan = &w->plan;
	struct sim_dealer *dealer = &w->dealers[below(w, plan->dealers)];

	dealer->off_ms = below(w, (uint64_t)plan->active_ms);
	dealer->on_ms = dealer->off_ms + SIM_MINUTE * (30 + below(w, 90));
	plan->outbox.retry.refund_give_up_ms = SIM_MINUTE * (10 + below(w, 30));
	plan->poll_max_ms = SIM_MINUTE;
	if (plan->operations)
		plan->operations += 80;
	if (plan->faults_ms < dealer->on_ms)
		plan->faults_ms = dealer->on_ms;
}

static void draw_round(struct world *w, struct sim_round *round)
{
	static const enum round_result results[] = {RESULT_WIN, RESULT_WIN, RESULT_LOSS,
		RESULT_LOSS, RESULT_REFUND};
	static const money_t units[] = {10000, 1000, 100, 10, 1};

	round->user = below(w, w->plan.users);
	round->client = below(w, 2);
	round->result = results[below(w, 5)];
	round->hasty = below(w, 6) == 0;
	if (round->result == RESULT_WIN)
		round->payout = units[w->dealers[w->users[round->user].dealer].decimals] *
			(money_t)below(w, below(w, 10) ? 50000 : 1);
}

static void draw_bets(struct world *w)
{
	static const money_t units[] = {10000, 1000, 100, 10, 1};
	struct plan *plan = &w->plan;

	for (uint32_t i = 0; i < plan->rounds; i++)
		draw_round(w, &w->rounds[i]);
	for (uint32_t i = 0; i < plan->bets; i++) {
		struct sim_bet *bet = &w->bets[i];
		const struct sim_dealer *dealer;

		bet->round = i < plan->rounds ? i : below(w, plan->rounds);
		dealer = &w->dealers[w->users[w->rounds[bet->round].user].dealer];
		bet->amount = units[dealer->decimals] * (money_t)(1 + below(w, 20000));
		bet->addition = below(w, 5) == 0;
	}
}

void plan_make(struct world *w)
{
	struct plan *plan = &w->plan;

	plan->dealers = 1 + below(w, SIM_DEALERS_MAX - 1);
	plan->users = plan->dealers + below(w, SIM_USERS_MAX - plan->dealers + 1);
	plan->workers = 2 + below(w, SIM_WORKERS_MAX - 1);
	plan->sweepers = 1 + below(w, SIM_SWEEPERS_MAX);
	plan->bets = 5 + below(w, below(w, 6) ? 20 : 56);
	plan->rounds = 1 + below(w, plan->bets);
	plan->inquiries = below(w, 6);
	plan->active_ms = SIM_SECOND * (1 + below(w, below(w, 3) ? 60 : 300));
	plan->faults_ms = plan->active_ms + SIM_SECOND * below(w, 200);
	plan->poll_max_ms = SIM_SECOND * (1 + below(w, below(w, 2) ? 5 : 60));
	plan->release = below(w, 2);
	outbox_options_defaults(&plan->outbox);
	/* Events are kept by their number, up to SIM_EVENTS_MAX. */
	plan->outbox.inquiry_ids = 2;
	draw_faults(w);
	draw_planted(w);
	plan->step_ms = steps_matter(plan) ? STEP_MS : 60 * SIM_MINUTE;
	plan->holds = steps_matter(plan) || !plan->steps;
	for (uint32_t i = 0; i < plan->dealers; i++) {
		draw_dealer(w, &w->dealers[i]);
		plant_in_dealer(w, &w->dealers[i]);
	}
	if (below(w, 24) == 0 && w->plant == PLANT_NOTHING)
		switch_off(w);
	for (uint32_t i = 0; i < plan->users; i++) {
		struct sim_user *user = &w->users[i];

		user->dealer = i < plan->dealers ? i : below(w, plan->dealers);
		snprintf(user->user_id, sizeof(user->user_id), "u%u", i);
		snprintf(user->player_id, sizeof(user->player_id), "player%caaaaaaaaaaaaa",
			(char)('a' + i));
		user->opening =
			MONEY_UNITS_PER_CREDIT * (money_t)(below(w, 4) ? 1000000 : below(w, 50));
		user->balance = user->opening;
	}
	draw_bets(w);
	seal_plan(w);
	cancel_plan(w);
	correct_plan(w);
	batch_plan(w);
}
