/* kinds - the states and kinds that rows hold, and their names. */
#ifndef DOMAIN_KINDS_H
#define DOMAIN_KINDS_H

/* Whether the wallet or the dealer holds the players' credit. */
enum wallet_mode { WALLET_TRANSFER, WALLET_SEAMLESS, WALLET_MODE_COUNT };
/* The kind of a transaction. The order is stored: append only. */
enum entry_kind {
	ENTRY_TRANSFER_IN,
	ENTRY_TRANSFER_OUT,
	ENTRY_ADJUST,
	ENTRY_BET,          /* a stake of a transfer-wallet player */
	ENTRY_PAYOUT,       /* payout of a round, or stakes returned by a cancelled game */
	ENTRY_CORRECTION,   /* change of the payout of a settled round */
	ENTRY_BET_CANCEL,   /* stake returned by the cancellation of one bet */
	ENTRY_SEAL,         /* only of a request: the id of a transfer that can never take place */
	ENTRY_RESULT_BATCH, /* only of a request: a batch of results (struct result_batch) */
	ENTRY_KIND_COUNT
};
/*
 * The key space of a request id. The order is stored: append only. SCOPE_BATCH has the items of a
 * client's batches: the key of the batch, "#", and the place from 0. No other key can equal one.
 */
enum request_scope { SCOPE_DEALER, SCOPE_OPERATOR, SCOPE_CLIENT, SCOPE_BATCH, SCOPE_COUNT };
enum signature_algorithm { HMAC_SHA256, HMAC_SHA512, HMAC_SHA1, SIGNATURE_ALGORITHM_COUNT };
enum signature_encoding { ENCODING_HEX, ENCODING_BASE64, SIGNATURE_ENCODING_COUNT };
/* How a caller may have used a key in a signature. Only the first use is right. */
enum key_use {
	KEY_AS_ISSUED,
	KEY_DECODED, /* its hex as 32 bytes */
	KEY_UPPER_CASE,
	KEY_LOWER_CASE,
	KEY_WITH_NEWLINE, /* after it */
	KEY_HASHED_FIRST, /* a plain hash of the key and then the body */
	KEY_HASHED_LAST,
	KEY_AS_BODY, /* an HMAC of the key with the body as its key */
	KEY_USE_COUNT
};

/* contract, "Bet states" and "Callback states". The orders are stored: append only. */
enum bet_state {
	BET_PENDING,
	BET_ACCEPTED,
	BET_REJECTED,
	BET_REFUNDING,
	BET_REFUNDED,
	BET_SETTLED,
	BET_STATE_COUNT
};
enum round_state { ROUND_OPEN, ROUND_SETTLED, ROUND_STATE_COUNT };
enum round_result { RESULT_NONE, RESULT_WIN, RESULT_LOSS, RESULT_REFUND, ROUND_RESULT_COUNT };
enum callback_state {
	CALLBACK_DUE,
	CALLBACK_SENDING,
	CALLBACK_DELIVERED,
	CALLBACK_PARKED,
	CALLBACK_HELD,
	CALLBACK_CANCELLED,
	CALLBACK_FAILED, /* a betting callback that was not accepted; never sent again */
	CALLBACK_STATE_COUNT
};

/* The callbacks B1 to B5. The order is stored: append only. */
enum callback_kind {
	CALLBACK_BALANCE_INQUIRE,
	CALLBACK_BETTING,
	CALLBACK_BETTING_RESULT,
	CALLBACK_BETTING_REFUND,
	CALLBACK_BETTING_CORRECTION, /* B5 */
	CALLBACK_KIND_COUNT
};
/*
 * The class of an attempt (contract, "Answers of a dealer"). Zero is the class of an unknown
 * outcome. The order is stored: append only.
 */
enum callback_class {
	CALLBACK_UNKNOWN,  /* the request may have arrived; its effect is unknown */
	CALLBACK_SUCCESS,  /* the dealer performed the request */
	CALLBACK_REFUSED,  /* the dealer refused the request */
	CALLBACK_NOT_SENT, /* no byte of the request was sent */
	CALLBACK_CLASS_COUNT
};
/* "balance-inquire", "betting", "betting-result", "betting-refund", "betting-correction". */
extern const char *const callback_kind_names[CALLBACK_KIND_COUNT];
extern const char *const callback_class_names[CALLBACK_CLASS_COUNT];

/* A replay of parked callbacks. The order is stored: append only. */
enum replay_state {
	REPLAY_RUNNING,
	REPLAY_DONE,    /* every callback that the filter selects was looked at */
	REPLAY_STOPPED, /* by an operator, or by a restore */
	REPLAY_FAILED,  /* a row could not be read; the callbacks from next_event on stay parked */
	REPLAY_STATE_COUNT
};
extern const char *const replay_state_names[REPLAY_STATE_COUNT];

/* How far a move of a dealer to another cell is (domain/dealer_move.h). The order is stored: append only. */
enum move_state {
	/* in the cell that the dealer moves from */
	MOVE_LEAVING,  /* calls of the dealer are refused, its rows are copied */
	MOVE_LEFT,     /* the copy is complete: this cell must not serve the dealer again */
	MOVE_REMOVING, /* the other cell serves the dealer: the rows are being deleted */
	MOVE_GONE,     /* done */
	/* in the cell that the dealer moves to */
	MOVE_ARRIVING, /* rows are being put */
	MOVE_UNDOING,  /* the move was aborted: the rows are being deleted */
	MOVE_ARRIVED,  /* done: this cell serves the dealer */
	MOVE_STATE_COUNT
};
extern const char *const move_state_names[MOVE_STATE_COUNT];

extern const char *const wallet_mode_names[WALLET_MODE_COUNT];
extern const char *const entry_kind_names[ENTRY_KIND_COUNT];
extern const char *const request_scope_names[SCOPE_COUNT];
extern const char *const bet_state_names[BET_STATE_COUNT];
extern const char *const round_state_names[ROUND_STATE_COUNT];
extern const char *const round_result_names[ROUND_RESULT_COUNT];
extern const char *const callback_state_names[CALLBACK_STATE_COUNT];
extern const char *const signature_algorithm_names[SIGNATURE_ALGORITHM_COUNT];
extern const char *const key_use_names[KEY_USE_COUNT];
extern const char *const signature_encoding_names[SIGNATURE_ENCODING_COUNT];

#endif
