#include "peer/members.h"

#include "base/check.h"
#include "base/directory.h"
#include "base/lock.h"
#include "base/text.h"
#include "peer/address.h"
#include "peer/issue.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CA_KEY         "ca-key.pem"
#define MEMBERS_FILE   "members"
#define LOCK_MS        5000
#define LIST_MAX       (MEMBERS_MAX * 256)
#define FILE_NAME_SIZE (HELLO_MEMBER_SIZE + 16)

/* The directory that a change works on, with its lists. */
struct cell_directory {
	int fd; /* the directory, locked */
	const char *directory;
	char *list; /* text of the file members */
	char *removed;
	char *why;
	size_t why_size;
};

static enum status room_fail(struct cell_directory *room, const char *name)
{
	enum status status = status_of_errno(errno);

	snprintf(room->why, room->why_size, "%s/%s: %s", room->directory, name, strerror(errno));
	return status;
}

/* Reads a whole small file with a NUL. A missing one is "" and STATUS_NOT_FOUND. */
static enum status read_text(struct cell_directory *room, const char *name, char *text, size_t size)
{
	text[0] = 0;
	if (!directory_get_file(room->fd, name, text, size))
		return errno == ENOENT ? STATUS_NOT_FOUND : room_fail(room, name);
	if (strlen(text) < size - 1)
		return STATUS_OK;
	errno = EFBIG;
	return room_fail(room, name);
}

/* Replaces the file @name: it is complete and durable, or unchanged. */
static enum status write_text(struct cell_directory *room, const char *name, const char *text)
{
	return directory_put_file(room->fd, name, text) ? STATUS_OK : room_fail(room, name);
}

static void room_close(struct cell_directory *room)
{
	if (room->fd >= 0)
		close(room->fd);
	free(room->list);
	free(room->removed);
}

static enum status read_lists(struct cell_directory *room)
{
	enum status status;

	room->list = calloc(1, LIST_MAX);
	room->removed = calloc(1, LIST_MAX);
	if (!room->list || !room->removed) {
		snprintf(room->why, room->why_size, "out of memory");
		return STATUS_NOMEM;
	}
	status = read_text(room, MEMBERS_FILE, room->list, LIST_MAX);
	if (!status || status == STATUS_NOT_FOUND)
		status = read_text(room, TLS_REMOVED, room->removed, LIST_MAX);
	return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

/* Opens the directory and reads the lists. @change: makes the directory if it is missing, and locks it. */
static enum status room_open(struct cell_directory *room, const char *directory, bool change,
	char *why, size_t why_size)
{
	enum status status;
	struct stat info;

	*room = (struct cell_directory){.fd = -1,
		.directory = directory,
		.why = why,
		.why_size = why_size};
	if (change && mkdir(directory, 0700) < 0 && errno != EEXIST)
		return room_fail(room, "");
	room->fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (room->fd < 0 && errno == ENOENT) {
		snprintf(why, why_size, "there is no directory %s", directory);
		return STATUS_NOT_FOUND;
	}
	if (room->fd < 0 || fstat(room->fd, &info) < 0)
		return room_fail(room, "");
	/* Root may look, for the ledger's user. */
	if ((info.st_uid != geteuid() && (change || geteuid() != 0)) ||
		(info.st_mode & (S_IRWXG | S_IRWXO))) {
		snprintf(why, why_size, "%s must belong to the ledger's user, with mode 0700",
			directory);
		status = STATUS_CONFIG;
	} else if (change && !lock_wait(room->fd, LOCK_MS)) {
		status = room_fail(room, "");
	} else {
		status = read_lists(room);
	}
	if (status)
		room_close(room);
	return status;
}

static bool parse_member(char *line, const char *removed, struct cell_member *member)
{
	char form[TLS_SERIAL_SIZE + 2], *rest = NULL;
	const char *name = strtok_r(line, " ", &rest), *serial = strtok_r(NULL, " ", &rest);
	const char *expires = strtok_r(NULL, " ", &rest), *address = strtok_r(NULL, " ", &rest);
	uint64_t number;

	memset(member, 0, sizeof(*member));
	if (!name || !serial || !expires || !address ||
		!text_copy(member->name, sizeof(member->name), name) ||
		!text_copy(member->serial, sizeof(member->serial), serial) ||
		!text_copy(member->address, sizeof(member->address), address) ||
		!text_unsigned(expires, INT64_MAX, &number))
		return false;
	member->expires_s = (int64_t)number;
	snprintf(form, sizeof(form), " %s", serial);
	CHECK(removed != NULL); /* room_open() read both lists */
	member->removed = strstr(removed, form) != NULL;
	return true;
}

static enum status parse_members(struct cell_directory *room,
	struct cell_member members[MEMBERS_MAX], unsigned int *count)
{
	char *rest = NULL;

