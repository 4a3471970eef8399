/*
 * history - whether recorded calls of game servers can have happened one after the other
 * (linearizability), by a sequential model of the contract: transfers, bets, results, cancellations,
 * corrections, and the ends of callbacks of one player.
 *
 * The model is written from the contract and shares no code with the ledger. A call that was answered
 * took effect between its sending and its answer; a call without an answer may have taken effect at
 * any time after its sending, or never.
 */
#ifndef TESTS_LEDGER_HISTORY_H
#define TESTS_LEDGER_HISTORY_H

#include "domain/records.h"

#define HISTORY_OPS   24
#define HISTORY_CALLS 32 /* an operation may be sent several times */
#define HISTORY_GAMES 2
#define HISTORY_NEVER UINT32_MAX

enum op_kind { OP_IN, OP_OUT, OP_READ, OP_BET, OP_SETTLE, OP_CANCEL, OP_CORRECT, OP_END, OP_KINDS };

/* What a client asks for, under a key of its own. */
struct op {
	enum op_kind kind;
	unsigned int game;
	money_t amount; /* or the payout; of OP_END: the shortfall that the dealer reports */
	enum round_result result;
	uint32_t revision;
	bool allow_shortfall;
	unsigned int target; /* OP_CANCEL: the bet; OP_END: whose callback ends */
	enum callback_class class;
};

#define REPLY_VALUES 4
struct reply {
	enum refusal refusal;
	bool replay;
	uint64_t transaction_id;
	int64_t values[REPLY_VALUES];
};

/* One time that an operation was sent. Times are steps of the history. */
struct call {
	unsigned int op;
	uint32_t sent;
	uint32_t answered; /* HISTORY_NEVER: its answer was lost, or it never arrived */
	struct reply reply;
};

struct history {
	enum wallet_mode mode;
	struct op ops[HISTORY_OPS];
	unsigned int op_count;
	struct call calls[HISTORY_CALLS];
	unsigned int call_count;
};

/* Returns true if the answered calls can have happened one after the other. */
bool history_is_linearizable(const struct history *history);
/* Prints the calls and their answers to standard error. */
void history_print(const struct history *history);

#endif
