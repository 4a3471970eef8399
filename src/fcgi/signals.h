/*
 * signals - what stops a worker: SIGTERM, SIGINT and SIGUSR1, read from a descriptor.
 */
#ifndef FCGI_SIGNALS_H
#define FCGI_SIGNALS_H

/*
 * Blocks the signals that stop the process, for the caller and every thread to come, and ignores
 * SIGPIPE. Called first in main(), so that a signal that comes early is not lost.
 */
void signals_block(void);

/* Returns a descriptor (signalfd) that is readable once one came; -1: errno tells why. */
int signals_open(void);

#endif
