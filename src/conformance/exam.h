/*
 * exam - dealer test: a dealer's server is put through cases, with callbacks that move credit.
 *
 * They are sent as the service sends them, but they are none of the ledger's: no bet, round or
 * callback is kept of them, and max_inflight and the breaker do not count them (but for the first
 * balance inquiry, which the ledger gives leave for). What they are known by:
 *
 *   transaction_id,  2^52 + the Unix time in seconds * 2^20 + the number of the first inquiry,
 *   webhook-id       which is the ledger's, modulo 256 * 2^12 + 1, 2, 3 ... The ledger gives out
 *                    1, 2, 3 ... and is nowhere near; until the year 2106 they are below 2^53, the
 *                    limit of api.md. Each exam has ids of its own, unless 256 begin in a second.
 *   game_id          "exam-", the first of these ids, the case's and the round's number
 *   remark           begins with "creditbridge exam"
 *
 * A case is a list of steps. What a dealer is held to is what spec.md and api.md (B, Signature, the
 * tombstone of a refund) entitle the service to, and nothing else. Each case gives back what it
 * took, so that at a dealer who behaves the balance is in the end what it was.
 */
#ifndef CONFORMANCE_EXAM_H
#define CONFORMANCE_EXAM_H

#include "base/buffer.h"
#include "callback/http.h"
#include "admin/session.h"
#include "domain/callback.h"

#define EXAM_ID_BASE      (UINT64_C(1) << 52)
#define EXAM_SECOND_SHIFT 20
#define EXAM_NUMBER_SHIFT 12 /* more ids than an exam needs */
#define EXAM_NUMBER_MASK  0xff
/* More than is out at any moment. */
#define EXAM_NEEDS CREDIT(10)
#define CREDIT(n)  ((money_t)(n) * MONEY_UNITS_PER_CREDIT)
/* Copies of one request that are sent at once, at most: no more than the dealer takes calls. */
#define EXAM_COPIES 8

#include <signal.h>

enum exam_action {
	EXAM_END,     /* ends the steps of a case */
	EXAM_BALANCE, /* B1 */
	EXAM_BET,     /* B2 */
	EXAM_WIN,     /* B3 with result win; likewise the next two */
	EXAM_LOSS,
	EXAM_CANCEL, /* result refund: the game was cancelled */
	EXAM_REFUND, /* B4 */
	EXAM_CLOSE,  /* a win of what the case has taken so far, if anything; not judged */
	EXAM_PACE,   /* nothing is sent: how long the slowest answer took */
	EXAM_ACTION_COUNT
};

/* What must come. */
enum exam_expect {
	EXPECT_TAKEN,     /* success */
	EXPECT_BALANCE,   /* success with user_id, balance and currency of the player */
	EXPECT_JSON,      /* the same, and Content-Type says JSON */
	EXPECT_TRUE,      /* success; user_id, balance, currency, where they are there, are right */
	EXPECT_DELIVERED, /* success, or an error id by which the bet is unknown */
	EXPECT_REFUSED,   /* refused */
	EXPECT_ERROR,     /* refused by an error body */
	EXPECT_NOT_TAKEN, /* an answer, but no success */
	EXPECT_ACCOUNT,   /* the balance of a user whom nobody knows, or an error body */
	EXPECT_WHOLE,     /* success and the amount moved, or refused by an error body and none */
	EXPECT_ONE,       /* of copies at least one success, and answers to all that left */
	EXPECT_ANSWER,    /* any answer */
	EXPECT_IN_TIME,   /* of EXAM_PACE */
	EXAM_EXPECT_COUNT
};

/* What becomes of the balance, in terms of the step's amount. */
enum exam_move { MOVE_NONE, MOVE_OUT, MOVE_IN };

enum exam_sign {
	SIGN_RIGHT,
	SIGN_NONE,
	SIGN_OTHER_KEY,
	SIGN_CUT,     /* only the first characters of the right one */
	SIGN_ALTERED, /* the right one of a body with another amount */
	SIGN_NEWLINE, /* the right one of the body without the line break that follows it */
};

