/*
 * callback_shape - counts waiting callbacks by dealer and age, like Postfix's qshape.
 *
 * Callbacks that are due or being sent have rows of RECORD_DUE; the age of each costs one more
 * read. Those that are parked or held are listed for each dealer that has some (domain/aside.h).
 */
#ifndef ADMIN_CALLBACKS_CALLBACK_SHAPE_H
#define ADMIN_CALLBACKS_CALLBACK_SHAPE_H

#include "admin/filter.h"
#include "admin/session.h"

/* Up to 1, 5, 15 minutes, 1 and 4 hours, 1 day, and older. */
#define SHAPE_AGES 7

enum shape_wait { WAIT_DUE, WAIT_PARKED, WAIT_HELD, WAIT_COUNT };
extern const char *const shape_wait_names[WAIT_COUNT];

/* The numbers of one dealer in one state. */
struct shape_counts {
	uint64_t ages[SHAPE_AGES];
};

struct shape_dealer {
	char casino_id[CASINO_ID_SIZE];
	uint64_t aside; /* parked and held callbacks */
	struct shape_counts waits[WAIT_COUNT];
};

struct callback_shape {
	struct session *session;
	const struct filter *filter; /* its times and limit are ignored */
	uint32_t kinds;              /* a set of bits */
	bool asked[WAIT_COUNT];
	int64_t now_ms;
	struct shape_dealer *dealers; /* the result, sorted by casino_id; the caller frees it */
	size_t count;
};

/* Counts. Free shape->dealers also after a failure. */
enum outcome callback_shape_count(struct callback_shape *shape);

#endif
