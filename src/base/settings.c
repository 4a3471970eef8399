#include "base/settings.h"

#include "base/text.h"

#include <confuse.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* More than any sane file; a device or a database given by mistake is not read to its end. */
#define FILE_MAX_BYTES (1024 * 1024)
/* A socket's path has 107 bytes; the longest name in the directory is "/admin.sock". */
#define SOCKET_DIRECTORY_MAX 96
#define MESSAGE_MAX          256
/* The default of every list. */
#define EMPTY_LIST "{}"
/* What ends a word in libconfuse's language. */
#define SEPARATORS " \t\r\n={}()+,"

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

#define OPTION(type_, member_, preset_, min_, max_)                                                \
	{#member_, (type_), (uint32_t)offsetof(struct settings, member_),                          \
		(uint32_t)sizeof(((struct settings *)0)->member_), (preset_), (min_), (max_)}

static const struct option options[] = {
	OPTION(OPTION_DIRECTORY, state_directory, "/var/lib/creditbridge", 0, 3072),
	OPTION(OPTION_DIRECTORY, socket_directory, "/run/creditbridge", 0, SOCKET_DIRECTORY_MAX),
	OPTION(OPTION_NAME, socket_group, "", 0, 63),
	OPTION(OPTION_PREFIX, base_path, "", 0, 255),
	OPTION(OPTION_TARGET, log_target, "syslog", 0, 15),
	OPTION(OPTION_LEVEL, log_level, "info", 0, 0),
	OPTION(OPTION_NUMBER, request_window_s, "300", 0, 86400),
	/* The worker's stop is bounded at 7 s: a longer call would be cut by it. */
	OPTION(OPTION_NUMBER, ledger_deadline_ms, "5000", 100, 6000),
	OPTION(OPTION_NUMBER, ledger_connections_max, "1024", 1, 65536),
	OPTION(OPTION_NUMBER, ledger_queue_max, "1024", 1, 65536),
	OPTION(OPTION_NUMBER, ledger_cache_mib, "256", 1, 65536),
	OPTION(OPTION_NUMBER, checkpoint_kib, "8192", 64, 1048576),
	OPTION(OPTION_NUMBER, checkpoint_interval_ms, "1000", 100, 3600000),
	OPTION(OPTION_NUMBER, log_keep_mib, "1024", 0, 16777216),
	OPTION(OPTION_NUMBER, disk_low_water_mib, "64", 0, 16777216),
	OPTION(OPTION_NUMBER, disk_ballast_mib, "16", 0, 65536),
	OPTION(OPTION_NETWORKS, callback_networks, EMPTY_LIST, 0, SETTINGS_NETWORKS_MAX),
};
#define OPTION_COUNT (sizeof(options) / sizeof(options[0]))

/*
 * What one settings_load() works on. libconfuse hands no pointer of ours to its callbacks, and its
 * scanner keeps its own state in globals anyway: one load at a time.
 */
static struct {
	struct settings *settings;
	char message[MESSAGE_MAX]; /* the first error; "": none */
	int line;
} load;

static bool set_number(const struct option *option, uint32_t *to, const char *value)
{
	size_t digits = strspn(value, "0123456789");
	unsigned long number;

	if (!digits || digits > 10 || value[digits])
		return false;
	number = strtoul(value, NULL, 10);
	if (number < option->min || number > option->max)
		return false;
	*to = (uint32_t)number;
	return true;
}

static bool directory_ok(const char *value)
{
	return value[0] == '/';
}

/* One more network, as a list is read. */
static bool add_network(const struct option *option, struct settings *settings, const char *value)
{
	uint32_t *count = &settings->callback_network_count;

	if (*count >= option->max ||
		!network_parse(value, &settings->callback_networks[*count]))
		return false;
	++*count;
	return true;
}

static bool option_set(const struct option *option, struct settings *settings, const char *value)
{
	char *member = (char *)settings + option->offset;
	size_t len = strlen(value);

	if (option->type != OPTION_NUMBER && option->type != OPTION_LEVEL &&
		option->type != OPTION_NETWORKS &&
		(len > option->max || !text_is_utf8_clean(value, len)))
		return false;
	switch (option->type) {
	case OPTION_NUMBER:
		return set_number(option, (uint32_t *)(void *)member, value);
	case OPTION_DIRECTORY:
		return directory_ok(value) && text_copy(member, option->size, value);
	case OPTION_PREFIX:
		return text_base_path(value, member, option->size);
	case OPTION_NAME:
		return (!len || text_is_name(value, option->max)) &&
			text_copy(member, option->size, value);
	case OPTION_TARGET:
		return (strcmp(value, "syslog") == 0 || strcmp(value, "stderr") == 0) &&
			text_copy(member, option->size, value);
	case OPTION_LEVEL:
		return log_level_parse(value, (enum log_level *)(void *)member);
	case OPTION_NETWORKS:
		return add_network(option, settings, value);
	}
	return false;
}

static void explain(const struct option *option, char message[MESSAGE_MAX])
{
	switch (option->type) {
	case OPTION_NUMBER:
		snprintf(message, MESSAGE_MAX, "%s must be a whole number from %" PRIu32
			" to %" PRIu32, option->name, option->min, option->max);
		return;
	case OPTION_DIRECTORY:
		snprintf(message, MESSAGE_MAX, "%s must be an absolute path of at most %" PRIu32
			" bytes", option->name, option->max);
		return;
	case OPTION_PREFIX:
		snprintf(message, MESSAGE_MAX, "%s " TEXT_BASE_PATH_RULE " at most %" PRIu32
			" bytes", option->name, option->max);
		return;
	case OPTION_NAME:
		snprintf(message, MESSAGE_MAX, "%s must be empty or at most %" PRIu32
			" of A-Z a-z 0-9 _ . -", option->name, option->max);
		return;
	case OPTION_TARGET:
		snprintf(message, MESSAGE_MAX, "%s must be syslog or stderr", option->name);
		return;
	case OPTION_LEVEL:
		snprintf(message, MESSAGE_MAX, "%s must be error, warning, info or debug",
			option->name);
		return;
	case OPTION_NETWORKS:
		snprintf(message, MESSAGE_MAX, "%s must be a list of at most %" PRIu32
			" networks such as \"10.0.0.0/8\" or \"fd00::/8\"", option->name,
			option->max);
		return;
	}
}

