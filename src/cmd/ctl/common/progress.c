#include "cmd/ctl/common/progress.h"

#include "base/clock.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#define LINE_CLEAR "\r\033[K"

struct progress progress_begin(const struct ctl *ctl)
{
	return (struct progress){.wanted = isatty(STDERR_FILENO) && !ctl->json, .every_ms = 200};
}

void progress_show(struct progress *progress, const char *format, ...)
{
	const int64_t now_ms = clock_boot_ms();
	va_list arguments;

	if (!progress->wanted ||
		(progress->shown && now_ms - progress->last_ms < progress->every_ms))
		return;
	progress->shown = true;
	progress->last_ms = now_ms;
	fputs(LINE_CLEAR, stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fflush(stderr);
}

void progress_end(struct progress *progress)
{
	if (progress->shown)
		fputs(LINE_CLEAR, stderr);
	progress->shown = false;
}

void progress_backup(void *progress, const struct backup_result *result)
{
	if (result->bytes_all > result->bytes)
		progress_show(progress, "%" PRIu64 " of about %" PRIu64 " MiB", result->bytes >> 20,
			result->bytes_all >> 20);
	else
		progress_show(progress, "%" PRIu64 " MiB", result->bytes >> 20);
}
