/*
 * log - one line an event, key=value, to syslog or to standard error.
 *
 * Values come from callers that keep secrets out: no key, signature or body is ever passed here.
 * log_line() replaces control characters by '?', so that a value cannot forge a second line.
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

/* Knows "error", "warning", "info", "debug". False: none of them. */
bool log_level_parse(const char *text, enum log_level *level);

#endif
