/*
 * no_dump - protects the memory of a process from other processes and from core dumps.
 *
 * Keys are in too many buffers to list: the cache and log of the store, the frames of the link,
 * GnuTLS, libcurl. So the whole process is excluded from core dumps, and only root may trace it or
 * read its memory. This also protects workers from other programs of the web server's user.
 */
#ifndef BASE_NO_DUMP_H
#define BASE_NO_DUMP_H

/*
 * Call it first in main(), and again after a change of ids, which resets it in the kernel. A forked
 * child inherits it; a program that the child executes does not.
 */
void no_dump_begin(void);

#endif
