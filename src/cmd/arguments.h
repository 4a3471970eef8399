/*
 * arguments - the words that a program was started with.
 */
#ifndef CMD_ARGUMENTS_H
#define CMD_ARGUMENTS_H

#include <argp.h>

/* With what programs end whose words are wrong. */
#define EXIT_USAGE 2

/*
 * argp_parse(3), which ends the program by EXIT_USAGE with a message when the words are wrong. When
 * it finds no memory it has read none of them, and the program would go on as if there were none:
 * it is ended by EX_TEMPFAIL with a message.
 */
void arguments_parse(const struct argp *argp, int argc, char **argv, void *input);

#endif
