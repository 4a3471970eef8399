/*
 * ops - the operations of each command.
 *
 * keys() declares the rows that a command needs. It is called again after each load until it
 * declares no new rows, so that a row may name the next. apply() is a pure function on the rows
 * and on the permits of the dealers (permits.h): no I/O, no clock, no randomness. A command that
 * only reads ranges has read() instead. It runs after the batch was saved and sees its rows.
 *
 * Each family of commands is one file in a folder of commands/; README there has the folders.
 */
#ifndef LEDGER_COMMANDS_OPS_H
#define LEDGER_COMMANDS_OPS_H

#include "base/buffer.h"
#include "ledger/rows/context.h"
#include "store/store.h"

struct accepted_calls;
struct ledger;
struct moves;
struct recent;
struct refused_log;
struct refused_ring;

struct read_context {
	struct store *store;
	bool desk;                 /* the command came over desk.sock */
	const char *operator_name; /* of the web console; "": none */
	uint32_t peer_uid;
	struct ws *ws;           /* free for use: the batch was saved */
	uint64_t generation;     /* of the keyring */
	uint64_t transaction_id; /* the last one used */
	struct moment now;
	struct permits *permits;
	struct schedule *schedule;
	struct metrics *metrics; /* NULL: nothing is counted */
	/* Reports the state of the ledger (ledger_status()). */
	void (*status)(const struct ledger *ledger, struct status_result *status);
	const struct ledger *ledger;
	struct refused_ring *refused;
	struct refused_log *refused_log;
	bool storage_low;
	uint32_t replay_rate;        /* callbacks a second that a replay makes due */
	const struct recent *recent; /* the newest transactions */
	const struct accepted_calls *accepted;
	const struct moves *moves; /* of dealers, under way; NULL: none */
	struct buffer *rows;       /* data of struct bytes of the result; reset before each read */
	struct buffer *cursor;     /* likewise */
};

struct command_ops {
	void (*keys)(const void *cmd, struct ws *ws);
	/* @result is zeroed before the call. */
	void (*apply)(const void *cmd, const struct apply_context *context, struct ws *ws,
		void *result);
	enum status (*read)(const void *cmd, const struct read_context *context, void *result);
	/*
	 * Returns true if @result ends work under way, whose amount is limited. Such a command may
	 * use disk space below disk_low_water_mib. NULL: it may not.
	 *
	 * Two other kinds may use it. One returns an existing grant again
	 * (apply_context.granted_again). The other is a read that overwrites one small row, once
	 * for LIFE_BLOCK_IDS of its kind; checkpoints free that log again.
	 */
	bool (*concludes)(const void *result);
	/*
	 * Its rows may be large: after it the batch checks how much it has loaded
	 * (LEDGER_BATCH_BYTES).
	 */
	bool loads_objects;
};

/* Indexed by command. ledger.c answers a CONTROL command without read(). */
extern const struct command_ops command_ops[COMMAND_COUNT];

#define OPS_APPLY(lower)                                                                           \
	void lower##_keys(const void *cmd, struct ws *ws);                                         \
	void lower##_apply(const void *cmd, const struct apply_context *context, struct ws *ws,    \
		void *result)
#define OPS_READ(lower)                                                                            \
	enum status lower##_read(const void *cmd, const struct read_context *context, void *result)

OPS_APPLY(transfer);
OPS_APPLY(transfer_inquire);
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
OPS_APPLY(bet_cancel);
OPS_APPLY(round_correct);
OPS_APPLY(round_settle);
OPS_APPLY(settle_batch);
OPS_APPLY(callback_end);
OPS_APPLY(callback_claim);
OPS_APPLY(callback_operate);
OPS_APPLY(note);
OPS_APPLY(backup);
OPS_APPLY(feed);
OPS_APPLY(callback_page);
OPS_APPLY(callback_resend);
OPS_APPLY(operator_correct);
OPS_APPLY(operator_put);
OPS_APPLY(session_open);
OPS_APPLY(session_step);
OPS_APPLY(replay_start);
OPS_APPLY(replay_stop);
OPS_APPLY(replay_step);
OPS_APPLY(dealer_move);
OPS_APPLY(move_put);
OPS_APPLY(move_drop);
OPS_READ(move_read);
OPS_READ(replay_preview);
bool callback_end_concludes(const void *result);
bool callback_claim_concludes(const void *result);
bool player_balance_concludes(const void *result);
OPS_READ(backup);
OPS_READ(callback_find);
OPS_READ(callback_wait);
OPS_READ(callback_page);
OPS_READ(feed);
OPS_READ(dealer_state);
OPS_READ(find);
OPS_READ(player_find);
OPS_READ(keyring);
OPS_READ(key_try);
OPS_READ(list);
OPS_READ(metrics);
OPS_READ(activity);
OPS_READ(callback_ages);
OPS_READ(refused_note);
OPS_READ(refused_find);
OPS_READ(refused_keep);
OPS_READ(refused_list);

#endif
