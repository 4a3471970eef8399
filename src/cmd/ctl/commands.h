/*
 * commands - the table of creditbridgectl's commands, and the parser of a command line.
 */
#ifndef CMD_CTL_COMMANDS_H
#define CMD_CTL_COMMANDS_H

#include "cmd/ctl/common/ctl.h"

/* Ends with an entry without a name. */
extern const struct ctl_command ctl_commands[];

/*
 * Parses the command line and sets ctl->command, options and args. Exits for --help, --version
 * and usage errors. Reports a usage error as JSON too if --json is among the words.
 */
void ctl_parse(struct ctl *ctl, int argc, char **argv);

#endif
