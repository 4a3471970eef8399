#include "cmd/dealer_run.h"

#include "base/log.h"
#include "base/no_dump.h"
#include "cmd/arguments.h"
#include "cmd/listen.h"
#include "fcgi/signals.h"

#include <string.h>
#include <sysexits.h>

#define PROGRAM "creditbridge-dealer.fcgi"

const char *argp_program_version = PROGRAM " " PACKAGE_VERSION;

static const struct argp_option options[] = {
	{"key-file", 'k', "FILE", 0,
		"the keys as issued, 64 hex characters a line, all of them live; read for every "
		"request",
		0},
	{"state", 'd', "DIR", 0, "keep users and transactions in DIR, made when missing", 0},
	{"currency", 'y', "CODE", 0, "of all balances, lower case (default: thb)", 0},
	{"opening-balance", 'o', "AMOUNT", 0, "what a user has when seen first (default: 1000)", 0},
	{"threads", 't', "N", 0, "requests served at a time (default: 1)", 0},
	{"socket", 'S', "PATH", 0,
		"listen on a Unix socket made at PATH instead of on standard input", 0},
	{"base-path", 'b', "PATH", 0, "the prefix that the web server mounts this at", 0},
	{"control", 'C', NULL, 0,
		"serve control/users and control/state, unsigned: for tests on the loopback only",
		0},
	{NULL, 0, NULL, 0, NULL, 0},
};

struct arguments {
	const char *state;
	const char *socket; /* NULL: standard input */
	money_t opening_balance;
	unsigned int threads;
	struct reference_dealer *dealer;
};

static void currency_check(const char *text, struct argp_state *state)
{
	size_t len = strlen(text);

	if (len < 2 || len > CURRENCY_SIZE - 1 ||
		strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789") != len)
		argp_error(state, "--currency takes a code in lower case, not \"%s\"", text);
}

static error_t option_parse(int key, char *value, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case 'k':
		arguments->dealer->key_file = value;
		return 0;
	case 'd':
		arguments->state = value;
		return 0;
	case 'y':
		currency_check(value, state);
		arguments->dealer->currency = value;
		return 0;
	case 'o':
		if (!money_from_text(value, &arguments->opening_balance) ||
			arguments->opening_balance < 0)
			argp_error(state, "--opening-balance takes an amount, not \"%s\"", value);
		return 0;
	case 't':
		arguments->threads = listen_threads(value, state);
		return 0;
	case 'S':
		arguments->socket = value;
		return 0;
	case 'b':
		if (*value && (*value != '/' || value[strlen(value) - 1] == '/'))
			argp_error(state, "--base-path takes \"\" or /PATH, not \"%s\"", value);
		arguments->dealer->base_path = value;
		return 0;
	case 'C':
		arguments->dealer->control = true;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "unexpected argument \"%s\"", value);
		return 0;
	case ARGP_KEY_END:
		if (!arguments->dealer->key_file || !arguments->state)
			argp_error(state, "--key-file and --state are required");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.options = options,
	.parser = option_parse,
	.doc = "A dealer's side of the seamless wallet: balance-inquire, betting, betting-result "
	       "and betting-refund, over FastCGI.\v"
	       "Exit codes: 0 asked to stop; 1 failed; 2 usage; 75 the state failed, start "
	       "anew; 78 the key file or the state directory cannot be used.",
};

int dealer_run(int argc, char **argv, dealer_hook *hook)
{
	static struct reference_dealer dealer = {.base_path = "",
		.currency = "thb",
		.mutex = PTHREAD_MUTEX_INITIALIZER};
	struct arguments arguments = {.opening_balance = 1000 * MONEY_UNITS_PER_CREDIT,
		.threads = 1,
		.dealer = &dealer};
	struct fcgi_socket own = {.fd = LISTEN_INHERITED_FD};
	struct fcgi_program program = dealer_program(&dealer);
	char secrets[DEALER_KEY_SLOTS][KEY_SECRET_SIZE];
	char why[512];
	enum status status;
	bool usable;
	int code = EX_CONFIG;

	dealer.hook = hook;
	no_dump_begin();
	signals_block();
	arguments_parse(&argp, argc, argv, &arguments);
	log_open(PROGRAM, false, LOG_LEVEL_INFO);
	if (!arguments.socket && !listen_inherited(PROGRAM))
		return EXIT_USAGE;
	usable = keys_read(dealer.key_file, secrets, why, sizeof(why));
	explicit_bzero(secrets, sizeof(secrets));
	if (!usable)
		goto out;
	dealer.store =
		dealer_store_open(arguments.state, arguments.opening_balance, why, sizeof(why));
	if (!dealer.store)
		goto out;
	if (arguments.socket) {
		status = socket_open(&own, arguments.socket, "", why, sizeof(why));
		code = status_exit_code(status);
		if (status)
			goto out;
	}
	why[0] = '\0';
	code = fcgi_run(&program, own.fd, arguments.threads, arguments.socket ? &own : NULL);
out:
	if (dealer.store)
		store_close(dealer.store);
	if (why[0])
		fprintf(stderr, PROGRAM ": %s\n", why);
	return code;
}
