/*
 * exam - `dealer test`: runs cases against a dealer's server, with callbacks that move credit.
 *
 * The callbacks are sent as the service sends them, but the ledger does not know them. It stores
 * no bet, round or callback for them. They do not count for max_inflight and the breaker. The
 * first balance inquiry is an exception: the ledger issues a permit for it. They are identified
 * by:
 *
 *   transaction_id,  2^52 + the Unix time in seconds * 2^20 + the number of the first inquiry,
 *   webhook-id       which is the ledger's, modulo 256 * 2^12 + 1, 2, 3 ... The ledger assigns
 *                    1, 2, 3 ... and never gets that far. Until the year 2106 the ids are below
 *                    2^53 (contract, "Transaction ids"). Each exam has its own ids, unless 256
 *                    exams begin within one second.
 *   game_id          "exam-", the first of these ids, the numbers of the case and the round
 *   remark           begins with "creditbridge exam"
 *
 * A case is a list of steps. A dealer must do only what doc/requirements entitles the service to
 * (contract, "Group B: callbacks" and "Signature"). Each case returns the money it took. At a
 * correct dealer, the balance is unchanged at the end.
 *
 * A case names the earlier cases that it needs. If one of these failed, the case would fail for the
 * same reason, or would prove nothing. Then it is not run and is "not judged". So one mistake of a
 * dealer is one failure.
 */
#ifndef CONFORMANCE_EXAM_H
#define CONFORMANCE_EXAM_H

#include "base/buffer.h"
#include "callback/http.h"
#include "admin/session.h"
#include "domain/callback.h"

/* More than the exam has staked at any moment. */
#define EXAM_NEEDS CREDIT(10)
#define CREDIT(n)  ((money_t)(n)*MONEY_UNITS_PER_CREDIT)
/*
 * Maximum copies of one request that are sent at the same time, within the dealer's limit of
 * calls.
 */
#define EXAM_COPIES 8

#include <signal.h>

enum exam_action {
	EXAM_END,     /* ends the steps of a case */
	EXAM_BALANCE, /* B1 */
	EXAM_BET,     /* B2 */
	EXAM_WIN,     /* B3 with result win; likewise the next two, with their results */
	EXAM_LOSS,
	EXAM_CANCEL,  /* B3 with result refund: the game was cancelled */
	EXAM_REFUND,  /* B4 */
	EXAM_CLOSE,   /* a win of the amount that the case has taken so far, if any; not judged */
	EXAM_PACE,    /* sends nothing; judges the time of the slowest answer */
	EXAM_RAISE,   /* B3 that reports a correction: the payout rises by the amount */
	EXAM_LOWER,   /* B5: the payout falls by the amount */
	EXAM_RESTART, /* the dealer's server is restarted */
	EXAM_ACTION_COUNT
};

/* The expected answer. */
enum exam_expect {
	EXPECT_TAKEN,     /* success */
	EXPECT_BALANCE,   /* success with user_id, balance and currency of the player */
	EXPECT_JSON,      /* as EXPECT_BALANCE, with a JSON Content-Type */
	EXPECT_TRUE,      /* success; user_id, balance and currency are right if present */
	EXPECT_DELIVERED, /* success, or an error id for an unknown bet */
	EXPECT_REFUSED,   /* refused */
	EXPECT_ERROR,     /* refused with an error body */
	EXPECT_NOT_TAKEN, /* an answer, but not success */
	EXPECT_ACCOUNT,   /* the balance of an unknown user, or an error body */
	/* success and the whole amount moved, or an error body and nothing moved */
	EXPECT_WHOLE,
	/* of copies: at least one success, and an answer to all that were sent */
	EXPECT_ONE,
	EXPECT_ALL,      /* of several bets: success of each */
	EXPECT_STRANGER, /* refused with an error body, or success if accounts open by themselves */
	EXPECT_SAME,     /* the same success as the first answer to this message */
	/* success; the amount less shortfall moved, and shortfall is from 0 to the amount */
	EXPECT_SHORT,
	EXPECT_ANSWER,  /* any answer */
	EXPECT_IN_TIME, /* for EXAM_PACE */
	EXAM_EXPECT_COUNT
};

