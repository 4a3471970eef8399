/*
 * import_mutate - mutations of fuzz_import's lines: rows are read, one or several members are changed, and the
 * rows are written again. Most changes keep the relations between rows, so that the proof is passed.
 */
#include "fuzz.h"
#include "import_target.h"

#include "base/text.h"
#include "base/wide.h"
#include "wire/row_line.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);

#define LIST_ROOM (2048 * 4)
#define KIND_LEN  20 /* so many bytes of a line show its kind: {"record":"callback_b */

struct line {
	struct bytes text;              /* without its newline */
	struct row_line read;           /* owns what bytes members point to */
	const struct record_info *info; /* NULL: it is no row */
	union import_row row;
	bool changed;
};

static struct line lines[IMPORT_LINES_MAX];
static unsigned int line_count;
static bool secrets;
static uint64_t state;
static uint8_t room[LIST_ROOM]; /* what a changed member of bytes points to */

static uint64_t draw(uint64_t below)
{
	uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return below ? (z ^ z >> 31) % below : 0;
}

/* ---- lines */

static void split(struct bytes in)
{
	line_count = 0;
	while (in.len && line_count < IMPORT_LINES_MAX) {
		const uint8_t *end = memchr(in.data, '\n', in.len);
		const uint32_t len = end ? (uint32_t)(end - in.data) : in.len;

		lines[line_count] = (struct line){.text = {in.data, len}};
		row_line_init(&lines[line_count++].read);
		fuzz_take(&in, len + 1);
	}
}

/* Reads the row of @line. False: there is none. */
static bool read_row(struct line *line)
{
	char why[ROW_LINE_WHY_SIZE];
	enum record record;

	if (line->info)
		return true;
	if (row_line_read(&line->read, (const char *)line->text.data, line->text.len, why) !=
		ROW_LINE_DONE)
		return false;
	record = import_record_of(line->read.name);
	if (record == RECORD_COUNT ||
		row_line_take(&line->read, record_infos[record].fields, record_infos[record].size,
			&line->row, secrets, why) != ROW_LINE_DONE)
		return false;
	line->info = &record_infos[record];
	return true;
}

/* Writes the lines and forgets them. Returns 0 if there is not room for all. */
static size_t join(uint8_t *out, size_t out_size, uint8_t first)
{
	struct buffer text;
	size_t size;

	buffer_init(&text, (uint32_t)out_size);
	buffer_append(&text, &first, 1);
	for (unsigned int i = 0; i < line_count; i++) {
		struct line *line = &lines[i];

		if (line->info && line->changed) {
			row_line_put(&text, line->info->name, line->info->fields, &line->row,
				secrets);
		} else {
			buffer_append(&text, line->text.data, line->text.len);
			buffer_append(&text, "\n", 1);
		}
	}
	for (unsigned int i = 0; i < line_count; i++)
		row_line_free(&lines[i].read);
	size = text.failed ? 0 : text.len;
	if (size)
		memcpy(out, text.data, size);
	buffer_free(&text);
	return size;
}

/* ---- members */

/* A member of a row, in a group or not. */
struct member {
	const struct field *field;
	uint8_t *at;
};

/* Calls @visit for every member of @row that is no group. */
static void each_member(const struct field *table, uint8_t *row,
	void (*visit)(const struct member *member, void *context), void *context)
{
	for (; table->name; table++) {
		const struct member member = {table, row + table->offset};

		for (uint32_t i = 0; table->type == FIELD_GROUP && i < table->count; i++)
			each_member(table->sub, member.at + (size_t)i * table->size, visit,
				context);
		if (table->type != FIELD_GROUP)
			visit(&member, context);
	}
}

static void each_member_of(struct line *line,
	void (*visit)(const struct member *member, void *context), void *context)
{
	each_member(line->info->fields, (uint8_t *)&line->row, visit, context);
}

struct choice {
	struct member member;
	unsigned int seen;
};

