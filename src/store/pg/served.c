#include "store/pg/served.h"

#include "base/clock.h"
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
#define LOOK_MS     700 /* for the answer of one server */

enum status served_open(struct served *served, const char *directory, bool writes, char *why,
	size_t why_size)
{
	const int flags = (writes ? O_RDWR | O_CREAT : O_RDONLY) | O_CLOEXEC | O_NOFOLLOW;
	char path[PATH_MAX];

	served->fd = -1;
	if (!directory)
		return STATUS_OK;
	if ((unsigned int)snprintf(path, sizeof(path), "%s/" FILE_NAME, directory) < sizeof(path))
		served->fd = open(path, flags, 0600);
	else
		errno = ENAMETOOLONG;
	if (served->fd >= 0 || (!writes && errno == ENOENT))
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

void served_read(const struct served *served, struct cell *mark)
{
	char text[MARK_ROOM] = "";
	ssize_t len = served->fd < 0 ? 0 : pread(served->fd, text, MARK_SIZE, 0);

	*mark = (struct cell){0};
	if (len == 0 ||
		(len == MARK_SIZE &&
			sscanf(text, "epoch %" SCNd64 " turn %" SCNd64, &mark->epoch,
				&mark->turn) == 2))
		return;
	*mark = (struct cell){0};
	log_line(LOG_LEVEL_WARNING, "served_unreadable", "file=" FILE_NAME);
}

bool served_lacks(const struct cell *mark, int64_t epoch, int64_t turn)
{
	return epoch < mark->epoch || turn < mark->turn;
}

/* Returns the place of a server that has what @mark names; server_count: none that answers. */
static unsigned int find_holder(const struct pg_options *options, const struct cell *mark)
{
	unsigned int i = 0;
	bool found = false;

	for (; i < options->server_count; i += !found) {
		struct pg_options one = *options;
		struct pg_connection connection = {.options = &one};
		struct store_cell cell;
		char ignored[256];

		one.purpose = PG_LOOKS;
		one.servers[0] = options->servers[i];
		one.server_count = 1;
		found = !connection_open(&connection, clock_boot_ms() + LOOK_MS) &&
			!cell_read(&connection, &cell, ignored, sizeof(ignored)) &&
			!served_lacks(mark, cell.epoch, cell.turn);
		connection_close(&connection);
		if (found)
			break;
	}
	return i;
}

enum status served_check(const struct served *served, const struct pg_options *options,
	int64_t epoch, int64_t turn, char *why, size_t why_size)
{
	struct cell mark;
	unsigned int holder;

	served_read(served, &mark);
	if (!served_lacks(&mark, epoch, turn))
		return STATUS_OK;
	holder = find_holder(options, &mark);
	if (holder < options->server_count) {
		snprintf(why, why_size,
			"the server that takes writes lacks acknowledged batches, and server %u of "
			"postgresql_hosts has them: it has turn %" PRId64 " of epoch %" PRId64
			", and turn %" PRId64 " of epoch %" PRId64
			" was answered. Nothing is served until patronictl makes a server lead that "
			"has them",
			holder + 1, turn, epoch, mark.turn, mark.epoch);
		return STATUS_BUSY;
	}
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

void served_note_seen(const struct served *served, const struct store_cell *before,
	const struct store_cell *now)
{
	const struct cell answered = {.epoch = now->epoch, .turn = now->turn - 1};
	struct cell mark;

	if (served->fd < 0 || before->epoch != now->epoch || before->turn >= now->turn)
		return;
	served_read(served, &mark);
	if (!served_lacks(&mark, answered.epoch, answered.turn) && answered.turn > mark.turn)
		served_note(served, &answered);
}