const char *settings_option(unsigned int number, const char **preset)
{
	if (number >= OPTION_COUNT)
		return NULL;
	*preset = options[number].preset;
	return options[number].name;
}

void settings_defaults(struct settings *settings)
{
	memset(settings, 0, sizeof(*settings));
	for (size_t i = 0; i < OPTION_COUNT; i++) {
		/* A default that its own option refuses is a bug of the table. */
		if (options[i].type != OPTION_NETWORKS &&
			!option_set(&options[i], settings, options[i].preset))
			abort();
	}
}

/* libconfuse's errors: the first one counts, what follows is its echo. */
static void on_error(cfg_t *cfg, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));
static void on_error(cfg_t *cfg, const char *format, va_list args)
{
	if (load.message[0])
		return;
	load.line = cfg->line;
	vsnprintf(load.message, MESSAGE_MAX, format, args);
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
	const struct option *option = options;
	const char *value;

	while (strcmp(option->name, opt->name) != 0)
		option++;
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
		explain(option, load.message);
	}
	return -1;
}

static enum status complain(enum status status, const char *message)
{
	text_copy(load.message, MESSAGE_MAX, message);
	return status;
}

/* Reads all of @path into *@text, NUL-terminated, for the caller to free. */
static enum status read_file(const char *path, char **text)
{
	FILE *file = fopen(path, "re");
	enum status status = STATUS_OK;
	size_t len;

	if (!file)
		return complain(errno == ENOENT ? STATUS_NOT_FOUND : STATUS_CONFIG,
			strerror(errno));
	*text = malloc(FILE_MAX_BYTES + 1);
	if (!*text) {
		status = complain(STATUS_NOMEM, strerror(errno));
		goto out;
	}
	len = fread(*text, 1, FILE_MAX_BYTES + 1, file);
	if (ferror(file))
		status = complain(STATUS_CONFIG, strerror(errno));
	else if (len > FILE_MAX_BYTES || memchr(*text, 0, len))
		status = complain(STATUS_CONFIG, "this is not a configuration file");
	if (status == STATUS_OK)
		(*text)[len] = '\0';
out:
	fclose(file);
	return status;
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
	bool given[OPTION_COUNT] = {false};
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
		for (size_t i = 0; *text == '=' && i < OPTION_COUNT; i++) {
			if (strlen(options[i].name) != word.len ||
				memcmp(options[i].name, word.at, word.len) != 0)
				continue;
			*line = load.line;
			if (given[i])
				return &options[i];
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
	snprintf(load.message, MESSAGE_MAX, "%s is set a second time%s", repeated->name,
		repeated->type == OPTION_NETWORKS ? "; add to it with +=" : "");
	return STATUS_CONFIG;
}

static enum status parse(char *text)
{
	cfg_opt_t opts[OPTION_COUNT + 1];
	const struct option *repeated;
	enum status status = STATUS_OK;
	int line = 0;
	cfg_t *cfg;

	if (!blank_comments(text))
		return complain(STATUS_CONFIG, "a comment that begins here has no end");
	repeated = find_repeated(text, &line);
	for (size_t i = 0; i < OPTION_COUNT; i++)
		opts[i] = options[i].type == OPTION_NETWORKS
			? (cfg_opt_t)CFG_STR_LIST(options[i].name, NULL, CFGF_NODEFAULT)
			: (cfg_opt_t)CFG_STR(options[i].name, NULL, CFGF_NODEFAULT);
	opts[OPTION_COUNT] = (cfg_opt_t)CFG_END();
	cfg = cfg_init(opts, CFGF_NONE);
	if (!cfg)
		return complain(STATUS_NOMEM, strerror(ENOMEM));
	cfg_set_error_function(cfg, on_error);
	for (size_t i = 0; i < OPTION_COUNT; i++)
		cfg_set_validate_func(cfg, options[i].name, on_option);
	if (cfg_parse_buf(cfg, text) != CFG_SUCCESS) {
		status = STATUS_CONFIG;
		if (!load.message[0]) {
			load.line = cfg->line;
			complain(STATUS_CONFIG, "syntax error");
		}
	}
	/* An empty list has no value that on_option() was called for. */
	for (size_t i = 0; status == STATUS_OK && i < OPTION_COUNT; i++) {
		if (options[i].type == OPTION_NETWORKS)
			list_set(&options[i], cfg_getopt(cfg, options[i].name));
	}
	cfg_free(cfg);
	return repeated ? complain_repeated(status, repeated, line) : status;
}

enum status settings_load(struct settings *settings, const char *path, FILE *errors)
{
	struct settings result;
	enum status status;
	char *text = NULL;

	settings_defaults(&result);
	load.settings = &result;
	load.message[0] = '\0';
	load.line = 1;
	status = read_file(path, &text);
	if (status == STATUS_OK)
		status = parse(text);
	free(text);
	if (status == STATUS_OK)
		*settings = result;
	else
		fprintf(errors, "%s:%d: %s\n", path, load.line, load.message);
	return status;
}
