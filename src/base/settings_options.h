/*
 * settings_options - the table of options for settings.c, with their types, ranges and defaults.
 *
 * It does not read files. There are two files because one would have more than 600 lines: settings.c reads
 * the file, and this table changes with each new option.
 */
#ifndef BASE_SETTINGS_OPTIONS_H
#define BASE_SETTINGS_OPTIONS_H

#include "base/settings.h"

#include <stdbool.h>

/* Upper limit of the number of options, for arrays with one element for each. */
#define OPTIONS_MAX        64
#define OPTION_MESSAGE_MAX 256

enum option_type {
	OPTION_NUMBER,    /* uint32_t from min to max */
	OPTION_DIRECTORY, /* absolute path of at most max bytes */
	OPTION_PREFIX,    /* text_base_path() */
	OPTION_NAME,      /* "" or [A-Za-z0-9_.-]{1,max} */
	OPTION_CHOICE,    /* one of the two words of @choices */
	OPTION_TEXT,      /* at most max bytes */
	OPTION_LEVEL,     /* enum log_level */
	OPTION_NETWORKS,  /* a list: struct network[], its length in the member after it */
	OPTION_CELLS,     /* a list: absolute paths, its length in the member after it */
};

struct option {
	const char *name;
	enum option_type type;
	uint32_t offset;
	uint32_t size;
	const char *preset;
	uint32_t min;
	uint32_t max;
	const char *choices[2];
};

extern const struct option settings_options[];
extern const unsigned int settings_option_count;

/* Returns true if @option is a list, to which a file may append. */
bool option_is_list(const struct option *option);

/* Empties @option, which is a list. */
void option_clear(const struct option *option, struct settings *settings);

/* Returns the option @name, which must exist. */
const struct option *option_named(const char *name);

/*
 * Sets @option to @value; appends @value if the option is a list. Returns false if the value is
 * refused; option_explain() gives the reason.
 */
bool option_set(const struct option *option, struct settings *settings, const char *value);

/* Writes which values @option accepts. */
void option_explain(const struct option *option, char message[OPTION_MESSAGE_MAX]);

/*
 * Checks rules between options. Returns false if two options conflict; @message gets the reason and
 * @between the two options.
 */
bool options_agree(const struct settings *settings, const struct option *between[2],
	char message[OPTION_MESSAGE_MAX]);

#endif
