/*
 * fuzz_segment - a file of refused calls as it is read after a crash (ledger/refused/segment.h).
 *
 * The first byte decides about the rest: with its lowest bit the bytes are the whole file, otherwise they
 * follow the magic number. With the second bit, the sums of the records are made right, so that their
 * contents are read. What is read is a beginning of the bytes, and writing it gives the same bytes.
 */
#include "fuzz_file.h"

#include "ledger/refused/segment.h"

#include <fcntl.h>

#define SUM_BASIS UINT32_C(2166136261)
#define SUM_PRIME UINT32_C(16777619)

static const char *path;

/* segment_read() follows no link, and the name of a file that is only in memory is one. */
int __wrap_openat(int dir, const char *name, int flags, ...);
int __wrap_openat(int dir, const char *name, int flags, ...)
{
	must(dir == AT_FDCWD && strcmp(name, "segment") == 0 && flags & O_NOFOLLOW);
	return open(path, flags & ~O_NOFOLLOW);
}

static uint32_t number_at(const uint8_t *from)
{
	return (uint32_t)from[0] << 24 | (uint32_t)from[1] << 16 | (uint32_t)from[2] << 8 | from[3];
}

/* Makes the sum of each record right, as far as the lengths go. */
static void mend_sums(uint8_t *data, size_t len)
{
	while (len >= SEGMENT_RECORD_SIZE) {
		const uint32_t size = number_at(data);
		uint32_t sum = SUM_BASIS;

		if (size > len - SEGMENT_RECORD_SIZE)
			return;
		for (uint32_t i = 0; i < size; i++)
			sum = (sum ^ data[SEGMENT_RECORD_SIZE + i]) * SUM_PRIME;
		for (unsigned int i = 0; i < 4; i++)
			data[4 + i] = (uint8_t)(sum >> (24 - 8 * i));
		data += SEGMENT_RECORD_SIZE + size;
		len -= SEGMENT_RECORD_SIZE + size;
	}
}

/* Reads the records, and compares each with what segment_put() makes of it. */
static void check_records(const struct buffer *file, struct bytes in)
{
	const uint8_t *const begin = file->data + SEGMENT_MAGIC_SIZE;
	struct refused_call call;
	struct bytes record;
	struct buffer out;

	must(in.data == begin && in.len == file->len - SEGMENT_MAGIC_SIZE);
	buffer_init(&out, FUZZ_ROW_MAX);
	for (;;) {
		const struct bytes before = in;

		memset(&call, 0, sizeof(call));
		if (!segment_get(&in, &call, &record)) {
			must(in.data == before.data && in.len == before.len);
			break;
		}
		must(record.data == before.data && record.len > SEGMENT_RECORD_SIZE);
		must(in.data == record.data + record.len && in.len == before.len - record.len);
		must(memchr(call.path, '\0', sizeof(call.path)));
		must(memchr(call.address, '\0', sizeof(call.address)));
		must(call.refusal < REFUSAL_COUNT && call.why < REFUSED_WHY_COUNT);
		buffer_reset(&out);
		must(segment_put(&out, &call));
		fuzz_same(&out, record.data, record.len);
	}
	buffer_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes in = {data, (uint32_t)size}, records;
	const uint8_t how = fuzz_byte(&in);
	const size_t head = how & 1 ? 0 : SEGMENT_MAGIC_SIZE;
	uint8_t *whole = calloc(1, head + in.len + 1), magic[SEGMENT_MAGIC_SIZE];
	struct buffer file;
	bool good;

	must(whole);
	segment_magic(magic);
	if (head)
		memcpy(whole, magic, head);
	if (in.len)
		memcpy(whole + head, in.data, in.len);
	if (head && how & 2)
		mend_sums(whole + head, in.len);
	buffer_init(&file, SEGMENT_MAX + REFUSED_CALL_MAX);
	path = fuzz_file(whole, head + in.len);
	good = segment_read(AT_FDCWD, "segment", &file, &records);
	must(!good || memcmp(file.data, magic, SEGMENT_MAGIC_SIZE) == 0);
	must(good || !head);
	if (good)
		check_records(&file, records);
	buffer_free(&file);
	free(whole);
	return 0;
}