/* The change of the balance, in relation to the step's amount. */
enum exam_move { MOVE_NONE, MOVE_OUT, MOVE_IN };

enum exam_sign {
	SIGN_RIGHT,
	SIGN_NONE,
	SIGN_OTHER_KEY,
	SIGN_CUT,     /* only the first characters of the right signature */
	SIGN_ALTERED, /* the right signature of a body with another amount */
	SIGN_NEWLINE, /* the right signature of the body without the line break at its end */
};

enum exam_way {
	WAY_PLAIN,
	WAY_LAST,    /* the connection is not reused */
	WAY_SLOW,    /* sends the body in pieces */
	WAY_COPIES,  /* sends several copies at the same time */
	WAY_MANY,    /* sends several bets of this amount, each with its own id, at the same time */
	WAY_GET,     /* a GET of the path, without body and signature */
	WAY_BARE,    /* without the webhook headers */
	WAY_CAPITAL, /* header names in capitals */
};

/* The path of a request: its own, or that of another kind. */
enum exam_door { DOOR_OWN, DOOR_BETTING, DOOR_RESULT, DOOR_REFUND };

/* Variations of a body; 0 is the form that the service sends. */
enum {
	SHAPE_REVERSED = 1 << 0, /* the members in reverse order */
	SHAPE_MORE = 1 << 1,     /* with unknown members */
	SHAPE_SPACED = 1 << 2,   /* with white space between the tokens */
	SHAPE_CENTS = 1 << 3,    /* amounts with two decimals */
	SHAPE_LEAST = 1 << 4,    /* without optional members */
	SHAPE_CUT = 1 << 5,      /* only the first half: invalid JSON */
	SHAPE_DRAW = 1 << 6,     /* a result that the specification does not define */
	SHAPE_OTHER_WAY =
		SHAPE_REVERSED | SHAPE_MORE | SHAPE_SPACED | SHAPE_CENTS | SHAPE_LEAST | SHAPE_DRAW,
	SHAPE_UNICODE = 1 << 7,       /* remark and game_id with characters beyond ASCII */
	SHAPE_LARGE = 1 << 8,         /* user_bet has 60,000 bytes */
	SHAPE_ODD = 1 << 9,           /* user_bet contains unusual JSON */
	SHAPE_UNKNOWN_USER = 1 << 10, /* for a user that does not exist */
};

/* Amounts that depend on the dealer. */
#define AMOUNT_SMALLEST ((money_t)-1) /* the smallest with the dealer's decimals */
#define AMOUNT_TOO_MUCH ((money_t)-2) /* more than the player has */
#define AMOUNT_REST     ((money_t)-3) /* what the player has, less 2 credits */

struct exam_step {
	enum exam_action action;
	/*
	 * Names the bet or result. Within a case, the same letter has the same transaction_id.
	 * The same action with the same letter is the same event, and its bytes are sent again
	 * unchanged.
	 */
	char letter;
	money_t amount; /* stake or payout */
	enum exam_expect expect;
	enum exam_move move;
	uint8_t round; /* game of the case: 0 or 1 */
	enum exam_sign sign;
	enum exam_way way;
	enum exam_door door;
	unsigned int shape;
	const char *without; /* a member to omit */
	bool addition;       /* an extra stake */
	bool back;           /* the case returns an amount that this step takes by mistake */
	bool lost;           /* a bet whose answer counts as lost: it is not part of the round */
	uint8_t times;       /* repetitions, one after the other; 0 is 1 */
};

