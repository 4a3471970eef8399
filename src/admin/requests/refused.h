/*
 * refused - reads the refused calls that the ledger keeps on disk, page by page.
 */
#ifndef ADMIN_REQUESTS_REFUSED_H
#define ADMIN_REQUESTS_REFUSED_H

#include "admin/session.h"
#include "base/buffer.h"
#include "link/refused_calls.h"

/* Pages that are read to count further calls. Above that, the count is a lower limit. */
#define REFUSED_COUNT_PAGES 64

/* An iterator. refused_next() returns the newest call first. */
struct refused_calls {
	struct session *session;
	struct refused_list_cmd cmd;
	struct buffer rows;
	struct bytes rest; /* calls not yet returned */
	bool started;
	uint64_t taken;
	struct refused_list_result last; /* of the newest page; its bytes are not valid */
	enum outcome code;
};

/* Begins with @filter, of which @before, @limit and @count_only are ignored. */
void refused_open(struct refused_calls *calls, struct session *session,
	const struct refused_list_cmd *filter);
/* Returns false after the last call, or after a failure: see calls->code. */
bool refused_next(struct refused_calls *calls, struct refused_call *call);

/* How many calls match. */
struct refused_count {
	uint64_t count;
	bool more; /* there may be more: not all were looked at */
};
/* Counts the calls that refused_next() has not returned yet. */
enum outcome refused_count_rest(struct refused_calls *calls, struct refused_count *count);

/* The calls that match a filter, by their cause. */
struct refused_causes {
	struct refused_cause list[REFUSED_CAUSES_MAX]; /* those with the most calls first */
	uint32_t count;
	uint64_t calls;                  /* in all */
	bool more;                       /* older calls were not looked at ... */
	int64_t looked_ms;               /* ... than this one; 0: no call was looked at */
	struct refused_list_result last; /* of the newest command; its bytes are not valid */
};
/* Counts the newest calls with at most @steps commands, each of which reads a bounded part of the files. */
enum outcome refused_count_causes(struct session *session, const struct refused_list_cmd *filter,
	unsigned int steps, struct refused_causes *causes);

/* Frees the iterator. Returns @code, or calls->code if @code is OUTCOME_DONE. */
enum outcome refused_end(struct refused_calls *calls, enum outcome code);

/* The word for REFUSED_WHY_NONE in an address and on a command line. */
#define REFUSED_WHY_IS_NONE "none"
/* Fills @words with what refused_read_why() takes, in the order of enum refused_why. */
void refused_why_words(const char *words[REFUSED_WHY_COUNT]);
/*
 * Set what the filter selects: the id of an error, and why the signature check failed. "" selects every call.
 * Return false, with an unchanged filter, if there is no such id or word.
 */
bool refused_read_error(const char *text, struct refused_list_cmd *filter);
bool refused_read_why(const char *text, struct refused_list_cmd *filter);

/*
 * Adds the player_id of the filter's player, if there is one: calls of game servers may name only
 * that.
 */
enum outcome refused_add_player(struct session *session, struct refused_list_cmd *filter);

/*
 * Looks on disk for a call with the request id @id after @time_ms, with at most @steps commands. Callers choose
 * their own ids, so two calls may have one. Sets *newer; true, too, if the commands did not reach back so far.
 */
enum outcome refused_is_newer(struct session *session, const char *id, int64_t time_ms,
	unsigned int steps, bool *newer);

/* Finds the newest call that matches @filter, and how many do. */
enum outcome refused_newest(struct session *session, const struct refused_list_cmd *filter,
	struct refused_call *call, bool *found, struct refused_count *count);

#endif
