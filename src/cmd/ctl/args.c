/*
 * args - parses the command line of creditbridgectl: global options, one or two words that name a
 * command, its options and arguments. The table of commands supplies everything that argp needs.
 */
#include "cmd/ctl/commands.h"
#include "cmd/ctl/meant.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROGRAM     "creditbridgectl"
#define HELP_SIZE   8192
#define HELP_COLUMN 21
#define HELP_WIDTH  79

const char *argp_program_version = PACKAGE_STRING;
error_t argp_err_exit_status = OUTCOME_USAGE;

static const struct argp_option global_options[] = {
	{"config", OPTION_KEY(OPTION_CONFIG), "FILE", 0,
		"Configuration file (default " SETTINGS_DEFAULT_FILE ")", -1},
	{"cell", OPTION_KEY(OPTION_CELL), "NAME", 0,
		"Act on the cell NAME, with its configuration file", -1},
	{"json", OPTION_KEY(OPTION_JSON), NULL, 0, "Print JSON instead of text and tables", -1},
	{"tz", OPTION_KEY(OPTION_TZ), "ZONE", 0,
		"Times in ZONE: local, utc, dealer, +02:00 or Europe/Berlin (default: local on a "
		"terminal, else utc)",
		-1},
	{NULL, 0, NULL, 0, NULL, 0},
};

static const char exit_text[] =
	"Exit status: 0 done; 1 failed, was refused, or a check found something; 2 usage; 3 only "
	"some of it was done; 69 the ledger or a server is unreachable; 75 busy, try again; 77 not "
	"permitted; 78 the configuration or the state directory is not usable.";

static bool store_option(struct ctl *ctl, int key, const char *value)
{
	int option = key - OPTION_KEY(0);

	if (option < 0 || option >= OPTION_COUNT)
		return false;
	ctl->options[option] = value ? value : "";
	if (option == OPTION_JSON)
		ctl->json = true;
	return true;
}

static error_t parse_global(int key, char *value, struct argp_state *state)
{
	return store_option(state->input, key, value) ? 0 : ARGP_ERR_UNKNOWN;
}

static const struct argp global_argp = {global_options, parse_global, NULL, NULL, NULL, NULL, NULL};

/* Returns true if @command is called @name or belongs to the group @name ("dealer"). */
static bool in_group(const struct ctl_command *command, const char *name)
{
	size_t len = strlen(name);

	return strncmp(command->name, name, len) == 0 &&
		(command->name[len] == '\0' || command->name[len] == ' ');
}

/*
 * Appends the line of @command to @text, which has @len bytes. Folds before column 79, as argp
 * does, and aligns continuations with the help column. Returns the new length.
 */
static size_t list_command(const struct ctl_command *command, char *text, size_t len)
{
	const char *rest = command->help;
	size_t column = HELP_COLUMN;

	if (len < HELP_SIZE)
		len += (size_t)snprintf(text + len, HELP_SIZE - len, "  %-*s", HELP_COLUMN - 2,
			command->name);
	while (*rest && len < HELP_SIZE) {
		size_t word = strcspn(rest, " ");
		bool fold = column > HELP_COLUMN && column + 1 + word >= HELP_WIDTH;

		if (fold)
			column = HELP_COLUMN;
		len += (size_t)snprintf(text + len, HELP_SIZE - len, "%s%*s%.*s", fold ? "\n" : "",
			fold ? HELP_COLUMN : column > HELP_COLUMN, "", (int)word, rest);
		column += word + (column > HELP_COLUMN);
		rest += word + (rest[word] == ' ');
	}
	if (len < HELP_SIZE)
		len += (size_t)snprintf(text + len, HELP_SIZE - len, "\n");
	return len;
}

/* Returns a list of the commands of @group (NULL: all) for --help. The caller frees it. */
static char *list_commands(const char *group)
{
	char *text = malloc(HELP_SIZE);
	size_t len = 0;

	if (!text)
		return NULL;
	len += (size_t)snprintf(text, HELP_SIZE, "Commands:\n");
	for (const struct ctl_command *c = ctl_commands; c->name; c++) {
		if (!group || in_group(c, group))
			len = list_command(c, text, len);
	}
	if (len < HELP_SIZE)
		snprintf(text + len, HELP_SIZE - len,
			"\n'" PROGRAM " COMMAND --help' explains each.\n%s", exit_text);
	return text;
}

/* An argp help filter. The text after \v in the doc names the group to list; "*" lists all. */
static char *filter_help(int key, const char *text, void *input)
{
	(void)input;
	if (key != ARGP_KEY_HELP_POST_DOC)
		return (char *)(uintptr_t)text;
	return list_commands(strcmp(text, "*") == 0 ? NULL : text);
}

