/*
 * check - what the parts of `check` share: the walk over every row, and the search for the
 * rows that do not fit when the walk found that some do not.
 */
#ifndef CMD_CTL_CHECK_H
#define CMD_CTL_CHECK_H

#include "cmd/ctl/ctl.h"
#include "cmd/ctl/proof.h"

#define CHECK_PROBLEMS_SHOWN 100
#define CHECK_PROBLEM_SIZE   512

struct check {
	struct ctl *ctl;
	struct proof proof;
	bool open;          /* proof is initialised */
	int64_t begin_ms;   /* wall time: players made before are settled */
	bool unsettled;     /* players were added faster than they could be counted */
	bool progress;      /* tell on the terminal what is being done */
	int64_t progress_ms;
	char (*shown)[CHECK_PROBLEM_SIZE]; /* the first problems */
	unsigned int shown_count;
};

/* On a terminal, now and then: what is being walked and how many rows were. */
void check_progress(struct check *check, const char *what, uint64_t rows);

/* Walks names, players and movements. */
enum ctl_exit check_walk_entries(struct check *check);

/*
 * Walks row by row, with a lookup for each, through what does not fit: reports each row. Stops when
 * CHECK_PROBLEMS_SHOWN problems are known.
 */
enum ctl_exit check_find_links(struct check *check);

#endif
