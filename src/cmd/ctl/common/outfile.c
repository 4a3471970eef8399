#include "cmd/ctl/common/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static enum outcome make_file(struct outfile *out)
{
	int fd = open(out->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd < 0 && errno == EEXIST)
		return ctl_fail(out->ctl, OUTCOME_FAILED, "already_exists",
			"%s exists already, and nothing was written: give another FILE, or "
			"delete it",
			out->path);
	if (fd >= 0)
		out->file = fdopen(fd, "w");
	if (out->file)
		return OUTCOME_DONE;
	ctl_fail(out->ctl, OUTCOME_FAILED, "failed", "cannot make %s: %s", out->path,
		strerror(errno));
	if (fd >= 0)
		close(fd);
	return OUTCOME_FAILED;
}

enum outcome outfile_open(struct outfile *out, struct ctl *ctl, const char *path, bool foreign)
{
	enum outcome code = OUTCOME_DONE;

	*out = (struct outfile){.ctl = ctl, .file = stdout};
	if (path && strcmp(path, "-") != 0)
		out->path = path;
	else if (ctl->json)
		return ctl_usage(ctl,
			"--json requires FILE: the report itself goes to "
			"standard output");
	else if (foreign && isatty(STDOUT_FILENO))
		return ctl_usage(ctl, "FILE is required when standard output is a terminal");
	if (out->path) {
		out->file = NULL;
		code = make_file(out);
	}
	if (code == OUTCOME_DONE)
		digest_begin(&out->digest);
	return code;
}

void outfile_put(struct outfile *out, const void *data, size_t len)
{
	digest_add(&out->digest, data, len);
	if (len && fwrite(data, 1, len, out->file) != len)
		out->failed = true;
}

void outfile_digest(struct outfile *out, char text[DIGEST_TEXT_SIZE])
{
	if (!digest_text(&out->digest, text))
		out->failed = true;
}

bool outfile_keep(FILE *file)
{
	/* fsync() fails with EINVAL on a pipe or a terminal, which are allowed as files. */
	return fflush(file) == 0 && !ferror(file) && (fsync(fileno(file)) == 0 || errno == EINVAL);
}

void outfile_spoil(FILE *file, const char *path)
{
	struct stat st;

	/*
	 * Root may have changed to a user that cannot delete the file. An empty file is not
	 * mistaken for a result.
	 */
	if (ftruncate(fileno(file), 0) < 0 || lstat(path, &st) < 0 ||
		(S_ISREG(st.st_mode) && unlink(path) < 0))
		ctl_tell(NULL, "%s is incomplete; delete it", path);
}

enum outcome outfile_close(struct outfile *out, enum outcome code)
{
	bool to_keep = out->path && code == OUTCOME_DONE;

	digest_end(&out->digest);
	if (to_keep ? !outfile_keep(out->file) : fflush(out->file) != 0)
		out->failed = true;
	if (code == OUTCOME_DONE && out->failed)
		code = ctl_fail(out->ctl, OUTCOME_FAILED, "failed", "cannot write %s: %s",
			out->path ? out->path : "the output",
			errno ? strerror(errno) : "out of memory");
	if (!out->path)
		return code;
	if (code != OUTCOME_DONE)
		outfile_spoil(out->file, out->path);
	fclose(out->file);
	return code;
}