/* The position of the command's words. */
struct front {
	struct ctl *ctl;
	int first;
};

static error_t parse_front(int key, char *value, struct argp_state *state)
{
	struct front *front = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = front->ctl;
		return 0;
	case ARGP_KEY_ARG:
		(void)value;
		front->first = state->next - 1;
		state->next = state->argc;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "no command was given");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/*
 * argp parses an amount such as -5 as an option. For commands that take amounts, the ten digits
 * are therefore hidden options whose argument is the rest of the number.
 */
#define DIGIT(digit)                                                                               \
	{                                                                                          \
		NULL, digit, "", OPTION_ARG_OPTIONAL | OPTION_HIDDEN, NULL, 0                      \
	}
static const struct argp_option digit_options[] = {
	DIGIT('0'),
	DIGIT('1'),
	DIGIT('2'),
	DIGIT('3'),
	DIGIT('4'),
	DIGIT('5'),
	DIGIT('6'),
	DIGIT('7'),
	DIGIT('8'),
	DIGIT('9'),
	{NULL, 0, NULL, 0, NULL, 0},
};

static error_t parse_digit(int key, char *value, struct argp_state *state)
{
	struct ctl *ctl = state->input;
	int len;

	if (key < '0' || key > '9')
		return ARGP_ERR_UNKNOWN;
	if (ctl->negative[0])
		argp_error(state, "more than one amount was given");
	len = snprintf(ctl->negative, sizeof(ctl->negative), "-%c%s", key, value ? value : "");
	if (len < 0 || (size_t)len >= sizeof(ctl->negative))
		argp_error(state, "the amount is too long");
	return 0;
}

static const struct argp digit_argp = {digit_options, parse_digit, NULL, NULL, NULL, NULL, NULL};

static error_t parse_command(int key, char *value, struct argp_state *state)
{
	struct ctl *ctl = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = ctl;
		if (ctl->command->negative)
			state->child_inputs[1] = ctl;
		return 0;
	case ARGP_KEY_ARG:
		if (ctl->arg_count == ctl->command->args_max)
			argp_error(state, "too many arguments");
		ctl->args[ctl->arg_count++] = value;
		return 0;
	case ARGP_KEY_END:
		if (!meant_player(ctl))
			argp_error(state, "too many arguments");
		if (ctl->arg_count + (ctl->negative[0] != '\0') < ctl->command->args_min)
			argp_error(state, "too few arguments");
		if (ctl->negative[0] && ctl->arg_count == ctl->command->args_max)
			argp_error(state, "too many arguments");
		return 0;
	default:
		return store_option(ctl, key, value) ? 0 : ARGP_ERR_UNKNOWN;
	}
}

static const struct ctl_command *find_command(const char *first, const char *second)
{
	char name[64];
	int len = snprintf(name, sizeof(name), "%s%s%s", first, second ? " " : "",
		second ? second : "");

	if (len < 0 || (size_t)len >= sizeof(name))
		return NULL;
	for (const struct ctl_command *c = ctl_commands; c->name; c++) {
		if (strcmp(c->name, name) == 0)
			return c;
	}
	return NULL;
}

static bool is_group(const char *name)
{
	for (const struct ctl_command *c = ctl_commands; c->name; c++) {
		if (in_group(c, name))
			return true;
	}
	return false;
}

/*
 * With --json, stores the text that argp and getopt print on standard error. They exit by
 * themselves, and the error must then be reported as JSON.
 */
static struct {
	struct ctl *ctl;
	FILE *errors; /* the original standard error; NULL: nothing is stored */
	char *text;
	size_t len;
} kept;

static void keep_end(void)
{
	FILE *errors = kept.errors;

	if (!errors)
		return;
	fclose(stderr);
	stderr = errors;
	kept.errors = NULL;
	/* NULL if memory was exhausted. */
	if (kept.text)
		fputs(kept.text, stderr);
}

/* Runs at exit. If parsing failed, reports the first line of the stored text as the reason. */
static void tell_kept(void)
{
	const char *colon;

	if (!kept.errors)
		return;
	keep_end();
	if (!kept.text || !kept.len)
		return;
	kept.ctl->json = true;
	kept.text[strcspn(kept.text, "\n")] = '\0';
	colon = strstr(kept.text, ": ");
	ctl_fail_json(kept.ctl, "usage", colon ? colon + 2 : kept.text);
	free(kept.text);
}

/* Returns true if --json, or an abbreviation that argp accepts, is among the words. */
static bool wants_json(int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		if (strlen(argv[i]) > 2 && strncmp("--json", argv[i], strlen(argv[i])) == 0)
			return true;
	}
	return false;
}

