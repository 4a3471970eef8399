/*
 * doctor_disk - checks the disk that holds the state.
 */
#include "doctor/doctor.h"

#include "base/clock.h"
#include "state/halt.h"
#include "store/figures.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define MIB            (UINT64_C(1024) * 1024)
#define INODES_LEAST   64
#define SYNCS          5
#define SYNC_BYTES     4096
#define SYNC_SLOW_MS   100
#define SYNC_BROKEN_MS 2000

/* File systems by their magic numbers (statfs(2)). */
static const struct {
	uint32_t magic;
	enum doctor_result result;
	const char *name;
	const char *why;
} systems[] = {
	{0x01021994, DOCTOR_FAIL, "tmpfs", "is gone after a reboot"},
	{0x858458f6, DOCTOR_FAIL, "ramfs", "is gone after a reboot"},
	{0x6969, DOCTOR_FAIL, "NFS", "may lose what was written when its server fails"},
	{0xff534d42, DOCTOR_FAIL, "CIFS", "may lose what was written when its server fails"},
	{0xfe534d42, DOCTOR_FAIL, "SMB2", "may lose what was written when its server fails"},
	{0x517b, DOCTOR_FAIL, "SMB", "may lose what was written when its server fails"},
	{0x5346414f, DOCTOR_FAIL, "AFS", "may lose what was written when its server fails"},
	{0x00c36400, DOCTOR_WARN, "Ceph", "makes each commit wait for the network"},
	{0x01021997, DOCTOR_WARN, "9p", "may not keep its promise that data is on the disk"},
	{0x65735546, DOCTOR_WARN, "FUSE", "may not keep its promise that data is on the disk"},
	{0x794c7630, DOCTOR_WARN, "overlayfs", "usually goes with the container it belongs to"},
	{0x4d44, DOCTOR_WARN, "FAT", "knows no owners and no journal"},
};

void doctor_file_system(struct doctor *doctor)
{
	const char *path = doctor->settings->state_directory;
	struct statvfs flags;
	struct statfs st;

	if (statfs(path, &st) < 0 || statvfs(path, &flags) < 0) {
		doctor_skip(doctor, "%s: %s (see state_directory)", path, strerror(errno));
		return;
	}
	if (flags.f_flag & ST_RDONLY) {
		doctor_fail(doctor, "the file system of %s is mounted read-only", path);
		doctor_remedy(doctor,
			"see the kernel's log for a failed disk, then mount it writable");
	}
	for (size_t i = 0; i < sizeof(systems) / sizeof(systems[0]); i++) {
		if (systems[i].magic != (uint32_t)st.f_type)
			continue;
		doctor_add(doctor, systems[i].result, "%s lies on %s, which %s", path,
			systems[i].name, systems[i].why);
		doctor_remedy(doctor,
			"stop the ledger and move the data to a local disk with ext4 or "
			"XFS");
	}
	if (!doctor->sheet->count)
		doctor_pass(doctor, "%s lies on a local disk", path);
}

static void judge_space(struct doctor *doctor, uint64_t free_mib)
{
	const struct settings *settings = doctor->settings;
	const uint64_t mark = settings->disk_low_water_mib;
	char path[DOCTOR_PATH_MAX];
	uint64_t log_mib;

	doctor_path(path, settings->state_directory, "db");
	log_mib = store_log_bytes(path) / MIB;
	if (free_mib < mark) {
		doctor_fail(doctor,
			"%" PRIu64 " MiB are free, less than disk_low_water_mib = %" PRIu64
			": transfers and bets are refused (storage_full)",
			free_mib, mark);
		doctor_remedy(doctor, "free or add space below %s", settings->state_directory);
	} else if (free_mib < 2 * mark + settings->disk_ballast_mib) {
		doctor_warn(doctor,
			"%" PRIu64 " MiB are free; below %" PRIu64 " writes are refused", free_mib,
			mark);
		doctor_remedy(doctor, "free or add space below %s", settings->state_directory);
	} else if (free_mib - mark + log_mib < settings->log_keep_mib) {
		doctor_warn(doctor,
			"%" PRIu64 " MiB are free; the log has %" PRIu64
			" MiB and may grow to log_keep_mib = %u",
			free_mib, log_mib, settings->log_keep_mib);
		doctor_remedy(doctor,
			"add space below %s; with a lower log_keep_mib an older backup can no longer "
			"be rolled forward",
			settings->state_directory);
	}
}

void doctor_disk_space(struct doctor *doctor)
{
	const char *path = doctor->settings->state_directory;
	struct statvfs vfs;
	uint64_t free_mib;

	if (statvfs(path, &vfs) < 0) {
		doctor_skip(doctor, "%s: %s (see state_directory)", path, strerror(errno));
		return;
	}
	free_mib = (uint64_t)vfs.f_bavail * vfs.f_frsize / MIB;
	judge_space(doctor, free_mib);
	/* File systems that allocate inodes dynamically report 0 of 0. */
	if (vfs.f_files && vfs.f_favail < INODES_LEAST) {
		doctor_fail(doctor, "only %" PRIu64 " files can be made there",
			(uint64_t)vfs.f_favail);
		doctor_remedy(doctor, "remove small files from the file system of %s", path);
	}
	if (!doctor->sheet->count)
		doctor_pass(doctor, "%" PRIu64 " MiB are free; below %u writes are refused",
			free_mib, doctor->settings->disk_low_water_mib);
}

