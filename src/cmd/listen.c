#include "cmd/listen.h"

#include "fcgi/server.h"

#include <stdio.h>
#include <stdlib.h>

unsigned int listen_threads(const char *text, struct argp_state *state)
{
	char *end;
	unsigned long number = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || number < 1 || number > FCGI_THREADS_MAX)
		argp_error(state, "--threads takes 1 to %d, not \"%s\"", FCGI_THREADS_MAX, text);
	return (unsigned int)number;
}

bool listen_inherited(const char *program)
{
	if (socket_is_listening(LISTEN_INHERITED_FD))
		return true;
	fprintf(stderr,
		"%s: standard input is no listening socket: let a web server start this "
		"program, or give --socket PATH\n",
		program);
	return false;
}
