/* feed_commands - what a dealer reads of its transactions and callbacks (contract, "Feed"). */
#ifndef LINK_FEED_COMMANDS_H
#define LINK_FEED_COMMANDS_H

#include "domain/feed_item.h"
#include "link/verdict.h"

/*
 * Reads transactions of a dealer with their present states: those after @after, the oldest first.
 * With @user_id, those of one player before @after (0: all), the newest first. A command looks at
 * FEED_ROWS_MAX transactions at most. Repeat with @after = @next while @complete is not set.
 * Refusals: user_not_found; invalid_signature if the dealer is unknown.
 */
struct feed_cmd {
	char casino_id[CASINO_ID_SIZE]; /* "": of all dealers, for operators */
	char user_id[EXTERNAL_ID_SIZE];
	uint64_t after;
	uint32_t limit; /* items; 0: FEED_ROWS_MAX, which is also the maximum */
	bool goes_on;   /* a further page of a call, which is not another call of the dealer */
};
struct feed_result {
	struct verdict verdict;
	uint64_t next; /* @after of the next page */
	bool complete; /* there were no further transactions */
	uint32_t count;
	struct bytes items; /* packed feed_item */
};

/* A callback of a dealer, as the dealer sees it. */
struct callback_item {
	uint64_t event;
	enum callback_kind kind;
	enum callback_state state;
	uint32_t attempts;
	int64_t created_ms;
	int64_t next_ms; /* of the next attempt; 0: none */
	char user_id[EXTERNAL_ID_SIZE];
	char player_id[PLAYER_ID_SIZE];
	char game_id[EXTERNAL_ID_SIZE];
	uint32_t last_http_status; /* of the last attempt; 0: no response */
};
extern const struct field callback_item_fields[];

/*
 * Reads the callbacks of a dealer that are parked, or due or being sent, before the event @after
 * (0: all), the newest first. A command looks at a number of rows at most, so it may find none. Repeat with @after =
 * @next while @complete is not set. Refusals: invalid_signature if the dealer is unknown;
 * bad_request for another state.
 */
struct callback_page_cmd {
	char casino_id[CASINO_ID_SIZE];
	enum callback_state state; /* CALLBACK_PARKED or CALLBACK_DUE */
	uint64_t after;
	uint32_t limit; /* items; 0: FEED_ROWS_MAX, which is also the maximum */
	bool goes_on;   /* as in struct feed_cmd */
};
struct callback_page_result {
	struct verdict verdict;
	uint64_t next;
	bool complete;
	uint32_t count;
	struct bytes items; /* packed callback_item */
};

/*
 * A dealer asks for one of its callbacks again. A parked or due one becomes due at once and is sent
 * once more, with the same bytes. Any other only has its state reported, and so has one that cannot
 * be sent now: a refund before its first time, or any while the dealer's callbacks are held. A resend
 * is recorded in the audit as the dealer's. Refusals: invalid_signature; callback_not_found, also for
 * another dealer's; rate_limited within RESEND_PAUSE_MS after the last time, or RESEND_LATE_PAUSE_MS
 * if it was sent RESEND_OFTEN times or more. Rows of the audit and of attempts are never deleted, so
 * a dealer must not make one for each of its callbacks every five minutes for ever.
 */
#define RESEND_PAUSE_MS      INT64_C(300000)
#define RESEND_LATE_PAUSE_MS INT64_C(14400000)
#define RESEND_OFTEN         12
struct callback_resend_cmd {
	char casino_id[CASINO_ID_SIZE];
	uint64_t event;
	enum callback_kind kind;
	char operation_id[OPERATION_ID_SIZE]; /* random; a repeated command acts once */
};
struct callback_resend_result {
	struct verdict verdict;
	bool resent; /* it is sent again */
	enum callback_state state;
	uint32_t attempts;
	uint64_t adjusted_by; /* the adjustment that stands for it; 0: none */
};

#endif
