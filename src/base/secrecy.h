/*
 * secrecy - keeps what is in a process's memory from getting out with it.
 *
 * Keys are in it in more places than can be listed: libdb's cache and log, the frames of the link,
 * GnuTLS, libcurl. So the whole process is left out of core dumps, and nobody but root may trace it
 * or read its memory, which also keeps the other programs of a web server's user out of the workers.
 */
#ifndef BASE_SECRECY_H
#define BASE_SECRECY_H

/* For main(), first of all, and again after a change of ids: the kernel forgets it then. Children
 * have it from their parent, but programs that they execute begin anew. */
void secrecy_begin(void);

#endif
