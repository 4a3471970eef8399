/*
 * standing - finds the causes for which the operator must act, from the ledger's figures: one
 * finding for each cause, the worst first. Pure.
 */
#ifndef DOCTOR_STANDING_H
#define DOCTOR_STANDING_H

#include "link/commands.h"

enum standing_level {
	STANDING_WELL,
	STANDING_ATTENTION, /* the service answers; something waits for the operator */
	STANDING_FAILURE,   /* calls are refused, or refunds and results do not go out */
	STANDING_LEVEL_COUNT
};
extern const char *const standing_level_names[STANDING_LEVEL_COUNT];

/* The figures that are judged. */
struct standing_facts {
	const struct status_result *status;
	const struct dealer_metrics *queue; /* the sums over all dealers */
	uint64_t dealers_without_url;       /* seamless dealers (doctor/attention.h) */
	uint64_t shared_keys;
	int64_t now_ms; /* wall clock */
	int64_t sweep_overdue_ms;
	const char *cell; /* proposed commands name it (admin/cell_text.h); "": the default cell */
};

struct standing_finding {
	enum standing_level level;
	char found[160];  /* one sentence without a full stop */
	char remedy[160]; /* a command, or what to do, without a full stop */
};
#define STANDING_MAX 16
/* A finding's members "level", "found" and "remedy". */
extern const struct field standing_fields[];

/* Fills @findings. Returns how many there are; 0: nothing needs the operator. */
unsigned int standing_judge(const struct standing_facts *facts,
	struct standing_finding findings[STANDING_MAX]);

#endif
