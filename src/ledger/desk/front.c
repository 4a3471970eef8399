#include "ledger/desk/front.h"

#include "base/log.h"
#include "base/text.h"
#include "wire/signature.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_front(const char *text)
{
	return strlen(text) == FRAME_VOUCH_SIZE - 1 &&
		strspn(text, "0123456789abcdef") == FRAME_VOUCH_SIZE - 1;
}

/* Takes the values of @text. Returns what is wrong with it, or NULL. */
static const char *take_values(struct front_values *front, char *text)
{
	unsigned int count = 0;
	char *rest = NULL;

	for (char *line = strtok_r(text, "\r\n", &rest); line;
		line = strtok_r(NULL, "\r\n", &rest)) {
		if (line[0] == '#')
			continue;
		if (!is_front(line))
			return "a line is not 64 hex characters in lower case";
		if (count == FRONT_LIVE_MAX)
			return "it has more than two values";
		text_copy(front->live[count++], FRAME_VOUCH_SIZE, line);
	}
	return count ? NULL : "it has no value";
}

/* Returns why the file is not usable; NULL: it is. *failed: it could not be read, which may pass. */
static const char *read_values(struct front_values *front, int fd, const struct stat *info,
	bool *failed)
{
	char text[FRONT_FILE_MAX + 1];
	const char *why;
	ssize_t got;

	if (!S_ISREG(info->st_mode))
		return "it is no regular file";
	if (info->st_mode & S_IRWXO)
		return "other users have rights to it: set mode 0640 or 0600";
	do
		got = read(fd, text, FRONT_FILE_MAX);
	while (got < 0 && errno == EINTR);
	*failed = got < 0;
	if (*failed)
		return strerror(errno);
	text[got] = '\0';
	why = take_values(front, text);
	explicit_bzero(text, sizeof(text));
	return why;
}

void front_read(struct front_values *front, const char *path)
{
	struct stat info = {.st_mode = 0};
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	int64_t changed_ns = 0;
	const char *why = NULL;
	bool failed = false;

	if (fd < 0 || fstat(fd, &info) < 0)
		why = strerror(errno);
	else
		changed_ns = (int64_t)info.st_ctim.tv_sec * 1000000000 + info.st_ctim.tv_nsec;
	if (!front->was_read || changed_ns != front->changed_ns || info.st_ino != front->inode) {
		memset(front->live, 0, sizeof(front->live));
		front->changed_ns = changed_ns;
		front->inode = info.st_ino;
		if (!why)
			why = read_values(front, fd, &info, &failed);
		if (why)
			memset(front->live, 0, sizeof(front->live));
		if (why && !(failed && front->failing))
			log_line(LOG_LEVEL_ERROR, "front_secret_unusable", "file=%s reason=\"%s\"",
				path, why);
		/* The next look reads the file again, although it has not changed. */
		front->was_read = !failed;
		front->failing = failed;
	}
	if (fd >= 0)
		close(fd);
}

bool front_check(const struct front_values *front, const char *secret)
{
	bool valid = false;

	if (strlen(secret) != FRAME_VOUCH_SIZE - 1)
		return false;
	for (unsigned int i = 0; i < FRONT_LIVE_MAX; i++) {
		const bool same = signature_equal(front->live[i], secret, FRAME_VOUCH_SIZE - 1);

		valid |= same && front->live[i][0];
	}
	return valid;
}