	*count = 0;
	for (char *line = strtok_r(room->list, "\n", &rest); line;
		line = strtok_r(NULL, "\n", &rest)) {
		if (*count == MEMBERS_MAX || !parse_member(line, room->removed, &members[*count])) {
			snprintf(room->why, room->why_size,
				"%s/" MEMBERS_FILE " has a line of another form, or too many",
				room->directory);
			return STATUS_CONFIG;
		}
		for (unsigned int i = 0; i < *count; i++)
			members[i].replaced |= strcmp(members[i].name, members[*count].name) == 0;
		++*count;
	}
	return STATUS_OK;
}

enum status members_read(const char *directory, struct cell_member members[MEMBERS_MAX],
	unsigned int *count, char *why, size_t why_size)
{
	struct cell_directory room;
	enum status status = room_open(&room, directory, false, why, why_size);

	*count = 0;
	if (status)
		return status;
	status = parse_members(&room, members, count);
	room_close(&room);
	return status;
}

/* Reads the CA, or makes it if there is none. */
static enum status have_ca(struct cell_directory *room, int64_t now_s, struct issued *ca)
{
	enum status status = read_text(room, TLS_CA, ca->certificate, sizeof(ca->certificate));
	const bool made = status == STATUS_NOT_FOUND;

	if (made && !issue_ca(now_s, ca, room->why, room->why_size))
		return STATUS_NOMEM;
	/* The key first: a certificate without its key could not be used nor made again. */
	if (made)
		status = write_text(room, CA_KEY, ca->key);
	if (made && !status)
		return write_text(room, TLS_CA, ca->certificate);
	if (status)
		return status;
	status = read_text(room, CA_KEY, ca->key, sizeof(ca->key));
	if (status == STATUS_NOT_FOUND) {
		snprintf(room->why, room->why_size,
			"the CA's key is not in %s: run this on the host where the first member was added",
			room->directory);
		return STATUS_CONFIG;
	}
	return status;
}

/* Returns the address of the newest certificate of @name that is not removed, or NULL if there is none. */
static const char *address_before(const struct cell_member *members, unsigned int count,
	const char *name)
{
	for (unsigned int i = count; i-- > 0;) {
		if (!members[i].removed && strcmp(members[i].name, name) == 0)
			return members[i].address;
	}
	return NULL;
}

/* Checks that the member may be added, or renewed, and completes @made's address. */
static enum status check_member(struct cell_directory *room, const char *name, const char *address,
	bool renew, struct cell_member *made)
{
	struct cell_member *members = calloc(MEMBERS_MAX, sizeof(*members));
	const char *before;
	unsigned int count;
	enum status status = STATUS_NOMEM;
	char *list;

	CHECK(room->list != NULL);
	list = strdup(room->list);
	if (members && list)
		status = parse_members(room, members, &count);
	if (!status) {
		before = address_before(members, count, name);
		if (count == MEMBERS_MAX) {
			snprintf(room->why, room->why_size,
				"%s/" MEMBERS_FILE " has %d certificates, the most",
				room->directory, MEMBERS_MAX);
			status = STATUS_CONFIG;
		} else if (renew != (before != NULL)) {
			snprintf(room->why, room->why_size,
				renew ? "there is no member %s; add it by creditbridgectl member add"
				      : "member %s exists; creditbridgectl member renew makes a new "
					"certificate",
				name);
			status = STATUS_CONFIG;
		}
		text_copy(made->address, sizeof(made->address),
			address          ? address
				: before ? before
					 : "-");
	}
	/* strtok_r() cut it. */
	if (list)
		text_copy(room->list, LIST_MAX, list);
	free(list);
	free(members);
	return status;
}

static enum status store_member(struct cell_directory *room, const struct cell_member *made,
	const struct issued *issued)
{
	char name[FILE_NAME_SIZE];
	size_t used = strlen(room->list);
	enum status status;

	snprintf(room->list + used, LIST_MAX - used, "%s %s %lld %s\n", made->name, made->serial,
		(long long)made->expires_s, made->address);
	/* In the list first: what is not in it could not be removed. */
	status = write_text(room, MEMBERS_FILE, room->list);
	snprintf(name, sizeof(name), "%s-key.pem", made->name);
	if (!status)
		status = write_text(room, name, issued->key);
	snprintf(name, sizeof(name), "%s.pem", made->name);
	return status ? status : write_text(room, name, issued->certificate);
}

enum status members_issue(const char *directory, const char *name, const char *address, bool renew,
	int64_t now_s, struct cell_member *made, char *why, size_t why_size)
{
	struct issued ca, issued;
	struct address parsed;
	struct cell_directory room;
	enum status status;

	memset(made, 0, sizeof(*made));
	if (!text_is_name(name, HELLO_MEMBER_SIZE - 1) || name[0] == '.' ||
		strcmp(name, "ca") == 0 || !text_copy(made->name, sizeof(made->name), name) ||
		(address && !address_parse(address, &parsed))) {
		snprintf(why, why_size,
			"a member's name is 1 to 63 of [A-Za-z0-9_.-] (not ca), its address an IP "
			"address with a port, such as 10.0.0.1:7410");
		return STATUS_CONFIG;
	}
	status = room_open(&room, directory, true, why, why_size);
	if (status)
		return status;
	status = check_member(&room, name, address, renew, made);
	if (!status)
		status = have_ca(&room, now_s, &ca);
	if (!status && !issue_member(&ca, name, now_s, &issued, why, why_size))
		status = STATUS_NOMEM;
	if (!status) {
		text_copy(made->serial, sizeof(made->serial), issued.serial);
		made->expires_s = issued.expires_s;
		status = store_member(&room, made, &issued);
	}
	explicit_bzero(&ca, sizeof(ca));
	explicit_bzero(&issued, sizeof(issued));
	room_close(&room);
	return status;
}

enum status members_remove(const char *directory, const char *name, char *why, size_t why_size)
{
	struct cell_member *members = calloc(MEMBERS_MAX, sizeof(*members));
	unsigned int count = 0, found = 0;
	struct cell_directory room;
	enum status status =
		members ? room_open(&room, directory, true, why, why_size) : STATUS_NOMEM;
	size_t used;

