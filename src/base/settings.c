#include "base/settings_options.h"

#include "base/isolated.h"
#include "base/text.h"

#include <confuse.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* More than any sane file needs. Limits the read of a device or database given by mistake. */
#define FILE_MAX_BYTES (1024 * 1024)
/* Characters that end a word in libconfuse's language. */
#define SEPARATORS " \t\r\n={}()+,"

/*
 * State of one settings_read(). It is global because libconfuse passes no pointer of ours to its
 * callbacks. The scanner of libconfuse is global too, so only one read runs at a time.
 */
static struct {
	struct settings *settings;
	char message[OPTION_MESSAGE_MAX]; /* the first error; "": none */
	int line;
	int lines[OPTIONS_MAX]; /* line where each option was set; 0: not set */
} load;

/* Result of the child process. */
struct reading {
	const char *path;
	enum status status;
	char why[SETTINGS_WHY_MAX];
	struct settings settings;
};

/* Receives libconfuse's errors. Only the first one counts; the others follow from it. */
static void on_error(cfg_t *cfg, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));
static void on_error(cfg_t *cfg, const char *format, va_list args)
{
	if (load.message[0])
		return;
	load.line = cfg->line;
	vsnprintf(load.message, OPTION_MESSAGE_MAX, format, args);
	/* The message may contain words of the file. */
	text_clean(load.message, strlen(load.message));
}

/* Copies the whole list so far: the file may append to it. */
static bool list_set(const struct option *option, cfg_opt_t *opt)
{
	struct settings *settings = load.settings;
	bool set = true;

	option_clear(option, settings);
	for (unsigned int i = 0; set && i < cfg_opt_size(opt); i++)
		set = option_set(option, load.settings, cfg_opt_getnstr(opt, i));
	return set;
}

/* libconfuse calls this after each option with its value, and after each value of a list. */
static int on_option(cfg_t *cfg, cfg_opt_t *opt)
{
	const struct option *option = option_named(opt->name);
	const char *value;

	load.lines[option - settings_options] = cfg->line;
	if (option_is_list(option)) {
		if (list_set(option, opt))
			return 0;
	} else {
		value = cfg_opt_getstr(opt);
		if (value && option_set(option, load.settings, value))
			return 0;
	}
	if (!load.message[0]) {
		load.line = cfg->line;
		option_explain(option, load.message);
	}
	return -1;
}

static enum status option_error(enum status status, const char *message)
{
	text_copy(load.message, OPTION_MESSAGE_MAX, message);
	return status;
}

/* Reports the error number @error of a failed read. */
static enum status option_error_errno(int error)
{
	return option_error(error == ENOENT ? STATUS_NOT_FOUND : status_of_errno(error),
		error == ENOMEM ? status_text(STATUS_NOMEM) : strerror(error));
}

/*
 * Reads all of @path. Returns NUL-terminated text that the caller frees, or NULL with the reason in
 * *@status.
 */
static char *read_file(const char *path, enum status *status)
{
	FILE *file = fopen(path, "re");
	char *text;
	size_t len;

	if (!file) {
		*status = option_error_errno(errno);
		return NULL;
	}
	text = malloc(FILE_MAX_BYTES + 1);
	if (!text) {
		*status = option_error_errno(ENOMEM);
		goto out;
	}
	len = fread(text, 1, FILE_MAX_BYTES + 1, file);
	if (!ferror(file) && len <= FILE_MAX_BYTES && !memchr(text, 0, len)) {
		text[len] = '\0';
		goto out;
	}
	*status = ferror(file) ? option_error_errno(errno)
			       : option_error(STATUS_CONFIG, "this is not a configuration file");
	free(text);
	text = NULL;
out:
	fclose(file);
	return text;
}

/* Overwrites @text up to @end with spaces. Returns @end. */
static char *overwrite_with_spaces(char *text, char *end)
{
	for (; text < end; text++) {
		if (*text == '\n')
			load.line++;
		else
			*text = ' ';
	}
	return end;
}

/* Returns the end of the quoted string at @text, or of @text. */
static char *skip_string(char *text)
{
	char quote = *text++;

	for (; *text && *text != quote; text++) {
		if (*text == '\\' && text[1])
			text++;
		if (*text == '\n')
			load.line++;
	}
	return *text ? text + 1 : text;
}

/*
 * Overwrites the comments with spaces. libconfuse 3.3 counts the line of a one-line comment more
 * than once and then reports wrong lines. Returns false if a comment has no end.
 */
static bool blank_comments(char *text)
{
	bool fresh = true; /* at the beginning of a token */
	char *end;

	while (*text) {
		if (*text == '"' || *text == '\'') {
			text = skip_string(text);
			fresh = true;
		} else if (*text == '#' || (fresh && strncmp(text, "//", 2) == 0)) {
			text = overwrite_with_spaces(text, text + strcspn(text, "\n"));
		} else if (fresh && strncmp(text, "/*", 2) == 0) {
			end = strstr(text + 2, "*/");
			if (!end)
				return false;
			text = overwrite_with_spaces(text, end + 2);
		} else {
			if (*text == '\n')
				load.line++;
			fresh = strchr(SEPARATORS, *text++) != NULL;
		}
	}
	return true;
}

/*
 * Returns the first option of @text (without comments) that is set a second time, and its line in
 * *@line. Returns NULL if there is none. A list may be extended by +=.
 */