/* Each member is as likely as another. */
static void choose(const struct member *member, void *context)
{
	struct choice *choice = context;

	if (!draw(++choice->seen))
		choice->member = *member;
}

/* A number at an edge, or near the present one. */
static uint64_t near_edge(uint64_t value)
{
	static const uint64_t edges[] = {0, 1, 2, 4, 255, 256, 257, 65535, 65536, UINT32_MAX,
		UINT64_C(1) << 30, (UINT64_C(1) << 30) + 1, TRANSACTION_ID_MAX,
		TRANSACTION_ID_MAX - 8, TRANSACTION_ID_MAX + 1, MONEY_MAX, (uint64_t)MONEY_MAX + 1,
		INT64_MAX, (uint64_t)INT64_MAX + 1, UINT64_MAX};

	switch (draw(4)) {
	case 0:
		return value + 1;
	case 1:
		return value - 1;
	case 2:
		return value * (1 + draw(1000));
	default:
		return edges[draw(sizeof(edges) / sizeof(edges[0]))];
	}
}

static void change_text(const struct member *member)
{
	static const char *const texts[] = {"", "a", "k1", "k9", "k4294967296", "d", "c", "demo",
		"slots", "aaaaaaaaaaaaaaaaaaaa", "../..", "thb", "usd", "transaction_id", "event",
		"id_stride", "https://dealer.example/", "\xf0\x9f\x8e\xb2", "%s%n"};
	char *text = (char *)member->at;
	const size_t most = member->field->size - 1;

	switch (draw(4)) {
	case 0: /* as long as it can be */
		memset(text, 'a' + (int)draw(26), most);
		text[most] = '\0';
		break;
	case 1:
		if (text[0])
			text[draw(strlen(text))] = (char)('a' + (int)draw(26));
		break;
	default:
		text_copy(text, member->field->size, texts[draw(sizeof(texts) / sizeof(texts[0]))]);
		break;
	}
}

/* A list of a round's bets (domain/round_list.h), or an object. */
static void change_bytes(const struct member *member)
{
	static const uint16_t counts[] = {0, 1, 2, 255, 256, 257, 2000};
	static const char *const objects[] = {"", "{}", "{\"a\":1}", "[]", "{", "\"\\u0000\""};
	struct bytes bytes = {room, 0};

	if (draw(2)) {
		bytes.data = (const uint8_t *)objects[draw(sizeof(objects) / sizeof(objects[0]))];
		bytes.len = (uint32_t)strlen((const char *)bytes.data);
	} else {
		const uint32_t count = counts[draw(sizeof(counts) / sizeof(counts[0]))];

		for (uint32_t i = 0; i < count; i++) {
			room[4 * i] = room[4 * i + 1] = 0;
			room[4 * i + 2] = (uint8_t)((i + 1) >> 7);
			room[4 * i + 3] = (uint8_t)((i + 1) << 1 | 1);
		}
		bytes.len = 4 * count;
	}
	memcpy(member->at, &bytes, sizeof(bytes));
}

static void change(const struct member *member)
{
	const struct field *field = member->field;
	uint64_t number;
	wide_t sum;

	switch (field->type) {
	case FIELD_STR:
	case FIELD_SECRET:
		change_text(member);
		break;
	case FIELD_BYTES:
	case FIELD_JSON:
		change_bytes(member);
		break;
	case FIELD_BOOL:
		*member->at = !*member->at;
		break;
	case FIELD_ENUM:
		field_store_number(member->at, field->size, draw(field->count));
		break;
	case FIELD_SUM:
		memcpy(&sum, member->at, sizeof(sum));
		sum = (wide_t)(draw(2) ? (unsigned __int128)sum + 1
				       : (unsigned __int128)near_edge((uint64_t)sum) << draw(64));
		memcpy(member->at, &sum, sizeof(sum));
		break;
	default:
		number = field_load_number(member->at, field->size);
		field_store_number(member->at, field->size, near_edge(number));
		break;
	}
}

