/*
 * meant - what an operator meant: "Did you mean", and the two forms of a player's name.
 */
#ifndef CMD_CTL_MEANT_H
#define CMD_CTL_MEANT_H

#include "cmd/ctl/common/ctl.h"

/*
 * Writes " Did you mean 'NAME'?" to @text, or "" if no command has a name near to @first and
 * @second. @second may be NULL.
 */
#define MEANT_SIZE 128
void meant_command(const char *first, const char *second, char text[MEANT_SIZE]);

/*
 * Looks for an option among the words that is not in @tables (up to NULL), and whose name is near to
 * one that is. Returns its word, and writes the option's name to @text, as meant_command() does.
 * Returns NULL if there is none. Options with arguments are skipped as getopt_long(3) does.
 */
const char *meant_option(int argc, char **argv, const struct argp_option *const *tables,
	char text[MEANT_SIZE]);

/*
 * Brings the arguments into the form of the synopsis: "CASINO/USER" becomes CASINO USER where a
 * command takes two words, and CASINO USER becomes "CASINO/USER" where it takes one. Returns false
 * if there are more arguments than the command takes in this form.
 */
bool meant_player(struct ctl *ctl);

#endif
