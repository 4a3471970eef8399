/*
 * host - the ledger's process: frames wait for a batch, batches are saved, answers go back.
 *
 * The process is killed before a batch, or after its save; a save can fail; the machine can reboot.
 * Then its memory is lost, saved rows are kept, and links are closed.
 */
#include "sim.h"

#include "base/pack.h"

#include <stdlib.h>

struct ledger sim_ledger;

/* A command that waits for the next batch. */
struct asker {
	uint32_t process;
	uint32_t try;
};

static struct slot slots[SIM_QUEUE_MAX];
static struct asker askers[SIM_QUEUE_MAX];
static struct buffer answers;

static void start(struct world *w)
{
	const struct moment now = world_moment(w);

	w->up = true;
	w->run++;
	w->links = 0;
	w->queued = 0;
	w->turn_set = false;
	if (ledger_init(&sim_ledger, w->store, w->run, &w->plan.outbox, &now))
		violate(w, FLAW_ROWS, "the ledger cannot read the rows at its start");
}

static void start_again(struct world *w, uint32_t who, uint32_t what)
{
	(void)who;
	(void)what;
	trace(w, "the ledger is up");
	start(w);
}

/* The machine comes back: another boot, and a wall clock that is not exactly right. */
static void boot(struct world *w, uint32_t who, uint32_t what)
{
	w->boot++;
	w->boot_began_ms = w->now_ms - below(w, below(w, 2) ? 20000 : 600000);
	world_step_wall(w, 0, 0);
	start_again(w, who, what);
}

static void reboot(struct world *w)
{
	trace(w, "the machine reboots");
	w->tally.reboots++;
	w->up_ms = w->now_ms + 3000 + below(w, 60000);
	for (uint32_t i = 0; i < SIM_PROCESSES_MAX; i++)
		process_die(w, &sim_processes[i]);
	world_at(w, w->up_ms - w->now_ms, boot, 0, 0);
}

/* The process is gone, and with it everything that it held in memory. */
static void end(struct world *w)
{
	trace(w, "the ledger is killed");
	w->tally.kills++;
	ledger_free(&sim_ledger);
	w->up = false;
	w->queued = 0;
	w->up_ms = w->now_ms + 50 + below(w, 300);
	if (fate(w, w->plan.slow_start))
		w->up_ms += below(w, 15000);
	if (w->plan.reboots && fate(w, 600)) {
		reboot(w);
		return;
	}
	world_at(w, w->up_ms - w->now_ms, start_again, 0, 0);
	for (uint32_t i = 0; i < SIM_PROCESSES_MAX; i++) {
		struct process *p = &sim_processes[i];

		p->link = 0;
		if (p->asking && !p->answer_coming)
			process_unanswered(w, p, true);
	}
}

void host_open(struct world *w)
{
	buffer_init(&answers, FRAME_MAX);
	w->boot = 1;
	w->store = memory_store_new();
	start(w);
}

void host_close(struct world *w)
{
	if (w->up)
		ledger_free(&sim_ledger);
	w->store->close(w->store);
	buffer_free(&answers);
}

const struct slot *host_direct(struct world *w, enum command command, const void *cmd)
{
	static struct slot slot;
	const struct moment now = world_moment(w);

	slot.command = command;
	slot.link = ++w->links;
	memcpy(&slot.cmd, cmd, command_infos[command].cmd_size);
	if (ledger_run(&sim_ledger, &slot, 1, &now) != STATUS_OK || slot.outcome != FRAME_DONE)
		violate(w, FLAW_ANSWER, "%s is not answered", command_infos[command].name);
	return &slot;
}

static void link_closed(struct world *w, uint32_t who, uint32_t what)
{
	/* What came on a link is done before its end is seen. */
	if (w->up && w->run == what && w->queued) {
		world_at(w, 5, link_closed, who, what);
		return;
	}
	w->closing--;
	if (w->up && w->run == what)
		ledger_link_gone(&sim_ledger, who);
}

void host_link_close(struct world *w, struct process *p)
{
	if (!p->link)
		return;
	w->closing++;
	world_at(w, below(w, below(w, 4) ? 3 : 20), link_closed, (uint32_t)p->link, w->run);
	p->link = 0;
}

