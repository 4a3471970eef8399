/*
 * recon - a dealer's day as rows and as CSV, in the format of creditbridge-recon(5).
 */
#ifndef RECON_RECON_H
#define RECON_RECON_H

#include "admin/session.h"
#include "wire/digest.h"

/* The kinds of rows of a day that are written and compared. */
enum recon_record { RECON_MOVEMENT, RECON_BET, RECON_CALLBACK, RECON_RECORD_COUNT };
extern const char *const recon_record_names[RECON_RECORD_COUNT];

/* The columns. The first row contains their names. */
enum recon_column {
	COLUMN_RECORD,
	COLUMN_ID,
	COLUMN_CASINO_ID,
	COLUMN_TIME,
	COLUMN_TIME_MS,
	COLUMN_USER_ID,
	COLUMN_PLAYER_ID,
	COLUMN_GAME_ID,
	COLUMN_KIND,
	COLUMN_STATE,
	COLUMN_AMOUNT,
	COLUMN_CURRENCY,
	COLUMN_TRANSACTION_ID,
	COLUMN_REFERENCE,
	COLUMN_BEFORE_BALANCE,
	COLUMN_CURRENT_BALANCE,
	COLUMN_COUNT,
	COLUMN_REVISION,
	RECON_COLUMN_COUNT
};
extern const char *const recon_column_names[RECON_COLUMN_COUNT];

/* Rows about the file itself: see creditbridge-recon(5). */
#define RECON_DAY    "day"
#define RECON_TOTAL  "total"
#define RECON_SHA256 "sha256"

/* A row. A member that is NULL or whose flag is not set is an empty field. */
struct recon_row {
	const char *record;
	const char *id;
	int64_t time_ms; /* 0: none */
	const char *user_id;
	const char *player_id;
	const char *game_id;
	const char *kind;
	const char *state;
	const char *reference;
	bool has_amount;
	bool has_transaction;
	bool has_balances;
	bool has_count;
	sum_t amount;
	uint64_t transaction_id;
	money_t before_balance;
	money_t current_balance;
	uint64_t count;
	uint32_t revision; /* of the correction that a callback reports; 0: none */
};

/* A number of rows and the total of their amounts. */
struct recon_sum {
	uint64_t count;
	sum_t amount;
};

#define RECON_NAMES 1024 /* number of players whose names are cached */

struct recon {
	struct session *session;
	/*
	 * Called with each row instead of writing the file. It returns false if memory is
	 * exhausted. NULL: the file is written.
	 */
	bool (*take)(void *context, const struct recon_row *row);
	void *context;
	struct dealer dealer;
	const char *date;
	int64_t from_ms; /* the day, by the dealer's utc_offset */
	int64_t until_ms;
	uint32_t records; /* 1 << enum recon_record: the kinds to write */
	/* Called with the bytes of the file. It must remember a failure itself. */
	void (*write)(void *file, const void *data, size_t len);
	void *file;
	bool failed; /* memory is exhausted */
	struct buffer line;
	struct player_name *names; /* RECON_NAMES */
	struct recon_sum movements[ENTRY_KIND_COUNT];
	struct recon_sum bets[BET_STATE_COUNT];
	struct recon_sum callbacks[CALLBACK_KIND_COUNT][CALLBACK_STATE_COUNT];
};

/* Writes a row. */
void recon_put(struct recon *recon, const struct recon_row *row);

/* Write the day's transactions and bets, and its callbacks, and add them to the sums. */
enum outcome recon_write_transactions(struct recon *recon);
enum outcome recon_write_callbacks(struct recon *recon);

/*
 * Write the transaction and bet with the id @id, or the callback @event, of any time. They write
 * nothing if it does not exist or belongs to another dealer.
 */
enum outcome recon_write_transaction(struct recon *recon, uint64_t id);
enum outcome recon_write_callback(struct recon *recon, uint64_t event);

/*
 * Write the day's own row and the column names before all other rows, and the totals after them.
 */
void recon_put_day(struct recon *recon, bool over);
void recon_put_totals(struct recon *recon);
/* Writes the last row: the SHA-256 of all preceding bytes as text. */
void recon_put_digest(struct recon *recon, const char *digest);

#endif
