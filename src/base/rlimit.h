/* rlimit - the limit of open files and sockets of this process. */
#ifndef BASE_RLIMIT_H
#define BASE_RLIMIT_H

#include <sys/resource.h>

/*
 * Raises the limit to @wanted, or as far as permitted. Returns the new limit, or 0 if it is
 * unknown.
 */
rlim_t rlimit_raise_files(rlim_t wanted);

#endif
