/*
 * desk_commands - sign-in of operators of the web console, the look for an id, and the rows of operators.
 *
 * desk.sock carries the frames of the console's process only. Each frame has a vouch (link/frame.h): the
 * front secret, and the session of the operator. The ledger checks, in this order:
 *
 *   front secret    wrong or missing: FRAME_FORBIDDEN, as is a command that desk.sock does not carry
 *   session         session_needed
 *   role            role_needed (link/roles.def)
 *   age of the code code_needed, for commands that link/desk.def names
 *
 * SESSION_OPEN needs the front secret only.
 */
#ifndef LINK_DESK_COMMANDS_H
#define LINK_DESK_COMMANDS_H

#include "domain/desk_operator.h"
#include "link/frame.h"
#include "link/verdict.h"

/* Digits of a one-time code, with the NUL. */
#define DESK_CODE_SIZE 9
/* A session: 32 random bytes as hex characters in lower case. */
#define DESK_SESSION_SIZE FRAME_VOUCH_SIZE

/*
 * Opens @session, which the console makes of 32 random bytes; the ledger keeps its SHA-256. A command that
 * is sent twice opens it once. Refusal: sign_in_refused, whatever the reason: the code is wrong or was used,
 * or the login is unknown, suspended or locked.
 */
struct session_open_cmd {
	char login[DESK_LOGIN_SIZE]; /* the name that the web server vouches for (REMOTE_USER) */
	char code[DESK_CODE_SIZE];
	char session[DESK_SESSION_SIZE];
	char address[DESK_ADDRESS_SIZE]; /* of the browser, for the audit; "": unknown */
	/* Name of the operator with this login. The ledger sets it, whatever was sent. */
	char name[DESK_NAME_SIZE];
};
/* The operator of a session. */
struct session_who {
	char name[DESK_NAME_SIZE];
	enum role role;
	uint32_t code_age_s;  /* since the last one-time code of this session */
	uint32_t code_left_s; /* until commands that need a fresh code are refused; 0: they are */
	uint32_t idle_s;      /* the session ends after this time without a command ... */
	uint32_t left_s;      /* ... and in this time at the latest */
};
struct session_open_result {
	struct verdict verdict;
	struct session_who who;
	bool locks; /* this wrong code locked the name: for the ledger's log, false in the answer */
};

/* Accepts a fresh code for the session of the frame. Refusals: as SESSION_OPEN. */
struct session_step_cmd {
	char code[DESK_CODE_SIZE];
	char operation_id[OPERATION_ID_SIZE]; /* random; a repeated command acts once */
	char name[DESK_NAME_SIZE];            /* set by the ledger, whatever was sent */
};
struct session_step_result {
	struct verdict verdict;
	struct session_who who;
	bool locks; /* as in SESSION_OPEN */
};

/* Returns the operator of the session of the frame. */
struct session_show_cmd {
	bool unused;
};
struct session_show_result {
	struct verdict verdict;
	struct session_who who;
};

/* Ends the session of the frame. */
struct session_close_cmd {
	bool unused;
};
struct session_close_result {
	struct verdict verdict;
};

/* Counts the sessions of the operator @name that have not ended. Needs ADMIN. */
struct session_count_cmd {
	char name[DESK_NAME_SIZE];
};
struct session_count_result {
	struct verdict verdict;
	uint32_t sessions;
	uint32_t oldest_s;               /* since the oldest one was opened */
	uint32_t seen_s;                 /* since the last command of any of them */
	char address[DESK_ADDRESS_SIZE]; /* from which that one was opened; "": unknown */
};

/*
 * Finds the places where @text is an id. Each is looked up by its key; nothing is searched. A command
 * looks at FIND_OWNERS_MAX dealers or game servers. Repeat it with @after = next until next is "".
 */
