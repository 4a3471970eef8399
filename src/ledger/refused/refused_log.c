#include "ledger/refused/refused_log.h"

#include "base/check.h"
#include "base/log.h"
#include "base/pack.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MIB    (1024u * 1024u)
#define DAY_MS (INT64_C(24) * 60 * 60 * 1000)
/* A larger shift between the clocks means that the wall clock was set. */
#define CLOCK_SHIFT_MS 60000
/* Segments are this part of the bound, so that trimming is fine enough. */
#define SEGMENT_PART 64
#define SEGMENT_MIN  (16 * 1024)

void refused_log_init(struct refused_log *log)
{
	memset(log, 0, sizeof(*log));
	log->dir = log->fd = -1;
	buffer_init(&log->out, REFUSED_KEEP_MAX + REFUSED_KEEP_MAX / 4);
	buffer_init(&log->file, SEGMENT_MAX + REFUSED_CALL_MAX);
	buffer_init(&log->file2, SEGMENT_MAX + REFUSED_CALL_MAX);
}

void segment_name(const struct segment *segment, char name[REFUSED_LOG_NAME_SIZE])
{
	snprintf(name, REFUSED_LOG_NAME_SIZE, "%016" PRIx64, segment->first);
}

/* Reads the name of a segment. Returns false if @name is another file's. */
static bool read_name(const char *name, uint64_t *first)
{
	if (strlen(name) != REFUSED_LOG_NAME_SIZE - 1 ||
		strspn(name, "0123456789abcdef") != REFUSED_LOG_NAME_SIZE - 1)
		return false;
	*first = strtoull(name, NULL, 16);
	return *first > 0;
}

/* Adds a segment at the end of the list. Returns NULL if there is no room. */
static struct segment *add_segment(struct refused_log *log, uint64_t first)
{
	struct segment *more;
	uint32_t room = log->room ? 2 * log->room : 64;

	if (log->count == REFUSED_SEGMENTS_MAX)
		return NULL;
	if (log->count == log->room) {
		more = realloc(log->segments, room * sizeof(*more));
		if (!more)
			return NULL;
		log->segments = more;
		log->room = room;
	}
	CHECK(log->segments);
	more = &log->segments[log->count++];
	memset(more, 0, sizeof(*more));
	more->first = more->last = first;
	return more;
}

static int compare_segments(const void *a, const void *b)
{
	const struct segment *one = a, *other = b;

	return (one->first > other->first) - (one->first < other->first);
}

