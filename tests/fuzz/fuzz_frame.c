/*
 * fuzz_frame - the bytes that a socket of the ledger receives, and those that its client receives.
 *
 * The first byte chooses: a stream of requests, a greeting and a stream of answers, or the payload
 * of one command or result, whose frame is made here. A frame that was read must give the same
 * bytes when it is packed again; the reader must find every beginning of a frame incomplete.
 */
#include "fuzz.h"

#include "base/pack.h"
#include "base/text.h"
#include "link/commands.h"
#include "link/frame.h"

#include <string.h>

static union any_cmd cmd;
static union any_result result;

/* Reads a payload as the ledger, or its client, does. */
static bool check_payload(struct bytes payload, const struct field *table, void *record)
{
	struct bytes rest = payload;
	struct buffer out;

	if (!unpack_record(&rest, table, record))
		return false;
	must(rest.data + rest.len == payload.data + payload.len);
	buffer_init(&out, FUZZ_ROW_MAX);
	must(pack_record(&out, table, record));
	fuzz_same(&out, payload.data, payload.len - rest.len);
	buffer_free(&out);
	return true;
}

static void check_request(const struct frame_request *request, struct bytes frame)
{
	struct frame_request again;
	struct buffer out;
	size_t start, size;

	must(request->payload.data + request->payload.len == frame.data + frame.len);
	must(!request->request_id[0] ||
		text_is_name(request->request_id, FRAME_REQUEST_ID_SIZE - 1));
	buffer_init(&out, FRAME_MAX);
	start = frame_open_request(&out, request->command, request->tag);
	if (request->request_id[0])
		frame_name_request(&out, start, request->request_id);
	buffer_append(&out, request->payload.data, request->payload.len);
	frame_close(&out, start);
	fuzz_same(&out, frame.data, frame.len);
	for (uint32_t len = 0; len < frame.len; len += 1 + len / 16)
		must(frame_get_request((struct bytes){frame.data, len}, &again, &size) ==
			FRAME_INCOMPLETE);
	buffer_free(&out);
	if (request->command < COMMAND_COUNT)
		check_payload(request->payload, command_infos[request->command].cmd_fields, &cmd);
}

static void check_answer(const struct frame_answer *answer, struct bytes frame)
{
	struct frame_answer again;
	struct buffer out;
	size_t start, size;

	must(answer->payload.data + answer->payload.len == frame.data + frame.len);
	buffer_init(&out, FRAME_MAX);
	start = frame_open_answer(&out, answer);
	buffer_append(&out, answer->payload.data, answer->payload.len);
	frame_close(&out, start);
	fuzz_same(&out, frame.data, frame.len);
	for (uint32_t len = 0; len < frame.len; len += 1 + len / 16)
		must(frame_get_answer((struct bytes){frame.data, len}, &again, &size) ==
			FRAME_INCOMPLETE);
	buffer_free(&out);
	if (answer->command < COMMAND_COUNT)
		check_payload(answer->payload, command_infos[answer->command].result_fields,
			&result);
}

static void read_requests(struct bytes in)
{
	struct frame_request request;
	size_t size;

	while (frame_get_request(in, &request, &size) == FRAME_COMPLETE) {
		must(size >= FRAME_REQUEST_SIZE && size <= FRAME_REQUEST_MAX && size <= in.len);
		check_request(&request, fuzz_take(&in, (uint32_t)size));
	}
}

static void read_answers(struct bytes in)
{
	uint64_t protocol, generation;
	struct frame_answer answer;
	struct buffer out;
	size_t size;

	if (greeting_get(in, &protocol, &generation) == FRAME_COMPLETE) {
		buffer_init(&out, GREETING_SIZE);
		greeting_put(&out, protocol, generation);
		fuzz_same(&out, fuzz_take(&in, GREETING_SIZE).data, GREETING_SIZE);
		buffer_free(&out);
	}
	while (frame_get_answer(in, &answer, &size) == FRAME_COMPLETE) {
		must(size >= FRAME_ANSWER_SIZE && size <= FRAME_MAX && size <= in.len);
		check_answer(&answer, fuzz_take(&in, (uint32_t)size));
	}
}

/* A whole frame around @payload, read as if it had arrived. */
static void frame_around(struct bytes payload, bool request)
{
	struct frame_answer answer = {.outcome = FRAME_DONE, .tag = 7, .generation = 9};
	struct buffer out;
	uint16_t command = fuzz_byte(&payload) % COMMAND_COUNT;
	size_t start;

	answer.command = command;
	buffer_init(&out, FRAME_MAX);
	start = request ? frame_open_request(&out, command, 7) : frame_open_answer(&out, &answer);
	if (request)
		frame_name_request(&out, start, "fuzz-1");
	buffer_append(&out, payload.data, payload.len);
	frame_close(&out, start);
	if (!out.failed && request)
		read_requests((struct bytes){out.data, (uint32_t)out.len});
	else if (!out.failed)
		read_answers((struct bytes){out.data, (uint32_t)out.len});
	buffer_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes in = {data, (uint32_t)size};

	switch (fuzz_byte(&in) % 4) {
	case 0:
		read_requests(in);
		break;
	case 1:
		read_answers(in);
		break;
	case 2:
		frame_around(in, true);
		break;
	default:
		frame_around(in, false);
		break;
	}
	return 0;
}
