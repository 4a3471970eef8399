#include "metrics/counters.h"

#include "base/log.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC     0x31544e554f434243 /* "CBCOUNT1" on a little-endian machine */
#define PATH_SIZE 4224
#define CELLS     (sizeof(struct counters) / sizeof(uint64_t))
/* The index of a member of struct counters among the cells. */
#define CELL(member) (offsetof(struct counters, member) / sizeof(uint64_t))

struct counters_head {
	uint64_t magic;
	uint64_t layout;
	uint64_t size;
};

struct counters_page {
	struct counters_head head;
	_Atomic uint64_t cells[CELLS];
	struct dealer_cells dealers;
};
_Static_assert(sizeof(struct counters) % sizeof(uint64_t) == 0, "the counters are cells");
_Static_assert(sizeof(_Atomic uint64_t) == sizeof(uint64_t), "a cell is a number");
_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2, "two processes count without a lock");

const char *const operation_names[OPERATION_COUNT] = {
#define OPERATION(name, text, ...) text,
#include "wire/operations.def"
#undef OPERATION
};
const char *const caller_kind_names[CALLER_KIND_COUNT] = {"dealer", "client"};
const char *const auth_failure_names[AUTH_FAILURE_COUNT] = {"headers", "unknown_caller",
	"signature", "stale_request", "flood"};

const char *const refused_note_names[NOTE_END_COUNT] = {"sent", "dropped"};

static uint64_t digest_names(uint64_t digest, const char *const *names, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		digest = field_digest_name(digest, names[i]);
	return digest;
}

/* Returns a number that is equal in two builds only if they count the same in the same cells. */
static uint64_t layout_digest(void)
{
	const struct histogram_scale *scale = &histogram_durations_us;
	uint64_t digest = UINT64_C(0xcbf29ce484222325);
	char number[24];

	digest = digest_names(digest, operation_names, OPERATION_COUNT);
	digest = digest_names(digest, refusal_ids, REFUSAL_COUNT);
	digest = digest_names(digest, caller_kind_names, CALLER_KIND_COUNT);
	digest = digest_names(digest, auth_failure_names, AUTH_FAILURE_COUNT);
	digest = digest_names(digest, refused_note_names, NOTE_END_COUNT);
	for (unsigned int i = 0; i < scale->count; i++) {
		snprintf(number, sizeof(number), "%llu", (unsigned long long)scale->bounds[i]);
		digest = field_digest_name(digest, number);
	}
	for (unsigned int i = 0; i < COUNTED_CODES; i++) {
		snprintf(number, sizeof(number), "%d", counted_codes[i]);
		digest = field_digest_name(digest, number);
	}
	return field_digest(digest, histogram_fields);
}

static struct counters_head head_of_this_build(void)
{
	return (struct counters_head){MAGIC, layout_digest(), sizeof(struct counters_page)};
}

/* Opens the file at @path if it has this layout. Returns -1 with errno otherwise. */
static int open_valid(const char *path, int flags)
{
	const struct counters_head expected = head_of_this_build();
	struct counters_head head;
	struct stat st;
	int fd = open(path, flags | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_size == expected.size &&
		pread(fd, &head, sizeof(head), 0) == (ssize_t)sizeof(head) &&
		memcmp(&head, &expected, sizeof(head)) == 0)
		return fd;
	close(fd);
	errno = EPROTO;
	return -1;
}

static struct counters_page *map_page(int fd, int protection)
{
	void *page = mmap(NULL, sizeof(struct counters_page), protection, MAP_SHARED, fd, 0);

	return page == MAP_FAILED ? NULL : page;
}

static void unmap_page(struct counters_page *page)
{
	if (page)
		munmap(page, sizeof(*page));
}

/* Sets mode and group of @like. Without @like, only the owner has access. */
static bool share_file(int fd, const char *like)
{
	struct stat st;

	if (stat(like, &st) < 0)
		return errno == ENOENT;
	return fchown(fd, (uid_t)-1, st.st_gid) == 0 && fchmod(fd, st.st_mode & 0666) == 0;
}

