/*
 * ops - what the ledger does for each command.
 *
 * keys() declares the rows a command needs; apply() is a pure function on them and on the permits of
 * the dealers (permits.h): no I/O, no clock, no randomness. keys() is called again after a load until it declares nothing new, so that a row
 * may name the next. A command that only reads ranges has read() instead, which runs after the
 * batch was saved and sees its rows.
 *
 * Each family of commands is one file of commands/: transfers.c, bets.c, rounds.c,
 * callbacks.c, reports.c, backups.c, players.c, dealers.c, clients.c, keyring.c, lists.c, note.c, stats.c,
 * rejected_requests.c.
 */
#ifndef LEDGER_COMMANDS_OPS_H
#define LEDGER_COMMANDS_OPS_H

#include "base/buffer.h"
#include "base/clock.h"
#include "link/commands.h"
#include "store/store.h"
#include "store/ws.h"

struct flow;
struct schedule;
struct outbox_options;
struct metrics;
struct metrics_notes;
struct ledger;
struct key_book;
struct refused_ring;
struct retired_notes;

struct apply_context {
	struct moment now;    /* one a batch */
	uint32_t peer_uid;    /* of the socket's other end */
	uint64_t link;        /* the caller's link, a number of this run; never 0 */
	struct flow *flow;    /* permits: taken and given back while applying */
	const struct schedule *schedule; /* as it was before the batch */
	const struct outbox_options *outbox;
	struct metrics *metrics; /* NULL: nothing is counted */
	struct metrics_notes *notes; /* attempts that end in this batch */
	struct key_book *key_book; /* every key that was issued; NULL: no key is known */
	struct retired_notes *retired; /* keys that are taken away in this batch */
	bool *granted_again; /* set when the caller is told again what was granted to him before */
	struct arena *arena; /* for what results point to: lives until the answers are written */
};

struct read_context {
	struct store *store;
	uint64_t generation;     /* of the keyring */
	uint64_t transaction_id; /* the last one given out */
	struct moment now;
	struct flow *flow;
	struct schedule *schedule;
	struct metrics *metrics; /* NULL: nothing is counted */
	const struct ledger *ledger; /* for its figures */
	struct refused_ring *refused;
	struct buffer *rows;     /* for struct bytes of the result; reset before each read */
	struct buffer *cursor;   /* likewise */
};

struct command_ops {
	void (*keys)(const void *cmd, struct ws *ws);
	/* @result is zeroed before. */
	void (*apply)(const void *cmd, const struct apply_context *context, struct ws *ws,
		void *result);
	enum status (*read)(const void *cmd, const struct read_context *context, void *result);
	/*
	 * Whether @result ends what is under way, and so many of these there can be at most: such a
	 * command may take of the space below disk_low_water_mib. NULL: it may not. (One that tells its
	 * caller again what to send may as well, apply_context.granted_again. So may a read that writes
	 * over one small row, once for LIFE_BLOCK_IDS of its kind: checkpoints free that log again.)
	 */
	bool (*concludes)(const void *result);
	/* Its rows may be large: what the batch has loaded is looked at behind it (LEDGER_BATCH_BYTES). */
	bool loads_objects;
};

/* By command; a CONTROL command without read() is answered by ledger.c. */
extern const struct command_ops command_ops[COMMAND_COUNT];

#define OPS_APPLY(lower)                                                                           \
	void lower##_keys(const void *cmd, struct ws *ws);                                         \
	void lower##_apply(const void *cmd, const struct apply_context *context, struct ws *ws,    \
		void *result)
#define OPS_READ(lower)                                                                            \
	enum status lower##_read(const void *cmd, const struct read_context *context, void *result)

OPS_APPLY(transfer);
OPS_APPLY(adjust);
OPS_APPLY(balance);
OPS_APPLY(user_stat);
OPS_APPLY(result_inquire);
OPS_APPLY(player_put);
OPS_APPLY(dealer_put);
OPS_APPLY(dealer_key);
OPS_APPLY(client_put);
OPS_APPLY(client_key);
OPS_APPLY(player_register);
OPS_APPLY(player_balance);
OPS_APPLY(bet_place);
OPS_APPLY(round_settle);
OPS_APPLY(callback_end);
OPS_APPLY(callback_claim);
OPS_APPLY(callback_operate);
OPS_APPLY(note);
OPS_APPLY(backup);
bool callback_end_concludes(const void *result);
bool callback_claim_concludes(const void *result);
bool player_balance_concludes(const void *result);
OPS_READ(backup);
OPS_READ(callback_find);
OPS_READ(keyring);
OPS_READ(list);
OPS_READ(metrics);
OPS_READ(refused_note);
OPS_READ(refused_find);

/* A number that outlives the process, by its name (domain/records.h, struct counter). */
/*
 * Tells in @verdict, where it is an invalid_amount for that reason, how many decimals the dealer has and
 * which amount is nearest to @amount, the value of the member @field.
 */
void verdict_decimals(struct verdict *verdict, const char *field, money_t amount,
	const struct dealer *dealer);

void counter_want(struct ws *ws, const char *name);
uint64_t counter_read(struct ws *ws, const char *name);
/* Gives out the next number. */
uint64_t counter_next(struct ws *ws, const char *name);

#endif
