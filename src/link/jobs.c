#include "link/jobs.h"

#include "base/pack.h"
#include "base/text.h"

#include <string.h>

#define MARK      "CBJ1"
#define MARK_SIZE 4
#define LEAD_SIZE (MARK_SIZE + 4)

const char *const job_names[JOB_COUNT] = {
#define JOB(name, lower, role, seconds, kib, places, arguments, command) #lower,
#include "link/jobs.def"
#undef JOB
};

const struct job_info job_infos[JOB_COUNT] = {
#define JOB(name, lower, role, seconds, kib, places, arguments, command)                           \
	{ROLE_##role, seconds, UINT64_C(1024) * (kib), places, arguments, command},
#include "link/jobs.def"
#undef JOB
};

const char *const job_outcome_names[JOB_OUTCOME_COUNT] = {"ended", "bad_request", "no_front",
	"signed_out", "role_needed", "busy", "too_long", "too_large", "no_ledger", "failed",
	"not_served"};

static const struct field asked_fields[] = {
	FIELD_NAMED(job_request, job, job_names, JOB_COUNT),
	FIELD(FIELD_SECRET, job_request, front),
	FIELD(FIELD_SECRET, job_request, session),
	FIELD(FIELD_STR, job_request, request_id),
	FIELD(FIELD_STR, job_request, request),
	FIELD(FIELD_STR, job_request, casino_id),
	FIELD(FIELD_STR, job_request, date),
	FIELD(FIELD_STR, job_request, user_id),
	FIELD_END,
};

static const struct field end_fields[] = {
	FIELD_NAMED(job_end, outcome, job_outcome_names, JOB_OUTCOME_COUNT),
	FIELD(FIELD_U32, job_end, exit_code),
	FIELD(FIELD_STR, job_end, detail),
	FIELD_END,
};

static void put_length(uint8_t to[4], uint32_t number)
{
	to[0] = (uint8_t)(number >> 24);
	to[1] = (uint8_t)(number >> 16);
	to[2] = (uint8_t)(number >> 8);
	to[3] = (uint8_t)number;
}

static uint32_t get_length(const uint8_t *from)
{
	return (uint32_t)from[0] << 24 | (uint32_t)from[1] << 16 | (uint32_t)from[2] << 8 | from[3];
}

bool job_request_put(struct buffer *out, const struct job_request *request)
{
	static const uint8_t lead[LEAD_SIZE] = MARK;
	const size_t start = out->len;

	if (!buffer_append(out, lead, LEAD_SIZE) || !pack_record(out, asked_fields, request))
		return false;
	put_length(out->data + start + MARK_SIZE, (uint32_t)(out->len - start - LEAD_SIZE));
	return true;
}

bool job_date_is(const char *date)
{
	static const char form[] = "dddd-dd-dd";

	for (size_t i = 0; i < sizeof(form) - 1; i++) {
		if (form[i] == 'd' ? date[i] < '0' || date[i] > '9' : date[i] != form[i])
			return false;
	}
	return date[sizeof(form) - 1] == '\0';
}

/* A name that begins with "-" would be an option, or standard input. */
static bool is_argument(const char *text, size_t size)
{
	return text[0] != '-' && text_is_name(text, size - 1);
}

static bool is_user_id(const char *text)
{
	return text[0] && text_is_utf8_clean(text, strlen(text));
}

static bool is_sound(const struct job_request *request)
{
	const unsigned int takes = job_infos[request->job].arguments;

	return (takes & JOB_HAS_REQUEST ? is_argument(request->request, sizeof(request->request))
					: !request->request[0]) &&
		(takes & JOB_HAS_CASINO
				? is_argument(request->casino_id, sizeof(request->casino_id))
				: !request->casino_id[0]) &&
		(takes & JOB_HAS_DATE ? job_date_is(request->date) : !request->date[0]) &&
		(takes & JOB_HAS_USER ? is_user_id(request->user_id) : !request->user_id[0]) &&
		text_is_name(request->request_id, sizeof(request->request_id) - 1);
}

enum frame_read job_request_get(struct bytes in, struct job_request *request)
{
	const size_t mark = in.len < MARK_SIZE ? in.len : MARK_SIZE;
	uint32_t len;

	if (mark && memcmp(in.data, MARK, mark) != 0)
		return FRAME_GARBAGE;
	if (in.len < LEAD_SIZE)
		return FRAME_INCOMPLETE;
	len = get_length(in.data + MARK_SIZE);
	if (len > JOB_REQUEST_MAX - LEAD_SIZE)
		return FRAME_GARBAGE;
	if (in.len - LEAD_SIZE < len)
		return FRAME_INCOMPLETE;
	/* A client sends one request and nothing more. */
	if (in.len - LEAD_SIZE > len)
		return FRAME_GARBAGE;
	in = (struct bytes){in.data + LEAD_SIZE, len};
	return unpack_record(&in, asked_fields, request) && !in.len && is_sound(request)
		? FRAME_COMPLETE
		: FRAME_GARBAGE;
}

static bool put_head(struct buffer *out, enum job_part_kind kind, size_t len)
{
	uint8_t head[JOB_HEAD_SIZE] = {(uint8_t)kind};

	put_length(head + 1, (uint32_t)len);
	return buffer_append(out, head, sizeof(head));
}

bool job_output_put(struct buffer *out, const void *data, size_t len)
{
	return put_head(out, JOB_OUTPUT, len) && buffer_append(out, data, len);
}

bool job_end_put(struct buffer *out, const struct job_end *end)
{
	const size_t start = out->len;

	if (!put_head(out, JOB_END, 0) || !pack_record(out, end_fields, end))
		return false;
	put_length(out->data + start + 1, (uint32_t)(out->len - start - JOB_HEAD_SIZE));
	return true;
}

enum frame_read job_part_get(struct bytes in, struct job_part *part, size_t *size)
{
	uint32_t len;

	if (in.len && in.data[0] != JOB_OUTPUT && in.data[0] != JOB_END)
		return FRAME_GARBAGE;
	if (in.len < JOB_HEAD_SIZE)
		return FRAME_INCOMPLETE;
	len = get_length(in.data + 1);
	if (len > JOB_CHUNK_MAX)
		return FRAME_GARBAGE;
	if (in.len - JOB_HEAD_SIZE < len)
		return FRAME_INCOMPLETE;
	*size = JOB_HEAD_SIZE + len;
	part->kind = (enum job_part_kind)in.data[0];
	part->output = (struct bytes){in.data + JOB_HEAD_SIZE, len};
	if (part->kind == JOB_OUTPUT)
		return FRAME_COMPLETE;
	in = part->output;
	return unpack_record(&in, end_fields, &part->end) && !in.len ? FRAME_COMPLETE
								     : FRAME_GARBAGE;
}