void doctor_disk_ballast(struct doctor *doctor)
{
	const struct settings *settings = doctor->settings;
	const uint64_t wanted = settings->disk_ballast_mib * MIB;
	char path[DOCTOR_PATH_MAX];
	struct stat st;

	doctor_path(path, settings->state_directory, "installation");
	if (stat(path, &st) < 0) {
		doctor_skip(doctor, "%s: %s (see state_directory)", path, strerror(errno));
		return;
	}
	doctor_path(path, settings->state_directory, "ballast");
	if (!wanted) {
		doctor_skip(doctor, "none is wanted (disk_ballast_mib = 0, see settings)");
		return;
	}
	if (stat(path, &st) < 0) {
		doctor_warn(doctor,
			"%s is not there: a full disk may keep the ledger from starting", path);
		doctor_remedy(doctor,
			"make room for %u MiB more than twice disk_low_water_mib, then "
			"restart creditbridge-ledger, which makes it",
			settings->disk_ballast_mib);
	} else if ((uint64_t)st.st_size != wanted || (uint64_t)st.st_blocks * 512 < wanted) {
		doctor_warn(doctor, "%s takes %" PRIu64 " KiB of the disk instead of %u MiB", path,
			(uint64_t)st.st_blocks / 2, settings->disk_ballast_mib);
		doctor_remedy(doctor, "restart creditbridge-ledger, which makes it anew");
	} else {
		doctor_pass(doctor, "%u MiB are kept for a recovery on a full disk",
			settings->disk_ballast_mib);
	}
}

static int compare_times(const void *one, const void *other)
{
	int64_t a = *(const int64_t *)one, b = *(const int64_t *)other;

	return a < b ? -1 : a > b;
}

/*
 * Writes and syncs @fd several times. Sets *median_ns to the median time. Returns false with
 * errno.
 */
static bool measure_sync(int fd, int64_t *median_ns)
{
	static const char block[SYNC_BYTES] = {'d'};
	int64_t times[SYNCS];

	for (unsigned int i = 0; i < SYNCS; i++) {
		int64_t begun_ns = clock_boot_ns();

		if (pwrite(fd, block, sizeof(block), (off_t)(i * sizeof(block))) !=
				(ssize_t)sizeof(block) ||
			fsync(fd) < 0)
			return false;
		times[i] = clock_boot_ns() - begun_ns;
	}
	qsort(times, SYNCS, sizeof(times[0]), compare_times);
	*median_ns = times[SYNCS / 2];
	return true;
}

void doctor_disk_sync(struct doctor *doctor)
{
	const char *path = doctor->settings->state_directory;
	int64_t median_ns = 0;
	double ms;
	/*
	 * An unnamed file: no other process sees it, and it disappears when this process exits.
	 */
	int fd = open(path, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd < 0) {
		doctor_skip(doctor, "cannot make a file without a name in %s: %s", path,
			strerror(errno));
		return;
	}
	if (!measure_sync(fd, &median_ns)) {
		bool full = errno == ENOSPC || errno == EDQUOT;

		doctor_fail(doctor, "writing in %s fails: %s", path, strerror(errno));
		doctor_remedy(doctor,
			full ? "free space there"
			     : "see the kernel's log; replace the disk, then "
			       "`creditbridgectl resume`");
		close(fd);
		return;
	}
	close(fd);
	ms = (double)median_ns / 1e6;
	if (ms < SYNC_SLOW_MS) {
		doctor_pass(doctor, "a write is on the disk after %.2f ms", ms);
		return;
	}
	doctor_add(doctor, ms < SYNC_BROKEN_MS ? DOCTOR_WARN : DOCTOR_FAIL,
		"a write is on the disk after %.0f ms; each batch of commands waits for one", ms);
	doctor_remedy(doctor, "see what else uses this disk; use one that keeps up");
}

void doctor_halted(struct doctor *doctor)
{
	const char *state = doctor->settings->state_directory;
	char path[PATH_MAX];

	if (halt_is_marked(doctor->settings, path)) {
		doctor_fail(doctor, "the disk failed and the ledger serves nothing since (%s)",
			path);
		doctor_remedy(doctor,
			"see the ledger's and the kernel's log, mend or replace the disk, "
			"then `creditbridgectl resume --reason TEXT`");
	} else if (access(state, X_OK) == 0) {
		doctor_pass(doctor, "no failure of the disk was noticed");
	} else {
		doctor_skip(doctor, "%s: %s (see state_directory)", state, strerror(errno));
	}
}
