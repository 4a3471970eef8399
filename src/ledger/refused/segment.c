#include "ledger/refused/segment.h"

#include "base/pack.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define MAGIC_SEED UINT64_C(0xcbf29ce484222325)
#define SUM_BASIS  UINT32_C(2166136261)
#define SUM_PRIME  UINT32_C(16777619)

static void put_u32(uint8_t *to, uint32_t value)
{
	for (unsigned int i = 0; i < 4; i++)
		to[i] = (uint8_t)(value >> (24 - 8 * i));
}

static uint32_t get_u32(const uint8_t *from)
{
	return (uint32_t)from[0] << 24 | (uint32_t)from[1] << 16 | (uint32_t)from[2] << 8 | from[3];
}

/* FNV-1a. It detects an incomplete write, not an attack. */
static uint32_t sum_of(const uint8_t *data, size_t len)
{
	uint32_t sum = SUM_BASIS;

	for (size_t i = 0; i < len; i++)
		sum = (sum ^ data[i]) * SUM_PRIME;
	return sum;
}

void segment_magic(uint8_t magic[SEGMENT_MAGIC_SIZE])
{
	uint64_t digest = MAGIC_SEED;

	/* Not the names of enums: a name that is added at their end leaves files readable. */
	for (const struct field *field = refused_call_fields; field->name; field++)
		digest = field_digest_name(digest, field->name) + field->size;
	for (unsigned int i = 0; i < SEGMENT_MAGIC_SIZE; i++)
		magic[i] = (uint8_t)(digest >> (8 * i));
}

bool segment_put(struct buffer *out, const struct refused_call *call)
{
	const size_t start = out->len;
	static const uint8_t head[SEGMENT_RECORD_SIZE];
	size_t len;

	if (!buffer_append(out, head, sizeof(head)) || !pack_record(out, refused_call_fields, call))
		return false;
	len = out->len - start - SEGMENT_RECORD_SIZE;
	put_u32(out->data + start, (uint32_t)len);
	put_u32(out->data + start + 4, sum_of(out->data + start + SEGMENT_RECORD_SIZE, len));
	return true;
}

bool segment_get(struct bytes *in, struct refused_call *call, struct bytes *record)
{
	struct bytes payload;
	uint32_t len;

	if (in->len < SEGMENT_RECORD_SIZE)
		return false;
	len = get_u32(in->data);
	if (!len || len > REFUSED_CALL_MAX || len > in->len - SEGMENT_RECORD_SIZE)
		return false;
	payload = (struct bytes){in->data + SEGMENT_RECORD_SIZE, len};
	if (get_u32(in->data + 4) != sum_of(payload.data, len) ||
		!unpack_record(&payload, refused_call_fields, call) || payload.len)
		return false;
	*record = (struct bytes){in->data, SEGMENT_RECORD_SIZE + len};
	in->data += record->len;
	in->len -= record->len;
	return true;
}

/* Reads all of @fd, up to the limit of @file. */
static bool read_all(int fd, struct buffer *file)
{
	uint8_t *to;
	ssize_t got;

	buffer_reset(file);
	for (;;) {
		to = buffer_reserve(file, 1);
		if (!to)
			return file->len == file->max;
		got = read(fd, to, file->cap - file->len);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got == 0;
		file->len += (size_t)got;
	}
}

bool segment_read(int dir, const char *name, struct buffer *file, struct bytes *in)
{
	uint8_t magic[SEGMENT_MAGIC_SIZE];
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	bool whole;

	if (fd < 0)
		return false;
	whole = read_all(fd, file);
	close(fd);
	segment_magic(magic);
	if (!whole || file->len < SEGMENT_MAGIC_SIZE ||
		memcmp(file->data, magic, SEGMENT_MAGIC_SIZE) != 0)
		return false;
	*in = (struct bytes){file->data + SEGMENT_MAGIC_SIZE,
		(uint32_t)(file->len - SEGMENT_MAGIC_SIZE)};
	return true;
}
