/*
 * descriptors - how many files and sockets this process may have open.
 */
#ifndef BASE_DESCRIPTORS_H
#define BASE_DESCRIPTORS_H

#include <sys/resource.h>

/* Raises the limit to @wanted, or as far as this process may. Returns the limit as it is then; 0: unknown. */
rlim_t descriptors_raise(rlim_t wanted);

#endif