#define EXAM_STEPS_MAX 12
#define EXAM_NEEDS_MAX 4
struct exam_case {
	const char *name;
	const char *rule;     /* a heading of doc/integrator-guide.md */
	const char *expected; /* a sentence without a full stop */
	uint8_t decimals;     /* decimals that the dealer must have */
	struct exam_step steps[EXAM_STEPS_MAX];
	/* Names of earlier cases, ends with NULL. Each case also needs the first one. */
	const char *needs[EXAM_NEEDS_MAX + 1];
};

struct exam_group {
	const char *name;
	const struct exam_case *cases; /* ends with a NULL name */
};
/* Ends with a NULL name. */
extern const struct exam_group exam_groups[];
extern const struct exam_case exam_basic_cases[], exam_balance_cases[], exam_bet_cases[],
	exam_signature_cases[], exam_body_cases[], exam_result_cases[], exam_refund_cases[],
	exam_correction_cases[], exam_replay_cases[], exam_server_cases[], exam_restart_cases[];

enum exam_result {
	EXAM_PASSED,
	EXAM_FAILED,
	EXAM_NOT_JUDGED, /* a case that it needs failed */
	EXAM_SKIPPED,    /* the dealer's settings or the caller's options exclude it */
	EXAM_NOT_RUN,    /* the exam ended before it */
	EXAM_RESULT_COUNT
};
extern const char *const exam_result_names[EXAM_RESULT_COUNT];

#define EXAM_NAME_SIZE 48
#define EXAM_TEXT_SIZE 600
/* The result of a case, a row of the report. */
struct exam_row {
	char group[EXAM_NAME_SIZE];
	char name[EXAM_NAME_SIZE];
	enum exam_result result;
	char cause[EXAM_NAME_SIZE]; /* of EXAM_NOT_JUDGED: the case that failed */
	char rule[EXAM_NAME_SIZE];
	char needs[EXAM_NEEDS_MAX * EXAM_NAME_SIZE]; /* names of cases, separated by commas */
	char expected[160];
	char came[EXAM_TEXT_SIZE];  /* the answers and movements of money, step by step */
	char steps[EXAM_TEXT_SIZE]; /* only the movements: "-2.00 0.00 +2.00" */
	char why[EXAM_TEXT_SIZE];   /* empty if it passed */
	bool has_money;             /* the balance was read before and after it */
	money_t before;
	money_t after;
	money_t moved; /* after - before */
	uint32_t calls;
	uint64_t ms;
};
extern const struct field exam_row_fields[];

/* One run of `dealer test`. */
struct exam {
	struct session *session;
	/* When this becomes true, no further case begins. NULL: never. */
	const volatile sig_atomic_t *interrupted;
	/* Called when a case begins. NULL: not called. */
	void (*progress)(void *closure, const struct exam *exam, unsigned int number,
		const char *name);
	void *progress_closure;
	/*
	 * Restarts the dealer's server, or has it restarted. Returns NULL if that was done, or the
	 * reason why not. NULL: the cases that need it are skipped.
	 */
	const char *(*restart)(void *closure);
	void *restart_closure;
	const char *only;     /* names of cases separated by commas; NULL: all */
	struct dealer dealer; /* without its keys' secrets */
	struct player player;
	struct callback_target targets[CALLBACK_KIND_COUNT]; /* with the keys' secrets */
	char url[CALLBACK_URL_SIZE];                         /* of B1 */
	struct http_client *client;
	unsigned int copies; /* of WAY_COPIES */
	uint64_t number;     /* of the first inquiry */
	uint64_t first_id;
	uint64_t last_id; /* last id assigned */
	money_t first_balance;
	bool has_balance;                           /* the last inquiry was answered correctly */
	money_t balance;                            /* in the answer of the last inquiry */
	char balance_note[CALLBACK_NOTE_SIZE + 96]; /* why there is no balance */
	uint32_t slowest_ms;     /* slowest answer to a request whose body was sent at once */
	unsigned int unanswered; /* consecutive requests without an answer */
	bool opens_accounts;     /* an unknown user was answered by a balance */
	const char *lost; /* the case after which the balance could not be used; NULL: none */
	const char *late; /* the first failed case with an answer after the timeout */
	uint32_t calls;
	/* Bets that were accepted, by whether the answer had a balance. */
	uint32_t bets_with_balance;
	uint32_t bets_without_balance;
	struct exam_row *rows;
	unsigned int count;
	unsigned int results[EXAM_RESULT_COUNT];
};

