/*
 * arguments - parses the command line of a program.
 */
#ifndef CMD_ARGUMENTS_H
#define CMD_ARGUMENTS_H

#include <argp.h>

/* Exit code for wrong command-line arguments. */
#define EXIT_USAGE 2

/*
 * Calls argp_parse(3). If the arguments are wrong, prints a message and exits with EXIT_USAGE. If
 * memory is exhausted, argp_parse() has read no argument and the program would continue without
 * any. arguments_parse() then prints a message and exits with EX_TEMPFAIL.
 */
void arguments_parse(const struct argp *argp, int argc, char **argv, void *input);

#endif
