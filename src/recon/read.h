/*
 * read - a file of creditbridge-recon(5), ours or a dealer's, read to be compared.
 *
 * A dealer's own file need not have all columns: record, id and amount are needed, state is looked
 * at if it is there. The first row names them, in any order. The file is held in memory.
 */
#ifndef RECON_READ_H
#define RECON_READ_H

#include "recon/recon.h"

/* A row that is compared; the texts lie in the file's. */
struct compared {
	unsigned int record;
	const char *id;
	money_t amount;
	const char *state;
	/* "" or 0: the file does not name it */
	const char *user_id;
	const char *game_id;
	const char *kind;
	const char *reference;
	uint64_t transaction_id;
	int64_t time_ms;
};

/* A file. */
struct side {
	struct session *session;
	const char *path;
	struct buffer text;
	struct compared *rows;
	size_t count;
	size_t room;
	int columns[RECON_COLUMN_COUNT]; /* where each stands; -1: nowhere */
	bool ended;                      /* with a SHA-256 that is right */
	char day[16];                    /* of its day row; "": it has none */
	char casino_id[CASINO_ID_SIZE];
};

/*
 * Loads the rows of @records (1 << enum recon_record) that @path holds ("-": standard input), in
 * order. Refuses (bad_file) what is no such file, and one with another SHA-256 than it ends with;
 * @ours must end with one: else it was cut off. To be freed in any case.
 */
enum outcome recon_side_load(struct side *side, struct session *session, const char *path, bool ours,
	uint32_t records);
void recon_side_free(struct side *side);

/* Adds a row, whose texts the caller keeps; false: out of memory. Sort afterwards. */
bool recon_side_add(struct side *side, const struct compared *row);
void recon_side_sort(struct side *side);

/* A row by its record and id; NULL: none. */
const struct compared *recon_side_find(const struct side *side, unsigned int record, const char *id);

/*
 * Gives @pair the rows of both sides that belong together, in the order of record and id. @ours or
 * @theirs is NULL: the other side has no such row. The order of rows of one key may change.
 */
typedef void recon_pair(void *context, const struct compared *ours, const struct compared *theirs);
void recon_sides_walk(struct side *ours, struct side *theirs, recon_pair *pair, void *context);

/* By record and id; and for rows of one key by amount and state. */
int compared_order_key(const struct compared *a, const struct compared *b);
int compared_order(const struct compared *a, const struct compared *b);

/* Amount and state of both sides, as members, fields and columns of a difference that is shown. */
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
	{"OUR AMOUNT", "our_amount", OUTPUT_PLAIN}, {"THEIR AMOUNT", "their_amount", OUTPUT_PLAIN}, \
		{"OUR STATE", "our_state", OUTPUT_PLAIN}, {"THEIR STATE", "their_state", OUTPUT_PLAIN}

/* Fills a side of it; @row NULL: that side has no such row, and the texts are "". */
void compared_show(const struct compared *row, uint8_t decimals, char amount[MONEY_TEXT_MAX],
	char state[COMPARED_STATE_SIZE]);

#endif
