/*
 * log - one line for each event, key=value, to syslog or to standard error.
 *
 * Callers keep secrets out of the values. Keys and signatures are never passed. A body is passed
 * only at level debug (wire/trace.h). log_line() replaces control characters by '?', so that a
 * value cannot forge a second line. A value that may contain blanks stands between quotes. Pass
 * external text through log_quote() first, so that it cannot forge a second value.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

/* @program must stay valid. Before this call, lines go to standard error at level info. */
void log_open(const char *program, bool to_syslog, enum log_level level);

/* Writes "event=EVENT " and the rest: log_line(LOG_LEVEL_INFO, "start", "pid=%d", pid). */
void log_line(enum log_level level, const char *event, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Logs event=start_failed at level error. If lines go to syslog, it also writes to standard error:
 * a web server that starts the program keeps its log of the program there.
 */
void log_start_failed(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Returns true if lines of @level are written. */
bool log_shows(enum log_level level);

#define LOG_QUOTED_MAX 512
/*
 * Writes @text for use between quotes, with a backslash before each quote and backslash. Text that
 * does not fit is left out. Returns @to.
 */
const char *log_quote(char to[LOG_QUOTED_MAX], const char *text);

/* Accepts "error", "warning", "info" and "debug". Returns false for any other text. */
bool log_level_parse(const char *text, enum log_level *level);

#endif
