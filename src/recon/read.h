/*
 * read - loads a file of creditbridge-recon(5), ours or a dealer's, for comparison.
 *
 * A dealer's own file need not have all columns. It must have record, id and amount; state is
 * compared if present. The first row names the columns, in any order. The file is held in memory.
 */
#ifndef RECON_READ_H
#define RECON_READ_H

#include "recon/recon.h"

/* A row to compare. Its texts point into the file's text. */
struct compared {
	unsigned int record;
	const char *id;
	money_t amount;
	const char *state;
	/* "" or 0: not in the file */
	const char *user_id;
	const char *game_id;
	const char *kind;
	const char *reference;
	uint64_t transaction_id;
	int64_t time_ms;
	uint32_t revision; /* of the correction that a callback reports */
};

/* A loaded file. */
struct side {
	struct session *session;
	const char *path;
	struct buffer text;
	struct compared *rows;
	size_t count;
	size_t room;
	int columns[RECON_COLUMN_COUNT]; /* the index of each column; -1: absent */
	bool ended;                      /* the file ends with a correct SHA-256 */
	char day[16];                    /* of its day row; "": there is none */
	char casino_id[CASINO_ID_SIZE];
};

/*
 * Loads the rows of @records (1 << enum recon_record) from @path ("-": standard input) and sorts
 * them. Reports bad_file if the format or the SHA-256 is wrong. With @ours a SHA-256 is required,
 * because without it the file was truncated. Free @side in any case.
 */
enum outcome recon_side_load(struct side *side, struct session *session, const char *path,
	bool ours, uint32_t records);
void recon_side_free(struct side *side);

/*
 * Adds a row, whose texts the caller keeps valid. Returns false if memory is exhausted. Sort
 * afterwards.
 */
bool recon_side_add(struct side *side, const struct compared *row);
void recon_side_sort(struct side *side);

/* Returns the row with this record and id; NULL if there is none. */
const struct compared *recon_side_find(const struct side *side, unsigned int record,
	const char *id);

/*
 * Calls @pair with the matching rows of both sides, in the order of record and id. @ours or
 * @theirs is NULL if that side has no such row. May reorder rows of one key.
 */
typedef void recon_pair(void *context, const struct compared *ours, const struct compared *theirs);
void recon_sides_walk(struct side *ours, struct side *theirs, recon_pair *pair, void *context);

/* Order by record and id; and, for rows of one key, by amount and state. */
int compared_order_key(const struct compared *a, const struct compared *b);
int compared_order(const struct compared *a, const struct compared *b);

/* The amount and state of both sides, as members, fields and columns of a printed difference. */
#define COMPARED_STATE_SIZE 64
#define COMPARED_MEMBERS                                                                           \
	char our_amount[MONEY_TEXT_MAX];                                                           \
	char their_amount[MONEY_TEXT_MAX];                                                         \
	char our_state[COMPARED_STATE_SIZE];                                                       \
	char their_state[COMPARED_STATE_SIZE]
#define COMPARED_FIELDS(shown)                                                                     \
	FIELD(FIELD_STR, shown, our_amount), FIELD(FIELD_STR, shown, their_amount),                \
		FIELD(FIELD_STR, shown, our_state), FIELD(FIELD_STR, shown, their_state)
#define COMPARED_COLUMNS                                                                           \
	{"OUR AMOUNT", "our_amount", OUTPUT_PLAIN},                                                \
		{"THEIR AMOUNT", "their_amount", OUTPUT_PLAIN},                                    \
		{"OUR STATE", "our_state", OUTPUT_PLAIN},                                          \
	{                                                                                          \
		"THEIR STATE", "their_state", OUTPUT_PLAIN                                         \
	}

/*
 * Fills the texts of one side. If @row is NULL, that side has no such row, and the texts are "".
 */
void compared_show(const struct compared *row, uint8_t decimals, char amount[MONEY_TEXT_MAX],
	char state[COMPARED_STATE_SIZE]);

#endif
