/*
 * callback_rows - the rows of callbacks: the message for a dealer, its body, its attempts with the dealer's answers, and
 * when it is due. Tables of records.h; contract, "Attempts" and "Callback states".
 */
#ifndef DOMAIN_CALLBACK_ROWS_H
#define DOMAIN_CALLBACK_ROWS_H

#include "base/field.h"
#include "domain/kinds.h"
#include "domain/money.h"
#include "domain/sizes.h"

/* A message for a dealer: made once and sent unchanged on every attempt. */
struct callback {
	uint64_t event;
	enum callback_kind kind;
	char casino_id[CASINO_ID_SIZE];
	char player_id[PLAYER_ID_SIZE];
	char game_id[EXTERNAL_ID_SIZE];
	uint32_t bet_number; /* 0: the callback is for the whole round */
	enum callback_state state;
	uint32_t attempts; /* begun */
	int64_t created_ms;
	/*
	 * scheduled time of the first attempt, where the 24 hours of a refund begin. Adjusted when
	 * the wall clock is set within a boot.
	 */
	int64_t first_ms;
	int64_t ended_ms; /* when it was delivered, failed or cancelled */
	bool once_more;   /* the operator requested one more attempt */
	/* the dealer reported that it does not know the bet of this refund */
	bool unknown_to_dealer;
	enum callback_class last_class;
	uint32_t last_http_status;
	char resolved_by[SUDO_USER_SIZE]; /* operator that cancelled it */
	uint32_t revision;    /* of the correction that it reports; 0: it reports none */
	bool known_to_dealer; /* the dealer answered that it had it already (duplicate_ids) */
	money_t shortfall;    /* what the dealer could not take of a betting-correction */
	int64_t resent_ms;    /* time of the last resend that the dealer requested; 0: none */
	uint64_t adjusted_by; /* transaction_id of an adjustment made instead of it; 0: none */
	/* of a betting-correction: the dealer's path when it was made */
	char path[CALLBACK_PATH_SIZE];
	/* the outcome of an attempt stayed unknown: the dealer may have performed it */
	bool maybe_performed;
	int64_t parked_ms; /* when it was parked last; 0: never, or by an earlier version */
	uint64_t replay;   /* the replay that made it due; 0: none, or the attempt has ended */
};

struct callback_body {
	uint64_t event;
	struct bytes body;
};

/* One attempt. Written before its first byte is sent, completed when its outcome is known. */
struct attempt {
	uint64_t event;
	uint32_t number;
	int64_t time_ms;
	uint64_t sender; /* random number of the sender */
	bool ended;
	enum callback_class class;
	uint32_t http_status;
	uint32_t ms;
	char dealer_error_id[DEALER_ERROR_ID_SIZE];
	char note[CALLBACK_NOTE_SIZE];
	int64_t next_ms; /* time of the next attempt; 0: none */
};

/*
 * A dealer's answer to an attempt that was no success. Written with the end of the attempt, if
 * there was an answer and the setting callback_keep_answers permits it. Retention deletes it with the
 * attempt.
 */
struct answer {
	uint64_t event;
	uint32_t number; /* of the attempt */
	uint32_t length; /* bytes of the whole body that arrived */
	char content_type[ANSWER_TYPE_SIZE];
	char text[ANSWER_TEXT_SIZE]; /* its beginning, as dealer_answer_keep() writes it */
};

/*
 * The time at which a due or sending callback is examined next. For a sending callback this is its
 * lease. Within one boot due_boot_ms decides, after a reboot due_ms.
 */
struct due {
	uint64_t event;
	char casino_id[CASINO_ID_SIZE];
	enum callback_kind kind;
	bool sending;
	uint64_t owner; /* while sending: number of the sender's link in this run of the ledger */
	int64_t due_ms;
	int64_t due_boot_ms;
	uint64_t boot; /* the boot of due_boot_ms */
};

/* A callback that is parked or held (domain/aside.h). */
struct aside {
	char casino_id[CASINO_ID_SIZE];
	uint64_t event;
	bool held; /* false: parked */
};

#endif