/* Makes the complete file under a temporary name, so that no process maps an incomplete one. */
static bool make_file(const char *path, const char *temporary, const char *like)
{
	const struct counters_head head = head_of_this_build();
	int fd, error;

	if (unlink(temporary) < 0 && errno != ENOENT)
		return false;
	fd = open(temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return false;
	/* Allocate the blocks: counting on a full disk would kill the worker. */
	error = posix_fallocate(fd, 0, (off_t)head.size);
	if (!error &&
		(pwrite(fd, &head, sizeof(head), 0) != (ssize_t)sizeof(head) ||
			!share_file(fd, like) || rename(temporary, path) < 0))
		error = errno;
	close(fd);
	if (!error)
		return true;
	unlink(temporary);
	errno = error;
	return false;
}

bool counters_make(const char *directory, const char *like, char *why, size_t why_size)
{
	char path[PATH_SIZE], temporary[PATH_SIZE], model[PATH_SIZE];
	struct stat st;
	int fd, saved;
	bool made;

	snprintf(path, sizeof(path), "%s/%s", directory, COUNTERS_FILE);
	snprintf(temporary, sizeof(temporary), "%s/%s.new", directory, COUNTERS_FILE);
	snprintf(model, sizeof(model), "%s/%s", directory, like);
	fd = open_valid(path, O_RDWR);
	made = fd >= 0 && fstat(fd, &st) == 0 && st.st_uid == geteuid() && share_file(fd, model);
	if (fd >= 0)
		close(fd);
	made = made || make_file(path, temporary, model);
	saved = errno;
	if (!made)
		snprintf(why, why_size, "cannot make %s: %s", path, strerror(saved));
	errno = saved;
	return made;
}

bool counters_read(const char *path, struct counters *counters)
{
	uint64_t *cells = (uint64_t *)(void *)counters;
	struct counters_page *page = NULL;
	int fd = open_valid(path, O_RDONLY);

	if (fd >= 0) {
		page = map_page(fd, PROT_READ);
		close(fd);
	}
	for (size_t i = 0; page && i < CELLS; i++)
		cells[i] = atomic_load_explicit(&page->cells[i], memory_order_relaxed);
	unmap_page(page);
	return page != NULL;
}

bool counters_copy(const char *path, struct counters *counters)
{
	/* Something else at the path must not make the caller wait. */
	int fd = open_valid(path, O_RDONLY | O_NONBLOCK);
	ssize_t len;

	if (fd < 0)
		return false;
	len = pread(fd, counters, sizeof(*counters), offsetof(struct counters_page, cells));
	close(fd);
	return len == (ssize_t)sizeof(*counters);
}

uint32_t counters_read_dealers(const char *path, struct dealer_counts counts[COUNTED_DEALERS])
{
	struct counters_page *page = NULL;
	uint32_t count = 0;
	int fd = open_valid(path, O_RDONLY);

	if (fd >= 0) {
		page = map_page(fd, PROT_READ);
		close(fd);
	}
	if (page)
		count = dealer_cells_read(&page->dealers, counts);
	unmap_page(page);
	return count;
}

bool counting_init(struct counting *counting, const char *path)
{
	memset(counting, 0, sizeof(*counting));
	return text_copy(counting->path, sizeof(counting->path), path);
}

void counting_free(struct counting *counting)
{
	unmap_page(counting->page);
	counting->page = NULL;
}

static void add_to_cell(struct counting *counting, size_t cell, uint64_t number)
{
	uint64_t *kept = (uint64_t *)(void *)&counting->kept;

	if (counting->page)
		atomic_fetch_add_explicit(&counting->page->cells[cell], number,
			memory_order_relaxed);
	else
		kept[cell] += number;
}

/* Adds the counts made while there was no file. */
static void bring_in(struct counting *counting)
{
	const uint64_t *kept = (const uint64_t *)(const void *)&counting->kept;

	for (size_t i = 0; i < CELLS; i++) {
		if (kept[i])
			add_to_cell(counting, i, kept[i]);
	}
	memset(&counting->kept, 0, sizeof(counting->kept));
}

static bool is_same(const struct counting *counting, const struct stat *st)
{
	return counting->page && counting->device == (uint64_t)st->st_dev &&
		counting->inode == (uint64_t)st->st_ino;
}

/* Maps the present file. Returns false with errno if that fails. */
static bool map_present(struct counting *counting)
{
	struct counters_page *page;
	struct stat st;
	int fd = open_valid(counting->path, O_RDWR), saved;

	if (fd < 0)
		return false;
	page = fstat(fd, &st) == 0 ? map_page(fd, PROT_READ | PROT_WRITE) : NULL;
	saved = errno;
	close(fd);
	errno = saved;
	if (!page)
		return false;
	unmap_page(counting->page);
	counting->page = page;
	counting->device = (uint64_t)st.st_dev;
	counting->inode = (uint64_t)st.st_ino;
	return true;
}

void counting_look(struct counting *counting, int64_t now_ms)
{
	struct stat st;

	if (counting->looked && now_ms - counting->looked_ms < COUNTING_LOOK_MS)
		return;
	counting->looked = true;
	counting->looked_ms = now_ms;
	if (stat(counting->path, &st) == 0 && is_same(counting, &st))
		return;
	if (map_present(counting)) {
		counting->logged = false;
		bring_in(counting);
		return;
	}
	if (!counting->logged)
		log_line(LOG_LEVEL_WARNING, "not_counting", "file=%s error=\"%s\"", counting->path,
			errno == EPROTO ? "it is of another version" : strerror(errno));
	counting->logged = true;
	/* A deleted file has no readers. */
	unmap_page(counting->page);
	counting->page = NULL;
}

void counting_request(struct counting *counting, enum web_operation operation, enum refusal refusal,
	uint64_t us)
{
	unsigned int place = histogram_place_of(&histogram_durations_us, us);

	if ((unsigned int)operation >= OPERATION_COUNT || (unsigned int)refusal >= REFUSAL_COUNT)
		return;
	add_to_cell(counting, CELL(latency_us[operation].places[place].count), 1);
	add_to_cell(counting, CELL(latency_us[operation].sum), us);
	add_to_cell(counting, CELL(requests[operation][refusal]), 1);
}

void counting_dealer(struct counting *counting, const char *casino_id, enum refusal refusal)
{
	unsigned int place = counted_code_find(refusal_info(refusal)->code);

	if (place < COUNTED_CODES &&
		!(counting->page && dealer_cells_count(&counting->page->dealers, casino_id, place)))
		add_to_cell(counting, CELL(other_dealers[place]), 1);
}

void counting_auth_failure(struct counting *counting, enum caller_kind caller,
	enum auth_failure why)
{
	if ((unsigned int)caller < CALLER_KIND_COUNT && (unsigned int)why < AUTH_FAILURE_COUNT)
		add_to_cell(counting, CELL(auth_failures[caller][why]), 1);
}

void counting_refused_note(struct counting *counting, enum refused_note_end end)
{
	add_to_cell(counting, CELL(refused_notes[end]), 1);
}

void counting_refused_calls(struct counting *counting, enum refused_note_end end, uint64_t count)
{
	add_to_cell(counting, CELL(refused_calls[end]), count);
}