enum exam_way {
	WAY_PLAIN,
	WAY_LAST,    /* the connection is not used again */
	WAY_SLOW,    /* the body arrives in pieces */
	WAY_COPIES,  /* several at once */
	WAY_GET,     /* a GET of the path, without body and signature */
	WAY_BARE,    /* without the webhook headers */
	WAY_CAPITAL, /* the names of headers in capitals */
};

/* Where a request goes: its own path, or that of another kind. */
enum exam_door { DOOR_OWN, DOOR_BETTING, DOOR_RESULT, DOOR_REFUND };

/* How a body is made; the service's own way is 0. */
enum {
	SHAPE_REVERSED = 1 << 0, /* the members in the other order */
	SHAPE_MORE = 1 << 1,     /* with unknown members */
	SHAPE_SPACED = 1 << 2,   /* with white space between the tokens */
	SHAPE_CENTS = 1 << 3,    /* amounts with two decimals */
	SHAPE_LEAST = 1 << 4,    /* without members that are not required */
	SHAPE_CUT = 1 << 5,      /* half of it: no JSON */
	SHAPE_DRAW = 1 << 6,     /* a result that the specification does not know */
	SHAPE_OTHER_WAY =
		SHAPE_REVERSED | SHAPE_MORE | SHAPE_SPACED | SHAPE_CENTS | SHAPE_LEAST | SHAPE_DRAW,
	SHAPE_UNICODE = 1 << 7, /* remark and game_id beyond ASCII */
	SHAPE_LARGE = 1 << 8,   /* user_bet is of 60,000 bytes */
	SHAPE_ODD = 1 << 9,     /* user_bet holds JSON that is seldom seen */
	SHAPE_NOBODY = 1 << 10, /* of a user who is not there */
};

/* Amounts that depend on the dealer. */
#define AMOUNT_SMALLEST ((money_t)-1) /* that has the dealer's decimals */
#define AMOUNT_TOO_MUCH ((money_t)-2) /* more than the player has */

struct exam_step {
	enum exam_action action;
	/*
	 * Which bet or result: within a case the same letter has the same transaction_id, and the
	 * same action with the same letter is the same event, sent byte for byte the same again.
	 */
	char letter;
	money_t amount; /* stake or payout */
	enum exam_expect expect;
	enum exam_move move;
	uint8_t round; /* games of the case: 0, 1 */
	enum exam_sign sign;
	enum exam_way way;
	enum exam_door door;
	unsigned int shape;
	const char *without; /* a member that is left out */
	bool addition;       /* an extra stake */
	bool back;           /* what it takes, wrongly, the case gives back */
	bool lost;           /* a bet whose answer, as it were, got lost: no part of the round */
	uint8_t times;       /* one after the other; 0 is 1 */
};

#define EXAM_STEPS_MAX 10
struct exam_case {
	const char *name;
	const char *rule;     /* of the specification, or "api.md ..." */
	const char *expected; /* a sentence without a full stop */
	uint8_t decimals;     /* of the dealer, that it needs */
	struct exam_step steps[EXAM_STEPS_MAX];
};

struct exam_group {
	const char *name;
	const struct exam_case *cases; /* end with a NULL name */
};
/* Ends with a NULL name. */
extern const struct exam_group exam_groups[];
extern const struct exam_case exam_balance_cases[], exam_bet_cases[], exam_body_cases[],
	exam_result_cases[], exam_refund_cases[], exam_replay_cases[], exam_server_cases[];

enum exam_result { EXAM_PASSED, EXAM_FAILED, EXAM_SKIPPED, EXAM_NOT_RUN, EXAM_RESULT_COUNT };
extern const char *const exam_result_names[EXAM_RESULT_COUNT];

#define EXAM_NAME_SIZE 48
#define EXAM_TEXT_SIZE 600
/* What came of a case: a row of the report. */
struct exam_row {
	char group[EXAM_NAME_SIZE];
	char name[EXAM_NAME_SIZE];
	enum exam_result result;
	char rule[EXAM_NAME_SIZE];
	char expected[160];
	char came[EXAM_TEXT_SIZE]; /* step by step, with what moved */
	char steps[EXAM_TEXT_SIZE]; /* what moved alone: "-2.00 0.00 +2.00" */
	char why[EXAM_TEXT_SIZE];  /* unless it passed */
	bool has_money;            /* the balance could be read before and after it */
	money_t before;
	money_t after;
	money_t moved; /* after - before */
	uint32_t calls;
	uint64_t ms;
};
extern const struct field exam_row_fields[];

