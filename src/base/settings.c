#include "base/settings_options.h"

#include "base/apart.h"
#include "base/text.h"

#include <confuse.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* More than any sane file; a device or a database given by mistake is not read to its end. */
#define FILE_MAX_BYTES (1024 * 1024)
/* What ends a word in libconfuse's language. */
#define SEPARATORS " \t\r\n={}()+,"

/*
 * What one settings_read() works on. libconfuse hands no pointer of ours to its callbacks, and its
 * scanner keeps its own state in globals anyway: one at a time.
 */
static struct {
	struct settings *settings;
	char message[OPTION_MESSAGE_MAX]; /* the first error; "": none */
	int line;
	int lines[OPTIONS_MAX]; /* where each option was set; 0: it was not */
} load;

/* What a process of its own finds out. */
struct reading {
	const char *path;
	enum status status;
	char why[SETTINGS_WHY_MAX];
	struct settings settings;
};

/* libconfuse's errors: the first one counts, what follows is its echo. */
static void on_error(cfg_t *cfg, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));
static void on_error(cfg_t *cfg, const char *format, va_list args)
{
	if (load.message[0])
		return;
	load.line = cfg->line;
	vsnprintf(load.message, OPTION_MESSAGE_MAX, format, args);
	/* It may repeat words of the file. */
	text_clean(load.message, strlen(load.message));
}

/* The whole list so far: it may be added to. */
static bool list_set(const struct option *option, cfg_opt_t *opt)
{
	struct settings *settings = load.settings;
	bool set = true;

	memset(settings->callback_networks, 0, sizeof(settings->callback_networks));
	settings->callback_network_count = 0;
	for (unsigned int i = 0; set && i < cfg_opt_size(opt); i++)
		set = option_set(option, load.settings, cfg_opt_getnstr(opt, i));
	return set;
}

/* Called after each option with the value it was given, and after each value of a list. */
static int on_option(cfg_t *cfg, cfg_opt_t *opt)
{
	const struct option *option = option_named(opt->name);
	const char *value;

	load.lines[option - settings_options] = cfg->line;
	if (option->type == OPTION_NETWORKS) {
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

static enum status complain(enum status status, const char *message)
{
	text_copy(load.message, OPTION_MESSAGE_MAX, message);
	return status;
}

/* Tells what @error, of errno, kept from being read. */
static enum status complain_errno(int error)
{
	return complain(error == ENOENT ? STATUS_NOT_FOUND : status_of_errno(error),
		error == ENOMEM ? status_text(STATUS_NOMEM) : strerror(error));
}

/* All of @path, NUL-terminated, for the caller to free. NULL: *@status tells why. */
static char *read_file(const char *path, enum status *status)
{
	FILE *file = fopen(path, "re");
	char *text;
	size_t len;

	if (!file) {
		*status = complain_errno(errno);
		return NULL;
	}
	text = malloc(FILE_MAX_BYTES + 1);
	if (!text) {
		*status = complain_errno(ENOMEM);
		goto out;
	}
	len = fread(text, 1, FILE_MAX_BYTES + 1, file);
	if (!ferror(file) && len <= FILE_MAX_BYTES && !memchr(text, 0, len)) {
		text[len] = '\0';
		goto out;
	}
	*status = ferror(file) ? complain_errno(errno)
			       : complain(STATUS_CONFIG, "this is not a configuration file");
	free(text);
	text = NULL;
out:
	fclose(file);
	return text;
}

/* Overwrites @text up to @end with spaces. Returns @end. */
static char *blank(char *text, char *end)
{
	for (; text < end; text++) {
		if (*text == '\n')
			load.line++;
		else
			*text = ' ';
	}
	return end;
}

/* The end of the quoted string at @text, or of @text. */
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
 * Overwrites the comments: libconfuse 3.3 counts the line of a one-line comment more than once, and
 * then tells a wrong line in every error after it. False: a comment has no end.
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
			text = blank(text, text + strcspn(text, "\n"));
		} else if (fresh && strncmp(text, "/*", 2) == 0) {
			end = strstr(text + 2, "*/");
			if (!end)
				return false;
			text = blank(text, end + 2);
		} else {
			if (*text == '\n')
				load.line++;
			fresh = strchr(SEPARATORS, *text++) != NULL;
		}
	}
	return true;
}

/*
 * Finds the first option of @text (without comments) that is set a second time; NULL: none. A list
 * may be added to by +=. Its line is left in *@line.
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
		/* Behind any of these another word begins. */
		if (strchr("={}()+,", *text))
			word.len = 0;
	}
	return NULL;
}

/* Tells of @repeated at @line, unless there is an error before it. */
static enum status complain_repeated(enum status status, const struct option *repeated, int line)
{
	if (status != STATUS_OK && load.line <= line)
		return status;
	load.line = line;
	snprintf(load.message, OPTION_MESSAGE_MAX, "%s is set a second time%s", repeated->name,
		repeated->type == OPTION_NETWORKS ? "; add to it with +=" : "");
	return STATUS_CONFIG;
}

/* What options must be to each other: told of the line where the later one of them is set. */
static enum status compare(void)
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

static enum status parse(char *text)
{
	cfg_opt_t opts[OPTIONS_MAX + 1];
	const struct option *repeated;
	enum status status = STATUS_OK;
	int line = 0;
	cfg_t *cfg;

	if (!blank_comments(text))
		return complain(STATUS_CONFIG, "a comment that begins here has no end");
	repeated = find_repeated(text, &line);
	for (size_t i = 0; i < settings_option_count; i++)
		opts[i] = settings_options[i].type == OPTION_NETWORKS
			? (cfg_opt_t)CFG_STR_LIST(settings_options[i].name, NULL, CFGF_NODEFAULT)
			: (cfg_opt_t)CFG_STR(settings_options[i].name, NULL, CFGF_NODEFAULT);
	opts[settings_option_count] = (cfg_opt_t)CFG_END();
	cfg = cfg_init(opts, CFGF_NONE);
	if (!cfg)
		return complain_errno(ENOMEM);
	cfg_set_error_function(cfg, on_error);
	for (size_t i = 0; i < settings_option_count; i++)
		cfg_set_validate_func(cfg, settings_options[i].name, on_option);
	errno = 0;
	if (cfg_parse_buf(cfg, text) != CFG_SUCCESS) {
		status = STATUS_CONFIG;
		/* libconfuse says nothing of an allocation that failed. */
		if (errno == ENOMEM) {
			status = complain_errno(ENOMEM);
		} else if (!load.message[0]) {
			load.line = cfg->line;
			complain(STATUS_CONFIG, "syntax error");
		}
	}
	/* An empty list has no value that on_option() was called for. */
	for (size_t i = 0; status == STATUS_OK && i < settings_option_count; i++) {
		if (settings_options[i].type == OPTION_NETWORKS)
			list_set(&settings_options[i], cfg_getopt(cfg, settings_options[i].name));
	}
	cfg_free(cfg);
	if (status == STATUS_OK)
		status = compare();
	return repeated ? complain_repeated(status, repeated, line) : status;
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
		status = parse(text);
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

/* In the process that libconfuse may end. */
static void read_apart(void *data)
{
	struct reading *reading = data;

	reading->status = settings_read(&reading->settings, reading->path, reading->why);
}

enum status settings_load(struct settings *settings, const char *path, FILE *errors)
{
	struct reading reading = {.path = path};
	char why[APART_WHY_MAX];
	enum status status = apart_run(read_apart, &reading, sizeof(reading), why);

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
