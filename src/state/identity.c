#include "state/identity.h"

#include "base/directory.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define MACHINE_ID_LEN 32
/* The size of the file: names, ids and numbers, then the path. */
#define IDENTITY_MAX (256 + PATH_MAX)
#define NO_MACHINE   "-"

struct identity {
	char installation[STATE_INSTALLATION_MAX];
	char machine[MACHINE_ID_LEN + 1];
	uint64_t directory;
	uint64_t db;
	char path[PATH_MAX];
};

/* Returns true if the file system of @fd keeps its inode numbers over mounts. */
static bool keeps_inodes(int fd)
{
	/* ext2 to ext4, XFS, Btrfs, F2FS, ZFS, tmpfs. */
	static const uint32_t kinds[] = {0xef53, 0x58465342, 0x9123683e, 0xf2f52010, 0x2fc12fc1,
		0x01021994};
	struct statfs info;

	if (fstatfs(fd, &info) < 0)
		return false;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if ((uint32_t)info.f_type == kinds[i])
			return true;
	}
	return false;
}

static void find_machine(char machine[MACHINE_ID_LEN + 1])
{
	int etc = open("/etc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (etc < 0 || !directory_get_file(etc, "machine-id", machine, MACHINE_ID_LEN + 1) ||
		strspn(machine, "0123456789abcdef") != MACHINE_ID_LEN)
		text_copy(machine, MACHINE_ID_LEN + 1, NO_MACHINE);
	if (etc >= 0)
		close(etc);
}

/* Reads the actual location. Returns false and sets errno on failure. */
static bool find_identity(int fd, const char *path, const char *installation,
	struct identity *found)
{
	struct stat directory, db;

	memset(found, 0, sizeof(*found));
	if (fstat(fd, &directory) < 0 || fstatat(fd, "db", &db, AT_SYMLINK_NOFOLLOW) < 0 ||
		!realpath(path, found->path))
		return false;
	text_copy(found->installation, sizeof(found->installation), installation);
	find_machine(found->machine);
	if (keeps_inodes(fd)) {
		found->directory = directory.st_ino;
		found->db = db.st_ino;
	}
	return true;
}

bool state_identity_write(int fd, const char *path, const char *installation)
{
	struct identity found;
	char text[IDENTITY_MAX];

	if (!find_identity(fd, path, installation, &found))
		return false;
	snprintf(text, sizeof(text),
		"version 1\ninstallation %s\nmachine %s\ndirectory %" PRIu64 "\ndb %" PRIu64
		"\npath %s\n",
		found.installation, found.machine, found.directory, found.db, found.path);
	return directory_put_file(fd, STATE_IDENTITY, text);
}

/* Removes "NAME VALUE\n" from the start of *text and returns VALUE; NULL if it is not there. */
static const char *take_line(char **text, const char *name)
{
	const size_t len = strlen(name);
	char *value = *text + len + 1, *end;

	if (strncmp(*text, name, len) != 0 || (*text)[len] != ' ')
		return NULL;
	end = strchr(value, '\n');
	if (!end)
		return NULL;
	*end = '\0';
	*text = end + 1;
	return value;
}

static bool take_text(char **text, const char *name, char *value, size_t size)
{
	const char *taken = take_line(text, name);

	return taken && text_copy(value, size, taken);
}

static bool take_number(char **text, const char *name, uint64_t *value)
{
	const char *taken = take_line(text, name);
	char *end;

	if (!taken || !*taken)
		return false;
	errno = 0;
	*value = strtoull(taken, &end, 10);
	return !errno && !*end;
}

static bool parse_identity(char *text, struct identity *noted)
{
	uint64_t version;

	memset(noted, 0, sizeof(*noted));
	return take_number(&text, "version", &version) && version == 1 &&
		take_text(&text, "installation", noted->installation,
			sizeof(noted->installation)) &&
		take_text(&text, "machine", noted->machine, sizeof(noted->machine)) &&
		take_number(&text, "directory", &noted->directory) &&
		take_number(&text, "db", &noted->db) &&
		take_text(&text, "path", noted->path, sizeof(noted->path));
}

/* Returns the difference in words for the operator, or NULL if there is none. */
static const char *compare_identity(const struct identity *noted, const struct identity *found)
{
	if (strcmp(noted->installation, found->installation) != 0)
		return "the installation";
	if (strcmp(noted->machine, NO_MACHINE) != 0 && strcmp(found->machine, NO_MACHINE) != 0 &&
		strcmp(noted->machine, found->machine) != 0)
		return "the host (/etc/machine-id)";
	if (strcmp(noted->path, found->path) != 0)
		return "the path";
	if (noted->directory != found->directory)
		return "the directory (its inode)";
	return noted->db != found->db ? "db/ in it (its inode)" : NULL;
}

#define REMEDY                                                                                       \
	"If this is the only one, run `creditbridgectl adopt --moved`. If it is a copy or an older " \
	"state, or another copy ran since, run `creditbridgectl adopt --copied`"

enum status state_identity_check(int fd, const char *path, const char *installation, char *why,
	size_t why_size)
{
	struct identity noted, found;
	char text[IDENTITY_MAX];
	const char *what;

	if (!directory_get_file(fd, STATE_IDENTITY, text, sizeof(text)) ||
		!find_identity(fd, path, installation, &found)) {
		const int error = errno;

		snprintf(why, why_size, "%s/" STATE_IDENTITY " cannot be compared: %s", path,
			strerror(error));
		return faccessat(fd, STATE_IDENTITY, F_OK, 0) < 0 && errno == ENOENT
			? STATUS_NOT_FOUND
			: status_of_errno(error);
	}
	if (!parse_identity(text, &noted)) {
		snprintf(why, why_size,
			"%s/" STATE_IDENTITY " is damaged, so the state may be a copy. " REMEDY,
			path);
		return STATUS_CONFIG;
	}
	what = compare_identity(&noted, &found);
	if (!what)
		return STATUS_OK;
	snprintf(why, why_size,
		"%s was copied or moved: %s is another than before (it was %s of %s). " REMEDY,
		path, what, noted.path,
		strcmp(noted.machine, NO_MACHINE) != 0 ? noted.machine : "an unknown host");
	return STATUS_CONFIG;
}
