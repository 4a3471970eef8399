#include "store/bdb/backup/manifest.h"

#include "base/buffer.h"
#include "base/directory.h"
#include "base/text.h"
#include "store/bdb/env/files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FORMAT 1
#define TITLE  "creditbridge-backup"
/* A backup is made anew long before it has so many log files. */
#define FILES_MAX (256 * 1024)
#define TEXT_MAX  (64 * 1024 * 1024)
#define LINE_SIZE 256

const char *const manifest_folders[2] = {"data.1", "data.2"};

static const struct head {
	const char *name;
	size_t offset;
	bool number; /* uint64_t; else char[MANIFEST_TEXT] */
} heads[] = {
	{"version", offsetof(struct manifest, version), false},
	{"installation", offsetof(struct manifest, installation), false},
	{"folder", offsetof(struct manifest, folder), false},
	{"schema", offsetof(struct manifest, schema), true},
	{"tables_ms", offsetof(struct manifest, tables_ms), true},
	{"complete_to_ms", offsetof(struct manifest, complete_to_ms), true},
	{"first_log", offsetof(struct manifest, first_log), true},
	{"last_log", offsetof(struct manifest, last_log), true},
	{"last_offset", offsetof(struct manifest, last_offset), true},
	{"files", offsetof(struct manifest, file_count), true},
};
#define HEAD_COUNT (sizeof(heads) / sizeof(heads[0]))

void manifest_init(struct manifest *manifest)
{
	memset(manifest, 0, sizeof(*manifest));
}

void manifest_free(struct manifest *manifest)
{
	free(manifest->files);
	manifest_init(manifest);
}

bool manifest_add(struct manifest *manifest, const char *name, uint64_t bytes, const char *digest)
{
	uint64_t room = manifest->file_room ? 2 * manifest->file_room : 64;
	struct manifest_file *files = manifest->files;

	if (manifest->file_count == FILES_MAX)
		return false;
	if (manifest->file_count == manifest->file_room) {
		files = reallocarray(files, room, sizeof(*files));
		if (!files)
			return false;
		manifest->files = files;
		manifest->file_room = room;
	}
	files += manifest->file_count++;
	memset(files, 0, sizeof(*files));
	files->bytes = bytes;
	return text_copy(files->name, sizeof(files->name), name) &&
		text_copy(files->digest, sizeof(files->digest), digest);
}

const struct manifest_file *manifest_find(const struct manifest *manifest, const char *name)
{
	for (uint64_t i = manifest->file_count; i-- > 0;) {
		if (strcmp(manifest->files[i].name, name) == 0)
			return &manifest->files[i];
	}
	return NULL;
}

uint64_t manifest_bytes(const struct manifest *manifest, bool logs)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < manifest->file_count; i++) {
		if ((files_log_number(manifest->files[i].name) != 0) == logs)
			sum += manifest->files[i].bytes;
	}
	return sum;
}

static bool digest_of(const void *data, size_t len, char text[DIGEST_TEXT_SIZE])
{
	struct digest digest;
	bool done;

	digest_begin(&digest);
	digest_add(&digest, data, len);
	done = digest_text(&digest, text);
	digest_end(&digest);
	return done;
}

static bool render_manifest(const struct manifest *manifest, struct buffer *out)
{
	char digest[DIGEST_TEXT_SIZE];

	buffer_printf(out, TITLE " %d\n", FORMAT);
	for (size_t i = 0; i < HEAD_COUNT; i++) {
		const char *member = (const char *)manifest + heads[i].offset;

		if (heads[i].number)
			buffer_printf(out, "%s %" PRIu64 "\n", heads[i].name,
				*(const uint64_t *)(const void *)member);
		else
			buffer_printf(out, "%s %s\n", heads[i].name, member[0] ? member : "-");
	}
	for (uint64_t i = 0; i < manifest->file_count; i++)
		buffer_printf(out, "file %s %" PRIu64 " %s\n", manifest->files[i].digest,
			manifest->files[i].bytes, manifest->files[i].name);
	return !out->failed && digest_of(out->data, out->len, digest) &&
		buffer_printf(out, "end %s\n", digest);
}

/* Writes a file and makes it durable. */
static bool write_manifest_file(int directory, const char *name, const struct buffer *text)
{
	int fd = openat(directory, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
		0600);
	bool done;

	if (fd < 0)
		return false;
	done = files_write(fd, text->data, text->len, 0) && fsync(fd) == 0;
	return close(fd) == 0 && done;
}

bool manifest_write(const struct manifest *manifest, int directory, char *why, size_t why_size)
{
	struct buffer text;
	bool done;

	buffer_init(&text, TEXT_MAX);
	done = render_manifest(manifest, &text);
	if (!done) {
		snprintf(why, why_size, "out of memory");
	} else if (!write_manifest_file(directory, MANIFEST_NEW_NAME, &text) ||
		renameat(directory, MANIFEST_NEW_NAME, directory, MANIFEST_NAME) < 0 ||
		!directory_sync(directory)) {
		snprintf(why, why_size, "cannot write the manifest: %s", strerror(errno));
		done = false;
	}
	buffer_free(&text);
	return done;
}

/* Moves the next line of @text to @line. Returns false if there is none or it is too long. */
static bool next_line(const char **text, size_t *len, char line[LINE_SIZE])
{
	const char *end = memchr(*text, '\n', *len);
	size_t size = end ? (size_t)(end - *text) : LINE_SIZE;

	if (size >= LINE_SIZE || !text_copy_len(line, LINE_SIZE, *text, size))
		return false;
	*text += size + 1;
	*len -= size + 1;
	return true;
}

