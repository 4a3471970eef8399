#include "base/log.h"

#include "base/clock.h"
#include "base/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#define LINE_MAX_BYTES 2048
#define LEVEL_COUNT    4

static const struct {
	const char *name;
	int priority;
} levels[LEVEL_COUNT] = {
	[LOG_LEVEL_ERROR] = {"error", LOG_ERR},
	[LOG_LEVEL_WARNING] = {"warning", LOG_WARNING},
	[LOG_LEVEL_INFO] = {"info", LOG_INFO},
	[LOG_LEVEL_DEBUG] = {"debug", LOG_DEBUG},
};

static struct {
	const char *program;
	bool to_syslog;
	enum log_level level;
} log_state = {.program = "creditbridge", .level = LOG_LEVEL_INFO};

void log_open(const char *program, bool to_syslog, enum log_level level)
{
	log_state.program = program;
	log_state.to_syslog = to_syslog;
	log_state.level = level;
	if (to_syslog)
		openlog(program, LOG_PID | LOG_NDELAY, LOG_DAEMON);
}

/* Writes the prefix of a line on standard error, where no daemon adds one. Returns its length. */
static size_t write_line_head(char *line, size_t size, enum log_level level)
{
	int64_t now_ms = clock_wall_ms();
	time_t seconds = (time_t)(now_ms / 1000);
	struct tm utc;
	char when[32];
	int len;

	gmtime_r(&seconds, &utc);
	strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%S", &utc);
	len = snprintf(line, size, "%s.%03dZ %s[%ld]: level=%s ", when, (int)(now_ms % 1000),
		log_state.program, (long)getpid(), levels[level].name);
	return len < 0 ? 0 : (size_t)len < size ? (size_t)len : size - 1;
}

/* Appends to @line at @len. Returns the new length, at most @size - 1. */
static size_t append_text(char *line, size_t size, size_t len, const char *format, va_list args)
	__attribute__((format(printf, 4, 0)));
static size_t append_text(char *line, size_t size, size_t len, const char *format, va_list args)
{
	int more = vsnprintf(line + len, size - len, format, args);

	if (more < 0)
		return len;
	if ((size_t)more < size - len)
		return len + (size_t)more;
	/* The line was cut: mark it, so that the reader notices. */
	memcpy(line + size - 4, "...", 4);
	return size - 1;
}

/* Writes a line to syslog or to standard error. */
static void write_line(bool to_syslog, enum log_level level, const char *event, const char *format,
	va_list args) __attribute__((format(printf, 4, 0)));
static void write_line(bool to_syslog, enum log_level level, const char *event, const char *format,
	va_list args)
{
	char line[LINE_MAX_BYTES + 1], shown[LINE_MAX_BYTES + 1];
	size_t len = 0;
	int saved = errno;
	ssize_t written;

	if (!to_syslog)
		len = write_line_head(line, LINE_MAX_BYTES, level);
	len += (size_t)snprintf(line + len, LINE_MAX_BYTES - len, "event=%.64s ", event);
	len = append_text(line, LINE_MAX_BYTES, len, format, args);
	while (len && line[len - 1] == ' ')
		line[--len] = '\0';
	text_clean(line, len);
	len = text_show(shown, sizeof(shown) - 1, line);
	if (to_syslog) {
		syslog(levels[level].priority, "level=%s %s", levels[level].name, shown);
	} else {
		/* One write, so that lines of several processes do not mix. */
		shown[len++] = '\n';
		do
			written = write(STDERR_FILENO, shown, len);
		while (written < 0 && errno == EINTR);
	}
	errno = saved;
}

bool log_shows(enum log_level level)
{
	return (unsigned int)level < LEVEL_COUNT && level <= log_state.level;
}

void log_line(enum log_level level, const char *event, const char *format, ...)
{
	va_list args;

	if (!log_shows(level))
		return;
	va_start(args, format);
	write_line(log_state.to_syslog, level, event, format, args);
	va_end(args);
}

void log_start_failed(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	write_line(false, LOG_LEVEL_ERROR, "start_failed", format, args);
	va_end(args);
	if (!log_state.to_syslog)
		return;
	va_start(args, format);
	write_line(true, LOG_LEVEL_ERROR, "start_failed", format, args);
	va_end(args);
}

const char *log_quote(char to[LOG_QUOTED_MAX], const char *text)
{
	size_t len = 0;

	for (; *text && len + 2 < LOG_QUOTED_MAX; text++) {
		if (*text == '"' || *text == '\\')
			to[len++] = '\\';
		to[len++] = *text;
	}
	to[len] = '\0';
	return to;
}

bool log_level_parse(const char *text, enum log_level *level)
{
	for (unsigned int i = 0; i < LEVEL_COUNT; i++) {
		if (strcmp(levels[i].name, text) == 0) {
			*level = (enum log_level)i;
			return true;
		}
	}
	return false;
}
