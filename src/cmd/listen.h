/*
 * listen - what the FastCGI programs have in common: where they listen, and with how many threads.
 */
#ifndef CMD_LISTEN_H
#define CMD_LISTEN_H

#include <argp.h>
#include <stdbool.h>

/* Where FastCGI puts the listening socket of a process that the web server starts. */
#define LISTEN_INHERITED_FD 0

/* The number in @text, given with --threads. Else the program ends with what is wrong. */
unsigned int listen_threads(const char *text, struct argp_state *state);

/* True: LISTEN_INHERITED_FD is such a socket. Else standard error tells what to do about it. */
bool listen_inherited(const char *program);

#endif
