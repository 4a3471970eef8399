/*
 * log - one line an event, key=value, to syslog or to standard error.
 *
 * Values come from callers that keep secrets out: no key or signature is ever passed here, and a
 * body at level debug alone (wire/trace.h). log_line() replaces control characters by '?', so that
 * a value cannot forge a second line; one that may hold blanks stands between quotes, and what comes
 * from outside goes through log_quote() first, so that it cannot forge a second value.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

/* @program must stay valid. Until this is called lines go to standard error at level info. */
void log_open(const char *program, bool to_syslog, enum log_level level);

/* Writes "event=EVENT " and the formatted rest: log_line(LOG_LEVEL_INFO, "start", "pid=%d", pid). */
void log_line(enum log_level level, const char *event, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * event=start_failed at level error, and where lines go to syslog also on standard error: that is
 * where a web server that starts the program has its log of it.
 */
void log_start_failed(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* True: lines of @level are written. */
bool log_shows(enum log_level level);

#define LOG_QUOTED_MAX 512
/*
 * Writes @text so that it may stand between quotes: a backslash before each quote and backslash.
 * What does not fit is left out. Returns @to.
 */
const char *log_quote(char to[LOG_QUOTED_MAX], const char *text);

/* Knows "error", "warning", "info", "debug". False: none of them. */
bool log_level_parse(const char *text, enum log_level *level);

#endif
