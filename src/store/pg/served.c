#include "store/pg/served.h"

#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FILE_NAME "served"
/* All marks have the same length, so that a write replaces the one before as a whole. */
#define MARK_FORMAT "epoch %020" PRId64 " turn %020" PRId64 "\n"
#define MARK_SIZE   53
#define MARK_ROOM   (MARK_SIZE + 1)

enum status served_open(struct served *served, const char *directory, char *why, size_t why_size)
{
	char path[PATH_MAX];

	served->fd = -1;
	if (!directory)
		return STATUS_OK;
	if ((unsigned int)snprintf(path, sizeof(path), "%s/" FILE_NAME, directory) < sizeof(path))
		served->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	else
		errno = ENAMETOOLONG;
	if (served->fd >= 0)
		return STATUS_OK;
	snprintf(why, why_size, "cannot open %s/" FILE_NAME ": %s", directory, strerror(errno));
	return STATUS_IO;
}

void served_close(struct served *served)
{
	if (served->fd >= 0)
		close(served->fd);
	served->fd = -1;
}

enum status served_check(const struct served *served, int64_t epoch, int64_t turn, char *why,
	size_t why_size)
{
	char text[MARK_ROOM] = "";
	struct cell mark;
	ssize_t len = served->fd < 0 ? 0 : pread(served->fd, text, MARK_SIZE, 0);

	if (len == 0)
		return STATUS_OK;
	if (len != MARK_SIZE ||
		sscanf(text, "epoch %" SCNd64 " turn %" SCNd64, &mark.epoch, &mark.turn) != 2) {
		log_line(LOG_LEVEL_WARNING, "served_unreadable", "file=" FILE_NAME);
		return STATUS_OK;
	}
	if (epoch >= mark.epoch && turn >= mark.turn)
		return STATUS_OK;
	snprintf(why, why_size,
		"the servers lack acknowledged batches: they have turn %" PRId64
		" of epoch %" PRId64 ", and this host served turn %" PRId64 " of epoch %" PRId64
		": promote the server that has them, or accept their loss with creditbridgectl adopt",
		turn, epoch, mark.turn, mark.epoch);
	return STATUS_CORRUPT;
}

void served_note(const struct served *served, const struct cell *cell)
{
	char text[MARK_ROOM];

	if (served->fd < 0)
		return;
	snprintf(text, sizeof(text), MARK_FORMAT, cell->epoch, cell->turn);
	if (pwrite(served->fd, text, MARK_SIZE, 0) != MARK_SIZE)
		log_line(LOG_LEVEL_WARNING, "served_not_written", "error=\"%s\"", strerror(errno));
}