/* As the server's tick: a link that keeps a lease far too long is closed, there unless it has news. */
static void tick(struct world *w)
{
	uint64_t link;

	if (w->now_ms < w->tick_ms + SIM_SECOND)
		return;
	w->tick_ms = w->now_ms;
	link = ledger_link_overdue(&sim_ledger, world_boot_ms(w));
	if (!link)
		return;
	trace(w, "link %" PRIu64 " keeps a lease too long and is cut", link);
	ledger_link_gone(&sim_ledger, link);
	for (uint32_t i = 0; i < SIM_PROCESSES_MAX; i++) {
		struct process *p = &sim_processes[i];

		if (p->link != link)
			continue;
		p->link = 0;
		if (p->asking && !p->answer_coming)
			process_unanswered(w, p, true);
	}
}

static void deliver(struct world *w, uint32_t who, uint32_t what)
{
	struct process *p = &sim_processes[who];

	if (p->try != what)
		return;
	p->asking = p->answer_coming = false;
	p->then(w, p);
}

/* The grant of a result that has one. */
static struct callback_grant *grant_of(struct process *p)
{
	switch (p->command) {
	case COMMAND_BET_PLACE:
		return &p->result.bet_place.send;
	case COMMAND_ROUND_SETTLE:
		return &p->result.round_settle.send;
	case COMMAND_BET_CANCEL:
		return &p->result.bet_cancel.send;
	case COMMAND_ROUND_CORRECT:
		return &p->result.round_correct.send;
	case COMMAND_PLAYER_BALANCE:
		return &p->result.player_balance.send;
	case COMMAND_CALLBACK_CLAIM:
		return &p->result.callback_claim.send;
	default:
		return NULL;
	}
}

/* What was found lies in the ledger's buffer: only the events are kept. */
static void keep_found(struct world *w, struct process *p, struct slot *slot)
{
	struct due_entry entry;
	struct bytes rows;

	buffer_reset(&answers);
	ledger_answer(&sim_ledger, slot, 1, &answers);
	if (slot->outcome != FRAME_DONE || answers.failed) {
		violate(w, FLAW_ANSWER, "what is due cannot be read");
		return;
	}
	p->result.callback_find = slot->result.callback_find;
	rows = slot->result.callback_find.entries;
	p->found_count = p->found_next = 0;
	while (p->found_count < SIM_FOUND_MAX && rows.len) {
		if (!unpack_record(&rows, due_entry_fields, &entry)) {
			violate(w, FLAW_ANSWER, "what is due does not decode");
			return;
		}
		if (w->plant == PLANT_NO_TAKEOVER && entry.takeover)
			continue;
		p->found[p->found_count++] = entry.event;
	}
}

/* Keeps count of the permits that no row shows. */
static void note_inquiry(struct world *w, const struct slot *slot)
{
	const struct player_balance_result *result = &slot->result.player_balance;

	if (slot->outcome != FRAME_DONE)
		return;
	for (uint32_t i = 0; slot->command == COMMAND_CALLBACK_END && i < w->inquiry_count; i++)
		w->inquiries[i].ended |= w->inquiries[i].event == slot->cmd.callback_end.event;
	if (slot->command != COMMAND_PLAYER_BALANCE || !result->send.event)
		return;
	if (w->inquiry_count == SIM_EVENTS_MAX) {
		violate(w, FLAW_HARNESS, "too many inquiries");
		return;
	}
	w->inquiries[w->inquiry_count++] =
		(struct inquiry){result->send.event, rows_number(result->casino_id), w->run,
			world_boot_ms(w) + result->send.lease_left_ms, false};
}

/* Puts the answer where the asker reads it, if it still waits. */
static void answer(struct world *w, struct slot *slot, const struct asker *asker)
{
	struct process *p = &sim_processes[asker->process];
	struct callback_grant *grant;

	if (p->try != asker->try || !p->alive)
		return;
	if (fate(w, w->plan.link_break) && w->plant != PLANT_EARLY_ANSWER) {
		trace(w, "p%u loses its link", p->index);
		host_link_close(w, p);
		process_unanswered(w, p, true);
		return;
	}
	p->run = w->run;
	p->status = slot->outcome == FRAME_DONE ? STATUS_OK : STATUS_FAULT;
	memcpy(&p->result, &slot->result, command_infos[slot->command].result_size);
	if (slot->command == COMMAND_CALLBACK_FIND)
		keep_found(w, p, slot);
	if (slot->command == COMMAND_SETTLE_BATCH && slot->outcome == FRAME_DONE)
		batch_keep(w, p, &slot->result.settle_batch);
	grant = grant_of(p);
	if (grant && grant->event) {
		if (grant->body.len > sizeof(p->body)) {
			violate(w, FLAW_HARNESS, "a body of %u bytes", grant->body.len);
			return;
		}
		memcpy(p->body, grant->body.data, grant->body.len);
		grant->body.data = p->body;
	}
	/* link_call() goes on when an earlier try may have been applied and this one was not. */
	if (p->maybe_done &&
		(p->status != STATUS_OK || p->result.verdict.refusal == REFUSAL_STORAGE_FULL)) {
		process_unanswered(w, p, true);
		return;
	}
	p->answer_coming = true;
	process_at(w, p, below(w, 3), TIMER_STEP, deliver, p->try);
}

