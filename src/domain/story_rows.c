/*
 * story_rows - the sentences of story.h, one row for each combination of states.
 *
 * A placeholder in braces is replaced (story.c). tests/domain/test_story.c proves that each
 * combination that can exist has exactly one row.
 */
#include "domain/story.h"

#define TRANSFER   (1u << WALLET_TRANSFER)
#define SEAMLESS   (1u << WALLET_SEAMLESS)
#define EITHER     (TRANSFER | SEAMLESS)
#define BET(s)     (1u << BET_##s)
#define ROUND(s)   (1u << ROUND_##s)
#define ENTRY(k)   (1u << ENTRY_##k)
#define M(m)       (1u << MESSAGE_##m)
#define MOVE(m)    (1u << MOVE_##m)
#define STILL      MOVE(NOTHING)
#define NO_MESSAGE M(NONE)
#define CONFIRMED  (M(DELIVERED) | M(KNOWN))

#define RETRY                                                                                      \
	"When {dealer}'s server answers again: creditbridgectl callback retry {event} --reason TEXT"
#define RELEASE                                                                                    \
	"Find out why it is held; then: creditbridgectl callback release {event} --reason TEXT"
#define CANCEL                                                                                     \
	"Settle it with {dealer}; then, as root: creditbridgectl callback cancel {event} --reason TEXT"
#define LATER                                                                                      \
	"The sweeper sends it ({when}). To send it at once: creditbridgectl callback retry {event} --reason TEXT"
/* Before the first attempt no command hurries a refund: the dealer may still be busy with the bet. */
#define LATER_REFUND                                                                               \
	"The sweeper sends it ({when}). After a failed attempt this sends it at once: creditbridgectl callback retry {event} --reason TEXT"
#define LOOK  "Look again in a few seconds."
#define NONE  "Nothing is to be done."
#define AUDIT "The audit has the reason. Root reads it: creditbridgectl audit"
#define ASK   "If {user} lacks the credit, ask {dealer} for its record of {event}."
#define NO_ANSWER                                                                                  \
	"{dealer} did not answer the bet, so it is not known whether it debited {amount}. "        \
	"The bet does not count. "
#define CANCELLED_BET "Game server {client} cancelled the bet after {dealer} had debited {amount}. "
#define TAKEN         "{round}. That is {moved} less than was paid. "

