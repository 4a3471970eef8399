/*
 * search - breadth first over all states, each once; then backwards from the ends.
 *
 * A state that is bad is not gone on from: what follows from it is no news. So a trace is the
 * shortest one to its first bad state.
 */
#include "model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STATES_MAX (UINT32_C(1) << 22)
#define TRACE_MAX  256
#define NO_STATE   UINT32_MAX
#define ROOM_FIRST 4096

struct node {
	struct state state;
	uint32_t parent;
	struct label label;
	bool ends; /* an end can be reached by friendly steps */
};

struct search {
	const struct model *model;
	unsigned int wanted;
	struct findings findings;
	struct node *nodes;
	uint32_t room;
	uint32_t *buckets; /* 2 * room of them: the number of a node + 1; 0: free */
	uint32_t from;     /* what is gone on from */
	uint32_t found;    /* the wanted state */
	bool full;
	uint32_t *friendly; /* pairs: from, to */
	uint64_t friendly_count, friendly_room;
};

static void *grown(void *memory, uint64_t count, size_t size)
{
	void *more = realloc(memory, count * size);

	if (!more)
		abort();
	return more;
}

static uint32_t hash(const struct state *state)
{
	const unsigned char *bytes = (const unsigned char *)state;
	uint64_t sum = 0;

	for (size_t i = 0; i < sizeof(*state); i += sizeof(uint64_t)) {
		uint64_t word = 0;
		size_t rest = sizeof(*state) - i;

		memcpy(&word, bytes + i, rest < sizeof(word) ? rest : sizeof(word));
		sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
		sum ^= sum >> 32;
	}
	return (uint32_t)(sum * UINT64_C(0xbf58476d1ce4e5b9) >> 32);
}

/* The sweepers do not differ: the one that is greater byte for byte comes first. */
static void make_canonical(struct state *state)
{
	uint8_t swapped[] = {0, 1, 3, 2};

	if (memcmp(&state->sweepers[0], &state->sweepers[1], sizeof(state->sweepers[0])) >= 0)
		return;
	for (size_t i = 0; i < sizeof(state->sweepers[0]); i++) {
		uint8_t *bytes = (uint8_t *)state->sweepers;
		uint8_t byte = bytes[i];

		bytes[i] = bytes[i + sizeof(state->sweepers[0])];
		bytes[i + sizeof(state->sweepers[0])] = byte;
	}
	for (enum place place = 0; place < PLACE_COUNT; place++)
		state->rows[place].owner = swapped[state->rows[place].owner];
}

static void note(struct findings *findings, const struct state *state)
{
	if (state->bet)
		findings->bets |= 1u << (state->bet - 1);
	for (enum place place = 0; place < PLACE_COUNT; place++) {
		if (state->rows[place].there)
			findings->callbacks[place] |= 1u << state->rows[place].state;
	}
}

/* The bucket of @state, or the free one where it belongs. */
static uint32_t *bucket_of(const struct search *search, const struct state *state)
{
	uint32_t count = 2 * search->room, at = hash(state) % count;

	for (; search->buckets[at]; at = (at + 1) % count) {
		const struct node *node = &search->nodes[search->buckets[at] - 1];

		if (memcmp(&node->state, state, sizeof(*state)) == 0)
			break;
	}
	return &search->buckets[at];
}

static void make_room(struct search *search)
{
	search->room = search->room ? 2 * search->room : ROOM_FIRST;
	search->nodes = grown(search->nodes, search->room, sizeof(*search->nodes));
	free(search->buckets);
	search->buckets = calloc(search->room, 2 * sizeof(*search->buckets));
	if (!search->buckets)
		abort();
	for (uint32_t i = 0; i < search->findings.states; i++)
		*bucket_of(search, &search->nodes[i].state) = i + 1;
}

/* The number of the state, which may be new. */
static uint32_t node_add(struct search *search, const struct state *state, struct label label)
{
	uint32_t *bucket, number = search->findings.states;

	if (number == search->room)
		make_room(search);
	bucket = bucket_of(search, state);
	if (*bucket)
		return *bucket - 1;
	if (number == STATES_MAX) {
		search->full = true;
		return NO_STATE;
	}
	search->nodes[number] =
		(struct node){.state = *state, .parent = search->from, .label = label};
	*bucket = ++search->findings.states;
	note(&search->findings, state);
	return number;
}

static void keep_friendly(struct search *search, uint32_t to)
{
	if (search->friendly_count + 2 > search->friendly_room) {
		search->friendly_room = search->friendly_room ? 2 * search->friendly_room : 65536;
		search->friendly =
			grown(search->friendly, search->friendly_room, sizeof(*search->friendly));
	}
	search->friendly[search->friendly_count++] = search->from;
	search->friendly[search->friendly_count++] = to;
}