static void keep_begin(struct ctl *ctl, int argc, char **argv)
{
	FILE *memory;

	if (!wants_json(argc, argv) || atexit(tell_kept) != 0)
		return;
	memory = open_memstream(&kept.text, &kept.len);
	if (!memory)
		return;
	kept.ctl = ctl;
	kept.errors = stderr;
	stderr = memory;
}

/* Calls argp_parse(3) and checks for exhausted memory, when it would have read no words. */
static void read_words(struct ctl *ctl, const struct argp *argp, int argc, char **argv,
	unsigned int flags, void *input)
{
	if (argp_parse(argp, argc, argv, flags, NULL, input) == 0)
		return;
	ctl->json |= kept.errors != NULL;
	keep_end();
	exit((int)ctl_no_memory(ctl));
}

/*
 * Parses global options up to the first word and returns its index. @doc ends with the group for
 * filter_help().
 */
static int parse_words(struct ctl *ctl, int argc, char **argv, const char *doc)
{
	const struct argp_child children[] = {{&global_argp, 0, NULL, 0}, {NULL, 0, NULL, 0}};
	const struct argp argp = {NULL, parse_front, "COMMAND [ARGUMENT...]", doc, children,
		filter_help, NULL};
	struct front front = {.ctl = ctl};

	read_words(ctl, &argp, argc, argv, ARGP_IN_ORDER, &front);
	return front.first;
}

/* Handles "dealer", "dealer --help" and "dealer --foo": lists the commands of the group. */
static void parse_group(struct ctl *ctl, const char *group, char *option)
{
	char title[64], doc[128];
	char *words[] = {title, option, NULL};

	snprintf(title, sizeof(title), PROGRAM " %s", group);
	/* argp does not split a doc that begins with \v. */
	snprintf(doc, sizeof(doc), "The commands that begin with '%s'.\v%s", group, group);
	parse_words(ctl, option ? 2 : 1, words, doc);
	exit(OUTCOME_USAGE);
}

/* Refuses an option that is nearly one of the command's, with a hint. argp refuses all others. */
static void refuse_unknown(int argc, char **argv, const struct argp_option *options)
{
	const struct argp_option *const tables[] = {global_options, options, NULL};
	char hint[MEANT_SIZE];
	const char *word = meant_option(argc, argv, tables, hint);

	if (!word)
		return;
	fprintf(stderr,
		"%s: unrecognized option '%s'.%s\n"
		"Try '%s --help' for more information.\n",
		argv[0], word, hint, argv[0]);
	exit(OUTCOME_USAGE);
}

static void parse_rest(struct ctl *ctl, int argc, char **argv)
{
	const struct ctl_command *command = ctl->command;
	const struct argp_child children[] = {
		{&global_argp, 0, NULL, 0},
		{command->negative ? &digit_argp : NULL, 0, NULL, 0},
		{NULL, 0, NULL, 0},
	};
	char doc[1024];
	struct argp argp = {command->options, parse_command, command->synopsis, doc, children, NULL,
		NULL};

	snprintf(doc, sizeof(doc), "%s.\vWith --json: %s\n\n%s", command->help, command->json,
		exit_text);
	refuse_unknown(argc, argv, command->options);
	read_words(ctl, &argp, argc, argv, 0, ctl);
}

static void parse_command_line(struct ctl *ctl, int argc, char **argv)
{
	/* Static, because argp keeps argv[0] for its messages. */
	static char title[64];
	int first = parse_words(ctl, argc, argv,
		"Operate creditbridge: its dealers, players, bets and callbacks, and the ledger.\v*");
	char *second = first + 1 < argc ? argv[first + 1] : NULL;
	char hint[MEANT_SIZE];
	bool two = false;

	ctl->command = find_command(argv[first], NULL);
	if (!ctl->command && second && second[0] != '-') {
		ctl->command = find_command(argv[first], second);
		two = true;
	}
	if (!ctl->command && !two && is_group(argv[first]))
		parse_group(ctl, argv[first], second);
	if (!ctl->command) {
		meant_command(argv[first], two ? second : NULL, hint);
		fprintf(stderr,
			PROGRAM ": there is no command '%s%s%s'%s%s\n"
				"Try '" PROGRAM " --help' for more information.\n",
			argv[first], two ? " " : "", two ? second : "", hint[0] ? "." : "", hint);
		exit(OUTCOME_USAGE);
	}
	first += two;
	snprintf(title, sizeof(title), PROGRAM " %s", ctl->command->name);
	argv[first] = title;
	parse_rest(ctl, argc - first, argv + first);
}

void ctl_parse(struct ctl *ctl, int argc, char **argv)
{
	keep_begin(ctl, argc, argv);
	parse_command_line(ctl, argc, argv);
	keep_end();
	free(kept.text);
	kept.text = NULL;
}
