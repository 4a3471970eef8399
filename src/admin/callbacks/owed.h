/*
 * owed - walks all debts: the open callbacks that move credit, and the amounts that corrections
 * could not take back.
 *
 * Open callbacks are found as callback_shape.h finds them: those that are due by the rows of
 * RECORD_DUE, those that are parked or held by the list of each dealer that has some. Corrections are walked only
 * if a total has a shortfall.
 */
#ifndef ADMIN_CALLBACKS_OWED_H
#define ADMIN_CALLBACKS_OWED_H

#include "admin/filter.h"
#include "admin/session.h"
#include "domain/callback.h"
#include "domain/story.h"

struct owed_row {
	char webhook_id[CALLBACK_EVENT_ID_SIZE]; /* "": what a correction could not take back */
	enum callback_kind kind;
	enum callback_state state;
	int64_t since_ms;
	char casino_id[CASINO_ID_SIZE];
	char player_id[PLAYER_ID_SIZE];
	char user_id[EXTERNAL_ID_SIZE];
	char game_id[EXTERNAL_ID_SIZE];
	struct story story;
};

/*
 * Calls @visit for each row with a debt that @filter selects; its times and limit are ignored. The
 * rows are in no order of time.
 */
typedef void owed_visit(void *context, const struct owed_row *row);
enum outcome owed_walk(struct session *session, const struct filter *filter, owed_visit *visit,
	void *context);

/* The debts of both sides by a dealer's sums, in the dealer's currency. */
struct owed_sums {
	char casino_id[CASINO_ID_SIZE];
	char currency[CURRENCY_SIZE];
	sum_t payouts;   /* the dealer owes these to its players */
	sum_t refunds;   /* and these, for bets that it debited */
	sum_t shortfall; /* players owe this */
};
extern const struct field owed_sums_fields[];

/* Calls @visit for each dealer of @casino_id ("": all) with a sum above 0. */
typedef void owed_sums_visit(void *context, const struct owed_sums *sums);
enum outcome owed_sums_walk(struct session *session, const char *casino_id, owed_sums_visit *visit,
	void *context);

#endif
