#include "link/frame.h"

#include "base/text.h"

#include <string.h>

/* The highest bit of "named". */
#define VOUCHED     0x8000u
#define VOUCH_BYTES (2 * (FRAME_VOUCH_SIZE - 1))

static const char magic[4] = {'C', 'B', 'L', '1'};

static void put_field(uint8_t *to, uint64_t value, unsigned int width)
{
	while (width--) {
		to[width] = (uint8_t)value;
		value >>= 8;
	}
}

static uint64_t get_field(const uint8_t *from, unsigned int width)
{
	uint64_t value = 0;

	while (width--)
		value = value << 8 | *from++;
	return value;
}

void greeting_put(struct buffer *out, uint64_t protocol, uint64_t generation)
{
	uint8_t bytes[GREETING_SIZE];

	memcpy(bytes, magic, 4);
	put_field(bytes + 4, protocol, 8);
	put_field(bytes + 12, generation, 8);
	buffer_append(out, bytes, sizeof(bytes));
}

enum frame_read greeting_get(struct bytes in, uint64_t *protocol, uint64_t *generation)
{
	if (memcmp(in.data, magic, in.len < 4 ? in.len : 4) != 0)
		return FRAME_GARBAGE;
	if (in.len < GREETING_SIZE)
		return FRAME_INCOMPLETE;
	*protocol = get_field(in.data + 4, 8);
	*generation = get_field(in.data + 12, 8);
	return FRAME_COMPLETE;
}

size_t frame_open_request(struct buffer *out, uint16_t command, uint64_t tag)
{
	uint8_t head[FRAME_REQUEST_SIZE] = {0};
	size_t start = out->len;

	put_field(head + 4, command, 2);
	put_field(head + 8, tag, 8);
	buffer_append(out, head, sizeof(head));
	return start;
}

size_t frame_open_answer(struct buffer *out, const struct frame_answer *answer)
{
	uint8_t head[FRAME_ANSWER_SIZE] = {0};
	size_t start = out->len;

	put_field(head + 4, answer->command, 2);
	put_field(head + 6, answer->outcome, 2);
	put_field(head + 8, answer->tag, 8);
	put_field(head + 16, answer->generation, 8);
	buffer_append(out, head, sizeof(head));
	return start;
}

void frame_close(struct buffer *out, size_t start)
{
	if (!out->failed)
		put_field(out->data + start, out->len - start - FRAME_LENGTH_SIZE,
			FRAME_LENGTH_SIZE);
}

void frame_name_request(struct buffer *out, size_t start, const char *request_id)
{
	if (!text_is_name(request_id, FRAME_REQUEST_ID_SIZE - 1) ||
		!buffer_append_str(out, request_id))
		return;
	put_field(out->data + start + 6, strlen(request_id), 2);
}

/* Returns true for 64 hex characters in lower case. */
static bool is_vouch(const char *text)
{
	return strlen(text) == FRAME_VOUCH_SIZE - 1 &&
		strspn(text, "0123456789abcdef") == FRAME_VOUCH_SIZE - 1;
}

/* Appends 64 bytes: the text, or zeros. */
static void put_vouch(struct buffer *out, const char *text)
{
	static const char none[FRAME_VOUCH_SIZE - 1];

	buffer_append(out, is_vouch(text) ? text : none, FRAME_VOUCH_SIZE - 1);
}

void frame_vouch_request(struct buffer *out, size_t start, const struct frame_vouch *vouch)
{
	put_vouch(out, vouch->front);
	put_vouch(out, vouch->session);
	if (!out->failed)
		out->data[start + 6] |= VOUCHED >> 8;
}

/* Reads what proves the sender, of VOUCH_BYTES. Returns false if it is malformed. */
static bool get_vouch(const uint8_t *from, struct frame_vouch *vouch)
{
	memcpy(vouch->front, from, FRAME_VOUCH_SIZE - 1);
	memcpy(vouch->session, from + FRAME_VOUCH_SIZE - 1, FRAME_VOUCH_SIZE - 1);
	return (!vouch->front[0] || is_vouch(vouch->front)) &&
		(!vouch->session[0] || is_vouch(vouch->session));
}

/* Finds the end of the frame. A frame of this kind has at least @head bytes and at most @most. */
static enum frame_read measure_frame(struct bytes in, uint32_t head, uint32_t most, size_t *size)
{
	uint64_t length;

	if (in.len < FRAME_LENGTH_SIZE)
		return FRAME_INCOMPLETE;
	length = get_field(in.data, FRAME_LENGTH_SIZE);
	if (length < head - FRAME_LENGTH_SIZE || length > most - FRAME_LENGTH_SIZE)
		return FRAME_GARBAGE;
	*size = (size_t)length + FRAME_LENGTH_SIZE;
	return in.len < *size ? FRAME_INCOMPLETE : FRAME_COMPLETE;
}

enum frame_read frame_get_request(struct bytes in, struct frame_request *request, size_t *size)
{
	enum frame_read read = measure_frame(in, FRAME_REQUEST_SIZE, FRAME_REQUEST_MAX, size);
	uint32_t named, vouch;

	if (read != FRAME_COMPLETE)
		return read;
	named = (uint32_t)get_field(in.data + 6, 2);
	vouch = named & VOUCHED ? VOUCH_BYTES : 0;
	named &= ~VOUCHED;
	if (named >= FRAME_REQUEST_ID_SIZE || named + vouch > *size - FRAME_REQUEST_SIZE)
		return FRAME_GARBAGE;
	memset(&request->vouch, 0, sizeof(request->vouch));
	if (vouch && !get_vouch(in.data + FRAME_REQUEST_SIZE + named, &request->vouch))
		return FRAME_GARBAGE;
	memcpy(request->request_id, in.data + FRAME_REQUEST_SIZE, named);
	request->request_id[named] = '\0';
	if (named &&
		(strlen(request->request_id) != named || !text_is_name(request->request_id, named)))
		return FRAME_GARBAGE;
	request->command = (uint16_t)get_field(in.data + 4, 2);
	request->tag = get_field(in.data + 8, 8);
	request->payload.data = in.data + FRAME_REQUEST_SIZE + named + vouch;
	request->payload.len = (uint32_t)(*size - FRAME_REQUEST_SIZE - named - vouch);
	return FRAME_COMPLETE;
}

enum frame_read frame_get_answer(struct bytes in, struct frame_answer *answer, size_t *size)
{
	enum frame_read read = measure_frame(in, FRAME_ANSWER_SIZE, FRAME_MAX, size);

	if (read != FRAME_COMPLETE)
		return read;
	answer->command = (uint16_t)get_field(in.data + 4, 2);
	answer->outcome = (uint16_t)get_field(in.data + 6, 2);
	answer->tag = get_field(in.data + 8, 8);
	answer->generation = get_field(in.data + 16, 8);
	answer->payload.data = in.data + FRAME_ANSWER_SIZE;
	answer->payload.len = (uint32_t)(*size - FRAME_ANSWER_SIZE);
	return FRAME_COMPLETE;
}
