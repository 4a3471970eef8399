#include "cmd/arguments.h"

#include "base/status.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

void arguments_parse(const struct argp *argp, int argc, char **argv, void *input)
{
	error_t error;

	argp_err_exit_status = EXIT_USAGE;
	error = argp_parse(argp, argc, argv, 0, NULL, input);
	if (error == 0)
		return;
	fprintf(stderr, "%s: the arguments cannot be read: %s\n", program_invocation_short_name,
		error == ENOMEM ? status_text(STATUS_NOMEM) : strerror(error));
	exit(EX_TEMPFAIL);
}
