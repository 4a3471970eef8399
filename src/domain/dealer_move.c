#include "domain/dealer_move.h"

const char *const move_state_names[MOVE_STATE_COUNT] = {"leaving", "left", "removing", "gone",
	"arriving", "undoing", "arrived"};

const struct field dealer_move_fields[] = {
	FIELD(FIELD_STR, dealer_move, casino_id),
	FIELD_NAMED(dealer_move, state, move_state_names, MOVE_STATE_COUNT),
	FIELD(FIELD_STR, dealer_move, id),
	FIELD(FIELD_STR, dealer_move, peer),
	FIELD(FIELD_STR, dealer_move, other),
	FIELD(FIELD_TIME_MS, dealer_move, begun_ms),
	FIELD(FIELD_TIME_MS, dealer_move, changed_ms),
	FIELD(FIELD_U64, dealer_move, page),
	FIELD(FIELD_U32, dealer_move, page_kind),
	FIELD(FIELD_BYTES, dealer_move, after),
	FIELD(FIELD_U64, dealer_move, rows),
	FIELD(FIELD_U64, dealer_move, first_transaction),
	FIELD_END,
};

/* What holds in each state. */
static const struct {
	bool live;
	bool hidden;
	bool leaving;
} states[MOVE_STATE_COUNT] = {
	[MOVE_LEAVING] = {.live = true, .leaving = true},
	[MOVE_LEFT] = {.live = true, .hidden = true, .leaving = true},
	[MOVE_REMOVING] = {.live = true, .hidden = true},
	[MOVE_ARRIVING] = {.live = true, .hidden = true},
	[MOVE_UNDOING] = {.live = true, .hidden = true},
};

bool move_is_live(enum move_state state)
{
	return states[state].live;
}

bool move_hides_rows(enum move_state state)
{
	return states[state].hidden;
}

bool move_is_leaving(enum move_state state)
{
	return states[state].leaving;
}