/* ---- changes of all rows */

/* Every member that is as @from was becomes as @to is. */
struct exchange {
	const struct field *field;
	const uint8_t *from;
	const uint8_t *to;
};

static bool is_text(const struct field *field)
{
	return field->type == FIELD_STR;
}

static void exchange(const struct member *member, void *context)
{
	const struct exchange *how = context;
	const struct field *field = member->field;

	if (is_text(field) && is_text(how->field)) {
		if (strcmp((const char *)member->at, (const char *)how->from) == 0)
			text_copy((char *)member->at, field->size, (const char *)how->to);
	} else if (field->type == how->field->type && field->size == how->field->size &&
		memcmp(member->at, how->from, field->size) == 0) {
		memcpy(member->at, how->to, field->size);
	}
}

static void each_line(void (*visit)(const struct member *member, void *context), void *context)
{
	for (unsigned int i = 0; i < line_count; i++) {
		if (!read_row(&lines[i]))
			continue;
		each_member_of(&lines[i], visit, context);
		lines[i].changed = true;
	}
}

static void scale(const struct member *member, void *context)
{
	const int64_t factor = *(const int64_t *)context;
	money_t money;
	wide_t sum;

	if (member->field->type == FIELD_MONEY) {
		memcpy(&money, member->at, sizeof(money));
		money = (money_t)((uint64_t)money * (uint64_t)factor);
		memcpy(member->at, &money, sizeof(money));
	} else if (member->field->type == FIELD_SUM) {
		memcpy(&sum, member->at, sizeof(sum));
		sum = (wide_t)((unsigned __int128)sum * (unsigned __int128)factor);
		memcpy(member->at, &sum, sizeof(sum));
	}
}

/* Times move by it, and ids, which are large numbers that are no times. */
static void shift_times(const struct member *member, void *context)
{
	const uint64_t by = (uint64_t) * (const int64_t *)context;
	const uint64_t number =
		member->field->type == FIELD_TIME_MS ? field_load_number(member->at, 8) : 0;

	if (number)
		field_store_number(member->at, 8, number + by);
}

static void shift_ids(const struct member *member, void *context)
{
	const uint64_t by = (uint64_t) * (const int64_t *)context;
	const uint64_t number =
		member->field->type == FIELD_U64 ? field_load_number(member->at, 8) : 0;

	if (number >> 40)
		field_store_number(member->at, 8, number + by);
}

static void change_all(void)
{
	static const int64_t factors[] = {0, -1, 2, 10, 1000, 1000000, 100000000};
	int64_t by = factors[draw(sizeof(factors) / sizeof(factors[0]))];

	switch (draw(3)) {
	case 0:
		each_line(scale, &by);
		break;
	case 1:
		by *= (int64_t)draw(86400000);
		each_line(shift_times, &by);
		break;
	default:
		by = draw(2) ? (int64_t)(TRANSACTION_ID_MAX - (UINT64_C(1) << 48)) : by * 16;
		each_line(shift_ids, &by);
		break;
	}
}

/* ---- inputs that were accepted */

/*
 * libFuzzer keeps each input that reaches something new, and most of these are refused for what they
 * reach. Their mutations are refused, too.
 */
#define ACCEPTED_MAX  128
#define ACCEPTED_SIZE 32768

/* Not of malloc(): libFuzzer runs each input again that leaves memory allocated. */
static struct {
	size_t size;
	uint8_t data[ACCEPTED_SIZE];
} accepted[ACCEPTED_MAX];
static unsigned int accepted_count;

void import_accepted(const uint8_t *data, size_t size)
{
	unsigned int at;

	if (size > ACCEPTED_SIZE)
		return;
	at = accepted_count++ % ACCEPTED_MAX;
	memcpy(accepted[at].data, data, size);
	accepted[at].size = size;
}