static void take(void *context, const struct state *next, struct label label)
{
	struct search *search = context;
	struct state state = *next;
	uint32_t before = search->findings.states, to;
	unsigned int bad;

	make_canonical(&state);
	search->findings.steps_taken++;
	if (search->found != NO_STATE ||
		memcmp(&state, &search->nodes[search->from].state, sizeof(state)) == 0)
		return;
	search->findings.steps[label.step]++;
	to = node_add(search, &state, label);
	if (to == NO_STATE)
		return;
	if (step_is_friendly(label.step))
		keep_friendly(search, to);
	if (to < before)
		return;
	bad = state_judge(&state);
	search->findings.bad |= bad;
	if (bad & search->wanted)
		search->found = to;
}

/* Friendly steps backwards from the ends. They mostly lead to later states: few rounds do. */
static void find_stuck(struct search *search)
{
	struct node *nodes = search->nodes;
	bool again = true;

	for (uint32_t i = 0; i < search->findings.states; i++)
		nodes[i].ends = state_is_end(&nodes[i].state) || state_judge(&nodes[i].state);
	while (again) {
		again = false;
		for (uint64_t i = search->friendly_count; i; i -= 2) {
			struct node *from = &nodes[search->friendly[i - 2]];

			if (from->ends || !nodes[search->friendly[i - 1]].ends)
				continue;
			from->ends = true;
			again = true;
		}
	}
	for (uint32_t i = 0; i < search->findings.states && search->found == NO_STATE; i++) {
		if (nodes[i].ends)
			continue;
		search->findings.bad |= 1u << BAD_STUCK;
		if (search->wanted & 1u << BAD_STUCK)
			search->found = i;
	}
}

/* "bet refunding, betting-refund due (1), stake taken": what a state holds. */
static void state_describe(const struct state *state, char *text, size_t size)
{
	static const char *const stakes[STAKE_COUNT] = {"no bet", "stake taken", "bet refused",
		"stake returned", "bet barred"};
	static const char *const places[PLACE_COUNT] = {"betting", "result", "refund",
		"correction"};
	size_t len = (size_t)snprintf(text, size, "%s",
		state->bet ? bet_state_names[state->bet - 1] : "no bet");

	for (enum place place = 0; place < PLACE_COUNT && len < size; place++) {
		const struct place_row *row = &state->rows[place];

		if (row->there)
			len += (size_t)snprintf(text + len, size - len, ", %s %s %d", places[place],
				callback_state_names[row->state], row->due);
	}
	if (len < size)
		snprintf(text + len, size - len, "; dealer: %s%s", stakes[state->stake],
			state->payments ? ", paid" : "");
}

static void print_trace(struct search *search, const char *name, FILE *out)
{
	uint32_t path[TRACE_MAX];
	unsigned int depth = 0, bad;
	char step[160], holds[160];

	for (uint32_t at = search->found; at && depth < TRACE_MAX; at = search->nodes[at].parent)
		path[depth++] = at;
	search->findings.depth = depth;
	bad = state_judge(&search->nodes[search->found].state);
	fprintf(out, "# %s: after %u steps", name, depth);
	for (unsigned int i = 0; i < BAD_COUNT; i++) {
		if ((bad ? bad : 1u << BAD_STUCK) & 1u << i)
			fprintf(out, ": %s", bad_names[i]);
	}
	fprintf(out, "\n");
	for (unsigned int i = depth; i; i--) {
		step_describe(search->nodes[path[i - 1]].label, step, sizeof(step));
		state_describe(&search->nodes[path[i - 1]].state, holds, sizeof(holds));
		fprintf(out, "#   %2u. %-62s [%s]\n", depth - i + 1, step, holds);
	}
}

struct findings model_search(const char *name, const struct model *model, unsigned int wanted)
{
	struct search search = {.model = model,
		.wanted = wanted ? wanted : (1u << BAD_COUNT) - 1,
		.found = NO_STATE};
	struct state start = model_start(model);
	const struct label none = {STEP_TICK, 0};

	node_add(&search, &start, none);
	for (; search.from < search.findings.states && search.found == NO_STATE && !search.full;
		search.from++) {
		struct state state = search.nodes[search.from].state;

		if (!(state_judge(&state) & search.wanted))
			model_step(model, &state, take, &search);
	}
	if (search.found == NO_STATE && !search.full)
		find_stuck(&search);
	search.findings.complete = search.found == NO_STATE && !search.full;
	if (name)
		printf("# %s: %u states, %llu steps%s%s\n", name, search.findings.states,
			(unsigned long long)search.findings.steps_taken,
			search.findings.complete ? ", all of them" : "",
			search.full ? ", too many" : "");
	if (name && search.found != NO_STATE)
		print_trace(&search, name, wanted ? stdout : stderr);
	fflush(stdout);
	free(search.friendly);
	free(search.buckets);
	free(search.nodes);
	return search.findings;
}
