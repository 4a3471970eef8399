/*
 * replays - previews, starts and describes replays of parked callbacks (link/replay_commands.h).
 */
#ifndef ADMIN_CALLBACKS_REPLAYS_H
#define ADMIN_CALLBACKS_REPLAYS_H

#include "admin/filter.h"
#include "admin/session.h"
#include "link/replay_commands.h"

/* Events of a preview that are shown one by one. */
#define REPLAY_FIRST_MAX 10

/* What a replay would send. */
struct replay_preview {
	struct replay_filter filter; /* frozen by replays_preview() */
	struct bytes events;         /* given one by one; empty: all */
	uint64_t count;              /* callbacks that would be sent */
	struct replay_sum sums[CALLBACK_KIND_COUNT];
	uint64_t held; /* callbacks that would not be sent, and why */
	uint64_t adjusted;
	uint64_t parked_later;
	int64_t oldest_ms;    /* when the oldest was made; 0: none */
	int64_t newest_ms;    /* when the newest was made; 0: none */
	int64_t looked_to_ms; /* when the oldest that was looked at was made; 0: none */
	bool more;            /* older ones were not looked at: the replay does not send them */
	bool has_url;
	bool dealer_is_held;
	enum breaker breaker;
	uint32_t rate; /* callbacks a second that the replay makes due; 0: none */
	uint64_t first[REPLAY_FIRST_MAX]; /* the newest of them */
	unsigned int first_count;
};

/* Sets the filter of a replay from that of a list. @kinds: bits; 0: all. */
void replays_filter(const struct filter *filter, uint32_t kinds, struct replay_filter *replay);

/*
 * Counts what a replay with preview->filter and preview->events would send, by at most @commands commands
 * (0: as many as are needed), and freezes the filter: from the oldest event that would be sent to the newest
 * that was looked at.
 */
enum outcome replays_preview(struct session *session, struct replay_preview *preview,
	unsigned int commands);

/* Starts the replay that was previewed. cmd->operator.operation_id makes a repeated start act once. */
enum outcome replays_start(struct session *session, const struct replay_start_cmd *cmd,
	uint64_t *id);

/* Fetches a replay, without its events. */
enum outcome replays_fetch(struct session *session, uint64_t id, struct replay *replay,
	bool *found);

#define REPLAY_PROGRESS_SIZE 512
/* A replay as operators see it. */
struct replay_row {
	struct replay replay; /* must be first */
	uint64_t on_its_way;
	char progress[REPLAY_PROGRESS_SIZE]; /* a sentence without a full stop */
};
/* Without the events. */
extern const struct field replay_row_fields[];

/* Fills in what follows from row->replay. */
void replays_complete(struct replay_row *row);

#endif
