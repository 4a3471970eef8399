/*
 * settings_options - the table of options behind settings.c: their types, ranges and defaults.
 *
 * Knows nothing of files.
 */
#ifndef BASE_SETTINGS_OPTIONS_H
#define BASE_SETTINGS_OPTIONS_H

#include "base/settings.h"

#include <stdbool.h>

/* More than there are: for arrays with a place for each option. */
#define OPTIONS_MAX        48
#define OPTION_MESSAGE_MAX 256

enum option_type {
	OPTION_NUMBER,    /* uint32_t from min to max */
	OPTION_DIRECTORY, /* absolute path of at most max bytes */
	OPTION_PREFIX,    /* text_base_path() */
	OPTION_NAME,      /* "" or [A-Za-z0-9_.-]{1,max} */
	OPTION_TARGET,    /* syslog or stderr */
	OPTION_LEVEL,     /* enum log_level */
	OPTION_NETWORKS,  /* a list: struct network[], its length in the member after it */
};

struct option {
	const char *name;
	enum option_type type;
	uint32_t offset;
	uint32_t size;
	const char *preset;
	uint32_t min;
	uint32_t max;
};

extern const struct option settings_options[];
extern const unsigned int settings_option_count;

/* The option @name; it must be one. */
const struct option *option_named(const char *name);

/* Gives @option @value, of a list: one more. False: refused; option_explain() says why. */
bool option_set(const struct option *option, struct settings *settings, const char *value);

/* Says what values @option takes. */
void option_explain(const struct option *option, char message[OPTION_MESSAGE_MAX]);

/*
 * Looks at what options must be to each other. False: they cannot be so together; @message says why
 * and @between gets the two.
 */
bool options_agree(const struct settings *settings, const struct option *between[2],
	char message[OPTION_MESSAGE_MAX]);

#endif