static const struct option *find_repeated(char *text, int *line)
{
	bool given[OPTIONS_MAX] = {false};
	struct {
		const char *at;
		size_t len;
	} word = {"", 0};
	char *end;

	load.line = 1;
	for (; *text; text = end) {
		end = text + 1;
		if (*text == '"' || *text == '\'') {
			end = skip_string(text);
			word.at = text + 1;
			word.len = (size_t)(end - text) - (end - text > 1 ? 2 : 1);
		} else if (*text == '\n') {
			load.line++;
		} else if (!strchr(SEPARATORS, *text)) {
			end = text + strcspn(text, SEPARATORS "\"'");
			word.at = text;
			word.len = (size_t)(end - text);
		}
		for (size_t i = 0; *text == '=' && i < settings_option_count; i++) {
			if (strlen(settings_options[i].name) != word.len ||
				memcmp(settings_options[i].name, word.at, word.len) != 0)
				continue;
			*line = load.line;
			if (given[i])
				return &settings_options[i];
			given[i] = true;
		}
		/* A new word begins after any of these. */
		if (strchr("={}()+,", *text))
			word.len = 0;
	}
	return NULL;
}

/* Reports @repeated at @line, unless an earlier line has an error. */
static enum status option_error_repeated(enum status status, const struct option *repeated,
	int line)
{
	if (status != STATUS_OK && load.line <= line)
		return status;
	load.line = line;
	snprintf(load.message, OPTION_MESSAGE_MAX, "%s is set a second time%s", repeated->name,
		option_is_list(repeated) ? "; add to it with +=" : "");
	return STATUS_CONFIG;
}

/* Checks rules between options. An error names the line of the later option. */
static enum status check_rules_between_options(void)
{
	const struct option *between[2];
	int line[2];

	if (options_agree(load.settings, between, load.message))
		return STATUS_OK;
	for (int i = 0; i < 2; i++)
		line[i] = load.lines[between[i] - settings_options];
	load.line = line[0] > line[1] ? line[0] : line[1];
	return STATUS_CONFIG;
}

static enum status parse_settings(char *text)
{
	cfg_opt_t opts[OPTIONS_MAX + 1];
	const struct option *repeated;
	enum status status = STATUS_OK;
	int line = 0;
	cfg_t *cfg;

	if (!blank_comments(text))
		return option_error(STATUS_CONFIG, "a comment that begins here has no end");
	repeated = find_repeated(text, &line);
	for (size_t i = 0; i < settings_option_count; i++)
		opts[i] = option_is_list(&settings_options[i])
			? (cfg_opt_t)CFG_STR_LIST(settings_options[i].name, NULL, CFGF_NODEFAULT)
			: (cfg_opt_t)CFG_STR(settings_options[i].name, NULL, CFGF_NODEFAULT);
	opts[settings_option_count] = (cfg_opt_t)CFG_END();
	cfg = cfg_init(opts, CFGF_NONE);
	if (!cfg)
		return option_error_errno(ENOMEM);
	cfg_set_error_function(cfg, on_error);
	for (size_t i = 0; i < settings_option_count; i++)
		cfg_set_validate_func(cfg, settings_options[i].name, on_option);
	errno = 0;
	if (cfg_parse_buf(cfg, text) != CFG_SUCCESS) {
		status = STATUS_CONFIG;
		/* libconfuse does not report a failed allocation. */
		if (errno == ENOMEM) {
			status = option_error_errno(ENOMEM);
		} else if (!load.message[0]) {
			load.line = cfg->line;
			option_error(STATUS_CONFIG, "syntax error");
		}
	}
	/* libconfuse does not call on_option() for an empty list. */
	for (size_t i = 0; status == STATUS_OK && i < settings_option_count; i++) {
		if (option_is_list(&settings_options[i]))
			list_set(&settings_options[i], cfg_getopt(cfg, settings_options[i].name));
	}
	cfg_free(cfg);
	if (status == STATUS_OK)
		status = check_rules_between_options();
	return repeated ? option_error_repeated(status, repeated, line) : status;
}

enum status settings_read(struct settings *settings, const char *path, char why[SETTINGS_WHY_MAX])
{
	struct settings result;
	enum status status = STATUS_OK;
	char *text;

	settings_defaults(&result);
	load.settings = &result;
	load.message[0] = '\0';
	load.line = 1;
	memset(load.lines, 0, sizeof(load.lines));
	text = read_file(path, &status);
	if (text)
		status = parse_settings(text);
	free(text);
	why[0] = '\0';
	if (status == STATUS_OK)
		*settings = result;
	else if (status == STATUS_CONFIG || status == STATUS_NOT_FOUND)
		snprintf(why, SETTINGS_WHY_MAX, ":%d: %s", load.line, load.message);
	else
		snprintf(why, SETTINGS_WHY_MAX, ": %s", load.message);
	return status;
}

/* Runs in the child process, which libconfuse may end. */
static void read_in_child(void *data)
{
	struct reading *reading = data;

	reading->status = settings_read(&reading->settings, reading->path, reading->why);
}

enum status settings_load(struct settings *settings, const char *path, FILE *errors)
{
	struct reading reading = {.path = path};
	char why[ISOLATED_WHY_MAX];
	enum status status = isolated_run(read_in_child, &reading, sizeof(reading), why);

	if (status != STATUS_OK) {
		fprintf(errors, "%s: %s\n", path, why);
		return status;
	}
	if (reading.status == STATUS_OK)
		*settings = reading.settings;
	else
		fprintf(errors, "%s%s\n", path, reading.why);
	return reading.status;
}

void settings_open_log(const struct settings *settings, const char *program)
{
	log_open(program, strcmp(settings->log_target, "syslog") == 0, settings->log_level);
}
