/*
 * dealer_run - the reference dealer as a program. A web server starts it, or it listens on its own
 * socket. It is a single process and owns its state directory.
 */
#ifndef CMD_DEALER_RUN_H
#define CMD_DEALER_RUN_H

#include "dealer/serve.h"

/*
 * Runs the dealer with the arguments of main(), until it is stopped. @hook is that of struct
 * reference_dealer. Returns the exit code of the process:
 *
 *    0  stopped by request
 *    1  failed
 *    2  usage error, or standard input is not a listening socket
 *   75  the state failed: restart
 *   78  the key file or the state directory cannot be used
 */
int dealer_run(int argc, char **argv, dealer_hook *hook);

#endif