/* Puts one of them in the place of the input @data. */
static size_t begin_with_accepted(uint8_t *data, size_t size, size_t max_size)
{
	const unsigned int count = accepted_count < ACCEPTED_MAX ? accepted_count : ACCEPTED_MAX;
	const unsigned int at = (unsigned int)draw(count);

	if (!count || accepted[at].size > max_size || !draw(4))
		return size;
	memcpy(data, accepted[at].data, accepted[at].size);
	return accepted[at].size;
}

/* ---- one mutation */

static void change_one(struct line *line, bool everywhere)
{
	static union import_row before;
	struct choice choice = {.seen = 0};
	struct exchange how;

	each_member_of(line, choose, &choice);
	if (!choice.seen)
		return;
	memcpy(&before, &line->row, sizeof(before));
	change(&choice.member);
	line->changed = true;
	how = (struct exchange){choice.member.field,
		(const uint8_t *)&before + (choice.member.at - (const uint8_t *)&line->row),
		choice.member.at};
	/* The copy keeps what it was, the row what it became: other rows follow. */
	if (everywhere && choice.member.field->type != FIELD_BYTES &&
		choice.member.field->type != FIELD_JSON)
		each_line(exchange, &how);
}

static void remove_line(unsigned int at)
{
	row_line_free(&lines[at].read);
	line_count--;
	memmove(&lines[at], &lines[at + 1], (line_count - at) * sizeof(lines[0]));
}

/* A second line like it comes next. */
static void repeat_line(unsigned int at)
{
	if (line_count == IMPORT_LINES_MAX)
		return;
	memmove(&lines[at + 1], &lines[at], (line_count - at) * sizeof(lines[0]));
	line_count++;
	lines[at + 1] = (struct line){.text = lines[at].text};
	row_line_init(&lines[at + 1].read);
	if (read_row(&lines[at + 1]))
		change_one(&lines[at + 1], false);
}

/* A line: each kind of row is as likely as another, however many there are. There is one. */
static unsigned int choose_line(void)
{
	unsigned int begins[RECORD_COUNT + 1], count = 0, kind;

	for (unsigned int i = 0; i < line_count && count < RECORD_COUNT; i++) {
		const struct bytes *text = &lines[i].text;
		const struct bytes *before = i ? &lines[i - 1].text : NULL;

		if (!before || before->len < KIND_LEN || text->len < KIND_LEN ||
			memcmp(text->data, before->data, KIND_LEN) != 0)
			begins[count++] = i;
	}
	begins[count] = line_count;
	kind = (unsigned int)draw(count);
	return begins[kind] + (unsigned int)draw(begins[kind + 1] - begins[kind]);
}

static void mutate_once(void)
{
	const unsigned int at = choose_line();

	switch (draw(16)) {
	case 0:
		remove_line(at);
		break;
	case 1:
		repeat_line(at);
		break;
	case 2:
	case 3:
		change_all();
		break;
	case 4:
	case 5:
	case 6:
	case 7:
	case 8:
		if (read_row(&lines[at]))
			change_one(&lines[at], true);
		break;
	default:
		if (read_row(&lines[at]))
			change_one(&lines[at], false);
		break;
	}
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	struct bytes in;
	uint8_t *copy;
	uint8_t first;
	size_t made;

	state = seed;
	size = begin_with_accepted(data, size, max_size);
	if (size < 2 || !draw(50))
		return LLVMFuzzerMutate(data, size, max_size);
	copy = malloc(size);
	must(copy);
	memcpy(copy, data, size);
	in = (struct bytes){copy, (uint32_t)size};
	first = fuzz_byte(&in);
	secrets = first & 1;
	if (!draw(8))
		first ^= 2;
	split(in);
	while (line_count) {
		mutate_once();
		if (draw(3))
			break;
	}
	made = join(data, max_size, first);
	free(copy);
	return made ? made : size;
}
