/*
 * listen - options shared by the FastCGI programs: the listening socket and the number of
 * threads.
 */
#ifndef CMD_LISTEN_H
#define CMD_LISTEN_H

#include <argp.h>
#include <stdbool.h>

/* The descriptor on which a web server passes the listening socket to a FastCGI process. */
#define LISTEN_INHERITED_FD 0

/* Parses @text, the argument of --threads. If it is wrong, prints an error and exits. */
unsigned int listen_threads(const char *text, struct argp_state *state);

/*
 * Returns true if LISTEN_INHERITED_FD is a listening socket. Otherwise prints on standard error
 * how to start @program.
 */
bool listen_inherited(const char *program);

#endif
