/*
 * story - what happened to a bet, a round or a transfer, what each side owes, and the
 * next step, in plain English.
 *
 * Pure: one table over the states (story_rows.c). Each combination of states that can exist has
 * exactly one row. The command line prints the result; another program may do the same.
 */
#ifndef DOMAIN_STORY_H
#define DOMAIN_STORY_H

#include "domain/callback.h"
#include "domain/records.h"

enum story_subject { STORY_BET, STORY_ROUND, STORY_TRANSFER, STORY_SUBJECT_COUNT };

/*
 * The callback that moves the credit: the betting-refund of a bet; the last betting-result or
 * betting-correction of a round. contract, "Callback states".
 */
enum story_message {
	MESSAGE_NONE, /* there is none: a transfer wallet, an open round, a bet without a refund */
	MESSAGE_DUE,
	MESSAGE_SENDING,
	MESSAGE_PARKED,
	MESSAGE_HELD,
	MESSAGE_DELIVERED,
	MESSAGE_KNOWN,   /* delivered: the dealer answered that it had it already */
	MESSAGE_UNKNOWN, /* delivered: the dealer answered that it does not know the bet */
	MESSAGE_CANCELLED,
	MESSAGE_ADJUSTED,       /* parked or held, and an adjustment stands for it */
	MESSAGE_ADJUSTED_ENDED, /* cancelled, and an adjustment stands for it */
	MESSAGE_COUNT
};

/* The credit that this callback of a round, or the settlement of a transfer wallet, moves. */
enum story_move { MOVE_NOTHING, MOVE_PAYS, MOVE_TAKES, MOVE_COUNT };

/* Further facts, as bits. */
enum story_flag {
	STORY_CANCELLED = 1, /* bet: a game server cancelled it */
	STORY_NOT_SENT = 2,  /* rejected bet: no byte of it reached the dealer */
	STORY_SHORTFALL = 4, /* corrected round: a part could not be taken back */
	STORY_REFUSED = 8,   /* transfer: the refusal was recorded */
	STORY_SEALED = 16,   /* transfer: the dealer sealed the reference */
	STORY_FLAGS_END = 32
};

/* The members that select a row. */
struct story_facts {
	enum story_subject subject;
	enum wallet_mode mode;
	unsigned int
		state; /* enum bet_state, enum round_state or enum entry_kind, by the subject */
	enum story_message message;
	enum story_move move;
	unsigned int flags; /* enum story_flag */
};

/* The names and amounts in the sentences. Strings are "" if there is nothing to name. */
struct story_values {
	const char *dealer;
	const char *user;
	const char *client; /* the game server */
	enum round_result result;
	uint32_t corrections;
	money_t amount;    /* of the bet or the transfer; of a round its payout in force */
	money_t moved;     /* what the message moves; always 0 or more */
	money_t shortfall; /* what corrections could not take back */
	money_t balance;   /* of a transfer: the balance after it, or at the refusal */
	uint64_t transaction_id;
	uint64_t adjusted_by; /* transaction of the adjustment */
	/* Of a round: its bets with a refund, ended or not. The debt leaves them out and says so. */
	uint32_t refunds;
	bool dealer_held;    /* no callback is sent to the dealer until `release` */
	uint32_t attempts;   /* of the message, that ended */
	const char *last;    /* the last attempt: "unknown 503" */
	const char *when;    /* the next attempt: "in 3.200 s" */
	const char *event;   /* webhook-id of the message */
	const char *by;      /* the operator that cancelled it */
	const char *error;   /* the dealer's error id */
	const char *refusal; /* of a transfer: the id of its refusal */
};

enum story_debt {
	DEBT_NONE,
	DEBT_DEALER,          /* the dealer owes the player */
	DEBT_DEALER_PERHAPS,  /* the dealer owes the player if it debited the bet */
	DEBT_DEALER_PLATFORM, /* the dealer owes the platform, which credited the player */
	DEBT_PLAYER_DEALER,   /* the player owes the dealer */
	DEBT_PLAYER_PLATFORM, /* the player owes the platform */
	DEBT_COUNT
};
/* "none", "dealer", "dealer_perhaps", ... */
extern const char *const story_debt_names[DEBT_COUNT];

#define STORY_TEXT_MAX 512
struct story {
	enum story_debt debt;
	money_t owed; /* 0: nothing */
	char happened[STORY_TEXT_MAX];
	char owes[STORY_TEXT_MAX]; /* "demo owes alice 25.00." or "Nothing is owed." */
	char next[STORY_TEXT_MAX]; /* the next step */
	char event
		[CALLBACK_EVENT_ID_SIZE]; /* webhook-id of the callback that moves the credit; "": none */
};
extern const struct field story_fields[];

/*
 * Fills @story. Returns false if no row fits: the states contradict each other. The story then
 * says so and names `creditbridgectl check`.
 */
bool story_make(const struct story_facts *facts, const struct story_values *values,
	struct story *story);

/* A row of the table. */
struct story_row {
	enum story_subject subject;
	unsigned int modes;    /* 1 << enum wallet_mode */
	unsigned int states;   /* 1 << state */
	unsigned int messages; /* 1 << enum story_message */
	unsigned int moves;    /* 1 << enum story_move */
	unsigned int with;     /* flags that must be set */
	unsigned int may;      /* flags that may be set; others must not be */
	enum story_debt debt;
	const char *happened; /* "{dealer}" and the like are replaced; see story.c */
	const char *next;
};
extern const struct story_row story_rows[];
extern const unsigned int story_row_count;

bool story_row_fits(const struct story_row *row, const struct story_facts *facts);

/*
 * Returns the state of a callback for the story. @callback NULL: there is none. A betting has no
 * message of its own: the state of its bet says everything.
 */
enum story_message story_message_of(const struct callback *callback);

#endif