	if (status) {
		free(members);
		return status;
	}
	status = parse_members(&room, members, &count);
	CHECK(room.removed != NULL);
	used = strlen(room.removed);
	for (unsigned int i = 0; !status && i < count; i++) {
		if (strcmp(members[i].name, name) != 0 || members[i].removed)
			continue;
		found++;
		used += (size_t)snprintf(room.removed + used, LIST_MAX - used, "%s %s\n", name,
			members[i].serial);
	}
	if (!status && !found) {
		snprintf(why, why_size, "there is no member %s", name);
		status = STATUS_NOT_FOUND;
	}
	if (!status)
		status = write_text(&room, TLS_REMOVED, room.removed);
	room_close(&room);
	free(members);
	return status;
}

enum status members_expiry(const char *directory, const char *name, int64_t *expires_s, char *why,
	size_t why_size)
{
	char file[FILE_NAME_SIZE], text[ISSUE_PEM_MAX];
	struct cell_directory room;
	enum status status = room_open(&room, directory, false, why, why_size);

	if (status)
		return status;
	snprintf(file, sizeof(file), "%s.pem", name ? name : "ca");
	status = read_text(&room, file, text, sizeof(text));
	if (status == STATUS_NOT_FOUND)
		snprintf(why, why_size, "%s/%s is missing", directory, file);
	if (!status && !issue_expiry(text, expires_s)) {
		snprintf(why, why_size, "%s/%s is no certificate", directory, file);
		status = STATUS_CONFIG;
	}
	room_close(&room);
	return status;
}
