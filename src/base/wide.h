/*
 * wide - a whole number of 128 bits, for sums that grow for ever.
 *
 * Of two's complement, as int64_t is. Adding the largest amounts of the service a million times a
 * second fills it in some 10^10 years, so that such sums are added without a check.
 */
#ifndef BASE_WIDE_H
#define BASE_WIDE_H

__extension__ typedef __int128 wide_t;
__extension__ typedef unsigned __int128 wide_unsigned_t;

#endif
