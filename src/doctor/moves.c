/*
 * doctor_moves - checks that no move of a dealer was left unfinished (domain/dealer_move.h).
 */
#include "doctor/doctor.h"

#include "admin/list.h"
#include "base/clock.h"
#include "domain/dealer_move.h"

#include <inttypes.h>

/* A move that has not changed its state for this time was left. */
#define MOVE_LEFT_MIN 60
#define MINUTE_MS     60000

/* How the move goes on, and how it is undone; NULL: it cannot be. */
static const struct remedy {
	const char *goes_on, *undone;
	bool leaves; /* the other cell is the one of --to */
} remedies[MOVE_STATE_COUNT] = {
	[MOVE_LEAVING] = {"", " --abort", true},
	[MOVE_LEFT] = {"", NULL, true},
	[MOVE_REMOVING] = {"", NULL, true},
	[MOVE_ARRIVING] = {"", " --abort", false},
	[MOVE_UNDOING] = {" --abort", NULL, false},
};

static void judge_move(struct doctor *doctor, const struct dealer_move *move, int64_t now_ms)
{
	const struct remedy *remedy = &remedies[move->state];
	const int64_t minutes = (now_ms - move->changed_ms) / MINUTE_MS;
	const char *to = remedy->leaves ? move->other : doctor->settings->cell_name;

	if (!move_is_live(move->state) || minutes < MOVE_LEFT_MIN)
		return;
	doctor_about(doctor, "dealer %s", move->casino_id);
	doctor_warn(doctor,
		"its move %s cell %s has been %s for %" PRId64
		" minutes; if no `dealer move` runs, it was left unfinished, and its calls may be "
		"refused",
		remedy->leaves ? "to" : "from", move->other, move_state_names[move->state],
		minutes);
	doctor_remedy(doctor, "creditbridgectl dealer move %s --to %s%s%s%s", move->casino_id, to,
		remedy->goes_on, remedy->undone ? "; to undo it, add" : "",
		remedy->undone ? remedy->undone : "");
}

void doctor_moves(struct doctor *doctor)
{
	const int64_t now_ms = clock_wall_ms();
	struct dealer_move move;
	struct list list;
	uint64_t moves = 0;

	if (!doctor_open_lists(doctor))
		return;
	list_open(&list, doctor->session, RECORD_DEALER_MOVE, false, 0, NULL);
	while (list_next(&list, &move)) {
		moves += move_is_live(move.state);
		judge_move(doctor, &move, now_ms);
	}
	if (!doctor_close_list(doctor, &list))
		return;
	doctor_about(doctor, "%s", "");
	if (!doctor->sheet->count)
		doctor_pass(doctor, "%" PRIu64 " are under way, and none was left", moves);
}