/*
 * Returns the id before the first id of an exam. @wall_ms is when the exam begins, in milliseconds since 1970. @number
 * is the number of its first inquiry. Exams of one second share no id if fewer than 251 inquiries lie between them.
 */
uint64_t exam_last_id_before(int64_t wall_ms, uint64_t number);

/* Returns the next id. */
uint64_t exam_id(struct exam *exam);

/* A request to send. */
struct exam_request {
	enum callback_kind kind; /* named by its webhook-id */
	uint64_t event;          /* number in its webhook-id */
	enum callback_kind door; /* the kind whose path is used */
	struct bytes body;
	struct bytes signed_body;
	enum exam_sign sign;
	enum exam_way way;
};
#define EXAM_REPLY_SIZE 200
struct exam_reply {
	struct callback_outcome outcome;
	bool is_json;               /* Content-Type: application/json */
	char text[EXAM_REPLY_SIZE]; /* the beginning of the body, cleaned */
	size_t len;                 /* of the body */
};

/*
 * Sends the @count @requests, all at the same time. Fills as many @replies.
 */
void exam_send(struct exam *exam, const struct exam_request *requests, unsigned int count,
	struct exam_reply replies[EXAM_COPIES]);

/*
 * Asks the dealer for the player's balance. Returns false with the reason in exam->balance_note.
 */
bool exam_ask(struct exam *exam);

/* The values that all bodies of a case share. */
struct exam_round {
	unsigned int number; /* of the case, from 1 */
	const char *name;    /* of the case */
	money_t staked[2];   /* by round */
	money_t added[2];
};

/*
 * Appends the body of @step with the stake or payout @amount. Returns false if memory is
 * exhausted.
 */
bool exam_body(struct exam *exam, const struct exam_round *round, const struct exam_step *step,
	uint64_t transaction_id, money_t amount, struct buffer *out);
/* Changes the amount in a body made by exam_body(). */
void exam_body_alter(struct buffer *body);
/* Writes a user_id that does not exist. */
void exam_unknown_user(const struct exam *exam, char user_id[EXTERNAL_ID_SIZE]);
enum callback_kind exam_kind(enum exam_action action);

/* Runs @case_, which has the number @number (from 1), and fills @row. */
void exam_case_run(struct exam *exam, const struct exam_case *case_, unsigned int number,
	struct exam_row *row);

/* After this many consecutive requests without an answer, the dealer counts as unreachable. */
#define EXAM_UNANSWERED_MAX 6

/*
 * Allocates a row for every case in @exam->rows, which the caller frees. Returns false if memory
 * is exhausted.
 */
bool exam_init(struct exam *exam);
/* Returns true if @name is a case; after exam_init(). */
bool exam_only_ok(const struct exam *exam, const char *name);
/*
 * Finds the dealer and the player whose credit is moved. Requests the player's balance under a
 * permit of the ledger. Creates @exam->client, which the caller frees. A failure is in the
 * session.
 */
enum outcome exam_prepare(struct exam *exam, const char *casino_id, const char *user_id);
/* Runs the cases until the dealer becomes unreachable or @exam->interrupted is set. */
void exam_run(struct exam *exam);
/*
 * Stores the numbers of passed and failed cases with the dealer, unless only some of the cases were
 * run. A failure is in the session.
 */
enum outcome exam_record(struct exam *exam);

#endif