/* The whole. */
struct exam {
	struct session *session;
	/* Becomes true when no further case is to begin. NULL: never. */
	const volatile sig_atomic_t *interrupted;
	/* Is given each case that begins. NULL: nothing is. */
	void (*progress)(void *closure, const struct exam *exam, unsigned int number, const char *name);
	void *progress_closure;
	struct dealer dealer; /* without its keys' secrets */
	struct player player;
	struct callback_target targets[CALLBACK_KIND_COUNT]; /* with them */
	char url[CALLBACK_URL_SIZE];                         /* of B1 */
	struct http_client *client;
	unsigned int copies; /* of WAY_COPIES */
	uint64_t number; /* of the first inquiry */
	uint64_t first_id;
	uint64_t last_id; /* given out */
	money_t first_balance;
	bool has_balance; /* the last inquiry was answered as it must be */
	money_t balance;  /* by it */
	char balance_note[CALLBACK_NOTE_SIZE + 96]; /* unless */
	uint32_t slowest_ms;     /* answer to a request whose body left at once */
	unsigned int unanswered; /* requests in a row to which nothing came */
	uint32_t calls;
	struct exam_row *rows;
	unsigned int count;
	unsigned int results[EXAM_RESULT_COUNT];
};

/* The next of the ids. */
uint64_t exam_id(struct exam *exam);

/* A request, as it is to leave. */
struct exam_request {
	enum callback_kind kind; /* its webhook-id's */
	uint64_t event;          /* likewise */
	enum callback_kind door; /* whose path */
	struct bytes body;
	struct bytes signed_body;
	enum exam_sign sign;
	enum exam_way way;
};
struct exam_reply {
	struct callback_outcome outcome;
	bool is_json; /* Content-Type: application/json */
};

/* Sends @request, with WAY_COPIES exam->copies of it. Returns how many of @replies were filled. */
unsigned int exam_send(struct exam *exam, const struct exam_request *request,
	struct exam_reply replies[EXAM_COPIES]);

/* Asks for the player's balance. False: exam->balance_note tells why it is not known. */
bool exam_ask(struct exam *exam);

/* What the bodies of a case have in common. */
struct exam_round {
	unsigned int number; /* of the case, from 1 */
	const char *name;    /* of the case */
	money_t staked[2];   /* by round */
	money_t added[2];
};

/*
 * Appends the body of @step, with the stake or payout @amount. False: memory is exhausted.
 */
bool exam_body(struct exam *exam, const struct exam_round *round, const struct exam_step *step,
	uint64_t transaction_id, money_t amount, struct buffer *out);
/* Makes another amount of the one in a body that exam_body() made. */
void exam_body_alter(struct buffer *body);
/* The user_id of nobody. */
void exam_nobody(const struct exam *exam, char user_id[EXTERNAL_ID_SIZE]);
enum callback_kind exam_kind(enum exam_action action);

/* Puts the dealer through @case_, number @number from 1, and fills @row. */
void exam_case_run(struct exam *exam, const struct exam_case *case_, unsigned int number,
	struct exam_row *row);

/* Requests in a row to which nothing came: the dealer is gone. */
#define EXAM_UNANSWERED_MAX 6

/* Makes a row for every case, in @exam->rows, which the caller frees. False: memory is exhausted. */
bool exam_init(struct exam *exam);
/*
 * Finds the dealer and the player whose credit is moved, asks for the player's balance with the ledger's
 * leave, and makes @exam->client, which the caller frees. A failure is in the session.
 */
enum outcome exam_prepare(struct exam *exam, const char *casino_id, const char *user_id);
/* Runs the cases, until a dealer does not answer any more or @exam->interrupted is set. */
void exam_run(struct exam *exam);

#endif
