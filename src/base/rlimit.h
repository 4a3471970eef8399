/* descriptors - the limit of open files and sockets of this process. */
#ifndef BASE_DESCRIPTORS_H
#define BASE_DESCRIPTORS_H

#include <sys/resource.h>

/*
 * Raises the limit to @wanted, or as far as permitted. Returns the new limit, or 0 if it is
 * unknown.
 */
rlim_t descriptors_raise(rlim_t wanted);

#endif