/* Lists the directory. Deletes a rewrite that did not complete; and all segments if @drop. */
static bool scan_directory(struct refused_log *log, bool drop)
{
	int own = openat(log->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = own < 0 ? NULL : fdopendir(own);
	struct segment *segment;
	struct dirent *entry;
	struct stat st;
	uint64_t first;

	if (!dir) {
		if (own >= 0)
			close(own);
		return false;
	}
	unlinkat(log->dir, REFUSED_LOG_NEW, 0);
	while ((entry = readdir(dir))) {
		if (!read_name(entry->d_name, &first))
			continue;
		if (drop) {
			unlinkat(log->dir, entry->d_name, 0);
			continue;
		}
		if (fstatat(log->dir, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		segment = add_segment(log, first);
		if (!segment)
			break;
		segment->bytes = st.st_size < SEGMENT_MAX ? (uint32_t)st.st_size : SEGMENT_MAX;
		log->bytes += segment->bytes;
		log->unknown++;
	}
	closedir(dir);
	if (log->count)
		qsort(log->segments, log->count, sizeof(*log->segments), compare_segments);
	return true;
}

/*
 * Continues the newest segment: cuts off its incomplete end, and opens it. The next number is above
 * all that were given out.
 */
static void continue_newest(struct refused_log *log)
{
	char name[REFUSED_LOG_NAME_SIZE];
	struct segment *segment;

	while (log->count && !log->segments[log->count - 1].known)
		segment_learn(log, log->count - 1);
	if (!log->count)
		return;
	segment = &log->segments[log->count - 1];
	log->next_number = segment->last + 1;
	segment_name(segment, name);
	log->fd = openat(log->dir, name, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
	if (log->fd >= 0 && ftruncate(log->fd, segment->bytes) < 0) {
		close(log->fd);
		log->fd = -1;
	}
}

bool refused_log_open(struct refused_log *log, int state, uint32_t keep_mib, uint32_t days,
	const struct moment *now)
{
	if (mkdirat(state, REFUSED_LOG_DIRECTORY, 0700) < 0 && errno != EEXIST)
		return false;
	log->dir = openat(state, REFUSED_LOG_DIRECTORY,
		O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (log->dir < 0)
		return false;
	log->bytes_max = (uint64_t)keep_mib * MIB;
	log->segment_max = log->bytes_max / SEGMENT_PART < SEGMENT_MIN ? SEGMENT_MIN
		: log->bytes_max / SEGMENT_PART > SEGMENT_MAX
		? SEGMENT_MAX
		: (uint32_t)(log->bytes_max / SEGMENT_PART);
	log->keep_ms = days * DAY_MS;
	log->next_number = 1;
	log->started_ms = now->wall_ms;
	log->rest_ms = now->boot_ms + REFUSED_CLOCK_REST_MS;
	log->clock_ms = now->wall_ms - now->boot_ms;
	if (!scan_directory(log, !keep_mib) || !keep_mib) {
		refused_log_close(log);
		return !keep_mib;
	}
	continue_newest(log);
	return true;
}

void refused_log_close(struct refused_log *log)
{
	const uint64_t left_out = log->left_out;
	const int64_t started_ms = log->started_ms;

	for (uint32_t i = 0; i < log->count; i++)
		free(log->segments[i].parts);
	free(log->segments);
	buffer_free(&log->out);
	buffer_free(&log->file);
	buffer_free(&log->file2);
	if (log->fd >= 0)
		close(log->fd);
	if (log->dir >= 0)
		close(log->dir);
	refused_log_init(log);
	log->left_out = left_out;
	log->started_ms = started_ms;
}

/* ---- segments */

static struct segment_part *part_of(struct segment *segment, uint16_t sender)
{
	struct segment_part *more;
	uint32_t room = segment->part_room ? 2 * segment->part_room : 8;

	for (uint32_t i = 0; i < segment->part_count; i++) {
		if (segment->parts[i].sender == sender)
			return &segment->parts[i];
	}
	if (segment->part_count == segment->part_room) {
		more = realloc(segment->parts, room * sizeof(*more));
		if (!more)
			return NULL;
		segment->parts = more;
		segment->part_room = room;
	}
	more = &segment->parts[segment->part_count++];
	*more = (struct segment_part){.sender = sender};
	return more;
}

bool segment_count(struct refused_log *log, struct segment *segment,
	const struct refused_call *call, uint32_t bytes)
{
	const unsigned int sender = refused_sender(call);
	struct segment_part *part = part_of(segment, (uint16_t)sender);

	if (!part)
		return false;
	if (!segment->known || call->time_ms < segment->oldest_ms)
		segment->oldest_ms = call->time_ms;
	if (!segment->known || call->time_ms > segment->newest_ms)
		segment->newest_ms = call->time_ms;
	segment->known = true;
	segment->last = call->number;
	part->bytes += bytes;
	log->totals[sender] += bytes;
	if (sender < REFUSED_NETWORKS)
		log->networks += bytes;
	return true;
}

/* Takes the segment out of all sums. */
static void segment_uncount(struct refused_log *log, struct segment *segment)
{
	for (uint32_t i = 0; i < segment->part_count; i++) {
		log->totals[segment->parts[i].sender] -= segment->parts[i].bytes;
		if (segment->parts[i].sender < REFUSED_NETWORKS)
			log->networks -= segment->parts[i].bytes;
	}
	log->bytes -= segment->bytes;
	log->unknown -= !segment->known;
	free(segment->parts);
	segment->parts = NULL;
	segment->part_count = segment->part_room = 0;
}

void segment_relearn(struct refused_log *log, uint32_t n, uint32_t bytes)
{
	struct segment *segment = &log->segments[n];

	segment_uncount(log, segment);
	segment->known = false;
	segment->bytes = bytes;
	log->bytes += bytes;
	log->unknown++;
	segment_learn(log, n);
}

void segment_delete(struct refused_log *log, uint32_t n)
{
	char name[REFUSED_LOG_NAME_SIZE];

	CHECK(log->segments && n < log->count);
	segment_name(&log->segments[n], name);
	if (n + 1 == log->count && log->fd >= 0) {
		close(log->fd);
		log->fd = -1;
	}
	unlinkat(log->dir, name, 0);
	segment_uncount(log, &log->segments[n]);
	memmove(&log->segments[n], &log->segments[n + 1],
		(log->count - n - 1) * sizeof(*log->segments));
	log->count--;
}

void segment_learn(struct refused_log *log, uint32_t n)
{
	struct segment *segment = &log->segments[n];
	char name[REFUSED_LOG_NAME_SIZE];
	struct refused_call call;
	struct bytes in, record;

	if (segment->known)
		return;
	segment_name(segment, name);
	if (segment_read(log->dir, name, &log->file, &in)) {
		while (segment_get(&in, &call, &record)) {
			const bool first = !segment->known;

			if (!segment_count(log, segment, &call, record.len))
				break;
			log->unknown -= first;
		}
		log->bytes -= segment->bytes;
		segment->bytes = (uint32_t)(log->file.len - in.len);
		log->bytes += segment->bytes;
	}
	if (!segment->known) {
		segment_delete(log, n);
		return;
	}
	/* A merge wrote the calls of the next segment to this one, and was killed then. */
	if (n + 1 < log->count && log->segments[n + 1].first <= segment->last)
		segment_delete(log, n + 1);
}

/* ---- keeping */

/* Begins a segment whose first call is number @first. Returns false with errno. */
static bool begin_segment(struct refused_log *log, uint64_t first)
{
	uint8_t magic[SEGMENT_MAGIC_SIZE];
	char name[REFUSED_LOG_NAME_SIZE];
	struct segment *segment;

	if (log->fd >= 0)
		close(log->fd);
	log->fd = -1;
	while (log->count >= REFUSED_SEGMENTS_MAX)
		segment_delete(log, 0);
	segment = add_segment(log, first);
	if (!segment) {
		errno = ENOMEM;
		return false;
	}
	log->unknown++;
	segment_magic(magic);
	segment_name(segment, name);
	log->fd = openat(log->dir, name, O_WRONLY | O_APPEND | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (log->fd >= 0 && write(log->fd, magic, sizeof(magic)) == (ssize_t)sizeof(magic)) {
		segment->bytes = sizeof(magic);
		log->bytes += segment->bytes;
		return true;
	}
	if (log->fd >= 0)
		errno = ENOSPC;
	return false;
}

/* The write failed: removes its first part. The ledger goes on. */
static void give_up_write(struct refused_log *log, int64_t boot_ms)
{
	struct segment *newest = log->count ? &log->segments[log->count - 1] : NULL;

	if (!log->failing)
		log_line(LOG_LEVEL_WARNING, "refused_calls_not_kept", "error=\"%s\"",
			strerror(errno));
	log->failing = true;
	log->retry_ms = boot_ms + REFUSED_RETRY_MS;
	if (newest && !newest->known)
		segment_delete(log, log->count - 1);
	else if (newest && log->fd >= 0 && ftruncate(log->fd, newest->bytes) < 0) {
		close(log->fd);
		log->fd = -1;
	}
}

/* Appends log->out, whose first record is call number @first. */
static bool append_records(struct refused_log *log, uint64_t first)
{
	const struct segment *newest = log->count ? &log->segments[log->count - 1] : NULL;
	ssize_t written;

	if ((log->fd < 0 || !newest || newest->bytes + log->out.len > log->segment_max) &&
		!begin_segment(log, first))
		return false;
	do
		written = write(log->fd, log->out.data, log->out.len);
	while (written < 0 && errno == EINTR);
	if (written >= 0 && (size_t)written < log->out.len)
		errno = ENOSPC;
	return written == (ssize_t)log->out.len;
}

/* Counts the records of log->out, which were written, in the newest segment. */
static bool count_records(struct refused_log *log)
{
	struct segment *newest = &log->segments[log->count - 1];
	struct bytes in = {log->out.data, (uint32_t)log->out.len}, record;
	struct refused_call call;

	while (segment_get(&in, &call, &record)) {
		const bool first = !newest->known;

		if (!segment_count(log, newest, &call, record.len))
			return false;
		log->unknown -= first;
		newest->bytes += record.len;
		log->bytes += record.len;
	}
	return true;
}

/* Writes log->out. Returns false if its calls were not kept. */
static bool flush_records(struct refused_log *log, uint64_t first, int64_t boot_ms)
{
	if (!append_records(log, first) || !count_records(log)) {
		give_up_write(log, boot_ms);
		return false;
	}
	if (log->failing)
		log_line(LOG_LEVEL_INFO, "refused_calls_kept_again", "left_out=%" PRIu64,
			log->left_out);
	log->failing = false;
	return true;
}

void refused_log_keep(struct refused_log *log, struct bytes calls, bool storage_low,
	const struct moment *now, struct refused_keep_result *result)
{
	const uint64_t first = log->next_number;
	struct refused_call call;
	const bool may = log->dir >= 0 && !storage_low && now->boot_ms >= log->retry_ms;

	buffer_reset(&log->out);
	while (calls.len && calls.len <= REFUSED_KEEP_MAX &&
		unpack_record(&calls, refused_call_fields, &call)) {
		call.number = log->next_number;
		if (!may || !refused_shares_take(&log->shares, &call, now->boot_ms) ||
			!segment_put(&log->out, &call)) {
			result->left_out++;
			continue;
		}
		log->next_number++;
		result->kept++;
	}
	if (result->kept && (log->out.failed || !flush_records(log, first, now->boot_ms))) {
		result->left_out += result->kept;
		result->kept = 0;
	}
	log->left_out += result->left_out;
	if (log->bytes > log->bytes_max)
		refused_log_trim(log);
}

/* ---- reading */

/* Returns the number of the newest segment with calls below @before; log->count if there is none. */
static uint32_t newest_before(const struct refused_log *log, uint64_t before)
{
	uint32_t n = log->count;

	while (n && before && log->segments[n - 1].first >= before)
		n--;
	return n ? n - 1 : log->count;
}

/*
 * Finds the matching calls below @before, and counts their causes. Their offsets in @records are in log->file2,
 * ascending.
 */
static uint32_t find_matches(struct refused_log *log, const struct bytes *records,
	const struct refused_list_cmd *cmd, uint64_t before, struct refused_list_result *result)
{
	struct bytes in = *records, record;
	struct refused_call call;
	uint32_t at, count = 0;

	buffer_reset(&log->file2);
	while (segment_get(&in, &call, &record)) {
		at = (uint32_t)(record.data - records->data);
		if (before && call.number >= before)
			continue;
		if (!result->looked_ms || call.time_ms < result->looked_ms)
			result->looked_ms = call.time_ms;
		if (!refused_call_matches(&call, cmd))
			continue;
		if (cmd->by_cause)
			tally_count(&log->tally, &call);
		if (buffer_append(&log->file2, &at, sizeof(at)))
			count++;
	}
	return count;
}

/*
 * Packs the matching calls of a segment, the newest first, and moves *@before to the last of them.
 * Returns false if the answer has no room for the next one.
 */
static bool list_segment(struct refused_log *log, const struct bytes *records,
	const struct refused_list_cmd *cmd, uint64_t *before, struct buffer *rows,
	struct refused_list_result *result)
{
	const uint32_t limit =
		cmd->limit && cmd->limit < REFUSED_PAGE_MAX ? cmd->limit : REFUSED_PAGE_MAX;
	uint32_t count = find_matches(log, records, cmd, *before, result), at;
	struct refused_call call;
	struct bytes in, record;

	if (cmd->count_only) {
		result->matches += count;
		return true;
	}
	while (count) {
		memcpy(&at, log->file2.data + --count * sizeof(at), sizeof(at));
		in = (struct bytes){records->data + at, records->len - at};
		if (result->matches == limit || rows->len + REFUSED_CALL_MAX > rows->max ||
			!segment_get(&in, &call, &record) ||
			!pack_record(rows, refused_call_fields, &call))
			return false;
		result->matches++;
		*before = call.number;
	}
	return true;
}

/* Returns true if no call of the segment can match. */
static bool is_outside(const struct segment *segment, const struct refused_list_cmd *cmd)
{
	return segment->known &&
		(segment->newest_ms < cmd->since_ms ||
			(cmd->until_ms && segment->oldest_ms >= cmd->until_ms));
}

void refused_log_list(struct refused_log *log, const struct refused_list_cmd *cmd,
	struct buffer *rows, struct refused_list_result *result)
{
	uint64_t before = cmd->before;
	uint32_t bytes = 0, files = 0, n;
	char name[REFUSED_LOG_NAME_SIZE];
	struct bytes records;

	result->keeps = log->dir >= 0;
	result->bytes = log->bytes;
	result->left_out = log->left_out;
	result->since_ms = refused_log_oldest_ms(log);
	result->started_ms = log->started_ms;
	memset(&log->tally, 0, sizeof(log->tally));
	for (n = newest_before(log, before); n < log->count; n = newest_before(log, before)) {
		const uint64_t first = log->segments[n].first;

		if (!is_outside(&log->segments[n], cmd)) {
			if (files++ == REFUSED_READ_FILES || bytes >= SEGMENT_MAX)
				break;
			bytes += log->segments[n].bytes;
			segment_name(&log->segments[n], name);
			if (segment_read(log->dir, name, &log->file, &records) &&
				!list_segment(log, &records, cmd, &before, rows, result))
				break;
		}
		before = first;
	}
	result->next = n < log->count ? before : 0;
	if (cmd->count_only && cmd->by_cause && tally_pack(&log->tally, rows))
		result->causes = (struct bytes){rows->data, (uint32_t)rows->len};
	else
		result->calls = (struct bytes){rows->data, (uint32_t)rows->len};
}

void refused_log_step(struct refused_log *log, const struct moment *now)
{
	const int64_t clock_ms = now->wall_ms - now->boot_ms;

	if (log->dir < 0)
		return;
	if (llabs(clock_ms - log->clock_ms) > CLOCK_SHIFT_MS)
		log->rest_ms = now->boot_ms + REFUSED_CLOCK_REST_MS;
	log->clock_ms = clock_ms;
	for (uint32_t n = log->count; log->unknown && n > 0; n--) {
		if (log->segments[n - 1].known)
			continue;
		segment_learn(log, n - 1);
		break;
	}
	if (log->bytes > log->bytes_max)
		refused_log_trim(log);
	if (log->count && log->keep_ms && now->boot_ms >= log->rest_ms && log->segments[0].known &&
		log->segments[0].newest_ms < now->wall_ms - log->keep_ms)
		segment_delete(log, 0);
}

int64_t refused_log_oldest_ms(const struct refused_log *log)
{
	return log->count && log->segments[0].known ? log->segments[0].oldest_ms : 0;
}