static bool parse_number(const char *text, uint64_t *number)
{
	char *end;

	if (text[0] < '0' || text[0] > '9')
		return false;
	errno = 0;
	*number = strtoull(text, &end, 10);
	return !errno && !*end;
}

static bool parse_head(struct manifest *manifest, const struct head *head, const char *line)
{
	char *member = (char *)manifest + head->offset;
	size_t len = strlen(head->name);

	if (strncmp(line, head->name, len) != 0 || line[len] != ' ')
		return false;
	if (head->number)
		return parse_number(line + len + 1, (uint64_t *)(void *)member);
	return line[len + 1] && text_copy(member, MANIFEST_TEXT, line + len + 1);
}

/* Parses the line "file SHA256 BYTES NAME" and adds the file. */
static bool parse_file(struct manifest *manifest, char *line)
{
	char *digest = line + strlen("file "), *bytes, *name;
	uint64_t number;

	if (strncmp(line, "file ", strlen("file ")) != 0)
		return false;
	bytes = strchr(digest, ' ');
	name = bytes ? strchr(bytes + 1, ' ') : NULL;
	if (!name)
		return false;
	*bytes++ = *name++ = '\0';
	return strlen(digest) == DIGEST_TEXT_SIZE - 1 &&
		strspn(digest, "0123456789abcdef") == DIGEST_TEXT_SIZE - 1 &&
		parse_number(bytes, &number) && files_is_data(name) &&
		manifest_add(manifest, name, number, digest);
}

/* Returns true if the last line holds the SHA-256 of all lines before it. */
static bool end_digest_matches(const char *text, size_t len)
{
	const size_t end_len = strlen("end ") + DIGEST_TEXT_SIZE;
	char digest[DIGEST_TEXT_SIZE];

	return len > end_len && text[len - 1] == '\n' && digest_of(text, len - end_len, digest) &&
		memcmp(text + len - end_len, "end ", 4) == 0 &&
		memcmp(text + len - DIGEST_TEXT_SIZE, digest, DIGEST_TEXT_SIZE - 1) == 0;
}

/* Returns true if the numbers are valid and the log files come last, without a gap. */
static bool manifest_is_sound(const struct manifest *manifest)
{
	uint64_t logs = manifest->last_log - manifest->first_log + 1;
	const struct manifest_file *file = manifest->files + manifest->file_count;

	if ((strcmp(manifest->folder, manifest_folders[0]) != 0 &&
		    strcmp(manifest->folder, manifest_folders[1]) != 0) ||
		!manifest->first_log || manifest->last_log < manifest->first_log ||
		manifest->last_log > UINT32_MAX || logs > manifest->file_count)
		return false;
	for (uint64_t log = manifest->last_log; log >= manifest->first_log; log--) {
		if (files_log_number((--file)->name) != log)
			return false;
	}
	return manifest->files[manifest->file_count - 1].bytes == manifest->last_offset;
}

/* Parses the lines after the title. */
static bool parse_lines(struct manifest *manifest, const char *text, size_t len)
{
	char line[LINE_SIZE];
	uint64_t count;

	for (size_t i = 0; i < HEAD_COUNT; i++) {
		if (!next_line(&text, &len, line) || !parse_head(manifest, &heads[i], line))
			return false;
	}
	count = manifest->file_count;
	manifest->file_count = 0;
	while (count-- > 0) {
		if (!next_line(&text, &len, line) || !parse_file(manifest, line))
			return false;
	}
	return next_line(&text, &len, line) && strncmp(line, "end ", 4) == 0 && !len &&
		manifest_is_sound(manifest);
}

static enum status parse_manifest(struct manifest *manifest, const char *text, size_t len,
	char *why, size_t why_size)
{
	char line[LINE_SIZE];
	uint64_t format;

	if (!end_digest_matches(text, len) || !next_line(&text, &len, line) ||
		strncmp(line, TITLE " ", strlen(TITLE " ")) != 0 ||
		!parse_number(line + strlen(TITLE " "), &format) || !format) {
		snprintf(why, why_size, "the manifest is damaged");
		return STATUS_CORRUPT;
	}
	if (format > FORMAT) {
		snprintf(why, why_size, "the backup was written by a newer creditbridge");
		return STATUS_CONFIG;
	}
	if (parse_lines(manifest, text, len))
		return STATUS_OK;
	snprintf(why, why_size, "the manifest is damaged");
	return STATUS_CORRUPT;
}

enum status manifest_read(struct manifest *manifest, int directory, char *why, size_t why_size)
{
	int fd = openat(directory, MANIFEST_NAME, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	enum status status = STATUS_IO;
	struct stat st;
	char *text = NULL;

	manifest_init(manifest);
	if (fd < 0 && errno == ENOENT)
		return STATUS_NOT_FOUND;
	if (fd < 0 || fstat(fd, &st) < 0) {
		snprintf(why, why_size, "cannot read the manifest: %s", strerror(errno));
		goto out;
	}
	if (!S_ISREG(st.st_mode) || st.st_size > TEXT_MAX) {
		snprintf(why, why_size, "the manifest is damaged");
		status = STATUS_CORRUPT;
		goto out;
	}
	text = malloc((size_t)st.st_size + 1);
	if (!text)
		status = STATUS_NOMEM;
	if (!text || files_read(fd, text, (size_t)st.st_size, 0) != st.st_size)
		snprintf(why, why_size, "cannot read the manifest: %s", strerror(errno));
	else
		status = parse_manifest(manifest, text, (size_t)st.st_size, why, why_size);
out:
	free(text);
	if (fd >= 0)
		close(fd);
	if (status)
		manifest_free(manifest);
	return status;
}
