/*
 * creditbridge-ledger - the only process that writes the players' credit.
 */
#include "base/no_dump.h"
#include "base/settings.h"
#include "cmd/arguments.h"
#include "ledger/daemon/supervisor.h"
#include "peer/peer.h"

const char *argp_program_version = "creditbridge-ledger " PACKAGE_VERSION;

static const struct argp_option options[] = {
	{"config", 'c', "FILE", 0, "configuration (default " SETTINGS_DEFAULT_FILE ")", 0},
	{0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	const char **config = state->input;

	switch (key) {
	case 'c':
		*config = arg;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "there is no argument '%s'", arg);
		return EINVAL;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.doc = "Keeps the credit of all players. Executes commands in batches; each batch is on "
	       "disk before it is answered. Runs in the foreground until SIGTERM."
	       "\vExit status: 0 stopped; 1 another ledger runs on this state; 2 usage; 75 no "
	       "memory, start again; 78 the configuration or the state directory cannot be used.",
};

int main(int argc, char **argv)
{
	const char *config = SETTINGS_DEFAULT_FILE;
	static struct settings settings;
	enum status status;

	no_dump_begin();
	arguments_parse(&argp, argc, argv, &config);
	status = settings_load(&settings, config, stderr);
	if (status != STATUS_OK)
		return status_exit_code(status);
	settings_open_log(&settings, "creditbridge-ledger");
	return supervisor_run(&settings, &peer_process);
}