/* Draws what goes wrong with the next batch's save. Returns whether something does. */
static bool draw_save(struct world *w)
{
	static const enum save_result results[] = {SAVE_FULL, SAVE_FAULT, SAVE_LOST};
	enum save_result result = results[below(w, 3)];

	sim_ledger.storage_low = w->low;
	if (!fate(w, w->plan.save_fails))
		return w->low;
	w->save_faults |= result == SAVE_FAULT;
	memory_store_fail(w->store, result, 1 + below(w, 3));
	return true;
}

static void run_batch(struct world *w, uint32_t first, uint32_t count)
{
	const struct moment now = world_moment(w);
	enum status status;

	hold_before(w, slots + first, count);
	status = ledger_run(&sim_ledger, slots + first, count, &now);
	w->tally.commands += count;
	if ((status != STATUS_OK && w->plant != PLANT_EARLY_ANSWER) ||
		fate(w, w->plan.kill_after)) {
		end(w);
		return;
	}
	hold_after(w, slots + first, count);
	for (uint32_t i = first; i < first + count; i++) {
		note_inquiry(w, &slots[i]);
		answer(w, &slots[i], &askers[i]);
	}
	if (status != STATUS_OK)
		end(w);
}

/* What is planted in the ledger and is not the order of its steps. */
static void plant_before(struct world *w, struct slot *slot)
{
	if (w->plant == PLANT_NO_COMPARE && slot->command == COMMAND_CALLBACK_END)
		plant_rewind(w, &slot->cmd.callback_end);
	if (w->plant == PLANT_BLIND_SEAL && slot->command == COMMAND_TRANSFER_INQUIRE)
		plant_forget(w, &slot->cmd.transfer_inquire);
	if (w->plant == PLANT_NO_TOMBSTONE && slot->command == COMMAND_BET_PLACE)
		plant_no_tombstone(w, &slot->cmd.bet_place);
	if (w->plant == PLANT_NO_REVISION && slot->command == COMMAND_ROUND_CORRECT)
		plant_renumber(w, &slot->cmd.round_correct);
	if (w->plant == PLANT_NO_BATCH_ROW && slot->command == COMMAND_SETTLE_BATCH)
		plant_no_batch(w, &slot->cmd.settle_batch);
	if (w->plant == PLANT_NO_OPERATION && slot->command == COMMAND_OPERATOR_CORRECT)
		plant_no_operation(w, &slot->cmd.operator_correct);
}

/* Runs what waits as one batch; one by one where that is planted. */
static void turn(struct world *w, uint32_t who, uint32_t what)
{
	uint32_t count = w->queued, at_once = w->plant == PLANT_HELD_AGAIN ? 1 : count;
	bool fails;

	(void)who;
	if (!w->up || w->run != what)
		return;
	w->turn_set = false;
	w->queued = 0;
	tick(w);
	if (fate(w, w->plan.kill_before)) {
		end(w);
		return;
	}
	fails = draw_save(w);
	for (uint32_t i = 0; i < count; i++)
		plant_before(w, &slots[i]);
	for (uint32_t i = 0; i < count && w->up && w->run == what; i += at_once)
		run_batch(w, i, at_once);
	if (fails && w->up)
		rows_check(w);
}

/* A command arrives. */
void host_arrive(struct world *w, uint32_t who, uint32_t what)
{
	struct process *p = &sim_processes[who];
	struct slot *slot = &slots[w->queued];

	if (p->try != what)
		return;
	if (!w->up) {
		process_unanswered(w, p, false);
		return;
	}
	if (w->queued == SIM_QUEUE_MAX) {
		violate(w, FLAW_HARNESS, "the queue is full");
		return;
	}
	if (!p->link)
		p->link = ++w->links;
	slot->command = p->command;
	slot->link = p->link;
	memcpy(&slot->cmd, &p->cmd, command_infos[p->command].cmd_size);
	askers[w->queued] = (struct asker){p->index, p->try};
	w->queued++;
	if (!w->turn_set)
		world_at(w, below(w, w->plan.turn_ms), turn, 0, w->run);
	w->turn_set = true;
}
