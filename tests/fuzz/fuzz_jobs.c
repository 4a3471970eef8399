/*
 * fuzz_jobs - what comes over jobs.sock (link/jobs.h): a request from the console, and an answer to it.
 *
 * A request that is accepted has no argument that a command takes for an option, and comes back when it is
 * packed again. A part of an answer is never longer than its bytes.
 */
#include "fuzz.h"

#include "link/jobs.h"

static void check_request(struct bytes in)
{
	struct job_request request, again;
	struct buffer out;

	if (job_request_get(in, &request) != FRAME_COMPLETE)
		return;
	must(request.job < JOB_COUNT);
	must(request.request[0] != '-' && request.casino_id[0] != '-' && request.date[0] != '-');
	must(!strpbrk(request.request, "/ \t\r\n;&|$`'\"<>") &&
		!strpbrk(request.casino_id, "/ \t\r\n;&|$`'\"<>"));
	must(!request.date[0] || job_date_is(request.date));
	buffer_init(&out, JOB_REQUEST_MAX);
	must(job_request_put(&out, &request));
	must(job_request_get((struct bytes){out.data, (uint32_t)out.len}, &again) ==
		FRAME_COMPLETE);
	must(strcmp(request.session, again.session) == 0 &&
		strcmp(request.casino_id, again.casino_id) == 0);
	buffer_free(&out);
}

static void check_answer(struct bytes in)
{
	struct job_part part;
	size_t size;

	while (job_part_get(in, &part, &size) == FRAME_COMPLETE) {
		must(size >= JOB_HEAD_SIZE && size <= in.len);
		must(part.kind == JOB_OUTPUT || strlen(part.end.detail) < JOB_DETAIL_SIZE);
		must(part.kind == JOB_END || part.output.len == size - JOB_HEAD_SIZE);
		in.data += size;
		in.len -= (uint32_t)size;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes in = {data, (uint32_t)size};

	if (fuzz_byte(&in) % 2)
		check_answer(in);
	else
		check_request(in);
	return 0;
}
