/*
 * steps - what the actors of a step share; see model.h.
 */
#ifndef TESTS_MODEL_STEPS_H
#define TESTS_MODEL_STEPS_H

#include "model.h"

/* What is stepped from. */
struct walk {
	const struct model *model;
	const struct state *from;
	model_emit *emit;
	void *context;
};

/* @next is what @step leads to; @which: of the names that its text is about. */
void step_emit(const struct walk *walk, const struct state *next, enum step step,
	unsigned int which);

/* worker.c */
void worker_steps(const struct walk *walk);
void worker_die(const struct model *model, struct state *state);
/* A B2 is processed, taken or refused; @answered: the waiting worker gets the answer. */
void worker_process_bet(const struct walk *walk, bool answered, enum step step);
/* The game server hears what became of the bet. */
void worker_tell(struct state *state, enum bet_state bet);

/* sweeper.c: of sweeper number @i. */
void sweeper_steps(const struct walk *walk, unsigned int i);
void sweeper_die(struct state *state, unsigned int i);

#endif
