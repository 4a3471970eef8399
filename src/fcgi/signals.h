/*
 * signals - receives the signals that stop a worker: SIGTERM, SIGINT and SIGUSR1.
 */
#ifndef FCGI_SIGNALS_H
#define FCGI_SIGNALS_H

/*
 * Blocks these signals in the caller and in all later threads, and ignores SIGPIPE. Call it first
 * in main(), so that no signal is lost.
 */
void signals_block(void);

/*
 * Returns a descriptor (signalfd) that is readable after one of the signals. Returns -1 on
 * failure, see errno.
 */
int signals_open(void);

#endif
