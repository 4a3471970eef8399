/*
 * trim - deletes refused calls when they have too many bytes, and decides which sender's.
 */
#include "ledger/refused/refused_log.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Segments that one call of refused_log_trim() deletes or rewrites. */
#define STEPS_MAX 4
/* Without a known victim, the log may exceed its bound by this part until all segments are read. */
#define OVER_PART 4
/* Victims that are no single sender. */
#define NONE         REFUSED_SENDERS
#define ALL_NETWORKS (REFUSED_SENDERS + 1)

static unsigned int find_largest(const struct refused_log *log, unsigned int from, unsigned int to)
{
	unsigned int found = from;

	for (unsigned int i = from + 1; i < to; i++) {
		if (log->totals[i] > log->totals[found])
			found = i;
	}
	return found;
}

/*
 * Returns the sender that loses calls; ALL_NETWORKS if callers without a key have too much together,
 * but none of them has much; or NONE: the oldest calls go, of all senders. A victim has much, so
 * that rewriting a segment removes much.
 */
static unsigned int choose_victim(const struct refused_log *log)
{
	const unsigned int network = find_largest(log, 0, REFUSED_NETWORKS);
	const unsigned int caller = find_largest(log, REFUSED_NETWORKS, REFUSED_SENDERS);
	const uint64_t max = log->bytes_max;

	if (log->totals[network] > max / REFUSED_NETWORK_PART)
		return network;
	if (log->networks > max / REFUSED_NETWORKS_PART)
		return ALL_NETWORKS;
	return log->totals[caller] > max / REFUSED_CALLER_PART ? caller : NONE;
}

static bool is_victim(unsigned int sender, unsigned int victim)
{
	return sender == victim || (victim == ALL_NETWORKS && sender < REFUSED_NETWORKS);
}

static bool holds_victim(const struct segment *segment, unsigned int victim)
{
	for (uint32_t i = 0; i < segment->part_count; i++) {
		if (is_victim(segment->parts[i].sender, victim))
			return true;
	}
	return false;
}

/* Appends the records of @in that are not of @victim to @out. */
static bool copy_others(struct bytes in, unsigned int victim, struct buffer *out)
{
	struct refused_call call;
	struct bytes record;

	while (segment_get(&in, &call, &record)) {
		if (!is_victim(refused_sender(&call), victim) &&
			!buffer_append(out, record.data, record.len))
			return false;
	}
	return true;
}

/* Writes @out as the segment named @name, in one step. */
static bool replace_file(struct refused_log *log, const char *name, const struct buffer *out)
{
	int fd = openat(log->dir, REFUSED_LOG_NEW, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	bool written = fd >= 0 && write(fd, out->data, out->len) == (ssize_t)out->len;

	if (fd >= 0)
		close(fd);
	return written && renameat(log->dir, REFUSED_LOG_NEW, log->dir, name) == 0;
}

/* Returns the bytes that segment @n has of senders other than @victim. */
static uint32_t bytes_of_others(const struct segment *segment, unsigned int victim)
{
	uint32_t rest = 0;

	for (uint32_t i = 0; i < segment->part_count; i++) {
		if (!is_victim(segment->parts[i].sender, victim))
			rest += segment->parts[i].bytes;
	}
	return rest;
}

/* Begins a rewritten segment in log->file2: with the segment @merged, or with the magic number. */
static bool begin_rewrite(struct refused_log *log, const struct segment *merged)
{
	uint8_t magic[SEGMENT_MAGIC_SIZE];
	char name[REFUSED_LOG_NAME_SIZE];
	struct refused_call call;
	struct bytes in, record;

	buffer_reset(&log->file2);
	segment_magic(magic);
	if (!merged)
		return buffer_append(&log->file2, magic, sizeof(magic));
	segment_name(merged, name);
	if (!segment_read(log->dir, name, &log->file2, &in))
		return false;
	/* Nothing may follow a damaged record. */
	while (segment_get(&in, &call, &record))
		;
	log->file2.len -= in.len;
	return true;
}

/*
 * Rewrites segment @n without the calls of @victim. If the rest fits into the segment before it, it
 * is appended to that one, so that few files stay small. A kill leaves either the old segments, or
 * the merged one and segment @n, which segment_learn() then deletes. Returns false if it failed.
 */
static bool rewrite_segment(struct refused_log *log, uint32_t n, unsigned int victim)
{
	const uint32_t rest = bytes_of_others(&log->segments[n], victim);
	const bool merges = n > 0 && log->segments[n - 1].known &&
		log->segments[n - 1].bytes + rest <= log->segment_max;
	char name[REFUSED_LOG_NAME_SIZE], target[REFUSED_LOG_NAME_SIZE];
	struct bytes in;

	segment_name(&log->segments[n], name);
	if (!rest) {
		segment_delete(log, n);
		return true;
	}
	segment_name(&log->segments[merges ? n - 1 : n], target);
	if (!begin_rewrite(log, merges ? &log->segments[n - 1] : NULL) ||
		!segment_read(log->dir, name, &log->file, &in) ||
		!copy_others(in, victim, &log->file2) || !replace_file(log, target, &log->file2))
		return false;
	if (merges)
		segment_delete(log, n--);
	segment_relearn(log, n, (uint32_t)log->file2.len);
	return true;
}

/* Makes one step towards the bound. Returns false if none can be made now. */
static bool trim_once(struct refused_log *log)
{
	const unsigned int victim = choose_victim(log);
	uint32_t n = 0;

	/* The newest segment is being written to. */
	if (log->count < 2)
		return false;
	if (log->unknown) {
		if (log->bytes <= log->bytes_max + log->bytes_max / OVER_PART)
			return false;
		segment_delete(log, 0);
		return true;
	}
	while (victim != NONE && n + 1 < log->count && !holds_victim(&log->segments[n], victim))
		n++;
	if (victim == NONE || n + 1 == log->count || !rewrite_segment(log, n, victim))
		segment_delete(log, 0);
	return true;
}

void refused_log_trim(struct refused_log *log)
{
	for (unsigned int i = 0; i < STEPS_MAX && log->bytes > log->bytes_max; i++) {
		if (!trim_once(log))
			return;
	}
}