#define FIND_OWNERS_MAX 64
/* The most calls with one request id that are returned. A caller may give all its calls the same id. */
#define FIND_CALLS_MAX 8
#define FIND_CALL_SIZE 24
/* The most rounds of one game that are returned. */
#define FIND_ROUNDS_MAX 32
#define FIND_AFTER_SIZE (CASINO_ID_SIZE + 1)
/* CASINO_ID/USER_ID is the longest text. */
#define FIND_TEXT_SIZE (CASINO_ID_SIZE + EXTERNAL_ID_SIZE)
enum find_kind {
	FIND_DEALER,      /* casino_id */
	FIND_CLIENT,      /* client_id */
	FIND_PLAYER,      /* player_id, user_id of a dealer, or CASINO_ID/USER_ID */
	FIND_TRANSACTION, /* transaction_id */
	FIND_CALLBACK,    /* event, or webhook-id such as betting-result-18 */
	FIND_REQUEST,     /* request_transaction_id of a dealer, game server or operator */
	FIND_CALL,        /* request id of one of the newest accepted calls */
	FIND_ROUND,       /* game_id: one for each of its first FIND_ROUNDS_MAX players */
	FIND_KIND_COUNT
};
extern const char *const find_kind_names[FIND_KIND_COUNT];
/* Members that the place does not have are "" or 0. */
struct find_hit {
	enum find_kind of;
	char casino_id[CASINO_ID_SIZE];
	/* of FIND_REQUEST: the game server that owns the key; of FIND_CALL: the one that called */
	char client_id[CLIENT_ID_SIZE];
	char user_id[EXTERNAL_ID_SIZE]; /* of FIND_PLAYER and FIND_ROUND */
	char player_id[PLAYER_ID_SIZE];
	char game_id[EXTERNAL_ID_SIZE];
	uint32_t bet_number; /* 0: a result; of a correction: its revision */
	uint64_t transaction_id;
	uint64_t event;
	char request_transaction_id[REQUEST_KEY_SIZE];
	enum request_scope scope; /* of FIND_REQUEST */
	enum entry_kind kind;     /* of FIND_TRANSACTION and FIND_REQUEST */
	enum refusal outcome;     /* of FIND_REQUEST: the refusal that was recorded */
	enum callback_kind callback_kind;
	enum callback_state callback_state;
	char call[FIND_CALL_SIZE]; /* of FIND_CALL: the name of the HTTP operation */
	money_t amount;
	int64_t time_ms;
};
struct find_cmd {
	char text[FIND_TEXT_SIZE];
	char after[FIND_AFTER_SIZE]; /* "": from the first */
};
struct find_result {
	struct verdict verdict;
	uint32_t dealers; /* looked at by this command */
	uint32_t clients;
	uint32_t count;
	bool rounds_more;           /* the game has more than FIND_ROUNDS_MAX players */
	struct bytes hits;          /* packed struct find_hit */
	int64_t calls_from_ms;      /* accepted calls before this time are not known */
	char next[FIND_AFTER_SIZE]; /* "": there are no more */
};
extern const struct field find_hit_fields[];

/*
 * Changes an operator of the console. Only admin.sock carries it: an administrator's session that was
 * stolen makes no operators. SUSPEND, NEW_CODE, SIGN_OUT, and a SET that changes login or role, end the
 * operator's sessions. Refusals: already_exists, operator_not_found, bad_request with a detail.
 */
enum operator_action {
	OPERATOR_ADD, /* with login, role and secret */
	OPERATOR_SET, /* login "" or ROLE_NONE: unchanged */
	OPERATOR_SUSPEND,
	OPERATOR_RESUME,
	OPERATOR_UNLOCK,
	OPERATOR_NEW_CODE, /* with secret */
	OPERATOR_SIGN_OUT,
	OPERATOR_ACTION_COUNT
};
extern const char *const operator_action_names[OPERATOR_ACTION_COUNT];
struct operator_put_cmd {
	struct operator operator;
	enum operator_action action;
	char name[DESK_NAME_SIZE];
	char login[DESK_LOGIN_SIZE];
	enum role role;
	char secret[DESK_SECRET_SIZE];
};
struct operator_put_result {
	struct verdict verdict;
	struct desk_operator row; /* without its secret */
};

#endif