/* clang-format off */
const struct story_row story_rows[] = {
	/* ---- bets */
	{STORY_BET, TRANSFER, BET(ACCEPTED), NO_MESSAGE, STILL, 0, 0, DEBT_NONE,
		"The platform debited {amount} from {user} for the bet. The round has no result yet.",
		"Game server {client} sends the result."},
	{STORY_BET, TRANSFER, BET(REFUNDED), NO_MESSAGE, STILL, STORY_CANCELLED, 0, DEBT_NONE,
		"Game server {client} cancelled the bet, and the platform returned {amount} to {user}.", NONE},
	{STORY_BET, SEAMLESS, BET(PENDING), NO_MESSAGE, STILL, 0, 0, DEBT_NONE,
		"{dealer} was asked to debit {amount} from {user}, and the answer is not known yet.",
		LOOK " Without an answer the bet is refunded."},
	{STORY_BET, SEAMLESS, BET(ACCEPTED), NO_MESSAGE, STILL, 0, 0, DEBT_NONE,
		"{dealer} debited {amount} from {user} for the bet. The round has no result yet.",
		"Game server {client} sends the result."},
	{STORY_BET, SEAMLESS, BET(REJECTED), NO_MESSAGE, STILL, 0, 0, DEBT_NONE,
		"{dealer} refused the bet{error}, so it must not have debited {amount}.",
		"If {user} was charged, ask {dealer} for its record of bet {transaction}."},
	{STORY_BET, SEAMLESS, BET(REJECTED), NO_MESSAGE, STILL, STORY_NOT_SENT, 0, DEBT_NONE,
		"The bet never reached {dealer}: no byte of it was sent. Nothing was debited.",
		"See creditbridgectl dealer ping {dealer}."},

	{STORY_BET, SEAMLESS, BET(REFUNDING), M(DUE), STILL, 0, 0, DEBT_DEALER_PERHAPS,
		NO_ANSWER "The refund {event} is not confirmed{tries}.", LATER_REFUND},
	{STORY_BET, SEAMLESS, BET(REFUNDING), M(SENDING), STILL, 0, 0, DEBT_DEALER_PERHAPS,
		NO_ANSWER "The refund {event} is being sent.", LOOK},
	{STORY_BET, SEAMLESS, BET(REFUNDING), M(PARKED), STILL, 0, 0, DEBT_DEALER_PERHAPS,
		NO_ANSWER "The refund {event} is not confirmed{tries}, and no further attempt is planned.", RETRY},
	{STORY_BET, SEAMLESS, BET(REFUNDING), M(HELD), STILL, 0, 0, DEBT_DEALER_PERHAPS,
		NO_ANSWER "The refund {event} is held.", RELEASE},
	{STORY_BET, SEAMLESS, BET(REFUNDING), M(DUE), STILL, STORY_CANCELLED, 0, DEBT_DEALER,
		CANCELLED_BET "The refund {event} is not confirmed{tries}.", LATER_REFUND},
	{STORY_BET, SEAMLESS, BET(REFUNDING), M(SENDING), STILL, STORY_CANCELLED, 0, DEBT_DEALER,
		CANCELLED_BET "The refund {event} is being sent.", LOOK},
	{STORY_BET, SEAMLESS, BET(REFUNDING), M(PARKED), STILL, STORY_CANCELLED, 0, DEBT_DEALER,
		CANCELLED_BET "The refund {event} is not confirmed{tries}, and no further attempt is planned.", RETRY},
	{STORY_BET, SEAMLESS, BET(REFUNDING), M(HELD), STILL, STORY_CANCELLED, 0, DEBT_DEALER,
		CANCELLED_BET "The refund {event} is held.", RELEASE},

	{STORY_BET, SEAMLESS, BET(REFUNDED), M(DELIVERED), STILL, 0, 0, DEBT_NONE,
		NO_ANSWER "{dealer} confirmed the refund {event}: what it debited, it returned.", ASK},
	{STORY_BET, SEAMLESS, BET(REFUNDED), M(KNOWN), STILL, 0, 0, DEBT_NONE,
		NO_ANSWER "{dealer} answered that it had performed the refund {event} already.", ASK},
	{STORY_BET, SEAMLESS, BET(REFUNDED), M(UNKNOWN), STILL, 0, 0, DEBT_NONE,
		"{dealer} did not answer the bet, and later answered that it does not know it: it never debited {amount}.",
		ASK},
	{STORY_BET, SEAMLESS, BET(REFUNDED), M(CANCELLED), STILL, 0, 0, DEBT_NONE,
		NO_ANSWER "Operator {by} cancelled the refund {event} as settled by other means.", AUDIT},
	{STORY_BET, SEAMLESS, BET(REFUNDED), M(DELIVERED), STILL, STORY_CANCELLED, 0, DEBT_NONE,
		CANCELLED_BET "{dealer} confirmed the refund {event}.", ASK},
	{STORY_BET, SEAMLESS, BET(REFUNDED), M(KNOWN), STILL, STORY_CANCELLED, 0, DEBT_NONE,
		CANCELLED_BET "{dealer} answered that it had performed the refund {event} already.", ASK},
	{STORY_BET, SEAMLESS, BET(REFUNDED), M(UNKNOWN), STILL, STORY_CANCELLED, 0, DEBT_DEALER_PERHAPS,
		"{dealer} accepted the bet of {amount}, and answered to the refund {event} that it does not know it.",
		"Ask {dealer} whether it debited {user} for bet {transaction}."},
	{STORY_BET, SEAMLESS, BET(REFUNDED), M(CANCELLED), STILL, STORY_CANCELLED, 0, DEBT_NONE,
		CANCELLED_BET "Operator {by} cancelled the refund {event} as settled by other means.", AUDIT},

	/* ---- rounds */
	{STORY_ROUND, EITHER, ROUND(OPEN), NO_MESSAGE, STILL, 0, 0, DEBT_NONE,
		"The round is open: game server {client} has sent no result.",
		"See each bet of the round; the result is sent by game server {client}."},
	{STORY_ROUND, TRANSFER, ROUND(SETTLED), NO_MESSAGE, STILL, 0, 0, DEBT_NONE,
		"{round}. Nothing was to be paid.", NONE},
	{STORY_ROUND, TRANSFER, ROUND(SETTLED), NO_MESSAGE, MOVE(PAYS), 0, 0, DEBT_NONE,
		"{round}. The platform credited {amount} to {user}.", NONE},
	{STORY_ROUND, TRANSFER, ROUND(SETTLED), NO_MESSAGE, STILL | MOVE(PAYS), STORY_SHORTFALL, 0, DEBT_PLAYER_PLATFORM,
		"{round}. The payout is {amount}. More was paid before, and the balance of {user} did not cover "
		"{shortfall} of the difference.",
		"A later increase of this round's payout takes it first. Otherwise collect it from {user}."},

	{STORY_ROUND, SEAMLESS, ROUND(SETTLED), M(DUE), MOVE(PAYS), 0, 0, DEBT_DEALER,
		"{round}. {dealer} has not confirmed {moved} for {user}{tries}.", LATER},
	{STORY_ROUND, SEAMLESS, ROUND(SETTLED), M(SENDING), MOVE(PAYS), 0, 0, DEBT_DEALER,
		"{round}. The result with {moved} for {user} is being sent to {dealer}.", LOOK},
	{STORY_ROUND, SEAMLESS, ROUND(SETTLED), M(PARKED), MOVE(PAYS), 0, 0, DEBT_DEALER,
		"{round}. {dealer} has not confirmed {moved} for {user}{tries}, and no further attempt is planned.",
		RETRY},
	{STORY_ROUND, SEAMLESS, ROUND(SETTLED), M(HELD), MOVE(PAYS), 0, 0, DEBT_DEALER,
		"{round}. The result with {moved} for {user} is held, and {dealer} has not confirmed it.", RELEASE},
	{STORY_ROUND, SEAMLESS, ROUND(SETTLED), M(DELIVERED), MOVE(PAYS), 0, 0, DEBT_NONE,
		"{round}. {dealer} confirmed that it paid {moved} to {user}.", ASK},
	{STORY_ROUND, SEAMLESS, ROUND(SETTLED), M(KNOWN), MOVE(PAYS), 0, 0, DEBT_NONE,
		"{round}. {dealer} answered that it had paid {moved} to {user} already.", ASK},
	{STORY_ROUND, SEAMLESS, ROUND(SETTLED), M(CANCELLED), MOVE(PAYS), 0, 0, DEBT_NONE,
		"{round}. Operator {by} cancelled {event} with {moved} for {user} as settled by other means.", AUDIT},
	{STORY_ROUND, SEAMLESS, ROUND(SETTLED), M(ADJUSTED), MOVE(PAYS), 0, 0, DEBT_DEALER_PLATFORM,
		"{round}. {dealer} has not confirmed {moved}. The adjustment {adjusted} credited {user} on the platform "
		"in its place, and {event} is never sent again.", CANCEL},
	{STORY_ROUND, SEAMLESS, ROUND(SETTLED), M(ADJUSTED_ENDED), MOVE(PAYS), 0, 0, DEBT_NONE,
		"{round}. The adjustment {adjusted} credited {user} on the platform in place of {dealer}, and operator "
		"{by} cancelled {event} with {moved}.", AUDIT},

	{STORY_ROUND, SEAMLESS, ROUND(SETTLED), M(DUE), STILL, 0, 0, DEBT_NONE,
		"{round}. Nothing is to be paid. {dealer} has not confirmed the result{tries}.", LATER},
	{STORY_ROUND, SEAMLESS, ROUND(SETTLED), M(SENDING), STILL, 0, 0, DEBT_NONE,
		"{round}. Nothing is to be paid. The result is being sent to {dealer}.", LOOK},
	{STORY_ROUND, SEAMLESS, ROUND(SETTLED), M(PARKED), STILL, 0, 0, DEBT_NONE,
		"{round}. Nothing is to be paid. {dealer} has not confirmed the result{tries}, and may count the round "
		"as open.", RETRY},
	{STORY_ROUND, SEAMLESS, ROUND(SETTLED), M(HELD), STILL, 0, 0, DEBT_NONE,
		"{round}. Nothing is to be paid. The result is held, and {dealer} may count the round as open.",
		RELEASE},
	{STORY_ROUND, SEAMLESS, ROUND(SETTLED), CONFIRMED, STILL, 0, 0, DEBT_NONE,
		"{round}. Nothing is to be paid. {dealer} has the result.", NONE},
	{STORY_ROUND, SEAMLESS, ROUND(SETTLED), M(CANCELLED), STILL, 0, 0, DEBT_NONE,
		"{round}. Nothing is to be paid. Operator {by} cancelled {event}, and {dealer} may count the round as "
		"open.", AUDIT},
	{STORY_ROUND, SEAMLESS, ROUND(SETTLED), M(ADJUSTED), STILL, 0, 0, DEBT_NONE,
		"{round}. Nothing is to be paid, although the adjustment {adjusted} stands for {event}.", CANCEL},
	{STORY_ROUND, SEAMLESS, ROUND(SETTLED), M(ADJUSTED_ENDED), STILL, 0, 0, DEBT_NONE,
		"{round}. Nothing is to be paid, although the adjustment {adjusted} stands for {event}, which operator "
		"{by} cancelled.", AUDIT},

	{STORY_ROUND, SEAMLESS, ROUND(SETTLED), M(DUE), MOVE(TAKES), 0, STORY_SHORTFALL, DEBT_PLAYER_DEALER,
		TAKEN "{dealer} has not confirmed that it took it back{tries}.", LATER},
	{STORY_ROUND, SEAMLESS, ROUND(SETTLED), M(SENDING), MOVE(TAKES), 0, STORY_SHORTFALL, DEBT_PLAYER_DEALER,
		TAKEN "The correction is being sent to {dealer}.", LOOK},
	{STORY_ROUND, SEAMLESS, ROUND(SETTLED), M(PARKED), MOVE(TAKES), 0, STORY_SHORTFALL, DEBT_PLAYER_DEALER,
		TAKEN "{dealer} has not confirmed that it took it back{tries}, and no further attempt is planned.",
		RETRY},
	{STORY_ROUND, SEAMLESS, ROUND(SETTLED), M(HELD), MOVE(TAKES), 0, STORY_SHORTFALL, DEBT_PLAYER_DEALER,
		TAKEN "The correction is held, and {dealer} has not taken it back.", RELEASE},
	{STORY_ROUND, SEAMLESS, ROUND(SETTLED), CONFIRMED, MOVE(TAKES), 0, 0, DEBT_NONE,
		TAKEN "{dealer} confirmed that it took it back from {user}.", NONE},
	{STORY_ROUND, SEAMLESS, ROUND(SETTLED), M(CANCELLED), MOVE(TAKES), 0, 0, DEBT_NONE,
		TAKEN "Operator {by} cancelled {event} as settled by other means.", AUDIT},
	{STORY_ROUND, SEAMLESS, ROUND(SETTLED), CONFIRMED, MOVE(TAKES), STORY_SHORTFALL, 0, DEBT_PLAYER_DEALER,
		TAKEN "{dealer} could not take back {shortfall}, which {user} did not have.",
		"A later increase of this round's payout takes it first. Otherwise {dealer} collects it from {user}."},
	{STORY_ROUND, SEAMLESS, ROUND(SETTLED), M(CANCELLED), MOVE(TAKES), STORY_SHORTFALL, 0, DEBT_PLAYER_DEALER,
		TAKEN "Operator {by} cancelled {event} as settled by other means. {dealer} could not take back "
		"{shortfall} of an earlier correction.",
		"A later increase of this round's payout takes it first. Otherwise {dealer} collects it from {user}."},

	/* ---- transfers, and other movements of the platform's ledger */
	{STORY_TRANSFER, EITHER, ENTRY(TRANSFER_IN), NO_MESSAGE, STILL, 0, 0, DEBT_NONE,
		"{dealer} moved {amount} of {user} into the platform. The balance was then {balance}.",
		"A dealer that missed the answer receives it again if it repeats the call with the same reference."},
	{STORY_TRANSFER, EITHER, ENTRY(TRANSFER_OUT), NO_MESSAGE, STILL, 0, 0, DEBT_NONE,
		"{dealer} moved {amount} of {user} out of the platform. The balance was then {balance}.",
		"A dealer that missed the answer receives it again if it repeats the call with the same reference."},
	{STORY_TRANSFER, EITHER, ENTRY(ADJUST), NO_MESSAGE, STILL, 0, 0, DEBT_NONE,
		"An operator adjusted the balance of {user} by {amount}. The balance was then {balance}.", AUDIT},
	{STORY_TRANSFER, EITHER, ENTRY(BET), NO_MESSAGE, STILL, 0, 0, DEBT_NONE,
		"This is the stake of a bet: {amount} of {user}. The balance was then {balance}.",
		"creditbridgectl bet show {transaction} has the bet and its round."},
	{STORY_TRANSFER, EITHER, ENTRY(PAYOUT), NO_MESSAGE, STILL, 0, 0, DEBT_NONE,
		"This is the payout of a round: {amount} for {user}. The balance was then {balance}.",
		"creditbridgectl round show {transaction} has the round."},
	{STORY_TRANSFER, EITHER, ENTRY(CORRECTION), NO_MESSAGE, STILL, 0, 0, DEBT_NONE,
		"This is the correction of a settled round: {amount} for {user}. The balance was then {balance}.",
		"creditbridgectl round show {transaction} has the round."},
	{STORY_TRANSFER, EITHER, ENTRY(BET_CANCEL), NO_MESSAGE, STILL, 0, 0, DEBT_NONE,
		"This is the stake of a cancelled bet, returned to {user}: {amount}. The balance was then {balance}.",
		"creditbridgectl bet show {transaction} has the bet."},
	{STORY_TRANSFER, EITHER, ENTRY(TRANSFER_IN) | ENTRY(TRANSFER_OUT) | ENTRY(ADJUST) | ENTRY(BET) | ENTRY(PAYOUT) |
		ENTRY(CORRECTION) | ENTRY(BET_CANCEL), NO_MESSAGE, STILL, STORY_REFUSED, 0, DEBT_NONE,
		"The request was refused as {refusal}, and the refusal was recorded. Nothing moved. The balance was "
		"{balance}.",
		"A repeated request with this reference receives the same refusal. A new one needs a new reference."},
	{STORY_TRANSFER, EITHER, ENTRY(SEAL), NO_MESSAGE, STILL, STORY_SEALED, 0, DEBT_NONE,
		"{dealer} sealed this reference before a transfer used it. Nothing moved, and no transfer can use it.",
		"A new transfer needs a new reference."},
};
/* clang-format on */
const unsigned int story_row_count = sizeof(story_rows) / sizeof(story_rows[0]);
